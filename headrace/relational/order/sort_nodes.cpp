// SPDX-License-Identifier: Apache-2.0
// Deferred sorting of rows.
#include "headrace/relational/order/sort_nodes.h"

#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/error.h"
#include "headrace/plan/cost/cost_model.h"
#include "headrace/plan/graph/fingerprint.h"
#include "headrace/plan/graph/picked_rows.h"

#include <algorithm>

namespace hr {

namespace {

Column column_in(const Value& value) {
  if (const auto* column = std::get_if<Column>(&value)) return *column;
  return as_column(contiguous(std::get<Tensor>(value), "sort"));
}

std::vector<Column> columns_in(std::span<const Value> values) {
  std::vector<Column> columns;
  for (const Value& value : values) columns.push_back(column_in(value));
  return columns;
}

// All have the rows of the first key.
void check_rows(const std::vector<NodePtr>& keys, const std::vector<NodePtr>& others) {
  if (keys.empty())
    throw_error<InvalidArgumentError>("sort", "there is no key", {}, "name a column to sort by");
  const Signature& rows = keys[0]->signature();
  const auto check = [&](const NodePtr& node) {
    const Signature& own = node->signature();
    if (own.form == Form::kTable || own.shape.size() != 1)
      throw_error<TypeMismatchError>("sort", "only what has one dimension is sorted",
                                     {{"dimensions", own.shape.size()}});
    if (own.dtype.is_complex())
      throw_error<TypeMismatchError>("sort", "complex numbers have no order",
                                     {{"dtype", own.dtype.name()}}, "sort by abs() or .real");
    if (!own.same_rows(rows))
      throw_error<InvalidArgumentError>("sort", "keys and columns have other rows",
                                        {own.rows_detail("rows"), rows.rows_detail("key_rows")},
                                        "bring them into one frame with merge or join first");
  };
  for (const NodePtr& key : keys) check(key);
  for (const NodePtr& other : others) check(other);
}

std::string orders_text(const std::vector<SortOrder>& orders) {
  std::string text = std::to_string(orders.size()) + (orders.size() == 1 ? " key" : " keys");
  const auto descending =
      std::count_if(orders.begin(), orders.end(), [](SortOrder order) { return order.descending; });
  if (descending > 0) text += ", " + std::to_string(descending) + " descending";
  if (orders[0].missing_first) text += ", missing first";
  return text;
}

struct SortPlan {
  std::vector<NodePtr> keys;
  std::vector<SortOrder> orders;
  std::vector<std::string> names;
  std::vector<NodePtr> columns;

  // The table, or its `first` first rows.
  NodePtr node(int64_t first) const {
    TableOperator table;
    table.names = names;
    for (const NodePtr& column : columns) table.dtypes.push_back(column->signature().dtype);
    table.domain = new_domain() | kPickedRows;
    table.rows = keys[0]->signature().rows();
    if (first >= 0 && table.rows != kUnknown) table.rows = std::min(table.rows, first);
    table.passes = first < 0 ? 3 : 2;
    table.has_kernels = true;
    table.inputs = keys;
    for (size_t c = 0; c < columns.size(); ++c) {
      table.reads.push_back({static_cast<int64_t>(keys.size() + c)});
      table.inputs.push_back(columns[c]);
    }
    table.run = [names = names, orders = orders, first](const std::vector<bool>& wanted,
                                                        std::span<const Value> inputs) {
      const size_t count = orders.size();
      const std::vector<Column> sorted_by = columns_in(inputs.first(count));
      std::vector<Column> carried;
      std::vector<std::string> carried_names;
      for (size_t c = 0; c < wanted.size(); ++c) {
        if (!wanted[c]) continue;
        carried.push_back(column_in(inputs[count + c]));
        carried_names.push_back(names[c]);
      }
      if (first < 0) return Table(carried_names, sort_rows(sorted_by, orders, carried));
      const Tensor rows = first_rows(sorted_by, orders, first);
      for (Column& column : carried) column = gather(column, rows);
      return Table(carried_names, std::move(carried));
    };
    SameWords same;
    for (const SortOrder& order : orders) same.add(order.descending).add(order.missing_first);
    for (const std::string& name : names) same.add(name);
    table.same = same.add(orders.size()).add(first).take();
    if (first < 0) {
      table.orders_rows = true;
      table.prefix = [plan = *this](int64_t rows) { return plan.node(rows); };
      RowSource& rows = table.sources.emplace_back();
      rows.once = true;
      for (size_t i = 0; i < table.inputs.size(); ++i)
        rows.inputs.push_back(static_cast<int64_t>(i));
      for (size_t c = 0; c < columns.size(); ++c)
        rows.columns.push_back(static_cast<int64_t>(keys.size() + c));
      table.remade = [names = names, orders = orders](std::span<const NodePtr> nodes,
                                                      const std::vector<bool>&) {
        const auto values = nodes.begin() + static_cast<std::ptrdiff_t>(orders.size());
        return SortPlan{{nodes.begin(), values}, orders, names, {values, nodes.end()}}.node(-1);
      };
    }
    double nanoseconds = 0;
    for (const NodePtr& key : keys)
      nanoseconds += key->signature().dtype.is_string() ? 60 : nanoseconds > 0 ? 8 : 17;
    return with_cost(
        table_node("sort_values",
                   orders_text(orders) + (first < 0 ? "" : ", first " + std::to_string(first)),
                   std::move(table)),
        first < 0 ? Cost{.nanoseconds = nanoseconds, .bytes = 4} : Cost{.nanoseconds = 0.9});
  }
};

}  // namespace

NodePtr sort_node(const std::vector<NodePtr>& keys, const std::vector<SortOrder>& orders,
                  std::vector<std::string> names, const std::vector<NodePtr>& columns) {
  check_rows(keys, columns);
  return SortPlan{keys, orders, std::move(names), columns}.node(-1);
}

NodePtr argsort_node(const std::vector<NodePtr>& keys, const std::vector<SortOrder>& orders,
                     int64_t first) {
  check_rows(keys, {});
  int64_t rows = keys[0]->signature().rows();
  if (first >= 0 && rows != kUnknown) rows = std::min(rows, first);
  return operator_node(
      "argsort", orders_text(orders) + (first < 0 ? "" : ", first " + std::to_string(first)),
      array_signature(TypeId::kInt64, {rows}, rows == kUnknown ? new_domain() : 0), keys, 2,
      [orders, first](std::span<const Value> inputs) -> Value {
        const std::vector<Column> columns = columns_in(inputs);
        return first < 0 ? argsort(columns, orders) : first_rows(columns, orders, first);
      },
      nullptr, true);
}

}  // namespace hr
