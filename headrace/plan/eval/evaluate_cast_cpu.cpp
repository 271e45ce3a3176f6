// SPDX-License-Identifier: Apache-2.0
// Kernels of casts between all numbers and bool.
#define HWY_TARGET_INCLUDE "headrace/plan/eval/evaluate_cast_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/plan/eval/evaluate_kernels.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

using cpu::Kernel;

#include "headrace/plan/eval/evaluate_math.h"

template <class To, class From>
void cast(const void* a, const void*, const void*, void* out, int64_t n) {
  const From* x = static_cast<const From*>(a);
  To* __restrict z = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = convert<To, From>(x[i]);
}

template <class F>
Kernel visit(Dtype dtype, F&& f) {
  if (dtype.is_bool()) return f(std::type_identity<Bool>{});
  return visit_real(dtype, f);
}

Kernel find_cast(Dtype from, Dtype to) {
  return visit(from, [&]<class From>(std::type_identity<From>) -> Kernel {
    return visit(to, []<class To>(std::type_identity<To>) -> Kernel {
      if constexpr (std::is_same_v<To, From>)
        return nullptr;
      else
        return cast<To, From>;
    });
  });
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

Kernel cast_kernel(Dtype from, Dtype to) {
  return HR_SIMD(find_cast)(from, to);
}

}  // namespace hr::cpu
#endif
