// SPDX-License-Identifier: Apache-2.0
// Deferred group-by.
#include "headrace/relational/aggregate/aggregate_nodes.h"

#include "headrace/algo/keys/factorize_partitioned.h"
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/plan/optimize/early_aggregation.h"
#include "headrace/relational/aggregate/aggregate_cost.h"
#include "headrace/relational/aggregate/distinct_rows.h"
#include "headrace/relational/aggregate/early_aggregate.h"
#include "headrace/relational/aggregate/semi_join_aggregate.h"
#include "headrace/relational/aggregate/sharded_aggregate.h"
#include "headrace/relational/aggregate/sliced_aggregate.h"
#include "headrace/relational/join/join_nodes.h"
#include "headrace/relational/order/window_places.h"
#include "headrace/relational/rows/operator_inputs.h"
#include "headrace/relational/rows/struct_codes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hr {

namespace {

constexpr std::string_view kOp = "groupby";

void check_rows(const NodePtr& first, const NodePtr& node, std::string_view name) {
  const Signature& rows = first->signature();
  const Signature& own = node->signature();
  const bool both_known = rows.rows() != kUnknown && own.rows() != kUnknown;
  if (both_known ? rows.rows() != own.rows() : rows.domain != own.domain)
    throw_error<InvalidArgumentError>(
        kOp, "a column and the keys have different rows",
        {{"column", name}, own.rows_detail("rows"), rows.rows_detail("key_rows")});
  if (rows.domain != 0 && own.domain != 0 && rows.domain != own.domain)
    throw_error<InvalidArgumentError>(kOp, "a column and the keys belong to different frames",
                                      {{"column", name}},
                                      "bring them into one frame with merge or join first");
}

void check_request(const AggregateRequest& request) {
  if (!(request.quantile >= 0 && request.quantile <= 1))
    throw_error<InvalidArgumentError>(kOp, "q is out of range", {{"q", request.quantile}},
                                      "pass 0 to 1");
  if (request.ddof < 0)
    throw_error<InvalidArgumentError>(kOp, "ddof is negative", {{"ddof", request.ddof}});
}

void check_key(Dtype dtype, std::string_view name) {
  if (dtype.is_complex() || dtype.is_nested())
    throw_error<TypeMismatchError>(kOp, "complex numbers and lists cannot be keys",
                                   {{"key", name}});
}

Dtype place_request(GroupColumn& column, const NodePtr& first, OperatorInputs& inputs) {
  AggregateRequest& request = column.request;
  check_request(request);
  request.column = request.other = -1;
  if (aggregate_row(request.aggregate).input == AggregateInput::kNoColumn) return TypeId::kInt64;
  const auto place = [&](const NodePtr& values) {
    const NodePtr node = column_node(kOp, values, column.name);
    check_rows(first, node, column.name);
    const Dtype dtype =
        aggregate_dtype(request.aggregate, node->signature().dtype, AggregateForm::kGroup);
    return std::pair(inputs.add(node), dtype);
  };
  const auto [at, dtype] = place(column.values);
  request.column = at;
  if (request.aggregate == Aggregate::kCorrelation) request.other = place(column.other).first;
  return dtype;
}

// The table that all columns are parts of, if it did not run yet; null for others.
NodePtr pending_table_of(const std::vector<NodePtr>& columns) {
  NodePtr table;
  for (const NodePtr& column : columns) {
    if (column->is_ready() || column->kind() != NodeKind::kPart) return nullptr;
    const NodePtr& of = column->fields().inputs[0];
    if ((table && table != of) || of->is_ready()) return nullptr;
    table = of;
  }
  return table;
}

/// One row a group: its keys, then an aggregate a request.
struct GroupBy final : OperatorOf<GroupBy, TableOperator>, GroupsRows, RunsOnShards, RunsInSlices {
  std::vector<int64_t> keys{};               // places of inputs
  std::vector<AggregateRequest> requests{};  // of inputs
  GroupOptions options{};
  std::vector<SemiJoinKey> key_filters{};  // groups with other keys may be left out

  std::string_view name() const override { return kOp; }

  std::string arguments() const override {
    std::string text;
    for (size_t k = 0; k < keys.size(); ++k) text += (k ? ", " : "") + names[k];
    for (const SemiJoinKey& filter : key_filters)
      text += "; semi-join filter on " + names[key_with(filter.key)];
    return text;
  }

  int passes() const override { return 2; }

  bool is_fusable() const override { return true; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value>) const override {
    return key_filters.empty() ? "" : "a semi-join filter has no kernel for CUDA";
  }

