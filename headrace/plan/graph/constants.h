// SPDX-License-Identifier: Apache-2.0
// What is known of element-wise values before anything runs: numbers, columns of one number, and
// operations that give one of their operands.
#pragma once
#include "headrace/plan/graph/node.h"

#include <optional>
#include <string>
#include <vector>

namespace hr {

/// The number that a node is in each of its rows, where that is known.
std::optional<Scalar> constant_of(const NodePtr& node);

/// A column of the length and row domain of `like` that repeats one number or text.
HR_API NodePtr repeat(const NodePtr& like, const Scalar& value);
HR_API NodePtr repeat(const NodePtr& like, const std::string& text);

/// The node that has the value of an operation with this signature already, or a constant: the bits
/// are those of the operation. Null: it has to be computed, of `inputs`, of which columns of one
/// number became that number.
NodePtr folded_node(Op op, const Signature& result, std::vector<NodePtr>& inputs);

/// The same of a conversion to `dtype`.
NodePtr folded_cast(const NodePtr& input, Dtype dtype);

/// What a mask that is true, or false, in all rows picks of `rows`: these, shared, or none, which
/// reads nothing. Null where it has to be picked.
NodePtr all_or_none(const Signature& result, const NodePtr& rows, bool all);

}  // namespace hr
