// SPDX-License-Identifier: Apache-2.0
// Array: a handle on a plan node, with the operators of arithmetic, for C++ users.
#pragma once
#include "headrace/plan/graph/elementwise_operators.h"
#include "headrace/plan/graph/node.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hr {

/// A lazy array, column or scalar. Operators make nodes and run nothing; `tensor`, `item` and
/// `force` run what they need. Converts from and to NodePtr, so each function that makes or takes a
/// node (`fft_convolve` and the like) works on it. Copies share the node. Dtypes promote and
/// shapes broadcast as in NumPy, and a plain number takes the dtype of what it meets; errors are
/// those of `elementwise`.
class Array : public ElementwiseOperators<Array> {
 public:
  Array(NodePtr node) : node_(std::move(node)) {}  // NOLINT: implicit on purpose

  Array(Tensor tensor) : node_(lazy_value(std::move(tensor))) {}  // NOLINT

  template <class T>
    requires std::is_arithmetic_v<T>
  Array(T number) : node_(literal(Scalar::weak(number))) {}  // NOLINT

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

  Array sum() const { return reduce(Aggregate::kSum, node_); }

  Array mean() const { return reduce(Aggregate::kMean, node_); }

  Array std() const { return reduce(Aggregate::kStd, node_); }

  Array min() const { return reduce(Aggregate::kMin, node_); }

  Array max() const { return reduce(Aggregate::kMax, node_); }

  Array argmax() const { return reduce(Aggregate::kArgmax, node_); }

  /// All but the `first` first and the `last` last rows, shared.
  Array trim(int64_t first, int64_t last) const { return hr::trim(node_, first, last); }

  static Array elementwise(Op op, std::vector<NodePtr> operands) {
    return hr::elementwise(op, std::move(operands));
  }

 private:
  NodePtr node_;
};

}  // namespace hr