  int64_t unique_keys() const override { return static_cast<int64_t>(keys.size()); }

  bool finds_first_rows() const override {
    return requests.size() == 1 && requests[0].aggregate == Aggregate::kFirstRow &&
           key_filters.empty();
  }

  bool ignores_order() const override {
    return takes_key_filter() && options.order != GroupOrder::kFirstSeen &&
           std::none_of(requests.begin(), requests.end(), [](const AggregateRequest& request) {
             return aggregate_row(request.aggregate).rows == RowUse::kOrder;
           });
  }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState*) const override {
    const bool there = place_of(inputs[static_cast<size_t>(keys[0])]).is_gpu();
    if (there && finds_rows_there()) return table_of(wanted, distinct_there(wanted, inputs));
    if (is_distinct(wanted) && !there) return table_of(wanted, distinct(wanted, inputs));
    return table_of(
        wanted, semi_join_aggregate(inputs, keys, key_filters, wanted_requests(wanted), options));
  }

  Table execute_fused(const std::vector<bool>& wanted, const RowInputs& inputs) const override {
    if (is_distinct(wanted)) return table_of(wanted, distinct(wanted, inputs.made()));
    return table_of(
        wanted, semi_join_aggregate(inputs, keys, key_filters, wanted_requests(wanted), options));
  }

  int64_t guess_rows(const InputEstimates& inputs) const override {
    return estimate_groups(inputs, keys);
  }

  std::optional<OperatorCost> work(const InputEstimates& inputs, int64_t rows,
                                   const std::vector<bool>& wanted) const override {
    return aggregate_cost(inputs, keys, wanted_requests(wanted), options.order, rows,
                          is_distinct(wanted));
  }

  NodePtr with_inputs(std::span<const NodePtr> inputs, const std::vector<bool>&) const override {
    return node(std::make_shared<GroupBy>(*this), {inputs.begin(), inputs.end()});
  }

  NodePtr in_any_order(std::span<const NodePtr> inputs) const override {
    if (options.order == GroupOrder::kAny) return nullptr;
    auto op = std::make_shared<GroupBy>(*this);
    op->options.order = GroupOrder::kAny;
    return node(std::move(op), {inputs.begin(), inputs.end()});
  }

  NodePtr grouped_before(std::span<const NodePtr> inputs, const Node& join) const override {
    // Rows in no order would come in another one.
    if (!key_filters.empty() || options.order == GroupOrder::kAny) return nullptr;
    return group_before_join({names, inputs, keys, requests, options}, join);
  }

  bool takes_key_filter() const override {
    return std::none_of(requests.begin(), requests.end(), [](const AggregateRequest& request) {
      return aggregate_row(request.aggregate).rows == RowUse::kNumbers;
    });
  }

  NodePtr with_key_filter(std::span<const NodePtr> inputs, int64_t column,
                          const NodePtr& values) const override {
    if (column >= static_cast<int64_t>(keys.size())) return nullptr;
    const int64_t key = keys[static_cast<size_t>(column)];
    if (inputs[static_cast<size_t>(key)]->signature().dtype != values->signature().dtype)
      return nullptr;
    auto filtered = std::make_shared<GroupBy>(*this);
    filtered->key_filters.push_back({key, static_cast<int64_t>(inputs.size())});
    std::vector<NodePtr> own(inputs.begin(), inputs.end());
    own.push_back(values);
    return node(std::move(filtered), std::move(own));
  }

  ShardedResult on_shards(ShardedInputs& inputs, size_t count) const override {
    if (!key_filters.empty()) return {};
    return {{}, group_shards({names, keys, requests, options}, inputs, count)};
  }

  std::optional<Table> execute_in_slices(const std::vector<bool>& wanted,
                                         std::span<const Value> inputs, TableState*, Place place,
                                         int64_t slice_bytes) const override {
    if (!key_filters.empty()) return {};
    const std::vector<AggregateRequest> some = wanted_requests(wanted);
    std::vector<Column> own, values(inputs.size());
    for (const int64_t key : keys)
      own.push_back(std::get<Column>(inputs[static_cast<size_t>(key)]));
    for (const AggregateRequest& request : some)
      for (const int64_t at : {request.column, request.other})
        if (at >= 0)
          values[static_cast<size_t>(at)] = std::get<Column>(inputs[static_cast<size_t>(at)]);
    const auto grouped = group_in_slices(own, values, some, options, place, slice_bytes);
    if (!grouped) return {};
    return table_of(wanted, *grouped);
  }

