// SPDX-License-Identifier: Apache-2.0
// Passes of Stockham's algorithm over blocks: kLanes sequences side by side, so that nothing is
// ever shuffled. Every level does the same operations on each element.
#define HWY_TARGET_INCLUDE "headrace/signal/fft_batched_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/base/simd_vectors.h"
#include "headrace/signal/fft_batched.h"

#include <algorithm>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

enum class PassKind { kFirst, kMiddle, kLast };

/// Where the real and the imaginary parts stand in a block.
template <class T>
struct Parts {
  explicit Parts(bool exchanged) : re(exchanged ? kLanes<T> : 0), im(kLanes<T> - re) {}
  int64_t re;
  int64_t im;
};

template <class T>
__attribute__((always_inline)) inline Complex<Vector<T>> load_complex(const T* from,
                                                                      const Parts<T>& parts) {
  return {load(from + parts.re), load(from + parts.im)};
}

template <class T>
__attribute__((always_inline)) inline void store_complex(const Complex<Vector<T>>& value, T* to,
                                                         const Parts<T>& parts) {
  store(value.re, to + parts.re);
  store(value.im, to + parts.im);
}

/// The first pass has one sequence, the last one butterfly without factors. R = 0: any odd radix.
template <int R, PassKind kind, class T>
void run_pass(const FftPass& pass, const T* factors, bool exchanged, const T* in, T* out) {
  const Parts<T> parts(exchanged);
  const int64_t s = kind == PassKind::kFirst ? 1 : pass.stride;
  const int64_t m = kind == PassKind::kLast ? 1 : pass.count;
  const T* cosines = factors + pass.circle;
  const int radix = R > 0 ? R : static_cast<int>(pass.radix);
  const int64_t in_step = s * m * kBlock<T>;
  const int64_t out_step = s * kBlock<T>;
  for (int64_t p = 0; p < m; ++p) {
    const T* twiddles = factors + pass.twiddles + p * 2 * (radix - 1);
    for (int64_t q = 0; q < s; ++q) {
      const T* from = in + (q + s * p) * kBlock<T>;
      T* to = out + (q + s * radix * p) * kBlock<T>;
      for (int64_t v = 0; v < kLanes<T>; v += kWidth<T>) {
        Complex<Vector<T>> a[R > 0 ? R : kLargestRadix];
#pragma GCC unroll 16
        for (int j = 0; j < radix; ++j) a[j] = load_complex(from + j * in_step + v, parts);
        if constexpr (R > 0)
          butterfly<R>(a, cosines, cosines + radix);
        else
          odd_butterfly(radix, a, cosines, cosines + radix);
        store_complex(a[0], to + v, parts);
#pragma GCC unroll 16
        for (int k = 1; k < radix; ++k) {
          if constexpr (kind != PassKind::kLast)
            a[k] = times(a[k], twiddles[2 * k - 2], twiddles[2 * k - 1]);
          store_complex(a[k], to + k * out_step + v, parts);
        }
      }
    }
  }
}

template <class T>
auto function_of(const FftPass& pass) {
  return cpu::visit_radix(pass.radix, [&]<int R>(std::integral_constant<int, R>) {
    if (pass.count == 1) return &run_pass<R, PassKind::kLast, T>;
    return pass.stride == 1 ? &run_pass<R, PassKind::kFirst, T>
                            : &run_pass<R, PassKind::kMiddle, T>;
  });
}

template <class T>
T* run_lanes(const LanePlan<T>& plan, bool exchanged, const T* in, T* a, T* b) {
  const T* factors = plan.factors.template as<T>();
  if (plan.passes.empty()) {
    std::copy(in, in + kBlock<T>, a);
    return a;
  }
  for (const FftPass& pass : plan.passes) {
    function_of<T>(pass)(pass, factors, exchanged, in, a);
    in = a;
    std::swap(a, b);
  }
  return b;
}

