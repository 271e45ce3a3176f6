// SPDX-License-Identifier: Apache-2.0
// Deferred joins.
#include "headrace/relational/join/join_nodes.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/plan/bind/binder.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/shards.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/plan/graph/unique_keys.h"
#include "headrace/plan/optimize/membership.h"
#include "headrace/plan/optimize/zone_map.h"
#include "headrace/relational/join/join_cost.h"
#include "headrace/relational/join/join_slots.h"
#include "headrace/relational/join/joined_columns.h"
#include "headrace/relational/join/semi_join_filter.h"
#include "headrace/relational/rows/operator_inputs.h"
#include "headrace/relational/rows/row_nodes.h"
#include "headrace/relational/rows/struct_codes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace hr {

namespace {

constexpr std::string_view kOp = "merge";

void unify_keys(std::string_view op, NodePtr& left, NodePtr& right) {
  if (left->signature().dtype.is_struct() && right->signature().dtype.is_struct()) {
    const NodePtr codes = struct_codes_of_left(left, right);
    right = struct_codes_of_right(left, right);
    left = codes;
    return;
  }
  const BoundKeys bound = bind_keys(op, left->signature().dtype, right->signature().dtype);
  for (NodePtr* key : {&left, &right})
    *key = bound.are_counts ? counts_of_unit(values_of_categories(*key), bound.unit, true)
                            : to_common_dtype(*key, bound.dtype);
}

// A date as the time at which it begins, next to times.
void raise_date(NodePtr& column, Dtype other) {
  if (column->signature().dtype.is_date() && other.is_timestamp() && !other.has_zone())
    column = to_common_dtype(column, other);
}

// The two sides of one column of keys.
void unify_values(NodePtr& left, NodePtr& right) {
  raise_date(left, right->signature().dtype);
  raise_date(right, left->signature().dtype);
  const Dtype both[] = {left->signature().dtype, right->signature().dtype};
  std::optional<Dtype> dtype = common_dtype(both);
  if (!dtype) {
    const BoundKeys bound = bind_keys(kOp, both[0], both[1]);
    if (bound.are_counts)
      throw_error<TypeMismatchError>(kOp, "one column cannot hold two time zones",
                                     {{"left", both[0].name()}, {"right", both[1].name()}},
                                     "use dt.tz_convert on one side");
    dtype = bound.dtype;
  }
  left = to_common_dtype(left, *dtype);
  right = to_common_dtype(right, *dtype);
}

// Which inputs a column is made of; -1: none.
struct OutputSource {
  int64_t left = -1;
  int64_t right = -1;

  static auto parameters(auto& self) { return std::tie(self.left, self.right); }
};

// The rows of one side as they stand in the result. What columns are rows of is numbered once.
class RepeatedRows {
 public:
  RepeatedRows(const JoinedRows& joined, bool is_right, int64_t side_rows, bool may_miss)
      : numbers_(is_right ? joined.right : joined.left),
        keeps_all_(!is_right && joined.keeps_left),
        is_right_(is_right),
        is_most_(2 * joined.rows > side_rows),
        may_miss_(may_miss) {}

  /// Before `of`: of each column that it will be asked for.
  void expect(const LateColumn& column) { ++columns_[column.rows.get()]; }

  LateColumn of(const LateColumn& column) {
    if (keeps_all_) return column;
    // Most of the rows of one column are picked sooner than numbered, and those of the right side,
    // which come in any order, lie in the cache then.
    if (column.rows && is_most_ &&
        (is_right_ || (column.rows->is_mask() && columns_[column.rows.get()] == 1)))
      return {RowSelection(numbers_, may_miss_).of(column.made()), nullptr};
    std::shared_ptr<RowSelection>& made = made_[column.rows.get()];
    if (!made)
      made = column.rows ? column.rows->at(numbers_, may_miss_)
                         : std::make_shared<RowSelection>(numbers_, may_miss_);
    return {column.column, made};
  }

