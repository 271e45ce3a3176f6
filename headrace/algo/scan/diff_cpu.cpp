// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements on the CPU.
#define HWY_TARGET_INCLUDE "headrace/algo/scan/diff_cpu.cpp"
#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/scan/diff_kernels.h"
#include "headrace/base/simd_targets.h"
#include "headrace/data/access_pattern.h"
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
void subtract_rows(const StridedView<T>& a, const StridedView<T>& b, Morsel rows, T* out) {
  if (a.stride == 1 && b.stride == 1) {
    for (int64_t i = rows.begin; i < rows.end; ++i) out[i] = subtract(a.data[i], b.data[i]);
  } else {
    for (int64_t i = rows.begin; i < rows.end; ++i) out[i] = subtract(a[i], b[i]);
  }
}

void subtract_tensors(const Tensor& a, const Tensor& b, Morsel rows, std::byte* out) {
  visit_real(a.dtype(), [&]<class T>(std::type_identity<T>) {
    subtract_rows(StridedView<T>(a), StridedView<T>(b), rows, reinterpret_cast<T*>(out));
  });
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void subtract(const Tensor& a, const Tensor& b, Buffer& out, int64_t begin) {
  const int64_t width = a.dtype().size_bytes();
  std::byte* const result = out.mutable_data() + begin * width;
  BufferAccess written = writes(out, width);
  written.first_bit = 8 * width * begin;
  written.items = a.num_elements();
  parallel_morsels(a.num_elements(), {reads(a), reads(b), written},
                   [&](Morsel rows) { HR_SIMD(subtract_tensors)(a, b, rows, result); });
}

}  // namespace hr::cpu
#endif
