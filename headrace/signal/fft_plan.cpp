// SPDX-License-Identifier: Apache-2.0
// Plans of transforms: factors of the length, tables, and the cache.
#include "headrace/signal/fft_plan.h"

#include "headrace/base/checked.h"
#include "headrace/signal/fft.h"
#include "headrace/signal/fft_batched.h"
#include "headrace/signal/fft_convolve_plan.h"
#include "headrace/signal/plan_cache.h"
#include "headrace/signal/roots_of_unity.h"

#include <algorithm>

namespace hr {

namespace {

// Up to this number of values, kLanes rows are transformed side by side; longer rows one by one.
constexpr int64_t kShort = 512;

/// Radices of the passes; empty when a prime factor has none.
std::vector<int64_t> factorize(int64_t n) {
  std::vector<int64_t> radices;
  for (; n % 8 == 0; n /= 8) radices.push_back(8);
  if (n % 2 == 0 && n % 4 != 0 && !radices.empty()) {  // 8 x 2 as 4 x 4
    radices.back() = 4;
    n *= 2;
  }
  for (const int64_t radix : {4, 2, 31, 29, 23, 19, 17, 13, 11, 7, 5, 3})
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  return n == 1 ? radices : std::vector<int64_t>{};
}

/// About the time of the passes of a length, for one element.
double cost_of_passes(int64_t n) {
  double cost = 0;
  for (const int64_t radix : factorize(n)) cost += 0.6 + 0.05 * static_cast<double>(radix);
  return cost;
}

/// n1 of a long plan: the divisor of `n` that makes both steps cheap, with few unused lanes and a
/// working set that the second-level cache holds. Depends on n and T alone.
template <class T>
int64_t choose_columns(int64_t n) {
  const auto cost_of_step = [](int64_t length, int64_t sequences) {
    const double used =
        static_cast<double>(sequences) / static_cast<double>(round_up(sequences, kLanes<T>));
    const bool fits = length <= 4096;
    return (1.5 + cost_of_passes(length)) / used * (fits ? 1.0 : 1.5);
  };
  int64_t best = 1;
  double best_cost = 0;
  const auto consider = [&](int64_t n1) {
    const double cost = cost_of_step(n1, n / n1) + cost_of_step(n / n1, n1);
    if (best > 1 && cost >= best_cost) return;
    best = n1;
    best_cost = cost;
  };
  for (int64_t n1 = 2; n1 <= n / n1; ++n1)
    if (n % n1 == 0) {
      consider(n / n1);  // first: of two equal ones, that with the shorter way from row to row
      consider(n1);
    }
  return best;
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

/// From the system: a cached table would keep a pool alive that the caller made for a while.
template <class T>
Buffer table(int64_t count) {
  if (count == 0) return Buffer{};
  return Buffer::allocate(checked_multiply("fft", count, static_cast<int64_t>(sizeof(T))),
                          system_resource());
}

struct Offset {
  double re;
  double im;
};

/// exp(-2 pi i k / n) - 1 without cancellation, from the 2n-th roots; 0 <= k < n.
Offset offset_of_root(const RootsOfUnity& twice, int64_t k) {
  const double half_sine = twice[k].sin;
  return {-2 * half_sine * half_sine, -twice[2 * k].sin};
}

template <class T>
void make_bluestein(FftPlan<T>& plan) {
  const int64_t n = plan.n;
  const int64_t twice = checked_multiply("fft", n, 2);
  plan.inner = fft_plan<T>(convenient_length(checked_multiply("fft", twice, 2) / 2 - 1));
  const int64_t length = plan.inner->n;
  plan.chirp = table<T>(2 * n);
  plan.kernel = table<T>(2 * length);
  T* chirp = plan.chirp.template mutable_as<T>();
  T* kernel = plan.kernel.template mutable_as<T>();
  std::fill(kernel, kernel + 2 * length, T{0});
  const RootsOfUnity roots(twice);
  const double scale = 1.0 / static_cast<double>(length);
  int64_t square = 0;  // k^2 mod 2n
  for (int64_t k = 0; k < n; ++k) {
    const RootsOfUnity::Root root = roots[square];
    chirp[2 * k] = static_cast<T>(root.cos);
    chirp[2 * k + 1] = static_cast<T>(-root.sin);
    const int64_t mirrored = k == 0 ? 0 : length - k;
    kernel[2 * k] = kernel[2 * mirrored] = static_cast<T>(root.cos * scale);
    kernel[2 * k + 1] = kernel[2 * mirrored + 1] = static_cast<T>(root.sin * scale);
    square = (square + 2 * k + 1) % twice;
  }
  cpu::transform_row(*plan.inner, false, T{1}, kernel, kernel);
}

}  // namespace

template <class T>
LanePlan<T>::LanePlan(int64_t length) : n(length) {
  int64_t stride = 1;
  int64_t size = 0;
  for (const int64_t radix : factorize(n)) {
    FftPass pass{radix, stride, n / stride / radix, size, size + 2 * radix};
    size = pass.twiddles + 2 * (radix - 1) * pass.count;
    passes.push_back(pass);
    stride *= radix;
  }
  factors = table<T>(size);
  if (size == 0) return;
  T* data = factors.mutable_as<T>();
  const RootsOfUnity roots(n);
  for (const FftPass& pass : passes) {
    for (int64_t j = 0; j < pass.radix; ++j) {
      const RootsOfUnity::Root root = roots[n / pass.radix * j];
      data[pass.circle + j] = static_cast<T>(root.cos);
      data[pass.circle + pass.radix + j] = static_cast<T>(root.sin);
    }
    T* to = data + pass.twiddles;
    for (int64_t p = 0; p < pass.count; ++p)
      for (int64_t k = 1; k < pass.radix; ++k) {
        const RootsOfUnity::Root root = roots[pass.stride * p * k];
        *to++ = static_cast<T>(root.cos);
        *to++ = static_cast<T>(-root.sin);
      }
  }
}

template <class T>
RootTable<T>::RootTable(int64_t n, int64_t last) : shift(4) {
  while (int64_t{1} << 2 * shift < last) ++shift;
  const int64_t run = int64_t{1} << shift;
  const int64_t num_runs = (last >> shift) + 1;
  coarse_im = num_runs;
  fine_re = 2 * num_runs;
  fine_im = fine_re + run;
  buffer = table<T>(fine_im + run);
  T* to = buffer.template mutable_as<T>();
  data = to;
  const RootsOfUnity roots(2 * n);
  for (int64_t k = 0; k < num_runs; ++k) {
    const RootsOfUnity::Root root = roots[2 * (k << shift)];
    to[k] = static_cast<T>(root.cos);
    to[coarse_im + k] = static_cast<T>(-root.sin);
  }
  for (int64_t k = 0; k < run; ++k) {
    const Offset offset = offset_of_root(roots, k % n);
    to[fine_re + k] = static_cast<T>(offset.re);
    to[fine_im + k] = static_cast<T>(offset.im);
  }
}

template <class T>
FftPlan<T>::FftPlan(int64_t length) : n(length) {
  if (n > 1 && factorize(n).empty()) {
    make_bluestein(*this);
    return;
  }
  if (n <= kShort) {
    n1 = n;
    columns = LanePlan<T>(n);
    return;
  }
  n1 = choose_columns<T>(n);
  n2 = n / n1;
  columns = LanePlan<T>(n1);
  rows = LanePlan<T>(n2);
  roots = RootTable<double>(n, n - 1);
  const int64_t padded = round_up(n1, kLanes<T>);
  offsets = table<T>(padded * kBlock<T>);
  T* to = offsets.template mutable_as<T>();
  const RootsOfUnity twice(2 * n);
  for (int64_t k = 0; k < padded; ++k)
    for (int64_t lane = 0; lane < kLanes<T>; ++lane) {
      const Offset offset = offset_of_root(twice, k * lane % n);
      to[k * kBlock<T> + lane] = static_cast<T>(offset.re);
      to[k * kBlock<T> + kLanes<T> + lane] = static_cast<T>(offset.im);
    }
}

template <class T>
int64_t FftPlan<T>::table_bytes() const {
  return columns.factors.size_bytes() + rows.factors.size_bytes() + roots.buffer.size_bytes() +
         offsets.size_bytes() + chirp.size_bytes() + kernel.size_bytes();
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

template struct LanePlan<float>;
template struct LanePlan<double>;
template struct RootTable<float>;
template struct RootTable<double>;
template struct FftPlan<float>;
template struct FftPlan<double>;
template std::shared_ptr<const FftPlan<float>> fft_plan(int64_t n);
template std::shared_ptr<const FftPlan<double>> fft_plan(int64_t n);
template std::shared_ptr<const HalfCircle<float>> half_circle(int64_t n);
template std::shared_ptr<const HalfCircle<double>> half_circle(int64_t n);

}  // namespace hr
