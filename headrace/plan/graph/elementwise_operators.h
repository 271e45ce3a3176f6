// SPDX-License-Identifier: Apache-2.0
// The operators that handles on plan nodes have in C++.
#pragma once
#include "headrace/plan/eval/expression.h"

namespace hr {

/// Arithmetic, comparison and logic of a class `Handle`, whose `elementwise` makes the node of an
/// operation. Operands are handles and whatever converts to one, such as plain numbers.
template <class Handle>
class ElementwiseOperators {
 public:
  friend Handle operator-(const Handle& x) { return Handle::elementwise(Op::kNegative, {x}); }

  friend Handle operator!(const Handle& x) { return Handle::elementwise(Op::kLogicalNot, {x}); }

  friend Handle operator+(const Handle& a, const Handle& b) { return apply(Op::kAdd, a, b); }

  friend Handle operator-(const Handle& a, const Handle& b) { return apply(Op::kSubtract, a, b); }

  friend Handle operator*(const Handle& a, const Handle& b) { return apply(Op::kMultiply, a, b); }

  friend Handle operator/(const Handle& a, const Handle& b) { return apply(Op::kDivide, a, b); }

  friend Handle operator==(const Handle& a, const Handle& b) { return apply(Op::kEqual, a, b); }

  friend Handle operator!=(const Handle& a, const Handle& b) { return apply(Op::kNotEqual, a, b); }

  friend Handle operator<(const Handle& a, const Handle& b) { return apply(Op::kLess, a, b); }

  friend Handle operator<=(const Handle& a, const Handle& b) { return apply(Op::kLessEqual, a, b); }

  friend Handle operator>(const Handle& a, const Handle& b) { return apply(Op::kGreater, a, b); }

  friend Handle operator>=(const Handle& a, const Handle& b) {
    return apply(Op::kGreaterEqual, a, b);
  }

  friend Handle operator&(const Handle& a, const Handle& b) { return apply(Op::kLogicalAnd, a, b); }

  friend Handle operator|(const Handle& a, const Handle& b) { return apply(Op::kLogicalOr, a, b); }

 private:
  static Handle apply(Op op, const Handle& a, const Handle& b) {
    return Handle::elementwise(op, {a, b});
  }
};

}  // namespace hr
