// SPDX-License-Identifier: Apache-2.0
// Deferred group-by.
#include "headrace/relational/aggregate/aggregate_nodes.h"

#include "headrace/algo/keys/factorize_partitioned.h"
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/graph/fingerprint.h"
#include "headrace/relational/aggregate/aggregate_cost.h"
#include "headrace/relational/aggregate/semi_join_aggregate.h"
#include "headrace/relational/rows/operator_inputs.h"

#include <algorithm>
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
        kOp, "a column has other rows than the keys",
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

bool takes_column(Aggregate aggregate) {
  return aggregate != Aggregate::kSize && aggregate != Aggregate::kFirstRow;
}

Dtype place_request(GroupColumn& column, const NodePtr& first, OperatorInputs& inputs) {
  AggregateRequest& request = column.request;
  check_request(request);
  request.column = request.other = -1;
  if (!takes_column(request.aggregate)) return TypeId::kInt64;
  const auto place = [&](const NodePtr& values) {
    const NodePtr node = column_node(kOp, values, column.name);
    check_rows(first, node, column.name);
    const Dtype dtype = aggregate_dtype(request.aggregate, node->signature().dtype);
    return std::pair(inputs.add(node), dtype);
  };
  const auto [at, dtype] = place(column.values);
  request.column = at;
  if (request.aggregate == Aggregate::kCorrelation) request.other = place(column.other).first;
  return dtype;
}

// Whether the result does not tell at which rows its values stood.
bool forgets_rows(const GroupColumn& column) {
  const Aggregate aggregate = column.request.aggregate;
  return aggregate != Aggregate::kArgmin && aggregate != Aggregate::kArgmax &&
         aggregate != Aggregate::kFirstRow;
}

// `among`: of the groups with other keys than these nobody wants to know.
struct WantedKeys {
  size_t key;
  NodePtr values;
};

