// SPDX-License-Identifier: Apache-2.0
// SimpleRows: entries without repeats, each with the least weight of those it stands for.
#pragma once
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/graph.h"

#include <optional>

namespace hr {

struct SimpleRows {
  Csr csr{};
  Buffer weights{};  ///< float64 [entries]; empty: none were given
};

/// Of the graph's rows by source; `weights`: float64 of each edge, by `entry_weights`. They are
/// shared where the graph has no repeats.
HR_API SimpleRows simple_rows(std::string_view op, const Graph& graph,
                              const std::optional<Column>& weights, WeightRule rule);

}  // namespace hr
