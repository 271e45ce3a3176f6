// SPDX-License-Identifier: Apache-2.0
// Deferred sorting of rows.
#include "headrace/relational/order/sort_nodes.h"

#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/row_codes.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/error.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/picked_rows.h"
#include "headrace/relational/rows/struct_codes.h"

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
    throw_error<InvalidArgumentError>("sort", "expected at least one key", {},
                                      "name a column to sort by");
  const Signature& rows = keys[0]->signature();
  const auto check = [&](const NodePtr& node) {
    const Signature& own = node->signature();
    if (own.form == Form::kTable || own.shape.size() != 1)
      throw_error<TypeMismatchError>("sort", "only 1-D values can be sorted",
                                     {{"dimensions", own.shape.size()}});
    if (own.dtype.is_complex())
      throw_error<TypeMismatchError>("sort", "complex numbers have no order",
                                     {{"dtype", own.dtype.name()}}, "sort by abs() or .real");
    if (!own.same_rows(rows))
      throw_error<InvalidArgumentError>("sort", "keys and columns have different rows",
                                        {own.rows_detail("rows"), rows.rows_detail("key_rows")},
                                        "bring them into one frame with merge or join first");
  };
  for (const NodePtr& key : keys) {
    check(key);
    if (key->signature().dtype.is_nested())
      throw_error<TypeMismatchError>("sort", "lists have no order",
                                     {{"dtype", key->signature().dtype.name()}},
                                     "sort by list.len() or list.get()");
  }
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

// By dtype of a key: ns a row.
double key_cost(Dtype dtype, bool is_first) {
  return dtype.is_string() ? 60 : is_first ? 17 : 8;
}

std::string why_unsortable(std::span<const Value> keys) {
  const int64_t rows = signature_of(keys[0]).rows();
  if (rows >= int64_t{1} << 32) return "2^32 rows have no kernel for CUDA";
  const auto is_string = [](const Value& key) { return signature_of(key).dtype.is_string(); };
  if (rows >= kTooManyRows && std::ranges::any_of(keys, is_string))
    return "2^30 strings and more have no kernel for CUDA";
  return {};
}

Cost cost_of_sort(const InputEstimates& inputs, size_t keys, int64_t first) {
  if (first >= 0) return {.nanoseconds = 0.9};
  double nanoseconds = 0;
  for (size_t k = 0; k < keys; ++k)
    nanoseconds += key_cost(inputs.dtype(static_cast<int64_t>(k)), k == 0);
  return {.nanoseconds = nanoseconds, .bytes = 4};
}

/// Columns in the order of keys, all rows or the first ones.
struct Sort final : OperatorOf<Sort, TableOperator> {
  std::vector<SortOrder> orders{};
  int64_t first = -1;  // this number of rows; all of them unless positive or 0

  std::string_view name() const override { return "sort_values"; }

  std::string arguments() const override {
    return orders_text(orders) + (first < 0 ? "" : ", first " + std::to_string(first));
  }

  int passes() const override { return first < 0 ? 3 : 2; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_unsortable(inputs.first(orders.size()));
  }

  bool sorts_rows() const override { return first < 0; }

  Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                TableState*) const override {
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
    const Tensor rows = hr::first_rows(sorted_by, orders, first);
    for (Column& column : carried) column = gather(column, rows);
    return Table(carried_names, std::move(carried));
  }

  Cost cost(const InputEstimates& inputs) const override {
    return cost_of_sort(inputs, orders.size(), first);
  }

  NodePtr limited(std::span<const NodePtr> inputs, int64_t rows) const override {
    if (first >= 0) return nullptr;
    auto op = std::make_shared<Sort>(*this);
    op->first = rows;
    op->sources.clear();
    return node(std::move(op), {inputs.begin(), inputs.end()});
  }

  NodePtr with_inputs(std::span<const NodePtr> inputs, const std::vector<bool>&) const override {
    return node(std::make_shared<Sort>(*this), {inputs.begin(), inputs.end()});
  }

  static NodePtr node(std::shared_ptr<const Sort> op, std::vector<NodePtr> inputs) {
    int64_t rows = inputs[0]->signature().rows();
    if (op->first >= 0 && rows != kUnknown) rows = std::min(rows, op->first);
    return apply_table_operator(std::move(op), std::move(inputs), rows, new_domain() | kPickedRows);
  }

  static auto parameters(auto& self) {
    return std::tie(self.names, self.dtypes, self.columns_needed, self.sources, self.orders,
                    self.first);
  }
};

struct ArgSort final : OperatorOf<ArgSort> {
  std::vector<SortOrder> orders{};
  int64_t first = -1;

  std::string_view name() const override { return "argsort"; }

  std::string arguments() const override {
    return orders_text(orders) + (first < 0 ? "" : ", first " + std::to_string(first));
  }

  int passes() const override { return 2; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_unsortable(inputs.first(orders.size()));
  }

  Cost cost(const InputEstimates& inputs) const override {
    return cost_of_sort(inputs, orders.size(), first);
  }

  Value execute(std::span<const Value> inputs) const override {
    const std::vector<Column> columns = columns_in(inputs);
    return first < 0 ? argsort(columns, orders) : hr::first_rows(columns, orders, first);
  }

  static auto parameters(auto& self) { return std::tie(self.orders, self.first); }
};

}  // namespace

NodePtr sort(const std::vector<NodePtr>& given, const std::vector<SortOrder>& orders,
             std::vector<std::string> names, const std::vector<NodePtr>& columns) {
  const std::vector<NodePtr> keys = plain_keys(given);
  check_rows(keys, columns);
  auto op = std::make_shared<Sort>();
  op->names = std::move(names);
  op->orders = orders;
  std::vector<NodePtr> inputs = keys;
  RowSource& rows = op->sources.emplace_back();
  rows.once = true;
  for (const NodePtr& column : columns) {
    const auto place = static_cast<int64_t>(inputs.size());
    op->dtypes.push_back(column->signature().dtype);
    op->columns_needed.push_back({place});
    rows.columns.push_back(place);
    inputs.push_back(column);
  }
  for (size_t i = 0; i < inputs.size(); ++i) rows.inputs.push_back(static_cast<int64_t>(i));
  return Sort::node(std::move(op), std::move(inputs));
}

NodePtr argsort(const std::vector<NodePtr>& given, const std::vector<SortOrder>& orders,
                int64_t first) {
  const std::vector<NodePtr> keys = plain_keys(given);
  check_rows(keys, {});
  int64_t rows = keys[0]->signature().rows();
  if (first >= 0 && rows != kUnknown) rows = std::min(rows, first);
  return apply_operator(
      ArgSort::make(orders, first),
      array_signature(TypeId::kInt64, {rows}, rows == kUnknown ? new_domain() : 0), keys);
}

}  // namespace hr
