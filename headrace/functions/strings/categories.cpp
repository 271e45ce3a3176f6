// SPDX-License-Identifier: Apache-2.0
// Codes of other dictionaries.
#include "headrace/functions/strings/categories.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/functions/strings/string_builder.h"

#include <algorithm>
#include <string_view>

namespace hr {

namespace {

constexpr std::string_view kSet = "set_categories", kRename = "rename_categories",
                           kSorted = "sorted_categories";

void check(std::string_view op, Dtype dtype) {
  if (!dtype.is_category())
    throw_error<TypeMismatchError>(op, "expected a category column", {{"dtype", dtype.name()}},
                                   "use astype('category')");
}

DictionaryPtr checked_dictionary(std::string_view op, const Column& values, bool ordered) {
  DistinctValues distinct = distinct_values(values, ordered);
  if (distinct.codes)
    throw_error<InvalidArgumentError>(
        op, "expected distinct values without missing ones",
        {{"categories", values.num_rows()}, {"distinct", distinct.dictionary->size()}});
  return std::move(distinct.dictionary);
}

Column with_codes(const Column& codes, DictionaryPtr dictionary) {
  return Column::categories(codes.num_rows(), codes.values_buffer(), std::move(dictionary),
                            codes.validity_buffer(), codes.null_count(), codes.offset());
}

// The code that `recode` has for each row's; null for -1.
Column recoded(const Column& column, const std::vector<int32_t>& recode) {
  const int32_t* const in = column.values<int32_t>().data();
  return map_rows_or_null<int32_t>(column, TypeId::kInt32, [&, in](int64_t row, int32_t* code) {
    *code = recode[static_cast<size_t>(in[row])];
    return *code >= 0;
  });
}

struct SetCategories final : OperatorOf<SetCategories> {
  bool ordered = false;

  std::string_view name() const override { return kSet; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return set_categories(std::get<Column>(inputs[0]), std::get<Column>(inputs[1]), ordered);
  }

  static auto parameters(auto& self) { return std::tie(self.ordered); }
};

struct SortedCategories final : OperatorOf<SortedCategories> {
  std::string_view name() const override { return kSorted; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return sorted_categories(std::get<Column>(inputs[0]));
  }
};

struct RenameCategories final : OperatorOf<RenameCategories> {
  std::string_view name() const override { return kRename; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return rename_categories(std::get<Column>(inputs[0]), std::get<Column>(inputs[1]));
  }
};

// The code of a value; -1 if it is none of them.
int32_t code_of(const Column& values, const Scalar& value) {
  if (value.is_null()) return -1;
  const auto size = static_cast<int32_t>(values.num_rows());
  if (values.dtype().is_bool()) {
    int32_t code = 0;
    while (code < size && values.bit(code) != value.as<bool>()) ++code;
    return code < size ? code : -1;
  }
  return visit_real(values.dtype().storage(), [&]<class T>(std::type_identity<T>) {
    const auto own = values.values<T>();
    const auto found = value.dtype().is_floating()
                           ? std::ranges::find(own, value.as<double>(),
                                               [](T each) { return static_cast<double>(each); })
                           : std::ranges::find(own, value.as<T>());
    return found == own.end() ? -1 : static_cast<int32_t>(found - own.begin());
  });
}

struct CategoryComparison final : OperatorOf<CategoryComparison> {
  Op op{};

  std::string_view name() const override { return op_row(op).name; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& column = std::get<Column>(inputs[0]);
    const auto& value = std::get<Scalar>(inputs[1]);
    const Dictionary& dictionary = *column.dictionary();
    const bool orders = op != Op::kEqual && op != Op::kNotEqual;
    if (orders && !dictionary.is_ordered())
      throw_error<TypeMismatchError>(name(), "these categories have no order", {},
                                     "use cat.as_ordered(), or astype with their dtype");
    const int32_t code = code_of(dictionary.values(), value);
    if (orders && code < 0)
      throw_error<TypeMismatchError>(name(), "the value is not one of the categories", {},
                                     "use astype with their dtype");
    return compare_code(op, column, code);
  }

  static auto parameters(auto& self) { return std::tie(self.op); }
};

// Checked now, where the values are there.
Signature with_values(std::string_view op, const NodePtr& column, const NodePtr& values) {
  Signature signature = column->signature();
  check(op, signature.dtype);
  signature.dtype = Dtype::category(values->signature().dtype);
  if (values->is_ready()) checked_dictionary(op, std::get<Column>(values->value()), false);
  return signature;
}

}  // namespace

Column set_categories(const Column& column, const Column& values, bool ordered) {
  check(kSet, column.dtype());
  DictionaryPtr dictionary = checked_dictionary(kSet, values, ordered);
  const Column& old = column.dictionary()->values();
  std::vector<int32_t> recode(static_cast<size_t>(old.num_rows()), -1);
  if (old.dtype() == values.dtype()) {
    DictionaryBuilder builder;
    builder.add_all(values);
    const Buffer codes = builder.add_all(old);  // those from the number of values on are new
    for (size_t code = 0; code < recode.size(); ++code) {
      const int32_t made = codes ? codes.as<int32_t>()[code] : static_cast<int32_t>(code);
      if (made < dictionary->size()) recode[code] = made;
    }
  }
  return with_codes(recoded(column, recode), std::move(dictionary));
}

Column sorted_categories(const Column& column) {
  check(kSorted, column.dtype());
  const Dictionary& old = *column.dictionary();
  const std::vector<int32_t> codes = sorted_codes(old.values());
  if (std::ranges::is_sorted(codes)) return column;
  const auto count = static_cast<int64_t>(codes.size());
  Buffer rows = Buffer::allocate(8 * count);
  std::ranges::copy(codes, rows.mutable_as<int64_t>());
  const Tensor order(TypeId::kInt64, {count}, std::move(rows));
  std::vector<int32_t> ranks(codes.size());
  for (size_t rank = 0; rank < codes.size(); ++rank)
    ranks[static_cast<size_t>(codes[rank])] = static_cast<int32_t>(rank);
  return with_codes(recoded(column, ranks),
                    dictionary_of(gather(old.values(), order), old.is_ordered()));
}

Column rename_categories(const Column& column, const Column& values) {
  check(kRename, column.dtype());
  const DictionaryPtr& old = column.dictionary();
  if (values.num_rows() != old->size())
    throw_error<InvalidArgumentError>(kRename, "expected a name for each category",
                                      {{"names", values.num_rows()}, {"categories", old->size()}});
  return with_codes(column, checked_dictionary(kRename, values, old->is_ordered()));
}

NodePtr set_categories(const NodePtr& column, const NodePtr& values, bool ordered) {
  Signature signature = with_values(kSet, column, values);
  signature.nullable = true;
  return apply_operator(SetCategories::make(ordered), std::move(signature), {column, values});
}

NodePtr sorted_categories(const NodePtr& column) {
  check(kSorted, column->signature().dtype);
  return apply_operator(SortedCategories::make(), column->signature(), {column});
}

NodePtr compare_category(Op op, const NodePtr& column, const Scalar& value) {
  check(op_row(op).name, column->signature().dtype);
  Signature signature = column->signature();
  signature.dtype = TypeId::kBool;
  return apply_operator(CategoryComparison::make(op), std::move(signature),
                        {column, literal(value)});
}

NodePtr rename_categories(const NodePtr& column, const NodePtr& values) {
  return apply_operator(RenameCategories::make(), with_values(kRename, column, values),
                        {column, values});
}

}  // namespace hr