NodePtr make_group_by(std::vector<GroupKey> keys, std::vector<GroupColumn> columns,
                      GroupOptions options, const std::vector<WantedKeys>& among) {
  if (keys.empty()) throw_error<InvalidArgumentError>(kOp, "there is no key", {}, "name a column");
  TableOperator table;
  std::string detail;
  OperatorInputs inputs;
  OutputNames names;
  const auto name_column = [&](const std::string& name, Dtype dtype) {
    names.add(kOp, name, "give it another name: agg(name=(column, aggregate))");
    table.names.push_back(name);
    table.dtypes.push_back(dtype);
  };
  std::vector<int64_t> key_places;
  for (GroupKey& key : keys) {
    const NodePtr node = column_node(kOp, key.values, key.name);
    if (!key_places.empty()) check_rows(inputs.nodes[0], node, key.name);
    if (node->signature().dtype.is_complex())
      throw_error<TypeMismatchError>(kOp, "complex numbers are no keys", {{"key", key.name}});
    key_places.push_back(inputs.add(node));
    name_column(key.name, node->signature().dtype);
    detail.append(detail.empty() ? "" : ", ").append(key.name);
  }
  table.reads.resize(keys.size());
  for (GroupColumn& column : columns) {
    const NodePtr first = inputs.nodes[0];
    name_column(column.name, place_request(column, first, inputs));
    std::vector<int64_t>& needs = table.reads.emplace_back();
    for (const int64_t place : {column.request.column, column.request.other})
      if (place >= 0 && std::find(key_places.begin(), key_places.end(), place) == key_places.end())
        needs.push_back(place);
    column.values = column.other = nullptr;  // the node's inputs hold them
  }
  if (among.empty() && options.order != GroupOrder::kAny) {
    std::vector<NodePtr> own;
    for (const int64_t place : key_places) own.push_back(inputs.nodes[static_cast<size_t>(place)]);
    SameWords words;
    table.domain = groups_domain(own, words.add(options.order).add(options.drop_missing).take());
  }
  std::vector<SemiJoinKey> sets;
  for (const WantedKeys& wanted : among) {
    sets.push_back({key_places[wanted.key], static_cast<int64_t>(inputs.nodes.size())});
    inputs.nodes.push_back(wanted.values);
    detail += "; " + keys[wanted.key].name + " among those of a join";
  }
  table.inputs = inputs.nodes;
  table.passes = 2;
  table.unique_keys = static_cast<int64_t>(keys.size());
  table.guess = [key_places](const InputEstimates& given) {
    return estimate_groups(given, key_places);
  };
  SameWords same;
  same.add_all(key_places).add(options.order).add(options.drop_missing);
  for (const GroupColumn& column : columns) {
    const AggregateRequest& each = column.request;
    same.add(each.aggregate).add(each.column).add(each.other).add(each.quantile);
    same.add(each.ddof).add(each.min_count).add(each.rank);
  }
  for (const SemiJoinKey& set : sets) same.add(set.key).add(set.place);
  for (const std::string& name : table.names) same.add(name);
  table.same = same.add(columns.size()).take();
  const size_t num_keys = keys.size();
  const auto requests_of = [=](const std::vector<bool>& wanted) {
    std::vector<AggregateRequest> requests;
    for (size_t k = 0; k < columns.size(); ++k)
      if (wanted[num_keys + k]) requests.push_back(columns[k].request);
    return requests;
  };
  const auto table_of = [num_keys, names = table.names](const std::vector<bool>& wanted,
                                                        const Grouped& grouped) {
    std::vector<std::string> kept;
    std::vector<Column> results;
    for (size_t k = 0, next = 0; k < wanted.size(); ++k) {
      if (!wanted[k]) continue;
      kept.push_back(names[k]);
      results.push_back(k < num_keys ? grouped.keys[k] : grouped.values[next++]);
    }
    return Table(std::move(kept), std::move(results));
  };
  table.run = [=](const std::vector<bool>& wanted, std::span<const Value> given) {
    return table_of(wanted,
                    semi_join_aggregate(given, key_places, sets, requests_of(wanted), options));
  };
  table.run_rows = [=](const std::vector<bool>& wanted, const RowInputs& given) {
    return table_of(wanted,
                    semi_join_aggregate(given, key_places, sets, requests_of(wanted), options));
  };
  const CostOf work = [=](const InputEstimates& given, int64_t rows,
                          const std::vector<bool>& wanted) {
    return aggregate_cost(given, key_places, requests_of(wanted), options.order, rows);
  };
  table.row_keys = key_places;
  for (const GroupColumn& column : columns)
    for (const int64_t place : {column.request.column, column.request.other})
      if (place >= 0) table.row_values.push_back(place);
  for (GroupKey& key : keys) key.values = nullptr;
  const auto made_of = [=](std::span<const NodePtr> nodes, std::vector<WantedKeys> more) {
    const auto at = [&](int64_t place) {
      return place < 0 ? nullptr : nodes[static_cast<size_t>(place)];
    };
    std::vector<GroupKey> own_keys = keys;
    std::vector<GroupColumn> own = columns;
    std::vector<WantedKeys> known;
    for (size_t k = 0; k < num_keys; ++k) own_keys[k].values = at(key_places[k]);
    for (GroupColumn& each : own) {
      each.values = at(each.request.column);
      each.other = at(each.request.other);
    }
    for (const SemiJoinKey& set : sets) {
      const auto found = std::find(key_places.begin(), key_places.end(), set.key);
      known.push_back({static_cast<size_t>(found - key_places.begin()), at(set.place)});
    }
    known.insert(known.end(), more.begin(), more.end());
    return make_group_by(std::move(own_keys), std::move(own), options, known);
  };
  table.finds_first_rows =
      columns.size() == 1 && columns[0].request.aggregate == Aggregate::kFirstRow && sets.empty();
  if (table.finds_first_rows)
    table.remade = [=](std::span<const NodePtr> nodes, const std::vector<bool>&) {
      return made_of(nodes, {});
    };
  if (std::all_of(columns.begin(), columns.end(), forgets_rows)) {
    table.among = [=](std::span<const NodePtr> nodes, int64_t column,
                      const NodePtr& values) -> NodePtr {
      if (column >= static_cast<int64_t>(num_keys)) return nullptr;
      const auto key = static_cast<size_t>(column);
      const NodePtr& own = nodes[static_cast<size_t>(key_places[key])];
      if (own->signature().dtype != values->signature().dtype) return nullptr;
      return made_of(nodes, {{key, values}});
    };
    table.ignores_order =
        options.order != GroupOrder::kFirstSeen &&
        std::none_of(columns.begin(), columns.end(), [](const GroupColumn& column) {
          return column.request.aggregate == Aggregate::kFirst ||
                 column.request.aggregate == Aggregate::kLast;
        });
    RowSource& rows = table.sources.emplace_back();
    for (size_t place = 0; place < table.inputs.size() - sets.size(); ++place)
      rows.inputs.push_back(static_cast<int64_t>(place));
    rows.columns.assign(num_keys + columns.size(), -1);
    for (size_t k = 0; k < num_keys; ++k)
      if (!table.dtypes[k].is_floating()) rows.columns[k] = key_places[k];  // -0.0 becomes 0.0
    table.remade = [=](std::span<const NodePtr> nodes, const std::vector<bool>&) {
      return made_of(nodes, {});
    };
  }
  return with_cost(table_node(std::string(kOp), std::move(detail), std::move(table)), work);
}

}  // namespace

NodePtr group_by_node(std::vector<GroupKey> keys, std::vector<GroupColumn> columns,
                      GroupOptions options) {
  return make_group_by(std::move(keys), std::move(columns), options, {});
}