 private:
  const Tensor& numbers_;
  bool keeps_all_;
  bool is_right_;
  bool is_most_;
  bool may_miss_;
  std::unordered_map<const RowSelection*, int64_t> columns_{};
  std::unordered_map<const RowSelection*, std::shared_ptr<RowSelection>> made_{};
};

// The left value where there is a left row, else the right one.
Column coalesce_keys(const Column& left, const Column& right, const JoinedRows& joined) {
  if (joined.keeps_left) return left;
  const Column both = concatenate(kOp, left.dtype(), std::array{left, right});
  Buffer at = Buffer::allocate_spillable(8 * joined.rows);
  if (joined.rows > 0) {
    auto* const out = at.mutable_as<int64_t>();
    const auto *const from_left = joined.left.as<int32_t>(), *const from_right =
                                                                 joined.right.as<int32_t>();
    const std::vector<BufferAccess> accesses{reads(joined.left), reads(joined.right),
                                             writes(at, 8)};
    parallel_morsels(joined.rows, accesses, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = from_left[row] >= 0 ? from_left[row] : left.num_rows() + from_right[row];
    });
  }
  return gather(both, Tensor(TypeId::kInt64, {joined.rows}, std::move(at)));
}

Column indicator_of(int64_t rows, Buffer codes) {
  DictionaryBuilder words;
  for (const char* word : {"left_only", "right_only", "both"}) words.add(word);
  return Column::categories(rows, std::move(codes), words.finish());
}

// "left_only", "right_only" or "both".
Column make_indicator(const JoinedRows& joined, bool swapped) {
  Buffer codes = Buffer::allocate_spillable(4 * joined.rows);
  if (joined.rows > 0) {
    auto* const out = codes.mutable_as<int32_t>();
    const auto* const left = joined.keeps_left ? nullptr : joined.left.as<int32_t>();
    const auto* const right =
        joined.right.num_elements() > 0 ? joined.right.as<int32_t>() : nullptr;
    parallel_morsels(joined.rows, {writes(codes, 4)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = left && left[row] < 0 ? !swapped : right && right[row] < 0 ? swapped : 2;
    });
  }
  return indicator_of(joined.rows, std::move(codes));
}

// Rows of a join at another place.
JoinedRows moved_rows(JoinedRows joined, Place place) {
  for (Tensor* const rows : {&joined.left, &joined.right})
    *rows = std::get<Tensor>(to_place(Value(*rows), place));
  return joined;
}

// As join_rows, of keys on a CUDA device; on the host what has no kernel.
JoinedRows join_there(const std::vector<Column>& left, int64_t left_rows,
                      const std::vector<Column>& right, int64_t right_rows, JoinKind kind,
                      JoinUnique unique, Place place) {
  check_join_rows("left", left_rows);
  check_join_rows("right", right_rows);
  if (auto joined = join_by_slots(left, left_rows, right, right_rows, kind, unique))
    return *std::move(joined);
  std::vector<Value> keys(left.begin(), left.end());
  keys.insert(keys.end(), right.begin(), right.end());
  JoinedRows joined;
  const PlaceWork match = [&](std::span<const Value> here) -> std::vector<Value> {
    std::vector<Column> columns;
    for (const Value& key : here) columns.push_back(std::get<Column>(key));
    const auto middle = columns.begin() + static_cast<int64_t>(left.size());
    joined = join_rows({columns.begin(), middle}, left_rows, {middle, columns.end()}, right_rows,
                       kind, unique);
    return {joined.left, joined.right};
  };
  const std::vector<Value> rows = run_on_host(kOp, std::string(kWideKeys), place, keys, match);
  joined.left = std::get<Tensor>(rows[0]);
  joined.right = std::get<Tensor>(rows[1]);
  return joined;
}

}  // namespace

namespace {

/// The inputs of a join: columns of each side, each once.
class SideInputs {
 public:
  /// The place of the node; -1 for none.
  int64_t add(const NodePtr& node, bool is_right) {
    if (!node) return -1;
    const auto [place, is_new] =
        places_[is_right].try_emplace(node.get(), static_cast<int64_t>(nodes_.size()));
    if (is_new) {
      nodes_.push_back(node);
      (is_right ? right_ : left_).push_back(place->second);
    }
    return place->second;
  }

