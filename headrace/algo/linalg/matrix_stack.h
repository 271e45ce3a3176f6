// SPDX-License-Identifier: Apache-2.0
// Matrices of a tensor's last two dimensions, one after the other, as NumPy stacks them.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/base/api.h"

#include <functional>
#include <string_view>

namespace hr {

struct MatrixStack {
  /// Throws TypeMismatchError unless `x` holds real numbers of two or more dimensions.
  MatrixStack(std::string_view op, const Tensor& x);

  /// The same matrices, repeated where `shape` says.
  MatrixStack broadcast_to(const Shape& shape) const;

  AnyMatrix operator[](int64_t place) const;

  int64_t count() const { return num_elements(lead); }

  int64_t rows() const { return x.shape()[x.shape().size() - 2]; }

  int64_t columns() const { return x.shape().back(); }

  /// Of a factorization: float32 stays, everything else is float64.
  Dtype dtype() const { return x.dtype() == TypeId::kFloat32 ? x.dtype() : TypeId::kFloat64; }

  Tensor x;
  Shape lead;          ///< the dimensions before the last two
  Shape lead_strides;  ///< in elements
};

/// The common shape of two stacks; throws InvalidArgumentError where there is none.
Shape broadcast(std::string_view op, const Shape& a, const Shape& b);

/// Throws InvalidArgumentError unless the matrices are square.
void check_square(std::string_view op, const MatrixStack& stack);

/// Copies a matrix, as float64.
void load_doubles(const AnyMatrix& from, const MatrixView<double>& to);

/// Float64 values as a tensor of `dtype`.
Tensor store_doubles(Buffer values, Dtype dtype, Shape shape);

/// `lead` and what follows.
Shape stacked(const Shape& lead, std::initializer_list<int64_t> tail);

/// Runs `body(place)` for each matrix of a stack, on all workers.
void for_matrices(int64_t count, const std::function<void(int64_t)>& body);

/// Room for `count` float64 values.
Buffer doubles(int64_t count);

}  // namespace hr
