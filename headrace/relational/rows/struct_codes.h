// SPDX-License-Identifier: Apache-2.0
// Structs as keys: numbers that compare as they do.
#pragma once
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// The place of each struct among the distinct ones in order, from 0: int64, null where the struct
/// is. Structs are ordered by their first field, then the next; a null field comes last, and equals
/// another null. About the cost of a sort by all fields. Throws TypeMismatchError for fields that
/// have no order: lists, maps and complex numbers.
HR_API Column struct_codes(const Column& structs);
HR_API NodePtr struct_codes(const NodePtr& structs);

/// The same for the structs of two frames, as one set: those of `left`, or of `right`.
HR_API NodePtr struct_codes_of_left(const NodePtr& left, const NodePtr& right);
HR_API NodePtr struct_codes_of_right(const NodePtr& left, const NodePtr& right);

/// The structs that have these codes among `structs`, of which `codes` are the codes; null for
/// null.
HR_API Column structs_of_codes(const Column& structs, const Column& codes, const Column& wanted);
HR_API NodePtr structs_of_codes(const NodePtr& structs, const NodePtr& codes,
                                const NodePtr& wanted);

/// The key itself, or of structs their codes.
HR_API NodePtr plain_key(const NodePtr& key);
HR_API std::vector<NodePtr> plain_keys(const std::vector<NodePtr>& keys);

/// A column of values of the plain key as values of the key.
HR_API NodePtr values_of_key(const NodePtr& key, const NodePtr& plain);

}  // namespace hr