  const std::vector<NodePtr>& nodes() const { return nodes_; }

  const std::vector<int64_t>& of(bool is_right) const { return is_right ? right_ : left_; }

 private:
  std::vector<NodePtr> nodes_{};
  std::vector<int64_t> left_{};
  std::vector<int64_t> right_{};
  std::array<std::unordered_map<const Node*, int64_t>, 2> places_{};  // by side
};

/// Whether keys may have a match among others, and those of the join before.
struct JoinFilter final : OperatorOf<JoinFilter, Predicate> {
  int64_t pairs = 1;  // first the keys, then the others

  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "keys of another join"; }

  int64_t rowwise_inputs() const override { return pairs; }

  Column test(std::span<const Value> inputs, const Mask* where) const override {
    const auto pair = [&](int64_t k) -> KeyColumns {
      return {std::get<Column>(inputs[static_cast<size_t>(k)]),
              std::get<Column>(inputs[static_cast<size_t>(pairs + k)])};
    };
    const std::optional<KeyColumns> before = pairs > 1 ? std::optional(pair(1)) : std::nullopt;
    return semi_join_mask(pair(0), before, where);
  }

  static auto parameters(auto& self) { return std::tie(self.pairs); }
};

// A join of which only rows with one of each `required` side are needed; none for one that there is
// not.
std::optional<JoinKind> kind_without(JoinKind kind, const std::vector<bool>& required) {
  const bool left = required[0], right = required[1];
  if (kind == JoinKind::kLeft && right) return JoinKind::kInner;
  if (kind != JoinKind::kOuter || (!left && !right)) return kind;
  if (!left) return {};
  return right ? JoinKind::kInner : JoinKind::kLeft;
}

}  // namespace

namespace {

struct JoinState final : TableState {
  std::optional<JoinedRows> rows{};
};

struct Join final : OperatorOf<Join, TableOperator>, RunsOnShards, RunsInSlices {
  std::vector<OutputSource> keys{};
  OutputSource rows{};  // an input with the rows of each side
  std::vector<OutputSource> outputs{};
  JoinKind how = JoinKind::kInner;
  JoinUnique unique{};
  bool joins_categories = false;  // of both sides
  bool is_turned = false;         // the user's left side is the right one here
  std::string word{};             // the user's for it

  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "how=" + word; }

  int passes() const override { return 2; }

  std::shared_ptr<TableState> new_state() const override { return std::make_shared<JoinState>(); }

  int64_t guess_rows(const InputEstimates& inputs) const override {
    return estimate_joined_rows(inputs, places(), how);
  }

  std::optional<OperatorCost> work(const InputEstimates& inputs, int64_t made,
                                   const std::vector<bool>& wanted) const override {
    return join_cost(inputs, places(), how, made, dtypes, wanted);
  }

  std::vector<JoinKeyPair> join_keys() const override {
    std::vector<JoinKeyPair> result;
    if (unique.left || unique.right || how == JoinKind::kOuter) return result;
    for (const OutputSource& key : keys) {
      result.push_back({key.right, key.left});
      if (how == JoinKind::kInner) result.push_back({key.left, key.right});
    }
    return result;
  }

  NodePtr join_filter(const NodePtr& own, const NodePtr& others, const NodePtr& first_keys,
                      const NodePtr& first_others) const override {
    Signature signature = own->signature();
    signature.dtype = TypeId::kBool;
    signature.nullable = false;
    std::vector<NodePtr> inputs{own, others};
    if (first_keys) inputs = {own, first_keys, others, first_others};
    const auto pairs = static_cast<int64_t>(inputs.size() / 2);
    return apply_predicate(JoinFilter::make(pairs), std::move(signature), std::move(inputs));
  }

