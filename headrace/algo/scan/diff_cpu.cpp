// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements on the CPU.
#define HWY_TARGET_INCLUDE "headrace/algo/scan/diff_cpu.cpp"
#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/scan/diff_kernels.h"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

template <class T>
inline T subtract(T a, T b) {
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

void diff(const Tensor& x, int64_t begin, int64_t end, std::byte* out) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    subtract_neighbours(StridedView<T>(x), begin, end, reinterpret_cast<T*>(out));
  });
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void diff(const Tensor& x, Buffer& out) {
  std::byte* const result = out.mutable_data();
  parallel_morsels(x.num_elements() - 1, {reads(x, 0, 1), writes(out, x.dtype().size_bytes())},
                   [&](Morsel morsel) { HR_SIMD(diff)(x, morsel.begin, morsel.end, result); });
}

}  // namespace hr::cpu
#endif