  static NodePtr node(std::shared_ptr<const GroupBy> op, std::vector<NodePtr> inputs) {
    uint64_t domain = 0;
    if (op->key_filters.empty() && op->options.order != GroupOrder::kAny) {
      std::vector<NodePtr> own;
      for (const int64_t key : op->keys) own.push_back(inputs[static_cast<size_t>(key)]);
      ParameterWriter options;
      options.write(op->options);
      domain = groups_domain(own, options.take());
    }
    return apply_table_operator(std::move(op), std::move(inputs), kUnknown, domain);
  }

  static auto parameters(auto& self) {
    return std::tie(self.names, self.dtypes, self.columns_needed, self.sources, self.fused_keys,
                    self.fused_values, self.keys, self.requests, self.options, self.key_filters);
  }

 private:
  size_t key_with(int64_t place) const {
    return static_cast<size_t>(std::find(keys.begin(), keys.end(), place) - keys.begin());
  }

  std::vector<AggregateRequest> wanted_requests(const std::vector<bool>& wanted) const {
    std::vector<AggregateRequest> some;
    for (size_t k = 0; k < requests.size(); ++k)
      if (wanted[keys.size() + k]) some.push_back(requests[k]);
    return some;
  }

  // Whether the results are the first rows of the keys alone, and keys that are as there.
  bool is_distinct(const std::vector<bool>& wanted) const {
    for (size_t k = 0; k < keys.size(); ++k)
      if (wanted[k] && !dtypes[k].is_integer()) return false;
    return options.order == GroupOrder::kFirstSeen && key_filters.empty() &&
           memory_limit() == INT64_MAX &&
           std::ranges::all_of(requests, [](const AggregateRequest& request) {
             return request.aggregate == Aggregate::kFirstRow;
           });
  }

  // Whether a kernel finds all that is asked: the first rows of keys, seen in their order.
  bool finds_rows_there() const {
    return options.order == GroupOrder::kFirstSeen && !options.drop_missing &&
           key_filters.empty() && std::ranges::all_of(requests, [](const AggregateRequest& each) {
             return each.aggregate == Aggregate::kFirstRow;
           });
  }

  Grouped distinct_there(const std::vector<bool>& wanted, std::span<const Value> inputs) const {
    std::vector<Column> columns;
    for (const int64_t place : keys)
      columns.push_back(std::get<Column>(inputs[static_cast<size_t>(place)]));
    const Tensor rows = distinct_rows(columns);
    Grouped grouped;
    for (size_t k = 0; k < columns.size(); ++k)
      grouped.keys.push_back(wanted[k] ? canonical_keys(gather(columns[k], rows)) : Column());
    grouped.values.assign(wanted_requests(wanted).size(), as_column(rows));
    return grouped;
  }

  Grouped distinct(const std::vector<bool>& wanted, std::span<const Value> inputs) const {
    std::vector<Column> columns;
    for (const int64_t place : keys)
      columns.push_back(std::get<Column>(inputs[static_cast<size_t>(place)]));
    const Tensor rows = distinct_rows(
        NormalizedKeys::of(kOp, columns, {.ordered = false, .drop_missing = options.drop_missing}));
    Grouped grouped;
    for (size_t k = 0; k < columns.size(); ++k)
      grouped.keys.push_back(wanted[k] ? gather(columns[k], rows) : Column());
    grouped.values.assign(wanted_requests(wanted).size(), as_column(rows));
    return grouped;
  }

  Table table_of(const std::vector<bool>& wanted, const Grouped& grouped) const {
    std::vector<std::string> kept;
    std::vector<Column> results;
    for (size_t k = 0, next = 0; k < wanted.size(); ++k) {
      if (!wanted[k]) continue;
      kept.push_back(names[k]);
      results.push_back(k < keys.size() ? grouped.keys[k] : grouped.values[next++]);
    }
    return Table(std::move(kept), std::move(results));
  }
};

}  // namespace