  NodePtr with_inputs(std::span<const NodePtr> inputs,
                      const std::vector<bool>& required) const override {
    const std::optional<JoinKind> own = required.empty() ? how : kind_without(how, required);
    if (!own || (*own != how && joins_categories)) return nullptr;
    auto op = std::make_shared<Join>(*this);
    op->how = *own;
    if (*own != how)
      op->word = (*own == JoinKind::kInner ? "inner (was " : "left (was ") + word + ")";
    return node(std::move(op), {inputs.begin(), inputs.end()});
  }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    const std::array<std::vector<Column>, 2> sides = key_columns(inputs);
    if (std::string reason = why_no_slots(sides[0], sides[1]); !reason.empty()) return reason;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto [left, right] = outputs[i];
      if (left < 0 || right < 0 || dtypes[i].storage().is_real() || dtypes[i].is_bool() ||
          dtypes[i].is_string())
        continue;
      return "a key of " + std::string(dtypes[i].name()) +
             " from both sides has no kernel for CUDA";
    }
    return {};
  }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState* state) const override {
    std::vector<std::string> made;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) made.push_back(names[i]);
    for (const Value& input : inputs)
      if (const Place place = place_of(input); place.is_gpu())
        return Table(std::move(made), columns_there(wanted, inputs, place, state));
    std::vector<LateColumn> columns;
    for (const Value& input : inputs) columns.push_back({std::get<Column>(input), nullptr});
    std::vector<Column> results;
    for (const LateColumn& column : execute_late(wanted, columns, state))
      results.push_back(column.made());
    return Table(std::move(made), std::move(results));
  }

  // The device finds the rows that belong together, and the host picks them.
  std::optional<Table> execute_in_slices(const std::vector<bool>& wanted,
                                         std::span<const Value> inputs, TableState* state,
                                         Place place, int64_t slice_bytes) const override {
    if (unique.left || unique.right) return {};
    std::optional<JoinedRows>& joined = static_cast<JoinState*>(state)->rows;
    if (!joined) {
      const std::array<std::vector<Column>, 2> sides = key_columns(inputs);
      const auto num_rows = [&](int64_t at) {
        return std::get<Column>(inputs[static_cast<size_t>(at)]).num_rows();
      };
      joined = join_rows_in_slices(sides[0], num_rows(rows.left), sides[1], num_rows(rows.right),
                                   how, place, slice_bytes);
      if (!joined) return {};
    }
    return execute(wanted, inputs, state);
  }

  bool takes_late(int64_t place) const override {
    const auto reads = [place](const OutputSource& source) {
      return source.left == place || source.right == place;
    };
    return !reads(rows) && std::none_of(keys.begin(), keys.end(), reads) &&
           std::none_of(outputs.begin(), outputs.end(), [&](const OutputSource& source) {
             return reads(source) && source.left >= 0 && source.right >= 0;
           });
  }

  std::vector<LateColumn> execute_late(const std::vector<bool>& wanted,
                                       std::span<const LateColumn> inputs,
                                       TableState* state) const override {
    const auto column = [&](int64_t at) -> const Column& {
      return inputs[static_cast<size_t>(at)].column;
    };
    std::optional<JoinedRows>& joined = static_cast<JoinState*>(state)->rows;
    if (joined) joined = moved_rows(*joined, host);
    if (!joined) {
      std::vector<Column> left, right;
      for (const OutputSource& key : keys) {
        left.push_back(column(key.left));
        right.push_back(column(key.right));
      }
      joined = join_rows(left, column(rows.left).num_rows(), right, column(rows.right).num_rows(),
                         how, unique);
    }
    const auto is_repeated = [&](const OutputSource& source) {
      return (source.left < 0) != (source.right < 0);
    };
    RepeatedRows from_left(*joined, false, column(rows.left).num_rows(), how == JoinKind::kOuter),
        from_right(*joined, true, column(rows.right).num_rows(), how != JoinKind::kInner);
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] && is_repeated(outputs[i]))
        (outputs[i].left < 0 ? from_right : from_left)
            .expect(inputs[static_cast<size_t>(std::max(outputs[i].left, outputs[i].right))]);
    std::vector<LateColumn> results;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      const auto [left, right] = outputs[i];
      if (left < 0 && right < 0)
        results.push_back({make_indicator(*joined, is_turned), nullptr});
      else if (right < 0)
        results.push_back(from_left.of(inputs[static_cast<size_t>(left)]));
      else if (left < 0)
        results.push_back(from_right.of(inputs[static_cast<size_t>(right)]));
      else
        results.push_back({coalesce_keys(column(left), column(right), *joined), nullptr});
    }
    return results;
  }

  // Known of the inputs: which keys are unique, hence what need not be checked, and that rows of a
  // side come once at most.
  // Rows come in the order of the left side: each of its shards meets all of the right side.
  ShardedResult on_shards(ShardedInputs& inputs, size_t count) const override {
    if (how == JoinKind::kOuter || unique.left) return {};
    std::vector<int64_t> left;
    for (const auto* some : {&keys, &outputs})
      for (const OutputSource& source : *some)
        if (source.left >= 0) left.push_back(source.left);
    if (rows.left >= 0) left.push_back(rows.left);
    std::ranges::sort(left);
    left.erase(std::ranges::unique(left).begin(), left.end());
    if (std::ranges::none_of(left, [&](int64_t input) { return inputs.is_cut(input); })) return {};
    const std::vector<std::vector<NodePtr>> pieces = inputs.pieces(left);
    std::vector<NodePtr> made;
    for (size_t k = 0; k < inputs.places().size(); ++k) {
      std::vector<NodePtr> own;
      for (size_t i = 0, next = 0; i < count; ++i) {
        const auto place = static_cast<int64_t>(i);
        const bool is_left = next < left.size() && left[next] == place;
        own.push_back(is_left ? pieces[next++][k] : inputs.whole(place, inputs.places()[k]));
      }
      made.push_back(node(std::make_shared<Join>(*this), std::move(own)));
    }
    return {std::move(made), {}};
  }

  static NodePtr node(std::shared_ptr<Join> op, std::vector<NodePtr> inputs) {
    const auto are_known = [&](auto place) {
      std::vector<NodePtr> nodes;
      for (const OutputSource& key : op->keys)
        nodes.push_back(inputs[static_cast<size_t>(place(key))]);
      return !nodes.empty() && are_unique(nodes);
    };
    const bool left_unique = are_known([](const OutputSource& key) { return key.left; }),
               right_unique = are_known([](const OutputSource& key) { return key.right; });
    op->unique.left &= !left_unique;
    op->unique.right &= !right_unique;
    if (op->unique.left || op->unique.right) {
      op->sources.clear();
    } else {
      RowSource &left = op->sources[0], &right = op->sources[1];
      const bool filters = op->how == JoinKind::kSemi || op->how == JoinKind::kAnti;
      left.optional = op->how == JoinKind::kOuter;
      right.optional = op->how != JoinKind::kInner;
      left.once = filters || (right_unique && op->how != JoinKind::kOuter);
      right.once = left_unique && op->how == JoinKind::kInner;
    }
    return apply_table_operator(std::move(op), std::move(inputs));
  }

  static auto parameters(auto& self) {
    return std::tie(self.names, self.dtypes, self.columns_needed, self.sources, self.keys,
                    self.rows, self.outputs, self.how, self.unique, self.joins_categories,
                    self.is_turned, self.word);
  }

 private:
  std::array<std::vector<Column>, 2> key_columns(std::span<const Value> inputs) const {
    std::array<std::vector<Column>, 2> sides;
    for (const OutputSource& key : keys) {
      sides[0].push_back(std::get<Column>(inputs[static_cast<size_t>(key.left)]));
      sides[1].push_back(std::get<Column>(inputs[static_cast<size_t>(key.right)]));
    }
    return sides;
  }

  // The wanted columns on a CUDA device, those of a side together.
  std::vector<Column> columns_there(const std::vector<bool>& wanted, std::span<const Value> inputs,
                                    Place place, TableState* state) const {
    const auto column = [&](int64_t at) -> const Column& {
      return std::get<Column>(inputs[static_cast<size_t>(at)]);
    };
    std::optional<JoinedRows>& joined = static_cast<JoinState*>(state)->rows;
    if (joined) {
      joined = moved_rows(*joined, place);  // which may throw, and the work be done again
    } else {
      const std::array<std::vector<Column>, 2> sides = key_columns(inputs);
      joined = join_there(sides[0], column(rows.left).num_rows(), sides[1],
                          column(rows.right).num_rows(), how, unique, place);
    }
    std::vector<Column> results;
    std::vector<Column> sides[2];
    std::vector<size_t> places[2];  // of these among the results
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      const auto [left, right] = outputs[i];
      Column made;
      if (left < 0 && right < 0) {
        made = indicator_of(joined->rows, indicate_joined(*joined, is_turned, place));
      } else if (left >= 0 && right >= 0) {
        made = coalesce_joined(column(left), column(right), *joined);
      } else if (left >= 0 && joined->keeps_left) {
        made = column(left);
      } else {
        sides[left < 0].push_back(column(std::max(left, right)));
        places[left < 0].push_back(results.size());
      }
      results.push_back(std::move(made));
    }
    const bool may_miss[] = {how == JoinKind::kOuter, how != JoinKind::kInner};
    for (const size_t side : {0, 1}) {
      if (sides[side].empty()) continue;
      std::vector<Column> made =
          gather_joined(sides[side], side == 0 ? joined->left : joined->right, may_miss[side]);
      for (size_t c = 0; c < made.size(); ++c) results[places[side][c]] = std::move(made[c]);
    }
    return results;
  }

  JoinPlaces places() const {
    JoinPlaces at{rows.left, rows.right, {}, {}, {}};
    for (const OutputSource& key : keys) {
      at.left_keys.push_back(key.left);
      at.right_keys.push_back(key.right);
    }
    for (const OutputSource& source : outputs) at.left_columns.push_back(source.right < 0);
    return at;
  }
};

}  // namespace

