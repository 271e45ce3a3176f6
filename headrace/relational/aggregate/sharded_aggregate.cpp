// SPDX-License-Identifier: Apache-2.0
// Group-by over shards.
#include "headrace/relational/aggregate/sharded_aggregate.h"

#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/select/concat.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/device_allocator.h"
#include "headrace/plan/eval/evaluate.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/view.h"
#include "headrace/relational/aggregate/aggregate_nodes.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"
#include "headrace/relational/aggregate/merged_aggregates.h"
#include "headrace/tensor/iota.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kOneChain = std::numeric_limits<int64_t>::max();  // rows of a run: all
constexpr int64_t kMostPartials = int64_t{1} << 22;  // groups of runs, which the host folds

// Whether its range tells how the rows are folded.
bool has_range(Dtype dtype) {
  return dtype.storage().is_integer() && !dtype.is_bool() && !dtype.is_category() &&
         !dtype.is_string() && !dtype.is_decimal();
}

/// Rows of a run, if each is a group of its own in all shards: few slots, and a morsel a run.
/// Inputs: of each key and shard the least and the largest value, as partials.
struct RowsOfRun final : OperatorOf<RowsOfRun> {
  std::vector<Dtype> keys{};
  GroupOptions options{};
  Place place = host;
  int64_t row_bytes = 0;  // of all inputs

  std::string_view name() const override { return "rows of a run"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    const size_t shards = inputs.size() / (2 * keys.size());
    std::vector<Column> ends;
    int64_t rows = 0;
    size_t next = 0;
    for (const Dtype dtype : keys) {
      std::vector<PartialRows> least, greatest;
      for (size_t k = 0; k < shards; ++k)
        for (auto* const into : {&least, &greatest})
          into->push_back(PartialRows::of(std::get<Tensor>(to_place(inputs[next++], host))));
      rows = 0;
      int64_t values = 0;
      for (const PartialRows& piece : least) {
        rows += piece.rows;
        for (const ReducePartial& partial : piece.partials) values += partial.count;
      }
      if (values == 0) return scalar_tensor(kOneChain);
      ends.push_back(column_of(dtype, reduce_partials(least, Aggregate::kMin, dtype.storage(), {}),
                               reduce_partials(greatest, Aggregate::kMax, dtype.storage(), {}),
                               values < rows));
    }
    const NormalizedKeys packed = NormalizedKeys::of(
        "groupby", ends,
        {.ordered = options.order == GroupOrder::kSorted, .drop_missing = options.drop_missing});
    const auto domain = static_cast<int64_t>(packed.domain());
    const int64_t run = run_rows_of(domain);
    const bool has_runs = has_few_slots(packed.domain(), rows) && run == morsel_rows() &&
                          run == shard_unit(place) && rows / run * domain <= kMostPartials;
    return scalar_tensor(has_runs && !has_room(rows) ? run : kOneChain);
  }

  static auto parameters(auto& self) {
    return std::tie(self.keys, self.options, self.place.kind, self.place.index, self.row_bytes);
  }

 private:
  // Whether the first device takes all rows: copies between GPUs cost less than groups of runs.
  bool has_room(int64_t rows) const {
    if (!place.is_gpu()) return false;
    const int64_t room = std::min(memory_limit(place), device_memory(place.index).second) -
                         memory_statistics(place).used_bytes;
    return rows * row_bytes < room / 4;
  }

  // With a null, if keys can be.
  static Column column_of(Dtype dtype, const Scalar& least, const Scalar& greatest, bool nulls) {
    const int64_t rows = nulls ? 3 : 2;
    Buffer values = Buffer::allocate_zeroed(rows * dtype.size_bytes());
    visit_real(dtype.storage(), [&]<class T>(std::type_identity<T>) {
      values.mutable_as<T>()[0] = least.as<T>();
      values.mutable_as<T>()[1] = greatest.as<T>();
    });
    Buffer valid;
    if (nulls) {
      valid = Buffer::allocate_zeroed(bitmap_bytes(rows));
      valid.mutable_as<uint8_t>()[0] = 0b011;
    }
    return Column(dtype, rows, std::move(values), std::move(valid), nulls);
  }
};

/// The rows of a piece, or none where the rows of a group are one chain; and all rows only there.
struct PieceOrAll final : OperatorOf<PieceOrAll> {
  int64_t part = 0;  // -1: all
  Place place = host;

  std::string_view name() const override { return "piece"; }

  std::string arguments() const override {
    return part < 0 ? "all, if the rows of a group are one chain" : "if groups have runs";
  }

  int passes() const override { return 0; }

  // Inputs: the pieces, then the rows of a run.
  Value execute(std::span<const Value> inputs) const override {
    const auto& run = std::get<Tensor>(inputs.back());
    const std::span<const Value> pieces = inputs.first(inputs.size() - 1);
    if ((run.item<int64_t>() == kOneChain) != (part < 0)) return no_rows(pieces[0], place);
    return part < 0 ? rows_at(pieces, place) : pieces[static_cast<size_t>(part)];
  }

