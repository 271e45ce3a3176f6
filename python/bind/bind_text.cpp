// SPDX-License-Identifier: Apache-2.0
// Pieces of strings, and columns of lists and structs: what makes them and what reads them.
#include "python/bind/bind.h"

#include "headrace/base/error.h"
#include "headrace/functions/lists/list_methods.h"
#include "headrace/functions/lists/list_order.h"
#include "headrace/functions/lists/list_reduce.h"
#include "headrace/functions/strings/string_methods.h"
#include "headrace/functions/strings/string_regex.h"
#include "headrace/functions/strings/string_split.h"
#include "headrace/functions/structs/struct_methods.h"
#include "headrace/relational/aggregate/group_lists.h"
#include "headrace/relational/rows/explode.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

using hr::NodePtr;

namespace {

hr::ListReduction reduction_of(std::string_view word) {
  constexpr std::string_view kWords[] = {"sum", "min", "max", "mean", "any", "all"};
  const auto* const found = std::ranges::find(kWords, word);
  if (found == std::end(kWords))
    hr::throw_error<hr::InternalError>("list", "unknown reduction", {{"reduction", word}});
  return static_cast<hr::ListReduction>(found - kWords);
}

void bind_nested(nb::module_& m) {
  m.def(
      "list_reduce",
      [](const NodePtr& lists, std::string_view reduction) {
        return hr::list_reduce(lists, reduction_of(reduction));
      },
      "lists"_a, "reduction"_a, Unlocked());
  m.def(
      "list_sort",
      [](const NodePtr& lists, bool descending, bool missing_first) {
        return hr::list_sort(lists, {descending, missing_first});
      },
      "lists"_a, "descending"_a, "missing_first"_a, Unlocked());
  m.def("list_reverse", lazy(&hr::list_reverse), "lists"_a, Unlocked());
  m.def("list_unique", lazy(&hr::list_unique), "lists"_a, Unlocked());
  m.def("struct_field", lazy(&hr::struct_field), "structs"_a, "name"_a, Unlocked());
  m.def(
      "structs_of",
      [](const std::vector<std::string>& names, const std::vector<NodePtr>& columns) {
        return hr::structs_of(names, columns);
      },
      "names"_a, "columns"_a, Unlocked());
}

}  // namespace

void bind_text(nb::module_& m) {
  bind_nested(m);
  m.def(
      "split_text",
      [](const NodePtr& column, const std::string& by, int64_t most, bool from_right) {
        return hr::split_text(column, {by, most, from_right});
      },
      "column"_a, "by"_a, "most"_a, "from_right"_a, Unlocked());
  m.def(
      "partition_text",
      [](const NodePtr& column, const std::string& separator, bool from_right) {
        std::vector<NodePtr> parts;
        for (const hr::TextPart part :
             {hr::TextPart::kBefore, hr::TextPart::kSeparator, hr::TextPart::kBehind})
          parts.push_back(hr::partition_text(column, {separator, from_right}, part));
        return parts;
      },
      "column"_a, "separator"_a, "from_right"_a, Unlocked());
  m.def(
      "split_regex",
      [](const NodePtr& column, const std::string& pattern, const std::string& flags,
         int64_t most) {
        return hr::split_regex(column, hr::regex_pattern("split", pattern, flags), most);
      },
      "column"_a, "pattern"_a, "flags"_a, "most"_a, Unlocked());
  m.def(
      "find_all",
      [](const NodePtr& column, const std::string& pattern, const std::string& flags) {
        return hr::find_all(column, hr::regex_pattern("findall", pattern, flags));
      },
      "column"_a, "pattern"_a, "flags"_a, Unlocked());
  m.def(
      "count_regex",
      [](const NodePtr& column, const std::string& pattern, const std::string& flags) {
        return hr::count_regex(column, hr::regex_pattern("count", pattern, flags));
      },
      "column"_a, "pattern"_a, "flags"_a, Unlocked());
  m.def("list_length", lazy(&hr::list_length), "column"_a, Unlocked());
  m.def("list_item", lazy(&hr::list_item), "column"_a, "position"_a, Unlocked());
  m.def("list_slice", lazy(&hr::list_slice), "column"_a, "begin"_a, "end"_a, Unlocked());
  m.def("list_join", lazy(&hr::list_join), "column"_a, "separator"_a, Unlocked());
  m.def("list_contains", lazy(&hr::list_contains), "column"_a, "value"_a, Unlocked());
  m.def(
      "explode",
      [](const std::vector<NodePtr>& lists) {
        hr::Exploded made = hr::explode(lists);
        return std::pair(std::move(made.rows), std::move(made.items));
      },
      "lists"_a, Unlocked());
  m.def("group_lists", lazy(&hr::group_lists), "values"_a, "numbers"_a, "groups"_a, Unlocked());
}