JoinColumn shared_key(const std::string& name, NodePtr left, NodePtr right, std::string_view how) {
  const Dtype a = left->signature().dtype, b = right->signature().dtype;
  if (a.has_zone() && b.has_zone() && a != b)
    right = retype(right, Dtype::timestamp(b.unit(), a.zone()));
  if (a != b && (a.is_category() || b.is_category())) unify_values(left, right);
  JoinColumn column{.name = name};
  if (how != "right") column.left = std::move(left);
  if (how == "right" || how == "outer") column.right = std::move(right);
  return column;
}

NodePtr join(const JoinSides& sides, const std::vector<JoinColumn>& columns, JoinKind kind,
             JoinUnique unique, const std::string& indicator, const std::string& how) {
  auto op = std::make_shared<Join>();
  op->how = kind;
  op->unique = unique;
  op->word = how;
  op->is_turned = how == "right";
  SideInputs inputs;
  for (size_t i = 0; i < sides.left_keys.size(); ++i) {
    NodePtr left = column_node(kOp, sides.left_keys[i]),
            right = column_node(kOp, sides.right_keys[i]);
    unify_keys(kOp, left, right);
    op->keys.push_back({inputs.add(left, false), inputs.add(right, true)});
  }
  op->rows = op->keys.empty() ? OutputSource{inputs.add(column_node(kOp, sides.left_rows), false),
                                             inputs.add(column_node(kOp, sides.right_rows), true)}
                              : op->keys[0];
  const auto always = static_cast<int64_t>(inputs.nodes().size());
  RowSource of_left, of_right;
  OutputNames seen;
  const auto add = [&](const std::string& name, Dtype dtype, OutputSource source) {
    seen.add(kOp, name, "pass other suffixes, or rename it first");
    op->names.push_back(name);
    op->dtypes.push_back(dtype);
    op->outputs.push_back(source);
    of_left.columns.push_back(source.right < 0 ? source.left : -1);
    of_right.columns.push_back(source.left < 0 ? source.right : -1);
    std::vector<int64_t>& needs = op->columns_needed.emplace_back();
    for (const int64_t at : {source.left, source.right})
      if (at >= always) needs.push_back(at);
  };
  for (const JoinColumn& column : columns) {
    NodePtr left = column.left ? column_node(kOp, column.left) : nullptr;
    NodePtr right = column.right ? column_node(kOp, column.right) : nullptr;
    if (left && right) unify_values(left, right);
    op->joins_categories |= left && right && left->signature().dtype.is_category();
    add(column.name, (left ? left : right)->signature().dtype,
        {inputs.add(left, false), inputs.add(right, true)});
  }
  if (!indicator.empty()) add(indicator, TypeId::kCategory, {});
  of_left.inputs = inputs.of(false);
  of_right.inputs = inputs.of(true);
  op->sources = {std::move(of_left), std::move(of_right)};
  return Join::node(std::move(op), inputs.nodes());
}