namespace {

// Rows of several columns taken in turn; those that are null are left out of all.
Table take_in_turn(const Table& wide, size_t num_keys, const std::string& name) {
  const int64_t groups = wide.num_rows();
  const auto count = static_cast<int64_t>(wide.columns().size() - num_keys);
  std::vector<int64_t> ends(static_cast<size_t>(num_morsels(groups)) + 1);
  const auto values = [&](int64_t group) {  // the last ones are null
    int64_t there = count;
    while (there > 0 && wide.column(static_cast<int64_t>(num_keys) + there - 1).is_null(group))
      --there;
    return there;
  };
  parallel_morsels(groups, [&](Morsel morsel) {
    int64_t rows = 0;
    for (int64_t group = morsel.begin; group < morsel.end; ++group) rows += values(group);
    ends[static_cast<size_t>(morsel.index) + 1] = rows;
  });
  for (size_t k = 1; k < ends.size(); ++k) ends[k] += ends[k - 1];
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

}  // namespace

NodePtr group_top_node(std::vector<GroupKey> keys, const std::string& name, const NodePtr& values,
                       int64_t count, bool largest, GroupOptions options) {
  if (count < 1 || count > kMostTop)
    throw_error<InvalidArgumentError>(kOp, "n is out of range", {{"n", count}, {"most", kMostTop}});
  const size_t num_keys = keys.size();
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
  TableOperator table;
  for (const GroupKey& key : keys) {
    table.names.push_back(key.name);
    table.dtypes.push_back(key.values->signature().dtype);
  }
  table.names.push_back(name);
  table.dtypes.push_back(dtype);
  const NodePtr wide = group_by_node(std::move(keys), std::move(columns), options);
  table.inputs = {wide};
  table.run = [num_keys, name](const std::vector<bool>& wanted, std::span<const Value> inputs) {
    const Table all = take_in_turn(std::get<Table>(inputs[0]), num_keys, name);
    std::vector<std::string> names;
    std::vector<Column> kept;
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!wanted[k]) continue;
      names.push_back(all.names()[k]);
      kept.push_back(all.columns()[k]);
    }
    return Table(std::move(names), std::move(kept));
  };
  return table_node(largest ? "nlargest" : "nsmallest", "", std::move(table));
}

NodePtr group_transform_node(const std::vector<NodePtr>& keys, const GroupColumn& given,
                             GroupOptions options) {
  OperatorInputs inputs;
  std::vector<int64_t> key_places;
  for (const NodePtr& key : keys) {
    const NodePtr node = column_node(kOp, key, "key");
    if (!key_places.empty()) check_rows(inputs.nodes[0], node, "key");
    key_places.push_back(inputs.add(node));
  }
  if (keys.empty()) throw_error<InvalidArgumentError>(kOp, "there is no key", {}, "name a column");
  GroupColumn column = given;
  const NodePtr first = inputs.nodes[0];
  Signature signature = first->signature();
  signature.dtype = place_request(column, first, inputs);
  signature.form = Form::kColumn;
  signature.nullable = true;
  const AggregateRequest request = column.request;
  NodePtr made = operator_node(
      "transform", std::string(aggregate_name(request.aggregate)), signature, inputs.nodes, 3,
      [=](std::span<const Value> values) -> Value {
        std::vector<Column> columns;
        for (const int64_t place : key_places)
          columns.push_back(std::get<Column>(values[static_cast<size_t>(place)]));
        const NormalizedKeys packed = NormalizedKeys::of(
            kOp, columns, {.ordered = false, .drop_missing = options.drop_missing});
        // Numbers of the groups as the only key: group k is row k of the result.
        const int64_t rows = packed.num_rows();
        const SortedFactorizedKeys found = factorize_sorted(
            rows, [&](int64_t row, int64_t count, uint64_t* out) { packed.read(row, count, out); },
            packed.accesses(),
            packed.has_missing() ? std::optional(packed.missing()) : std::nullopt);
        const Column numbers(TypeId::kUInt32, rows, found.numbers);
        AggregateRequest own = request;
        std::vector<Column> folded;
        for (int64_t* place : {&own.column, &own.other}) {
          if (*place < 0) continue;
          folded.push_back(std::get<Column>(values[static_cast<size_t>(*place)]));
          *place = static_cast<int64_t>(folded.size()) - 1;
        }
        Column result = group_by({numbers}, folded, {own}).values[0];
        const int64_t last = found.count - 1;
        if (packed.has_missing() && last >= 0 &&
            found.keys.as<uint64_t>()[last] == packed.missing()) {
          Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(found.count));
          for (int64_t row = 0; row < last; ++row)
            set_bit(validity.mutable_as<uint8_t>(), row, !result.is_null(row));
          result = result.with_rows(found.count, result.values_buffer(), validity, -1);
        }
        return gather(result, as_tensor(numbers));
      });
  return with_cost(std::move(made), [=](const InputEstimates& estimates, int64_t rows,
                                        const std::vector<bool>&) {
    const int64_t groups = estimate_groups(estimates, key_places);
    const auto count = static_cast<double>(groups);
    OperatorCost work = aggregate_cost(estimates, key_places, {request}, GroupOrder::kAny, groups);
    work.nanoseconds += 4 * static_cast<double>(rows);
    work.serial_nanoseconds += 50 * count;
    work.bytes += 4 * static_cast<double>(rows) + 56 * count;
    return work;
  });
}

}  // namespace hr
