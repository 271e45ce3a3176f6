// SPDX-License-Identifier: Apache-2.0
// Several sources of row groups as one, such as the files of a folder.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/row_groups.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hr {

/// Picked rows of one of several sources.
struct PickedSource {
  size_t source;
  std::vector<PickedGroup> groups;
};

/// The row groups of all sources, one source after the other; all have the same columns. Behind
/// these stand the columns of `values`, which has a row a source: its name, or what the folders say
/// in which it lies. They have bounds, so a filter on one of them leaves sources out. `read` and
/// `read_picked`: as those of RowGroups, of all sources at once and their columns alone.
RowGroups concat_row_groups(
    std::string name, std::vector<RowGroups> sources, Table values,
    std::function<Table(const std::vector<bool>& wanted, const std::vector<bool>& groups)> read,
    std::function<Table(std::span<const PickedSource> picked, const std::vector<bool>& wanted)>
        read_picked);

}  // namespace hr