std::optional<JoinKind> join_kind(const Operator& op) {
  const auto* const own = dynamic_cast<const Join*>(&op);
  return own ? std::optional(own->how) : std::nullopt;
}

namespace {

// Values of so large a set are put in order only where some of them do not tell it.
constexpr int64_t kFewValues = 4096;

// Every `step`-th value that is no NaN, in order.
template <class T, class ValueOf>
std::vector<T> sorted_values(const Column& set, int64_t step, bool& has_nan,
                             const ValueOf& value_of) {
  std::vector<T> sorted;
  for (int64_t row = 0; row < set.num_rows(); row += step) sorted.push_back(value_of(set, row));
  has_nan |= std::erase_if(sorted, [](const T& value) { return value != value; }) > 0;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

template <class T>
bool has_between(const std::vector<T>& sorted, const T& least, const T& most) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), least);
  return found != sorted.end() && *found <= most;
}

// By row: whether a value of `set` lies between that of `least` and that of `most`. NaN, which lies
// between none, may be there always.
Column any_between(const Column& set, const Column& least, const Column& most) {
  const int64_t rows = least.num_rows();
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  const auto find = [&](auto&& value_of) {
    using T = std::decay_t<decltype(value_of(set, 0))>;
    std::vector<int64_t> left(static_cast<size_t>(rows));
    std::iota(left.begin(), left.end(), int64_t{0});
    for (int64_t step = std::max<int64_t>(set.num_rows() / kFewValues, 1); !left.empty();
         step = 1) {
      bool has_nan = false;
      const std::vector<T> sorted = sorted_values<T>(set, step, has_nan, value_of);
      std::erase_if(left, [&](int64_t row) {
        const bool is_found = has_nan || least.is_null(row) || most.is_null(row) ||
                              has_between(sorted, value_of(least, row), value_of(most, row));
        set_bit(bits.mutable_as<uint8_t>(), row, is_found);
        return is_found;
      });
      if (step == 1) break;
    }
  };
  if (set.dtype().is_string())
    find([](const Column& column, int64_t row) { return column.string(row); });
  else if (set.dtype().is_decimal())
    find([](const Column& column, int64_t row) {
      return column.values<Int128>()[static_cast<size_t>(row)];
    });
  else
    visit_real(set.dtype().storage(), [&]<class T>(std::type_identity<T>) {
      find([](const Column& column, int64_t row) {
        return column.values<T>()[static_cast<size_t>(row)];
      });
    });
  return Column(TypeId::kBool, rows, std::move(bits));
}