  static auto parameters(auto& self) {
    return std::tie(self.part, self.place.kind, self.place.index);
  }
};

NodePtr rows_of_run(const std::vector<std::vector<NodePtr>>& keys, GroupOptions options,
                    Place place, int64_t row_bytes) {
  std::vector<Dtype> dtypes;
  std::vector<NodePtr> ends;
  for (const std::vector<NodePtr>& key : keys) {
    dtypes.push_back(key[0]->signature().dtype);
    for (const NodePtr& piece : key) {
      const NodePtr values = retype(piece, dtypes.back().storage());
      for (const Aggregate end : {Aggregate::kMin, Aggregate::kMax})
        ends.push_back(reduce_partially(end, values, {}));
    }
  }
  auto op = std::make_shared<RowsOfRun>();
  op->keys = std::move(dtypes);
  op->options = options;
  op->place = place;
  op->row_bytes = row_bytes;
  return apply_operator(std::move(op), array_signature(TypeId::kInt64, {}), std::move(ends));
}

// `part`: -1 for all rows.
std::vector<NodePtr> pieces_or_all(const std::vector<std::vector<NodePtr>>& pieces,
                                   const NodePtr& run, int64_t part, Place place) {
  const uint64_t domain = new_domain();
  std::vector<NodePtr> made;
  for (const std::vector<NodePtr>& input : pieces) {
    Signature signature = input[0]->signature();
    signature.shape[0] = kUnknown;
    signature.domain = domain;
    for (const NodePtr& piece : input) signature.nullable |= piece->signature().nullable;
    std::vector<NodePtr> inputs = input;
    inputs.push_back(run);
    made.push_back(apply_over_places(PieceOrAll::make(part, place.kind, place.index),
                                     std::move(signature), std::move(inputs), place));
  }
  return made;
}

std::vector<NodePtr> columns_of(const NodePtr& table) {
  std::vector<NodePtr> made;
  for (size_t c = 0; c < table_names(table).size(); ++c)
    made.push_back(table_column(table, static_cast<int64_t>(c)));
  return made;
}

// The columns of a group-by of the given inputs.
std::vector<NodePtr> grouped_columns(const ShardedGroups& groups,
                                     const std::vector<NodePtr>& inputs) {
  const auto input = [&](int64_t place) { return inputs[static_cast<size_t>(place)]; };
  std::vector<GroupKey> keys;
  std::vector<GroupColumn> columns;
  for (const int64_t key : groups.keys) keys.push_back({groups.names[keys.size()], input(key)});
  for (const AggregateRequest& request : groups.requests) {
    GroupColumn& column = columns.emplace_back();
    column.name = groups.names[keys.size() + columns.size() - 1];
    column.request = request;
    if (request.column >= 0) column.values = input(request.column);
    if (request.other >= 0) column.other = input(request.other);
  }
  return columns_of(group_by(std::move(keys), std::move(columns), groups.options));
}

/// One group-by over shards.
class ShardGrouping {
 public:
  ShardGrouping(const ShardedGroups& groups, std::vector<Merging> ways,
                const std::vector<Place>& places)
      : groups_(groups), ways_(std::move(ways)), places_(places) {
    in_runs_ = std::ranges::any_of(ways_, [](const Merging& way) { return way.in_runs; });
  }

  std::vector<NodePtr> columns(const std::vector<std::vector<NodePtr>>& pieces) const {
    if (!in_runs_) return merged(pieces, nullptr);
    int64_t row_bytes = 0;
    for (const std::vector<NodePtr>& input : pieces)
      row_bytes += std::max<int64_t>(input[0]->signature().dtype.size_bytes(), 1);
    std::vector<std::vector<NodePtr>> keys;
    for (const int64_t key : groups_.keys) keys.push_back(pieces[static_cast<size_t>(key)]);
    const NodePtr run = rows_of_run(keys, groups_.options, places_[0], row_bytes);
    std::vector<std::vector<NodePtr>> own(pieces.size());
    for (size_t k = 0; k < places_.size(); ++k) {
      const std::vector<NodePtr> made =
          pieces_or_all(pieces, run, static_cast<int64_t>(k), places_[k]);
      for (size_t i = 0; i < made.size(); ++i) own[i].push_back(made[i]);
    }
    // One of the two has rows.
    std::vector<NodePtr> results = merged(own, run);
    const std::vector<NodePtr> whole =
        grouped_columns(groups_, pieces_or_all(pieces, run, -1, places_[0]));
    const uint64_t domain = new_domain();
    for (size_t c = 0; c < whole.size(); ++c) {
      Signature signature = whole[c]->signature();
      signature.domain = domain;
      signature.nullable |= results[c]->signature().nullable;
      results[c] = gather_shards({results[c], whole[c]}, places_[0], signature);
    }
    return results;
  }

