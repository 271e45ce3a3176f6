// SPDX-License-Identifier: Apache-2.0
// Kernels of casts between all numbers and bool.
#define HWY_TARGET_INCLUDE "headrace/plan/evaluate_cast_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/plan/evaluate_kernels.h"

#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

using cpu::Kernel;

// Stands for bool: a byte 0 or 1.
struct Bool {
  uint8_t byte;
};

template <class To, class From>
HR_INLINE To convert(From x) {
  if constexpr (std::is_same_v<From, Bool>) {
    return static_cast<To>(x.byte);
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(x != From{0})};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // through int64 with one value for all that does not fit, the same on every machine
    constexpr From kLimit = static_cast<From>(0x1p63);
    if constexpr (std::is_same_v<To, uint64_t>)
      if (x >= kLimit && x < 2 * kLimit)
        return static_cast<uint64_t>(static_cast<int64_t>(x - kLimit)) ^ (uint64_t{1} << 63);
    const bool inside = x >= -kLimit && x < kLimit;
    const int64_t whole = static_cast<int64_t>(inside ? x : From{0});
    return static_cast<To>(inside ? whole : std::numeric_limits<int64_t>::min());
  } else {
    return static_cast<To>(x);
  }
}

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
