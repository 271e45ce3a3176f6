// SPDX-License-Identifier: Apache-2.0
// A column with structs or maps from its leaves.
#pragma once
#include "headrace/data/column.h"
#include "headrace/io/parquet/schema.h"

#include <string_view>
#include <vector>

namespace hr::parquet {

/// What a leaf of a row group has: the items of its innermost list (its rows, where it is in none),
/// and the repetition and definition level of each entry.
struct LeafItems {
  Column items{};
  std::string_view levels{};
};

/// The column of a tree from its leaves, in their order. Throws Refusal where they contradict each
/// other.
Column nested_column(const SchemaNode& tree, const std::vector<LeafItems>& leaves);

}  // namespace hr::parquet
