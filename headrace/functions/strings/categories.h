// SPDX-License-Identifier: Apache-2.0
// Categories of a column: which there are, in which order, and their names.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string>
#include <vector>

namespace hr {

/// The values with these categories, in this order; null where a value is none of them. Throws
/// TypeMismatchError for a column of other than categories, InvalidArgumentError for a name that
/// comes twice.
HR_API Column set_categories(const Column& column, const std::vector<std::string>& names,
                             bool ordered);
HR_API NodePtr set_categories(const NodePtr& column, const std::vector<std::string>& names,
                              bool ordered);

/// The same values with their categories in bytewise order. Throws TypeMismatchError as above.
HR_API Column sorted_categories(const Column& column);
HR_API NodePtr sorted_categories(const NodePtr& column);

/// The same codes under other names, one for each category in the order of their codes; whether
/// they are ordered stays. Throws as above, when it runs, and for another number of names.
HR_API Column rename_categories(const Column& column, const std::vector<std::string>& names);
HR_API NodePtr rename_categories(const NodePtr& column, const std::vector<std::string>& names);

}  // namespace hr
