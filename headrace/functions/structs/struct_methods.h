// SPDX-License-Identifier: Apache-2.0
// Structs from columns, and their fields as columns.
#pragma once
#include "headrace/data/struct_fields.h"
#include "headrace/plan/graph/node.h"

#include <string>
#include <vector>

namespace hr {

/// The field of this name of each struct, null where the struct is (`struct_field` of
/// data/struct_fields.h). Throws TypeMismatchError for a column of another dtype,
/// ColumnNotFoundError for a field that the structs do not have.
HR_API NodePtr struct_field(const NodePtr& structs, const std::string& name);

/// Structs of these columns of one frame; none is null. Throws InvalidArgumentError for two columns
/// of one name.
HR_API NodePtr structs_of(const std::vector<std::string>& names,
                          const std::vector<NodePtr>& columns);

}  // namespace hr
