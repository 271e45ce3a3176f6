// SPDX-License-Identifier: Apache-2.0
// Array: a handle on a plan node, with the operators of arithmetic, for C++ users.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string>
#include <type_traits>
#include <utility>

namespace hr {

/// A lazy array, column or scalar. Operators make nodes and run nothing; `tensor`, `item` and
/// `force` run what they need. Converts from and to NodePtr, so each function that makes or takes a
/// node (`fft_convolve_node` and the like) works on it. Copies share the node. Dtypes promote and
/// shapes broadcast as in NumPy, and a plain number takes the dtype of what it meets; errors are
/// those of `elementwise_node`.
class Array {
 public:
  Array(NodePtr node) : node_(std::move(node)) {}  // NOLINT: implicit on purpose

  Array(Tensor tensor) : node_(data_node(std::move(tensor))) {}  // NOLINT

  template <class T>
    requires std::is_arithmetic_v<T>
  Array(T number) : node_(scalar_node(Scalar::weak(number))) {}  // NOLINT

  operator const NodePtr&() const { return node_; }  // NOLINT

  Dtype dtype() const { return node_->signature().dtype; }

  /// Runs what is needed; the elements in place, shared.
  Tensor tensor() const {
    const Value& value = force(node_);
    if (const auto* column = std::get_if<Column>(&value)) return as_tensor(*column);
    return std::get<Tensor>(value);
  }

  /// Runs what is needed; the first element. `T` is the C++ type of `dtype()`.
  template <class T>
  T item() const {
    return tensor().item<T>();
  }

  /// The steps that an evaluation would take.
  std::string explain() const { return hr::explain(std::span(&node_, 1)).text; }

  Array sum() const { return reduction_node(Aggregate::kSum, node_); }

  Array mean() const { return reduction_node(Aggregate::kMean, node_); }

  Array std() const { return reduction_node(Aggregate::kStd, node_); }

  Array min() const { return reduction_node(Aggregate::kMin, node_); }

  Array max() const { return reduction_node(Aggregate::kMax, node_); }

  /// All but the `first` first and the `last` last rows, shared.
  Array trim(int64_t first, int64_t last) const { return trim_node(node_, first, last); }

  Array operator-() const { return elementwise_node(Op::kNegative, {node_}); }

  Array operator!() const { return elementwise_node(Op::kLogicalNot, {node_}); }

  friend Array operator+(const Array& a, const Array& b) { return apply(Op::kAdd, a, b); }

  friend Array operator-(const Array& a, const Array& b) { return apply(Op::kSubtract, a, b); }

  friend Array operator*(const Array& a, const Array& b) { return apply(Op::kMultiply, a, b); }

  friend Array operator/(const Array& a, const Array& b) { return apply(Op::kDivide, a, b); }

  friend Array operator<(const Array& a, const Array& b) { return apply(Op::kLess, a, b); }

  friend Array operator<=(const Array& a, const Array& b) { return apply(Op::kLessEqual, a, b); }

  friend Array operator>(const Array& a, const Array& b) { return apply(Op::kGreater, a, b); }

  friend Array operator>=(const Array& a, const Array& b) { return apply(Op::kGreaterEqual, a, b); }

  friend Array operator&(const Array& a, const Array& b) { return apply(Op::kLogicalAnd, a, b); }

  friend Array operator|(const Array& a, const Array& b) { return apply(Op::kLogicalOr, a, b); }

 private:
  static Array apply(Op op, const Array& a, const Array& b) {
    return elementwise_node(op, {a.node_, b.node_});
  }

  NodePtr node_;
};

}  // namespace hr
