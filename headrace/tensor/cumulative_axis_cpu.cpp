// SPDX-License-Identifier: Apache-2.0
// Lines along an axis, those next to each other together.
#include "headrace/exec/workers.h"
#include "headrace/tensor/cumulative_axis_kernels.h"

#include <algorithm>
#include <type_traits>

namespace hr::cpu {

namespace {

template <class T>
T joined(Running running, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return running == Running::kSum ? a + b : a * b;
  } else {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(running == Running::kSum ? x + y : x * y);
  }
}

}  // namespace

void run_along(Running running, const Tensor& from, size_t axis, bool initial, std::byte* out) {
  const Shape& shape = from.shape();
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < shape.size(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : shape[d];
  const int64_t length = shape[axis], step = from.strides()[axis];
  const int64_t long_length = length + (initial ? 1 : 0);
  const auto offset_of = [&](int64_t row, int64_t column) {
    int64_t element = 0;
    for (size_t d = shape.size(); d-- > axis + 1; column /= shape[d])
      element += column % shape[d] * from.strides()[d];
    for (size_t d = axis; d-- > 0; row /= shape[d]) element += row % shape[d] * from.strides()[d];
    return element;
  };
  visit_real(from.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* in = from.as<T>();
    T* to = reinterpret_cast<T*>(out);
    const int64_t lines = outer * inner;
    const int64_t at_once = std::max<int64_t>(1, kMorselRows / 8 / std::max<int64_t>(1, length));
    parallel_for((lines + at_once - 1) / at_once, [&](int64_t task) {
      const int64_t end = std::min(lines, (task + 1) * at_once);
      for (int64_t line = task * at_once; line < end; ++line) {
        const int64_t row = line / inner, column = line % inner;
        const T* x = in + offset_of(row, column);
        T* z = to + row * long_length * inner + column;
        T total = running == Running::kSum ? T{0} : T{1};
        if (initial) {
          *z = total;
          z += inner;
        }
        for (int64_t i = 0; i < length; ++i) {
          total = i == 0 ? x[0] : joined(running, total, x[i * step]);
          z[i * inner] = total;
        }
      }
    });
  });
}

}  // namespace hr::cpu
