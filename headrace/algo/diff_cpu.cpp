// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements on the CPU.
#include "headrace/algo/diff_kernels.h"
#include "headrace/algo/strided_view.h"
#include "headrace/exec/workers.h"

#include <type_traits>

namespace hr::cpu {

namespace {

template <class T>
T subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;  // wraps, where signed overflow would be undefined
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else {
    return a - b;
  }
}

template <class T>
void subtract_neighbours(const StridedView<T>& x, int64_t begin, int64_t end, T* out) {
  if (x.stride == 1) {
    for (int64_t i = begin; i < end; ++i) out[i] = subtract(x.data[i + 1], x.data[i]);
  } else {
    for (int64_t i = begin; i < end; ++i) out[i] = subtract(x[i + 1], x[i]);
  }
}

}  // namespace

void diff(const Tensor& x, Buffer& out) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const StridedView<T> view(x);
    T* result = out.mutable_as<T>();
    parallel_morsels(view.size - 1, [&](Morsel morsel) {
      subtract_neighbours(view, morsel.begin, morsel.end, result);
    });
  });
}

}  // namespace hr::cpu
