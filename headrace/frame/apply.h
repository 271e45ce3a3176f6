// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on columns of any dtype: what the binder says, as nodes.
#pragma once
#include "headrace/plan/bind/binder.h"
#include "headrace/plan/graph/node.h"

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace hr {

/// A lazy value or a literal; `name`: of a column, for errors.
struct ApplyOperand {
  std::variant<NodePtr, Literal> value;
  std::string_view name = {};
};

/// The lazy result of an element-wise operation on numbers, bools, strings, categories, dates,
/// times, durations and decimals, one operand at least a node. Null and NaN as in `elementwise`; of
/// `where`, a null literal (and NaN where there are no numbers) chooses null. The rules are the
/// binder's (docs/design/binder.md): times become integers of their finest unit, a string compared
/// with times is read as one, decimals stay exact with integers and become float64 with floats.
/// `nulls`: see NullRule; arithmetic with null is null by both.
/// Throws TypeMismatchError for dtypes that the operation does not take together,
/// InvalidArgumentError for operands of different rows.
HR_API NodePtr apply(Op op, std::span<const ApplyOperand> operands, NullRule nulls);

/// The dtype of the first column of times, else of durations: a string next to it is a time.
HR_API std::optional<Dtype> dtype_of_times(std::span<const ApplyOperand> operands);

/// Two columns of times, or two of durations, as integers that compare as they do; nothing for
/// other columns. `name`: the operation in errors.
HR_API std::vector<NodePtr> comparable_counts(std::string_view name, const NodePtr& left,
                                              const NodePtr& right);

}  // namespace hr