NodePtr group_by(std::vector<GroupKey> keys, std::vector<GroupColumn> columns,
                 GroupOptions options) {
  if (keys.empty())
    throw_error<InvalidArgumentError>(kOp, "expected at least one key", {}, "name a column");
  auto op = std::make_shared<GroupBy>();
  op->options = options;
  OperatorInputs inputs;
  OutputNames names;
  const auto name_column = [&](const std::string& name, Dtype dtype) {
    names.add(kOp, name, "give it another name: agg(name=(column, aggregate))");
    op->names.push_back(name);
    op->dtypes.push_back(dtype);
  };
  for (const GroupKey& key : keys) {
    const NodePtr node = column_node(kOp, plain_key(key.values), key.name);
    if (!op->keys.empty()) check_rows(inputs.nodes[0], node, key.name);
    check_key(node->signature().dtype, key.name);
    op->keys.push_back(inputs.add(node));
    name_column(key.name, node->signature().dtype);
  }
  op->columns_needed.resize(keys.size());
  for (GroupColumn& column : columns) {
    const NodePtr first = inputs.nodes[0];
    name_column(column.name, place_request(column, first, inputs));
    op->requests.push_back(column.request);
    std::vector<int64_t>& needs = op->columns_needed.emplace_back();
    for (const int64_t place : {column.request.column, column.request.other}) {
      if (place < 0) continue;
      op->fused_values.push_back(place);
      if (std::find(op->keys.begin(), op->keys.end(), place) == op->keys.end())
        needs.push_back(place);
    }
  }
  op->fused_keys = op->keys;
  if (op->takes_key_filter()) {
    RowSource& rows = op->sources.emplace_back();
    for (size_t place = 0; place < inputs.nodes.size(); ++place)
      rows.inputs.push_back(static_cast<int64_t>(place));
    rows.columns.assign(op->names.size(), -1);
    for (size_t k = 0; k < keys.size(); ++k)
      if (!op->dtypes[k].is_floating()) rows.columns[k] = op->keys[k];  // -0.0 becomes 0.0
  }
  if (options.order == GroupOrder::kAny) {
    const NodePtr join = pending_table_of(inputs.nodes);
    if (join && join_kind(*join->fields().op) && has_many_more_right_rows(*join))
      if (NodePtr made =
              group_before_join({op->names, inputs.nodes, op->keys, op->requests, options}, *join))
        return made;
  }
  return GroupBy::node(std::move(op), std::move(inputs.nodes));
}

namespace {

/// How many distinct keys a column has: one row.
struct CountDistinct final : OperatorOf<CountDistinct, TableOperator> {
  bool drop_missing = true;

  std::string_view name() const override { return "nunique"; }

  int passes() const override { return 2; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    const auto& column = std::get<Column>(inputs[0]);
    return column.dtype().is_decimal() ? "decimals have no kernel for CUDA" : "";
  }

  Table execute(const std::vector<bool>&, std::span<const Value> inputs,
                TableState*) const override {
    const Column& column = std::get<Column>(inputs[0]);
    if (const Place place = column.place(); place.is_gpu()) {
      if (const auto numbers = numbers_of_keys({column}, drop_missing))
        return Table(names, {one_number(numbers->first_rows.num_elements())});
      const std::vector<Value> made =
          run_on_host(name(), "keys without numbers have no kernel for CUDA", place, {column},
                      [&](std::span<const Value> here) {
                        return std::vector<Value>{one_number(count(std::get<Column>(here[0])))};
                      });
      return Table(names, {std::get<Column>(made[0])});
    }
    return Table(names, {one_number(count(column))});
  }

  int64_t guess_rows(const InputEstimates&) const override { return 1; }

  static auto parameters(auto& self) {
    return std::tie(self.names, self.dtypes, self.drop_missing);
  }

 private:
  int64_t count(const Column& column) const {
    if (memory_limit() == INT64_MAX)
      return hr::count_distinct(
          NormalizedKeys::of(kOp, {column}, {.ordered = false, .drop_missing = drop_missing}));
    return hr::group_by({column}, {}, {{.aggregate = Aggregate::kSize}},
                        {GroupOrder::kAny, drop_missing})
        .values[0]
        .num_rows();
  }

  static Column one_number(int64_t number) {
    Buffer value = Buffer::allocate(8);
    *value.mutable_as<int64_t>() = number;
    return Column(TypeId::kInt64, 1, std::move(value));
  }
};

}  // namespace

NodePtr count_distinct(const NodePtr& column, bool drop_missing) {
  const NodePtr key = column_node(kOp, plain_key(column), "key");
  check_key(key->signature().dtype, "key");
  auto op = std::make_shared<CountDistinct>();
  op->names = {"nunique"};
  op->dtypes = {TypeId::kInt64};
  op->drop_missing = drop_missing;
  const NodePtr table = apply_table_operator(std::move(op), {key}, 1);
  return reduce(Aggregate::kSum, table_column(table, 0));
}

