// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparison and choice of decimals, and their conversions.
#pragma once
#include "headrace/algo/math/decimal_math.h"
#include "headrace/data/column.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/graph/node.h"

#include <string_view>
#include <tuple>
#include <variant>

namespace hr {

/// A decimal constant combined with a column.
struct DecimalValue {
  Int128 units = 0;
  Dtype dtype = Dtype::decimal(1, 0);

  static auto parameters(auto& self) { return std::tie(self.units, self.dtype); }
};

/// A decimal of as few digits as the text has. Throws InvalidArgumentError for other text and for
/// more than 38 digits.
HR_API DecimalValue decimal_from_text(std::string_view text);

using DecimalSide = std::variant<NodePtr, DecimalValue>;

/// The dtype of an operation, as in SQL: of + and - with all digits of both and one more, of * with
/// as many as both have together; of a quotient rounded down whole, of its rest with those of the
/// right side before the point; of minimum, maximum and where with all digits of both. 38 digits
/// at most: then before the point there are as many as are left. Throws TypeMismatchError where
/// more than 38 digits would stand behind it.
HR_API Dtype decimal_result(Op op, Dtype left, Dtype right);

/// Add, subtract, multiply, floor_divide, remainder (with the sign of the right side), minimum,
/// maximum and the comparisons of two sides, one of them a column at least; null where a side is.
/// Exact; throws InvalidArgumentError with the row of a result that does not fit its dtype, and of
/// a division by zero, when it runs.
HR_API NodePtr decimal_arithmetic(Op op, const DecimalSide& left, const DecimalSide& right);

/// The negative or absolute value, of the same dtype.
HR_API NodePtr decimal_sign(Op op, const NodePtr& column);

/// `yes` where the condition is true, null where it is null, else `no`.
HR_API NodePtr decimal_where(const NodePtr& condition, const DecimalSide& yes,
                             const DecimalSide& no);

/// Digits after the decimal point rounded to this number, halves to even; the dtype stays.
HR_API NodePtr decimal_round(const NodePtr& column, int digits);

/// Decimals from decimals (fewer digits are rounded, halves to even), integers, bools, floats (the
/// nearest, halves to even) and strings (all digits must fit), and to floats (the nearest),
/// integers (cut towards zero), bools and strings. Throws InvalidArgumentError with the row of what
/// does not fit, when it runs; TypeMismatchError for other dtypes.
HR_API NodePtr decimal_cast(const NodePtr& column, Dtype dtype);
HR_API Column decimal_cast(const Column& column, Dtype dtype);

/// Decimals as float64; others as they are.
HR_API NodePtr decimal_to_float(const NodePtr& column);

/// "sum" (exact, of 38 digits), "min", "max" as a column of one row; null of no value, but 0 as the
/// sum. Throws InvalidArgumentError for a sum that does not fit.
HR_API NodePtr decimal_reduction(std::string_view kind, const NodePtr& column);

}  // namespace hr
