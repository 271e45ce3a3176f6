// SPDX-License-Identifier: Apache-2.0
// Offsets of matrices in a tensor, and their way to float64 and back.
#include "headrace/algo/linalg/matrix_stack.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <algorithm>

namespace hr {
namespace {

constexpr int64_t kTaskValues = int64_t{1} << 16;

}  // namespace

MatrixStack::MatrixStack(std::string_view op, const Tensor& tensor) : x(tensor) {
  if (x.num_dimensions() < 2 || !x.dtype().is_real())
    throw_error<TypeMismatchError>(
        op, "expected numbers of two or more dimensions",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
  lead.assign(x.shape().begin(), x.shape().end() - 2);
  lead_strides.assign(x.strides().begin(), x.strides().end() - 2);
}

MatrixStack MatrixStack::broadcast_to(const Shape& shape) const {
  MatrixStack wide = *this;
  wide.lead = shape;
  wide.lead_strides.assign(shape.size(), 0);
  const size_t first = shape.size() - lead.size();
  for (size_t axis = 0; axis < lead.size(); ++axis)
    if (lead[axis] != 1) wide.lead_strides[first + axis] = lead_strides[axis];
  return wide;
}

AnyMatrix MatrixStack::operator[](int64_t place) const {
  int64_t offset = 0;
  for (size_t axis = lead.size(); axis-- > 0; place /= lead[axis])
    offset += place % lead[axis] * lead_strides[axis];
  return AnyMatrix(x, offset);
}

Shape broadcast(std::string_view op, const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto size = [&](const Shape& x) {
      return axis + x.size() < shape.size() ? 1 : x[axis + x.size() - shape.size()];
    };
    const int64_t left = size(a), right = size(b);
    if (left != right && left != 1 && right != 1)
      throw_error<InvalidArgumentError>(op, "stacks of matrices differ in shape",
                                        {{"axis", axis}, {"left", left}, {"right", right}});
    shape[axis] = left == 1 ? right : left;
  }
  return shape;
}

void check_square(std::string_view op, const MatrixStack& stack) {
  if (stack.rows() != stack.columns())
    throw_error<InvalidArgumentError>(op, "the matrix is not square",
                                      {{"rows", stack.rows()}, {"columns", stack.columns()}});
}

void load_doubles(const AnyMatrix& from, const MatrixView<double>& to) {
  visit_real(from.dtype, [&]<class T>(std::type_identity<T>) {
    const auto* values = reinterpret_cast<const T*>(from.data);
    const int64_t step = std::max<int64_t>(1, kTaskValues / std::max<int64_t>(1, from.columns));
    parallel_for((from.rows + step - 1) / step, [&](int64_t task) {
      for (int64_t i = task * step; i < std::min(from.rows, (task + 1) * step); ++i)
        for (int64_t j = 0; j < from.columns; ++j)
          to(i, j) = static_cast<double>(values[i * from.row_stride + j * from.column_stride]);
    });
  });
}

Tensor store_doubles(Buffer values, Dtype dtype, Shape shape) {
  if (dtype == TypeId::kFloat64) return Tensor(dtype, std::move(shape), std::move(values));
  const int64_t count = num_elements(shape);
  Buffer narrow = Buffer::allocate(count * int64_t{sizeof(float)});
  const auto* from = values.as<double>();
  auto* to = narrow.mutable_as<float>();
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
  return Tensor(dtype, std::move(shape), std::move(narrow));
}

Shape stacked(const Shape& lead, std::initializer_list<int64_t> tail) {
  Shape shape = lead;
  shape.insert(shape.end(), tail);
  return shape;
}

void for_matrices(int64_t count, const std::function<void(int64_t)>& body) {
  parallel_for(count, [&](int64_t place) { body(place); });
}

Buffer doubles(int64_t count) {
  return Buffer::allocate(checked_multiply("linalg", count, int64_t{sizeof(double)}));
}

}  // namespace hr
