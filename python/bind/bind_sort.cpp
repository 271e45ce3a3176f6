// SPDX-License-Identifier: Apache-2.0
// Deferred sorting.
#include "python/bind/bind.h"

#include "headrace/relational/order/sort_nodes.h"

namespace {

using hr::NodePtr;

std::vector<hr::SortOrder> orders_of(const std::vector<bool>& descending, bool missing_first) {
  std::vector<hr::SortOrder> orders;
  for (const bool each : descending) orders.push_back({each, missing_first});
  return orders;
}

}  // namespace

void bind_sort(nb::module_& m) {
  m.def(
      "sort",
      [](const std::vector<NodePtr>& keys, const std::vector<bool>& descending, bool missing_first,
         std::vector<std::string> names, const std::vector<NodePtr>& columns) {
        return hr::sort(keys, orders_of(descending, missing_first), std::move(names), columns);
      },
      "keys"_a, "descending"_a, "missing_first"_a, "names"_a, "columns"_a, Unlocked());
  m.def(
      "argsort",
      [](const std::vector<NodePtr>& keys, const std::vector<bool>& descending, bool missing_first,
         int64_t first) { return hr::argsort(keys, orders_of(descending, missing_first), first); },
      "keys"_a, "descending"_a, "missing_first"_a, "first"_a = -1, Unlocked());
}
