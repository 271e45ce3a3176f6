// SPDX-License-Identifier: Apache-2.0
// Pieces of strings, and columns of lists: what makes them and what reads them.
#include "python/bind/bind.h"

#include "headrace/functions/lists/list_methods.h"
#include "headrace/functions/strings/string_methods.h"
#include "headrace/functions/strings/string_regex.h"
#include "headrace/functions/strings/string_split.h"
#include "headrace/relational/aggregate/group_lists.h"
#include "headrace/relational/rows/explode.h"

#include <optional>

using hr::NodePtr;

void bind_text(nb::module_& m) {
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