namespace {

// Rows of several columns taken in turn; those that are null are left out of all.
Table take_in_turn(const Table& wide, size_t num_keys, const std::string& name) {
  const int64_t groups = wide.num_rows();
  const auto count = static_cast<int64_t>(wide.columns().size() - num_keys);
  const auto values = [&](int64_t group) {  // the last ones are null
    int64_t there = count;
    while (there > 0 && wide.column(static_cast<int64_t>(num_keys) + there - 1).is_null(group))
      --there;
    return there;
  };
  const std::vector<int64_t> ends = compact_offsets(groups, {}, [&](Morsel morsel) {
    int64_t rows = 0;
    for (int64_t group = morsel.begin; group < morsel.end; ++group) rows += values(group);
    return rows;
  });
  const int64_t rows = ends.back();
  const Column& first = wide.column(static_cast<int64_t>(num_keys));
  const int64_t width = first.dtype().size_bytes();
  Buffer from = Buffer::allocate(8 * rows), taken = Buffer::allocate(width * rows);
  if (rows > 0) {
    auto* at = from.mutable_as<int64_t>();
    std::byte* out = taken.mutable_data();
    parallel_morsels(groups, [&](Morsel morsel) {
      int64_t row = ends[static_cast<size_t>(morsel.index)];
      for (int64_t group = morsel.begin; group < morsel.end; ++group) {
        const int64_t there = values(group);
        for (int64_t k = 0; k < there; ++k, ++row) {
          at[row] = group;
          const Column& column = wide.column(static_cast<int64_t>(num_keys) + k);
          std::memcpy(out + row * width,
                      column.values_buffer().data() + (column.offset() + group) * width,
                      static_cast<size_t>(width));
        }
      }
    });
  }
  const Tensor groups_of(TypeId::kInt64, {rows}, from);
  std::vector<std::string> names;
  std::vector<Column> columns;
  for (size_t k = 0; k < num_keys; ++k) {
    names.push_back(wide.names()[k]);
    columns.push_back(gather(wide.columns()[k], groups_of));
  }
  names.push_back(name);
  columns.push_back(Column(first.dtype(), rows, std::move(taken)));
  return Table(std::move(names), std::move(columns));
}

// The greatest or least values of groups, concatenated.
struct TopOfGroups final : OperatorOf<TopOfGroups, TableOperator> {
  int64_t keys = 0;
  bool largest = false;

  std::string_view name() const override { return largest ? "nlargest" : "nsmallest"; }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState*) const override {
    const Table all =
        take_in_turn(std::get<Table>(inputs[0]), static_cast<size_t>(keys), names.back());
    std::vector<std::string> kept_names;
    std::vector<Column> kept;
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!wanted[k]) continue;
      kept_names.push_back(all.names()[k]);
      kept.push_back(all.columns()[k]);
    }
    return Table(std::move(kept_names), std::move(kept));
  }

  static auto parameters(auto& self) {
    return std::tie(self.names, self.dtypes, self.keys, self.largest);
  }
};

}  // namespace

NodePtr group_top(std::vector<GroupKey> keys, const std::string& name, const NodePtr& values,
                  int64_t count, bool largest, GroupOptions options) {
  if (count < 1 || count > kMostTop)
    throw_error<InvalidArgumentError>(kOp, "n is out of range", {{"n", count}, {"most", kMostTop}});
  const Dtype dtype = values->signature().dtype;
  if (dtype.is_bool())
    throw_error<TypeMismatchError>(kOp, "the values are not numbers",
                                   {{"column", name}, {"dtype", dtype.name()}});
  std::vector<GroupColumn> columns;
  for (int64_t rank = 0; rank < count; ++rank) {
    GroupColumn& column = columns.emplace_back();
    column.name = name + " " + std::to_string(rank + 1);
    column.request.aggregate = largest ? Aggregate::kLargest : Aggregate::kSmallest;
    column.request.rank = rank;
    column.values = values;
  }
  auto op = std::make_shared<TopOfGroups>();
  for (const GroupKey& key : keys) {
    op->names.push_back(key.name);
    op->dtypes.push_back(plain_key(key.values)->signature().dtype);
  }
  op->names.push_back(name);
  op->dtypes.push_back(dtype);
  op->keys = static_cast<int64_t>(keys.size());
  op->largest = largest;
  return apply_table_operator(std::move(op),
                              {group_by(std::move(keys), std::move(columns), options)});
}

namespace {

/// An aggregate of the group of each row.
struct Transform final : OperatorOf<Transform> {
  std::vector<int64_t> keys{};
  AggregateRequest request{};
  bool drop_missing = true;

