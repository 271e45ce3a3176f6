// SPDX-License-Identifier: Apache-2.0
// Plans of transforms: factors of the length, tables, and the cache.
#include "headrace/signal/fft_plan.h"

#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/fft.h"
#include "headrace/signal/fft_convolve_plan.h"
#include "headrace/signal/plan_cache.h"
#include "headrace/signal/roots_of_unity.h"

#include <algorithm>

namespace hr {

namespace {

/// Radices of the passes; empty when a prime factor has none. Eights come first, so that the inner
/// loops of later passes are long.
std::vector<int64_t> factorize(int64_t n) {
  std::vector<int64_t> radices;
  for (; n % 8 == 0; n /= 8) radices.push_back(8);
  if (n % 2 == 0 && n % 4 != 0 && !radices.empty()) {  // 8 x 2 as 4 x 4
    radices.back() = 4;
    n *= 2;
  }
  for (const int64_t radix : {4, 2, 13, 11, 7, 5, 3})
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  return n == 1 ? radices : std::vector<int64_t>{};
}

/// The least length of the form 2^a {1, 3, 5, 9, 15} that is not below `n`.
int64_t convenient_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t length : {1, 3, 5, 9, 15}) {
    while (length < n) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

}  // namespace

template <class T>
FactorTable<T>::FactorTable(int64_t count) : size(count) {
  const int64_t bytes = checked_multiply("fft", count, 2 * static_cast<int64_t>(sizeof(T)));
  // From the system: a cached table would keep a pool alive that the caller made for a while.
  if (count > 0) buffer = Buffer::allocate(bytes, system_resource());
}

template <class T>
FftPlan<T>::FftPlan(int64_t length) : n(length) {
  const std::vector<int64_t> radices = factorize(n);
  if (radices.empty() && n > 1) {
    const int64_t twice = checked_multiply("fft", n, 2);
    inner = fft_plan<T>(convenient_length(checked_multiply("fft", twice, 2) / 2 - 1));
    const RootsOfUnity roots(twice);
    factors = FactorTable<T>(n);
    kernel = FactorTable<T>(inner->n);
    T* re = factors.buffer.template mutable_as<T>();
    T* kernel_re = kernel.buffer.template mutable_as<T>();
    T* kernel_im = kernel_re + kernel.size;
    std::fill(kernel_re, kernel_re + 2 * kernel.size, T{0});
    const double scale = 1.0 / static_cast<double>(inner->n);
    int64_t square = 0;  // k^2 mod 2n
    for (int64_t k = 0; k < n; ++k) {
      const RootsOfUnity::Root root = roots[square];
      re[k] = static_cast<T>(root.cos);
      re[n + k] = static_cast<T>(-root.sin);
      const int64_t mirrored = k == 0 ? 0 : inner->n - k;
      kernel_re[k] = kernel_re[mirrored] = static_cast<T>(root.cos * scale);
      kernel_im[k] = kernel_im[mirrored] = static_cast<T>(root.sin * scale);
      square = (square + 2 * k + 1) % twice;
    }
    Buffer scratch = Buffer::allocate(inner->scratch_size() * static_cast<int64_t>(sizeof(T)));
    cpu::run_fft(*inner, kernel_re, kernel_im, scratch.template mutable_as<T>());
    return;
  }
  int64_t stride = 1;
  int64_t size = 0;
  for (const int64_t radix : radices) {
    FftPass pass{radix, stride, n / stride / radix, size, 0};
    size += radix;
    pass.twiddles = size;
    size += (radix - 1) * pass.row();
    passes.push_back(pass);
    stride *= radix;
  }
  factors = FactorTable<T>(size);
  if (size == 0) return;
  T* re = factors.buffer.template mutable_as<T>();
  T* im = re + size;
  const RootsOfUnity roots(n);
  for (const FftPass& pass : passes) {
    for (int64_t j = 0; j < pass.radix; ++j) {
      const RootsOfUnity::Root root = roots[n / pass.radix * j];
      re[pass.circle + j] = static_cast<T>(root.cos);
      im[pass.circle + j] = static_cast<T>(root.sin);
    }
    const int64_t repeat = pass.is_narrow() ? pass.stride : 1;
    constexpr int64_t rows_of_task = 4096;
    parallel_for(divide_up(pass.count, rows_of_task), [&](int64_t task) {
      const int64_t end = std::min(pass.count, (task + 1) * rows_of_task);
      for (int64_t k = 1; k < pass.radix; ++k)
        for (int64_t p = task * rows_of_task; p < end; ++p) {
          const RootsOfUnity::Root root = roots[pass.stride * p * k];
          const int64_t at = pass.twiddles + (k - 1) * pass.row() + p * repeat;
          std::fill(re + at, re + at + repeat, static_cast<T>(root.cos));
          std::fill(im + at, im + at + repeat, static_cast<T>(-root.sin));
        }
    });
  }
}

template <class T>
HalfCircle<T>::HalfCircle(int64_t length) : n(length), factors(length / 2 + 1) {
  const RootsOfUnity roots(n);
  T* re = factors.buffer.template mutable_as<T>();
  for (int64_t k = 0; k < factors.size; ++k) {
    const RootsOfUnity::Root root = roots[k];
    re[k] = static_cast<T>(root.cos);
    re[factors.size + k] = static_cast<T>(-root.sin);
  }
}

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n) {
  return PlanCache<FftPlan<T>>::instance().get(n);
}

template <class T>
std::shared_ptr<const HalfCircle<T>> half_circle(int64_t n) {
  return PlanCache<HalfCircle<T>>::instance().get(n);
}

void clear_fft_plans() {
  PlanCache<FftPlan<float>>::instance().clear();
  PlanCache<FftPlan<double>>::instance().clear();
  PlanCache<HalfCircle<float>>::instance().clear();
  PlanCache<HalfCircle<double>>::instance().clear();
  PlanCache<ConvolvePlan<float>>::instance().clear();
  PlanCache<ConvolvePlan<double>>::instance().clear();
}

template struct FactorTable<float>;
template struct FactorTable<double>;
template struct FftPlan<float>;
template struct FftPlan<double>;
template struct HalfCircle<float>;
template struct HalfCircle<double>;
template std::shared_ptr<const FftPlan<float>> fft_plan(int64_t n);
template std::shared_ptr<const FftPlan<double>> fft_plan(int64_t n);
template std::shared_ptr<const HalfCircle<float>> half_circle(int64_t n);
template std::shared_ptr<const HalfCircle<double>> half_circle(int64_t n);

}  // namespace hr
