// SPDX-License-Identifier: Apache-2.0
// Deferred joins.
#include "python/bind/bind.h"

#include "headrace/relational/join/asof.h"
#include "headrace/relational/join/join_nodes.h"

using hr::NodePtr;

void bind_join(nb::module_& m) {
  using Columns =
      std::vector<std::tuple<std::string, std::optional<NodePtr>, std::optional<NodePtr>>>;
  m.def(
      "join",
      [](const std::pair<NodePtr, NodePtr>& rows,
         const std::vector<std::pair<NodePtr, NodePtr>>& keys, const Columns& columns,
         std::string_view kind, std::pair<bool, bool> unique, const std::string& indicator,
         const std::string& how) {
        hr::JoinSides sides{rows.first, rows.second, {}, {}};
        for (const auto& [left, right] : keys) {
          sides.left_keys.push_back(left);
          sides.right_keys.push_back(right);
        }
        std::vector<hr::JoinColumn> wanted;
        for (const auto& [name, left, right] : columns)
          wanted.push_back({name, left.value_or(nullptr), right.value_or(nullptr)});
        return hr::join(sides, wanted, hr::join_kind_from_name(kind),
                        {unique.first, unique.second, how == "right"}, indicator, how);
      },
      "rows"_a, "keys"_a, "columns"_a, "kind"_a, "unique"_a, "indicator"_a, "how"_a, Unlocked());
  m.def(
      "shared_key",
      [](const NodePtr& left, const NodePtr& right, std::string_view how) {
        const hr::JoinColumn column = hr::shared_key("", left, right, how);
        const auto side = [](const NodePtr& node) {
          return node ? std::optional(NodeHandle{node}) : std::nullopt;
        };
        return std::make_pair(side(column.left), side(column.right));
      },
      "left"_a, "right"_a, "how"_a, Unlocked());
  m.def(
      "asof_rows",
      [](const NodePtr& left, const NodePtr& right, const std::vector<NodePtr>& left_by,
         const std::vector<NodePtr>& right_by, std::string_view direction, bool allow_exact,
         std::optional<double> tolerance, std::optional<int64_t> tolerance_nanos) {
        const hr::AsofOptions options{hr::asof_direction_from_name(direction), allow_exact,
                                      tolerance || tolerance_nanos, tolerance.value_or(0),
                                      tolerance_nanos.value_or(0)};
        return hr::asof_rows(left, right, left_by, right_by, options);
      },
      "left"_a, "right"_a, "left_by"_a, "right_by"_a, "direction"_a, "allow_exact"_a, "tolerance"_a,
      "tolerance_nanos"_a, Unlocked());
  m.def("asof_values", lazy(&hr::asof_values), "column"_a, "rows"_a, Unlocked());
  m.def("is_in", lazy(&hr::is_in), "values"_a, "set"_a, Unlocked());
}