 private:
  // The groups of all shards' groups.
  std::vector<NodePtr> merged(const std::vector<std::vector<NodePtr>>& pieces,
                              const NodePtr& run) const {
    std::vector<std::vector<NodePtr>> made;  // by column and shard
    for (size_t k = 0; k < places_.size(); ++k) {
      std::vector<NodePtr> own;
      for (const std::vector<NodePtr>& input : pieces) own.push_back(input[k]);
      const std::vector<NodePtr> columns = groups_of_shard(own, run);
      made.resize(columns.size());
      for (size_t c = 0; c < columns.size(); ++c) made[c].push_back(columns[c]);
    }
    const uint64_t domain = new_domain();
    size_t next = in_runs_ ? 1 : 0;
    const auto gathered = [&] {
      const std::vector<NodePtr>& parts = made[next++];
      Signature signature = parts[0]->signature();
      signature.domain = domain;
      for (const NodePtr& each : parts) signature.nullable |= each->signature().nullable;
      return gather_shards(parts, in_runs_ ? host : places_[0], signature);
    };
    std::vector<GroupKey> keys;
    for (size_t i = 0; i < groups_.keys.size(); ++i)
      keys.push_back({std::to_string(i), gathered()});
    std::vector<GroupColumn> columns;
    for (const Merging& way : ways_)
      for (const Merging::Part& part : way.parts) {
        GroupColumn& column = add_column(columns, part.request);
        column.request = way.request_again(part, column.request.column);
        column.values = gathered();
      }
    GroupOptions options = groups_.options;
    options.in_chains = in_runs_;
    return results_of(group_by(std::move(keys), std::move(columns), options));
  }

  // Its keys and partials; with `run`, of the runs in order, whose numbers come first.
  std::vector<NodePtr> groups_of_shard(const std::vector<NodePtr>& inputs,
                                       const NodePtr& run) const {
    const auto input = [&](int64_t place) { return inputs[static_cast<size_t>(place)]; };
    std::vector<GroupKey> keys;
    if (run)
      keys.push_back(
          {"run", elementwise(Op::kFloorDivide, {row_numbers(input(groups_.keys[0])), run})});
    for (size_t i = 0; i < groups_.keys.size(); ++i)
      keys.push_back({std::to_string(i), input(groups_.keys[i])});
    std::vector<GroupColumn> columns;
    for (const Merging& way : ways_)
      for (const Merging::Part& part : way.parts) {
        GroupColumn& column = add_column(columns, part.request);
        if (part.request.column >= 0) column.values = input(part.request.column);
        if (way.as_floats) column.values = cast(column.values, TypeId::kFloat64);
      }
    GroupOptions options = groups_.options;
    if (run && options.order == GroupOrder::kAny) options.order = GroupOrder::kSorted;
    if (!run && options.order == GroupOrder::kSorted) options.order = GroupOrder::kAny;
    return columns_of(group_by(std::move(keys), std::move(columns), options));
  }

  static GroupColumn& add_column(std::vector<GroupColumn>& columns,
                                 const AggregateRequest& request) {
    GroupColumn& column = columns.emplace_back();
    column.name = "part " + std::to_string(columns.size());
    column.request = request;
    return column;
  }

  std::vector<NodePtr> results_of(const NodePtr& table) const {
    const std::vector<NodePtr> parts = columns_of(table);
    const size_t keys = groups_.keys.size();
    std::vector<NodePtr> results(parts.begin(), parts.begin() + static_cast<int64_t>(keys));
    size_t next = keys;
    for (const Merging& way : ways_) {
      NodePtr result = parts[next++];
      if (way.parts.size() > 1) result = mean_of(result, parts[next++]);
      results.push_back(std::move(result));
    }
    return results;
  }

  const ShardedGroups& groups_;
  std::vector<Merging> ways_;
  const std::vector<Place>& places_;
  bool in_runs_ = false;
};

}  // namespace

std::vector<NodePtr> group_shards(const ShardedGroups& groups, ShardedInputs& inputs,
                                  size_t count) {
  std::vector<Merging> ways;
  bool in_runs = false;
  for (const AggregateRequest& request : groups.requests) {
    const Dtype dtype = request.column < 0 ? Dtype() : inputs.dtype(request.column);
    const std::optional<Merging> way = merging(request, dtype);
    if (!way) return {};
    in_runs |= way->in_runs;
    ways.push_back(*way);
  }
  for (const int64_t key : groups.keys)
    if (in_runs && !has_range(inputs.dtype(key))) return {};
  std::vector<int64_t> all(count);
  std::iota(all.begin(), all.end(), int64_t{0});
  return ShardGrouping(groups, std::move(ways), inputs.places())
      .columns(in_runs ? inputs.even_pieces(all) : inputs.pieces(all));
}

}  // namespace hr
