// SPDX-License-Identifier: Apache-2.0
// Deferred sorting of rows.
#include "headrace/relational/order/sort_nodes.h"

#include "headrace/algo/keys/key_slices.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/row_codes.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/picked_rows.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/shards.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/plan/graph/view.h"
#include "headrace/relational/rows/struct_codes.h"

#include <algorithm>
#include <numeric>

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

// ---- shards -------------------------------------------------------------------------------------

constexpr int64_t kSampledRows = 1024;  // of each shard: ranges are even within some percent

/// Some values of a column, evenly from all of it, on the host.
struct SampleRows final : OperatorOf<SampleRows> {
  std::string_view name() const override { return "sample of rows"; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    const Column column = column_in(inputs[0]);
    const int64_t count = std::min(column.num_rows(), kSampledRows);
    Buffer positions = Buffer::allocate(8 * count);
    for (int64_t i = 0; i < count; ++i)
      positions.mutable_as<int64_t>()[i] = i * column.num_rows() / count;
    const Value rows = to_place(Value(Tensor(TypeId::kInt64, {count}, std::move(positions))),
                                column.place().is_gpu() ? column.place() : host);
    return gather(column, std::get<Tensor>(rows));
  }
};

/// Values that cut the rows of samples into even ranges, one for each sample, in order; missing
/// values are in none.
struct RangeBorders final : OperatorOf<RangeBorders> {
  bool descending = false;

  std::string_view name() const override { return "borders of ranges"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    const auto ranges = static_cast<int64_t>(inputs.size());
    std::vector<Column> samples;
    for (const Value& input : inputs) samples.push_back(std::get<Column>(to_place(input, host)));
    const Dtype dtype = samples[0].dtype();
    const Column all = concatenate("sort_values", dtype, samples);
    const SortOrder order{.descending = descending, .missing_first = false};
    const Column sorted = sort_rows({all}, {order}, {all})[0];
    Buffer made = Buffer::allocate_zeroed((ranges - 1) * dtype.size_bytes());
    visit_real(dtype, [&]<class T>(std::type_identity<T>) {
      const auto values = sorted.values<T>();
      int64_t rows = sorted.num_rows() - sorted.null_count();
      while (rows > 0 &&
             values[static_cast<size_t>(rows - 1)] != values[static_cast<size_t>(rows - 1)])
        --rows;
      for (int64_t r = 1; r < ranges && rows > 0; ++r)
        made.mutable_as<T>()[r - 1] = values[static_cast<size_t>(rows * r / ranges)];
    });
    return Tensor(dtype, {ranges - 1}, std::move(made));
  }

  static auto parameters(auto& self) { return std::tie(self.descending); }
};

// Whether kernels compare its values with numbers.
bool has_ranges(Dtype dtype) {
  return dtype.storage().is_real() && !dtype.is_bool() && !dtype.is_category() &&
         !dtype.is_string() && !dtype.is_decimal();
}

NodePtr as_values(const NodePtr& key) {
  return key->signature().dtype == key->signature().dtype.storage()
             ? key
             : retype(key, key->signature().dtype.storage());
}