  std::string_view name() const override { return "transform"; }

  std::string arguments() const override {
    return std::string(aggregate_name(request.aggregate, AggregateForm::kGroup));
  }

  int passes() const override { return 3; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    std::vector<Column> columns;
    for (const int64_t place : keys)
      columns.push_back(std::get<Column>(inputs[static_cast<size_t>(place)]));
    if (const Place place = columns[0].place(); place.is_gpu()) {
      if (columns[0].num_rows() == 0) return no_rows(inputs);
      if (const auto numbers = numbers_of_keys(columns, drop_missing))
        return rows_of_numbers(aggregated(numbers->codes, inputs), numbers->codes);
      return run_on_host(kOp, "keys without numbers have no kernel for CUDA", place,
                         {inputs.begin(), inputs.end()}, [&](std::span<const Value> here) {
                           return std::vector<Value>{execute(here)};
                         })[0];
    }
    const NormalizedKeys packed =
        NormalizedKeys::of(kOp, columns, {.ordered = false, .drop_missing = drop_missing});
    // Numbers of the groups as the only key: group k is row k of the result.
    const int64_t rows = packed.num_rows();
    const SortedFactorizedKeys found = factorize_sorted(
        rows, [&](int64_t row, int64_t count, uint64_t* out) { packed.read(row, count, out); },
        packed.accesses(), packed.has_missing() ? std::optional(packed.missing()) : std::nullopt);
    const Column numbers(TypeId::kUInt32, rows, found.numbers);
    Column result = aggregated(numbers, inputs);
    const int64_t last = found.count - 1;
    if (packed.has_missing() && last >= 0 && found.keys.as<uint64_t>()[last] == packed.missing()) {
      Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(found.count));
      for (int64_t row = 0; row < last; ++row)
        set_bit(validity.mutable_as<uint8_t>(), row, !result.is_null(row));
      result = result.with_rows(found.count, result.values_buffer(), validity, -1);
    }
    return gather(result, as_tensor(numbers));
  }

  std::optional<OperatorCost> work(const InputEstimates& inputs, int64_t rows,
                                   const std::vector<bool>&) const override {
    const int64_t groups = estimate_groups(inputs, keys);
    const auto count = static_cast<double>(groups);
    OperatorCost work = aggregate_cost(inputs, keys, {request}, GroupOrder::kAny, groups, false);
    work.nanoseconds += 4 * static_cast<double>(rows);
    work.serial_nanoseconds += 50 * count;
    work.bytes += 4 * static_cast<double>(rows) + 56 * count;
    return work;
  }

  static auto parameters(auto& self) {
    return std::tie(self.keys, self.request, self.drop_missing);
  }

 private:
  Column no_rows(std::span<const Value> inputs) const {
    const Dtype dtype = request.column < 0
                            ? Dtype()
                            : std::get<Column>(inputs[static_cast<size_t>(request.column)]).dtype();
    return Column(aggregate_dtype(request.aggregate, dtype, AggregateForm::kGroup), 0, Buffer());
  }

  // Of the rows of each number, in their order.
  Column aggregated(const Column& numbers, std::span<const Value> inputs) const {
    AggregateRequest own = request;
    std::vector<Column> folded;
    for (int64_t* place : {&own.column, &own.other}) {
      if (*place < 0) continue;
      folded.push_back(std::get<Column>(inputs[static_cast<size_t>(*place)]));
      *place = static_cast<int64_t>(folded.size()) - 1;
    }
    return group_by({numbers}, folded, {own}).values[0];
  }
};

}  // namespace

NodePtr group_transform(const std::vector<NodePtr>& keys, const GroupColumn& given,
                        GroupOptions options) {
  OperatorInputs inputs;
  std::vector<int64_t> key_places;
  for (const NodePtr& key : keys) {
    const NodePtr node = column_node(kOp, plain_key(key), "key");
    if (!key_places.empty()) check_rows(inputs.nodes[0], node, "key");
    key_places.push_back(inputs.add(node));
  }
  if (keys.empty())
    throw_error<InvalidArgumentError>(kOp, "expected at least one key", {}, "name a column");
  GroupColumn column = given;
  const NodePtr first = inputs.nodes[0];
  Signature signature = first->signature();
  signature.dtype = place_request(column, first, inputs);
  signature.form = Form::kColumn;
  signature.nullable = true;
  return apply_operator(
      Transform::make(std::move(key_places), column.request, options.drop_missing),
      std::move(signature), std::move(inputs.nodes));
}

}  // namespace hr