/// By row of the bounds: whether a value of the set lies between them.
struct AnyBetween final : OperatorOf<AnyBetween> {
  std::string_view name() const override { return "isin"; }

  std::string arguments() const override { return "bounds"; }

  Value execute(std::span<const Value> inputs) const override {
    return any_between(std::get<Column>(inputs[0]), std::get<Column>(inputs[1]),
                       std::get<Column>(inputs[2]));
  }
};

struct IsIn final : OperatorOf<IsIn, Predicate>, MembershipTest {
  std::string_view name() const override { return "isin"; }

  Column test(std::span<const Value> inputs, const Mask* where) const override {
    return is_in(std::get<Column>(inputs[0]), std::get<Column>(inputs[1]), where);
  }

  // Null is one of values with a null in them, and lies between none.
  NodePtr may_be_true(std::span<const NodePtr> inputs, const NodePtr& least,
                      const NodePtr& most) const override {
    const NodePtr& set = inputs[1];
    const Dtype dtype = least->signature().dtype;
    const bool is_ordered = dtype.storage().is_real() || dtype.is_decimal() || dtype.is_string();
    // Values that have to be made first are not known when the plan is.
    if (!set->is_ready() || set->signature().form != Form::kColumn ||
        dtype != set->signature().dtype || !is_ordered || set->signature().nullable)
      return nullptr;
    Signature signature = least->signature();
    signature.dtype = TypeId::kBool;
    signature.nullable = false;
    return apply_operator(AnyBetween::make(), std::move(signature), {set, least, most});
  }