// By input and place, the pieces' rows of one range of the first input each, in their order.
std::vector<std::vector<NodePtr>> by_ranges(const std::vector<std::vector<NodePtr>>& pieces,
                                            SortOrder order, const std::vector<Place>& places) {
  const size_t ranges = places.size();
  std::vector<NodePtr> keys, samples;
  for (const NodePtr& key : pieces[0]) {
    keys.push_back(as_values(key));
    Signature signature = keys.back()->signature();
    signature.form = Form::kColumn;
    signature.shape = {kUnknown};
    signature.domain = new_domain();
    samples.push_back(apply_operator(SampleRows::make(), signature, {keys.back()}));
  }
  const auto cuts = static_cast<int64_t>(ranges - 1);
  const NodePtr borders =
      apply_operator(RangeBorders::make(order.descending),
                     array_signature(keys[0]->signature().dtype, {cuts}), std::move(samples));
  borders->fields().place = host;
  const auto border = [&](size_t range) {
    return strided_view(borders, {{static_cast<int64_t>(range) - 1, 0, 1}});
  };
  const Op behind = order.descending ? Op::kLessEqual : Op::kGreaterEqual;
  const Op before = order.descending ? Op::kGreater : Op::kLess;
  // Of a missing value no comparison is true.
  const auto others = [](const NodePtr& mask) {
    return elementwise(Op::kLogicalNot,
                       {elementwise(Op::kFillNull, {mask, literal(Scalar(false))})});
  };
  std::vector<std::vector<NodePtr>> made(ranges);
  std::vector<uint64_t> domains;
  for (size_t r = 0; r < ranges; ++r) domains.push_back(new_domain());
  std::vector<std::vector<NodePtr>> masks(ranges);  // by range, by shard
  for (size_t r = 0; r < ranges; ++r)
    for (const NodePtr& key : keys) {
      NodePtr mask;
      if (r == 0)
        mask = order.missing_first ? others(elementwise(behind, {key, border(1)}))
                                   : elementwise(before, {key, border(1)});
      else if (r + 1 == ranges)
        mask = order.missing_first ? elementwise(behind, {key, border(r)})
                                   : others(elementwise(before, {key, border(r)}));
      else
        mask = elementwise(Op::kLogicalAnd, {elementwise(behind, {key, border(r)}),
                                             elementwise(before, {key, border(r + 1)})});
      masks[r].push_back(mask);
    }
  for (size_t r = 0; r < ranges; ++r)
    for (size_t i = 0; i < pieces.size(); ++i) {
      const std::vector<NodePtr>& input = pieces[i];
      const auto same = std::find(pieces.begin(), pieces.begin() + static_cast<int64_t>(i), input);
      if (const auto at = static_cast<size_t>(same - pieces.begin()); at < i) {
        made[r].push_back(made[r][at]);  // a key that is a column too
        continue;
      }
      std::vector<NodePtr> picked;
      for (size_t k = 0; k < ranges; ++k) {
        Signature rows = input[k]->signature();
        rows.shape[0] = kUnknown;
        rows.domain = picked_domain(masks[r][k]);
        picked.push_back(masked_rows(std::move(rows), input[k], masks[r][k]));
      }
      Signature signature = input[0]->signature();
      signature.shape[0] = kUnknown;
      signature.domain = domains[r];
      made[r].push_back(gather_shards(picked, places[r], signature));
    }
  return made;
}

// ---- slices -------------------------------------------------------------------------------------

// The rows' numbers in the order of words: a device sorts the words of one range of the first of
// them after the other. Rows of equal words are in order as they stand.
Tensor order_in_slices(const std::vector<Column>& words, Place place, int64_t slice_bytes) {
  const int64_t rows = words[0].num_rows();
  const int64_t row_bytes = 8 * static_cast<int64_t>(words.size() + 1);  // and its number
  const KeySlices slices(words[0], range_borders(std::span(words).first(1),
                                                 divide_up(3 * rows * row_bytes, 2 * slice_bytes)));
  Buffer order = Buffer::allocate_spillable(8 * rows);
  auto* const out = order.mutable_as<int64_t>();
  const std::vector<SortOrder> ascending(words.size());
  for (int64_t slice = 0; slice < slices.count(); ++slice) {
    const int64_t count = slices.num_rows(slice), begin = slices.begin(slice);
    if (count == 0) continue;
    const Tensor numbers = slices.rows(slice);
    const Column first = slices.keys(slice);
    const auto [least, greatest] = std::ranges::minmax(first.values<uint64_t>());
    const Pin pin({{&order, 8 * begin, 8 * (begin + count), true}});
    if (words.size() == 1 && least == greatest) {
      std::copy_n(numbers.as<int64_t>(), count, out + begin);
      continue;
    }
    std::vector<Value> keys{first};
    for (size_t word = 1; word < words.size(); ++word)
      keys.emplace_back(gather(words[word], numbers));
    const Value sorted = run_slice("sort_values", place, keys, [&](std::span<const Value> there) {
      return std::vector<Value>{argsort(columns_in(there), ascending)};
    })[0];
    const auto* const places = std::get<Tensor>(sorted).as<int64_t>();
    const auto* const from = numbers.as<int64_t>();
    parallel_morsels(count, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[begin + row] = from[places[row]];
    });
  }
  order.seal();
  return Tensor(TypeId::kInt64, {rows}, std::move(order));
}