template <class T>
void multiply_lanes(int64_t count, const T* factors, bool exchanged, const T* in, T* out,
                    int64_t pitch) {
  const Parts<T> parts(exchanged);
  for (int64_t k = 0; k < count; ++k)
    for (int64_t v = 0; v < kLanes<T>; v += kWidth<T>)
      store_complex(
          times(load_complex(in + k * kBlock<T> + v, parts), factors[2 * k], factors[2 * k + 1]),
          out + k * pitch + v, parts);
}

/// change(a, b, root) of terms k and half - k.
template <class T, class F>
__attribute__((always_inline)) inline void change_mirrored(const RootTable<T>& circle, int64_t half,
                                                           const T* in, T* out, const F& change) {
  const Parts<T> parts(false);
  for (int64_t k = 1; k <= half - k; ++k) {
    const Complex<T> root = circle[k];
    for (int64_t v = 0; v < kLanes<T>; v += kWidth<T>) {
      const int64_t at = k * kBlock<T> + v;
      const int64_t mirror = (half - k) * kBlock<T> + v;
      Complex<Vector<T>> a = load_complex(in + at, parts);
      Complex<Vector<T>> b = load_complex(in + mirror, parts);
      change(a, b, root);
      store_complex(b, out + mirror, parts);
      store_complex(a, out + at, parts);
    }
  }
}

template <class T>
void untangle_lanes(const RootTable<T>& circle, int64_t half, T scale, const T* in, T* out) {
  const Parts<T> parts(false);
  for (int64_t v = 0; v < kLanes<T>; v += kWidth<T>) {
    const Complex<Vector<T>> a = load_complex(in + v, parts);
    store_complex({(a.re + a.im) * scale, Vector<T>{}}, out + v, parts);
    store_complex({(a.re - a.im) * scale, Vector<T>{}}, out + half * kBlock<T> + v, parts);
  }
  change_mirrored(circle, half, in, out, [=](auto& a, auto& b, const Complex<T>& root) {
    rfft_join(a, b, root, scale * T{0.5});
  });
}

template <class T>
void tangle_lanes(const RootTable<T>& circle, int64_t half, const T* in, T* out) {
  const Parts<T> parts(false);
  for (int64_t v = 0; v < kLanes<T>; v += kWidth<T>) {
    const Vector<T> a = load(in + v);
    const Vector<T> b = load(in + half * kBlock<T> + v);
    store_complex({a + b, a - b}, out + v, parts);
  }
  change_mirrored(circle, half, in, out,
                  [](auto& a, auto& b, const Complex<T>& root) { irfft_split(a, b, root); });
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class T>
T* run_lanes(const LanePlan<T>& plan, bool exchanged, const T* in, T* a, T* b) {
  return HR_SIMD(run_lanes<T>)(plan, exchanged, in, a, b);
}

template <class T>
void multiply_lanes(int64_t count, const T* factors, bool exchanged, const T* in, T* out,
                    int64_t pitch) {
  HR_SIMD(multiply_lanes<T>)(count, factors, exchanged, in, out, pitch);
}

template <class T>
void untangle_lanes(const RootTable<T>& circle, int64_t half, T scale, const T* in, T* out) {
  HR_SIMD(untangle_lanes<T>)(circle, half, scale, in, out);
}

template <class T>
void tangle_lanes(const RootTable<T>& circle, int64_t half, const T* in, T* out) {
  HR_SIMD(tangle_lanes<T>)(circle, half, in, out);
}

#define HR_INSTANTIATE(T)                                                       \
  template T* run_lanes(const LanePlan<T>&, bool, const T*, T*, T*);            \
  template void multiply_lanes(int64_t, const T*, bool, const T*, T*, int64_t); \
  template void untangle_lanes(const RootTable<T>&, int64_t, T, const T*, T*);  \
  template void tangle_lanes(const RootTable<T>&, int64_t, const T*, T*);
HR_INSTANTIATE(float)
HR_INSTANTIATE(double)
#undef HR_INSTANTIATE

}  // namespace hr::cpu
#endif