  std::optional<Column> members(std::span<const NodePtr> inputs) const override {
    const NodePtr& set = inputs[1];
    const auto* const found = set->is_ready() ? std::get_if<Column>(&set->value()) : nullptr;
    return found && found->null_count() == 0 ? std::optional(*found) : std::nullopt;
  }
};

// The time that the string names, in the zone of `like` if it has one.
TimeLiteral time_of(std::string_view text, Dtype like) {
  const std::optional<TimeLiteral> time = time_from_text(text, like);
  if (!time)
    throw_error<InvalidArgumentError>("isin", "the string is not an ISO date or time",
                                      {{"value", text}, {"dtype", like.name()}});
  if (time->dtype.has_zone() != like.has_zone())
    throw_error<TypeMismatchError>("isin", "a zoned time cannot be combined with naive times",
                                   {{"value", text}}, "leave the offset out");
  return *time;
}

// ISO strings, which are there already, as times of the finest unit among them.
NodePtr times_of(const Column& texts, Dtype like) {
  const int64_t rows = texts.num_rows();
  std::vector<Int128> nanoseconds(static_cast<size_t>(rows));
  Buffer valid = Buffer::allocate_zeroed(bitmap_bytes(rows)), counts = Buffer::allocate(8 * rows);
  TimeUnit unit = TimeUnit::kSecond;
  for (int64_t row = 0; row < rows; ++row) {
    if (texts.is_null(row)) continue;
    const TimeLiteral time = time_of(texts.string(row), like);
    nanoseconds[static_cast<size_t>(row)] = time.nanoseconds;
    unit = std::max(unit, count_unit(time.dtype).value_or(unit));
    set_bit(valid.mutable_as<uint8_t>(), row, true);
  }
  for (int64_t row = 0; row < rows; ++row) {
    const Int128 count = nanoseconds[static_cast<size_t>(row)] / nanoseconds_per(unit);
    const auto narrow = static_cast<int64_t>(count);
    if (narrow != count)
      throw_error<InvalidArgumentError>("isin", "the times do not fit one unit",
                                        {{"value", texts.string(row)}});
    counts.mutable_as<int64_t>()[row] = narrow;
  }
  const Dtype dtype =
      like.has_zone() ? Dtype::timestamp(unit, like.zone()) : Dtype::timestamp(unit);
  return lazy_value(Column(dtype, rows, std::move(counts), std::move(valid), texts.null_count()));
}

}  // namespace

NodePtr is_in(const NodePtr& values, const NodePtr& set) {
  NodePtr left = column_node("isin", values), right = column_node("isin", set);
  const Dtype dtype = left->signature().dtype;
  if (dtype.is_temporal() && right->signature().dtype.is_string() && right->is_ready())
    right = times_of(std::get<Column>(right->value()), dtype);
  unify_keys("isin", left, right);
  Signature signature = left->signature();
  signature.dtype = TypeId::kBool;
  signature.nullable = false;
  return apply_predicate(IsIn::make(), std::move(signature), {left, right});
}

}  // namespace hr
