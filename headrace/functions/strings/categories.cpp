// SPDX-License-Identifier: Apache-2.0
// Codes of other dictionaries.
#include "headrace/functions/strings/categories.h"

#include "headrace/algo/select/map_rows.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/functions/strings/string_builder.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace hr {

namespace {

constexpr std::string_view kSet = "set_categories", kRename = "rename_categories",
                           kSorted = "sorted_categories";

void check(std::string_view op, Dtype dtype) {
  if (!dtype.is_category())
    throw_error<TypeMismatchError>(op, "expected a category column", {{"dtype", dtype.name()}},
                                   "use astype('category')");
}

using Codes = std::unordered_map<std::string_view, int32_t>;

Codes codes_of(std::string_view op, const std::vector<std::string>& names) {
  Codes codes;
  for (const std::string& name : names)
    if (!codes.emplace(name, static_cast<int32_t>(codes.size())).second)
      throw_error<InvalidArgumentError>(op, "expected distinct strings", {{"name", name}});
  return codes;
}

DictionaryPtr dictionary_of(const std::vector<std::string>& names, bool ordered) {
  const auto count = static_cast<int64_t>(names.size());
  const auto never = [](int64_t) { return false; };
  const Column strings = build_strings(count, {}, never, {}, [&] {
    return
        [&](int64_t row, StringBuilder& builder) { builder.add(names[static_cast<size_t>(row)]); };
  });
  return distinct_strings(strings, ordered).dictionary;
}

Column with_codes(const Column& codes, DictionaryPtr dictionary) {
  return Column::categories(codes.num_rows(), codes.values_buffer(), std::move(dictionary),
                            codes.validity_buffer(), codes.null_count(), codes.offset());
}

struct SetCategories final : OperatorOf<SetCategories> {
  std::vector<std::string> names{};
  bool ordered = false;

  std::string_view name() const override { return kSet; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return set_categories(std::get<Column>(inputs[0]), names, ordered);
  }

  static auto parameters(auto& self) { return std::tie(self.names, self.ordered); }
};

struct SortedCategories final : OperatorOf<SortedCategories> {
  std::string_view name() const override { return kSorted; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return sorted_categories(std::get<Column>(inputs[0]));
  }
};

struct RenameCategories final : OperatorOf<RenameCategories> {
  std::vector<std::string> names{};

  std::string_view name() const override { return kRename; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return rename_categories(std::get<Column>(inputs[0]), names);
  }

  static auto parameters(auto& self) { return std::tie(self.names); }
};

}  // namespace

Column set_categories(const Column& column, const std::vector<std::string>& names, bool ordered) {
  check(kSet, column.dtype());
  const Codes codes = codes_of(kSet, names);
  const Column& old = column.dictionary()->values();
  std::vector<int32_t> recoded;
  for (int64_t code = 0; code < old.num_rows(); ++code) {
    const auto found = codes.find(old.string(code));
    recoded.push_back(found == codes.end() ? -1 : found->second);
  }
  const int32_t* const in = column.values<int32_t>().data();
  const Column result =
      map_rows_or_null<int32_t>(column, TypeId::kInt32, [&, in](int64_t row, int32_t* code) {
        *code = recoded[static_cast<size_t>(in[row])];
        return *code >= 0;
      });
  return with_codes(result, dictionary_of(names, ordered));
}

Column sorted_categories(const Column& column) {
  check(kSorted, column.dtype());
  const Column& old = column.dictionary()->values();
  std::vector<std::string> names;
  for (int64_t code = 0; code < old.num_rows(); ++code) names.emplace_back(old.string(code));
  if (std::ranges::is_sorted(names)) return column;
  std::ranges::sort(names);
  return set_categories(column, names, column.dictionary()->is_ordered());
}

Column rename_categories(const Column& column, const std::vector<std::string>& names) {
  check(kRename, column.dtype());
  codes_of(kRename, names);
  const DictionaryPtr& old = column.dictionary();
  if (static_cast<int64_t>(names.size()) != old->size())
    throw_error<InvalidArgumentError>(kRename, "expected a name for each category",
                                      {{"names", names.size()}, {"categories", old->size()}});
  return with_codes(column, dictionary_of(names, old->is_ordered()));
}

NodePtr set_categories(const NodePtr& column, const std::vector<std::string>& names, bool ordered) {
  Signature signature = column->signature();
  check(kSet, signature.dtype);
  codes_of(kSet, names);
  signature.nullable = true;
  return apply_operator(SetCategories::make(names, ordered), std::move(signature), {column});
}

NodePtr sorted_categories(const NodePtr& column) {
  check(kSorted, column->signature().dtype);
  return apply_operator(SortedCategories::make(), column->signature(), {column});
}

NodePtr rename_categories(const NodePtr& column, const std::vector<std::string>& names) {
  check(kRename, column->signature().dtype);
  codes_of(kRename, names);
  return apply_operator(RenameCategories::make(names), column->signature(), {column});
}

}  // namespace hr
