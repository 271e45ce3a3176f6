// SPDX-License-Identifier: Apache-2.0
// Several sources of row groups as one, such as the files of a folder.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/row_groups.h"

#include <functional>
#include <string>
#include <vector>

namespace hr {

/// The row groups of all sources, one source after the other; all have the same columns. Behind
/// these stand the columns of `values`, which has a row a source: its name, or what the folders say
/// in which it lies. They have bounds, so a filter on one of them leaves sources out. `read`: as
/// RowGroups::read, of the columns of the sources.
RowGroups concat_row_groups(std::string name, std::vector<RowGroups> sources, Table values,
                            std::function<Table(const std::vector<bool>& wanted)> read);

}  // namespace hr
