// SPDX-License-Identifier: Apache-2.0
// Two float operations in one pass over the block, each rounded as when it stands alone.
#define HWY_TARGET_INCLUDE "headrace/plan/eval/fused_binary_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/plan/eval/evaluate_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

using cpu::Kernel;

template <Op op, class T>
HR_INLINE T apply(T a, T b) {
  if constexpr (op == Op::kAdd) return a + b;
  if constexpr (op == Op::kSubtract) return a - b;
  if constexpr (op == Op::kMultiply) return a * b;
  return a / b;
}

/// second(first(a, b), c), or second(c, first(a, b)) when `swapped`. Bits 1, 2, 4 of `once`: a, b,
/// c are the same in every row.
template <Op first, Op second, bool swapped, unsigned once, class T>
void pair(const void* a, const void* b, const void* c, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const T* z = static_cast<const T*>(c);
  T* __restrict to = static_cast<T*>(out);
  const T x0 = x[0], y0 = y[0], z0 = z[0];
  for (int64_t i = 0; i < n; ++i) {
    const T inner = apply<first>((once & 1) != 0 ? x0 : x[i], (once & 2) != 0 ? y0 : y[i]);
    const T other = (once & 4) != 0 ? z0 : z[i];
    to[i] = swapped ? apply<second>(other, inner) : apply<second>(inner, other);
  }
}

template <Op first, Op second, bool swapped, class T>
Kernel pair_of_once(unsigned once) {
  constexpr Kernel kernels[] = {
      pair<first, second, swapped, 0, T>, pair<first, second, swapped, 1, T>,
      pair<first, second, swapped, 2, T>, nullptr,
      pair<first, second, swapped, 4, T>, pair<first, second, swapped, 5, T>,
      pair<first, second, swapped, 6, T>};
  return once < std::size(kernels) ? kernels[once] : nullptr;
}

template <class T>
Kernel pair_of(Op first, Op second, bool swapped, unsigned once) {
  if (first == Op::kMultiply) {
    if (second == Op::kAdd)
      return swapped ? pair_of_once<Op::kMultiply, Op::kAdd, true, T>(once)
                     : pair_of_once<Op::kMultiply, Op::kAdd, false, T>(once);
    if (second == Op::kSubtract)
      return swapped ? pair_of_once<Op::kMultiply, Op::kSubtract, true, T>(once)
                     : pair_of_once<Op::kMultiply, Op::kSubtract, false, T>(once);
  }
  if (first == Op::kSubtract && !swapped) {
    if (second == Op::kMultiply) return pair_of_once<Op::kSubtract, Op::kMultiply, false, T>(once);
    if (second == Op::kDivide) return pair_of_once<Op::kSubtract, Op::kDivide, false, T>(once);
  }
  return nullptr;
}

Kernel find_pair(Op first, Op second, bool swapped, Dtype dtype, unsigned once) {
  if (dtype.id() == TypeId::kFloat32) return pair_of<float>(first, second, swapped, once);
  if (dtype.id() == TypeId::kFloat64) return pair_of<double>(first, second, swapped, once);
  return nullptr;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

Kernel pair_kernel(Op first, Op second, bool swapped, Dtype dtype, unsigned once) {
  return HR_SIMD(find_pair)(first, second, swapped, dtype, once);
}

}  // namespace hr::cpu
#endif