// The numbers of the first rows of all, of which each slice has its own.
Tensor first_in_slices(const std::vector<Column>& words, int64_t first, Place place,
                       int64_t slice_bytes) {
  const int64_t rows = words[0].num_rows();
  const int64_t slice_rows =
      std::max<int64_t>(slice_bytes / (8 * static_cast<int64_t>(words.size() + 1)), 1);
  const std::vector<SortOrder> ascending(words.size());
  BudgetedVector<int64_t> numbers;
  for (int64_t begin = 0; begin < rows; begin += slice_rows) {
    std::vector<Value> keys;
    for (const Column& word : words)
      keys.emplace_back(word.slice(begin, std::min(slice_rows, rows - begin)));
    const Value found = run_slice("sort_values", place, keys, [&](std::span<const Value> there) {
      return std::vector<Value>{first_rows(columns_in(there), ascending, first)};
    })[0];
    const auto& own = std::get<Tensor>(found);
    for (int64_t k = 0; k < own.num_elements(); ++k)
      numbers.push_back(begin + own.as<int64_t>()[k]);
  }
  Buffer made = Buffer::allocate(8 * static_cast<int64_t>(numbers.size()));
  std::ranges::copy(numbers, made.mutable_as<int64_t>());
  const Tensor those(TypeId::kInt64, {static_cast<int64_t>(numbers.size())}, std::move(made));
  std::vector<Column> keys;
  for (const Column& word : words) keys.push_back(gather(word, those));
  return gather(those, first_rows(keys, ascending, first));
}

/// Columns in the order of keys, all rows or the first ones.
struct Sort final : OperatorOf<Sort, TableOperator>, RunsOnShards, RunsInSlices {
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

  // The device finds the order, and the host picks the rows.
  std::optional<Table> execute_in_slices(const std::vector<bool>& wanted,
                                         std::span<const Value> inputs, TableState*, Place place,
                                         int64_t slice_bytes) const override {
    const size_t count = orders.size();
    const std::vector<Column> words = sort_words(columns_in(inputs.first(count)), orders);
    if (words.empty() || words[0].num_rows() == 0) return {};
    const Tensor order = first < 0 ? order_in_slices(words, place, slice_bytes)
                                   : first_in_slices(words, first, place, slice_bytes);
    std::vector<std::string> made;
    std::vector<Column> carried;
    for (size_t c = 0; c < wanted.size(); ++c) {
      if (!wanted[c]) continue;
      carried.push_back(gather(column_in(inputs[count + c]), order));
      made.push_back(names[c]);
    }
    return Table(std::move(made), std::move(carried));
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

  // Rows go to the shard that has the range of their first key, and are sorted there: equal keys
  // meet in one, in the order of rows.
  ShardedResult on_shards(ShardedInputs& inputs, size_t count) const override {
    std::vector<int64_t> all(count);
    std::iota(all.begin(), all.end(), int64_t{0});
    const std::vector<std::vector<NodePtr>> pieces = inputs.pieces(all);
    std::vector<NodePtr> made;
    if (first >= 0) {
      const NodePtr table = first_of_shards(pieces, inputs.places());
      for (size_t c = 0; c < names.size(); ++c)
        made.push_back(table_column(table, static_cast<int64_t>(c)));
      return {{}, std::move(made)};
    }
    if (!has_ranges(pieces[0][0]->signature().dtype)) return {};
    for (std::vector<NodePtr>& own : by_ranges(pieces, orders[0], inputs.places()))
      made.push_back(node(std::make_shared<Sort>(*this), std::move(own)));
    return {std::move(made), {}};
  }

  // The first rows of all are among the first rows of each.
  NodePtr first_of_shards(const std::vector<std::vector<NodePtr>>& pieces,
                          const std::vector<Place>& places) const {
    // Keys are columns too.
    Sort local = *this;
    local.names.clear();
    local.dtypes.clear();
    local.columns_needed.clear();
    local.sources.clear();
    for (size_t i = 0; i < pieces.size(); ++i) {
      local.names.push_back(std::to_string(i));
      local.dtypes.push_back(pieces[i][0]->signature().dtype);
      local.columns_needed.push_back({static_cast<int64_t>(orders.size() + i)});
    }
    std::vector<std::vector<NodePtr>> firsts(pieces.size());
    for (size_t k = 0; k < places.size(); ++k) {
      std::vector<NodePtr> own;
      for (size_t i = 0; i < orders.size(); ++i) own.push_back(pieces[i][k]);
      for (const std::vector<NodePtr>& piece : pieces) own.push_back(piece[k]);
      const NodePtr table = node(std::make_shared<Sort>(local), std::move(own));
      for (size_t i = 0; i < pieces.size(); ++i)
        firsts[i].push_back(table_column(table, static_cast<int64_t>(i)));
    }
    const uint64_t domain = new_domain();
    std::vector<NodePtr> gathered;
    for (const std::vector<NodePtr>& each : firsts) {
      Signature signature = each[0]->signature();
      signature.shape[0] = kUnknown;
      signature.domain = domain;
      gathered.push_back(gather_shards(each, places[0], signature));
    }
    return node(std::make_shared<Sort>(*this), std::move(gathered));
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
