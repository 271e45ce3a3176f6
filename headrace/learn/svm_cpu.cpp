// SPDX-License-Identifier: Apache-2.0
// Loops of support vector machines. No result depends on the vector width.
#define HWY_TARGET_INCLUDE "headrace/learn/svm_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/math/vmath.h"
#include "headrace/learn/svm_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using F = hn::Rebind<float, D>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCurvature = 1e-12;

double squared_length(const double* row, int64_t columns) {
  double total = 0;
  for (int64_t k = 0; k < columns; k += kSumBlock) {
    double sum = 0;
    for (int64_t j = k; j < std::min(columns, k + kSumBlock); ++j)
      sum = std::fma(row[j], row[j], sum);
    total += sum;
  }
  return total;
}

void scaled_distances(double gamma, double norm, const double* norms, int64_t columns,
                      double* products) {
  for (int64_t c = 0; c < columns; ++c) {
    const double apart = (norm + norms[c]) - 2 * products[c];
    products[c] = (apart > 0 ? apart : 0.0) * -gamma;
  }
}

void scaled_products(double gamma, double coef0, int64_t columns, double* products) {
  for (int64_t c = 0; c < columns; ++c) products[c] = gamma * products[c] + coef0;
}

void powers(int64_t degree, int64_t columns, double* values) {
  for (int64_t c = 0; c < columns; ++c) {
    double base = values[c], made = 1;
    for (int64_t left = degree; left > 0; left /= 2) {
      if (left % 2 == 1) made *= base;
      base *= base;
    }
    values[c] = made;
  }
}

void round_values(const double* values, int64_t count, float* out) {
  for (int64_t c = 0; c < count; ++c) out[c] = static_cast<float>(values[c]);
}

template <class T>
hn::Vec<D> load_double(const T* from) {
  if constexpr (std::is_same_v<T, float>)
    return hn::PromoteTo(D(), hn::LoadU(F(), from));
  else
    return hn::LoadU(D(), from);
}

template <class T>
void add_scaled_rows(const T* const* rows, const double* scales, int64_t count, int64_t columns,
                     double* sums) {
  constexpr auto lanes = static_cast<int64_t>(hn::MaxLanes(D()));
  constexpr int64_t kTogether = 4;
  const int64_t whole = columns / lanes * lanes;
  int64_t r = 0;
  for (; r + kTogether <= count; r += kTogether) {
    const auto a = hn::Set(D(), scales[r]), b = hn::Set(D(), scales[r + 1]);
    const auto c = hn::Set(D(), scales[r + 2]), d = hn::Set(D(), scales[r + 3]);
    for (int64_t i = 0; i < whole; i += lanes) {
      auto sum = hn::LoadU(D(), sums + i);
      sum = fused(a, load_double(rows[r] + i), sum);
      sum = fused(b, load_double(rows[r + 1] + i), sum);
      sum = fused(c, load_double(rows[r + 2] + i), sum);
      sum = fused(d, load_double(rows[r + 3] + i), sum);
      hn::StoreU(sum, D(), sums + i);
    }
    for (int64_t i = whole; i < columns; ++i)
      for (int64_t k = r; k < r + kTogether; ++k)
        sums[i] = std::fma(scales[k], static_cast<double>(rows[k][i]), sums[i]);
  }
  for (; r < count; ++r)
    for (int64_t i = 0; i < columns; ++i)
      sums[i] = std::fma(scales[r], static_cast<double>(rows[r][i]), sums[i]);
}

/// The place of the largest of each lane's best, the lowest of equal ones.
template <class Tag, class V>
int64_t best_place(Tag tag, V best, V places) {
  using T = hn::TFromD<Tag>;
  T values[hn::MaxLanes(Tag())], numbers[hn::MaxLanes(Tag())];
  hn::StoreU(best, tag, values);
  hn::StoreU(places, tag, numbers);
  size_t chosen = 0;
  for (size_t lane = 1; lane < hn::MaxLanes(tag); ++lane)
    if (values[lane] > values[chosen] ||
        (values[lane] == values[chosen] && numbers[lane] < numbers[chosen]))
      chosen = lane;
  return static_cast<int64_t>(numbers[chosen]);
}

/// Where the gradient of values that may rise is least, and where of those that may fall is
/// greatest.
struct Extremes {
  int64_t rise;
  int64_t fall;
};

/// After the values of a pair moved by `step` and `back`.
Extremes update(const cpu::WorkingSet& set, const float* first, double step, const float* second,
                double back) {
  constexpr auto lanes = static_cast<int64_t>(hn::MaxLanes(D()));
  const auto a = hn::Set(D(), step), b = hn::Set(D(), back);
  auto least = hn::Set(D(), kInfinity), most = hn::Set(D(), -kInfinity);
  auto at_least = hn::Zero(D()), at_most = hn::Zero(D());
  auto places = hn::Iota(D(), 0);
  const auto next = hn::Set(D(), static_cast<double>(lanes));
  for (int64_t v = 0; v < set.size; v += lanes) {
    auto gradient = hn::LoadU(D(), set.gradient + v);
    gradient = fused(a, load_double(first + v), gradient);
    gradient = fused(b, load_double(second + v), gradient);
    hn::StoreU(gradient, D(), set.gradient + v);
    const auto rising = hn::Add(gradient, hn::LoadU(D(), set.up + v));
    const auto falling = hn::Add(gradient, hn::LoadU(D(), set.down + v));
    const auto lower = hn::Lt(rising, least), higher = hn::Gt(falling, most);
    least = hn::IfThenElse(lower, rising, least);
    at_least = hn::IfThenElse(lower, places, at_least);
    most = hn::IfThenElse(higher, falling, most);
    at_most = hn::IfThenElse(higher, places, at_most);
    places = hn::Add(places, next);
  }
  return {best_place(D(), hn::Neg(least), at_least), best_place(D(), most, at_most)};
}

/// The one that falls while `rise` rises: of the largest decrease, by float32.
int64_t partner(const cpu::WorkingSet& set, int64_t rise) {
  constexpr auto lanes = static_cast<int64_t>(hn::MaxLanes(D()));
  const float* row = set.kernel + rise * set.size;
  const auto own = hn::Set(D(), set.gradient[rise]);
  const auto corner = hn::Set(F(), set.diagonal[rise]), two = hn::Set(F(), 2.0F);
  const auto floor = hn::Set(F(), static_cast<float>(kLeastCurvature)), zero = hn::Zero(F());
  auto best = hn::Zero(F()), at_best = hn::Set(F(), -1.0F), places = hn::Iota(F(), 0.0F);
  const auto next = hn::Set(F(), static_cast<float>(lanes));
  for (int64_t v = 0; v < set.size; v += lanes) {
    const auto falling = hn::Add(hn::LoadU(D(), set.gradient + v), hn::LoadU(D(), set.down + v));
    const auto apart = hn::Max(hn::DemoteTo(F(), hn::Sub(falling, own)), zero);
    const auto both = hn::Add(corner, hn::LoadU(F(), set.diagonal + v));
    const auto curvature = hn::Max(hn::Sub(both, hn::Mul(two, hn::LoadU(F(), row + v))), floor);
    const auto gain = hn::Div(hn::Mul(apart, apart), curvature);
    const auto better = hn::Gt(gain, best);
    best = hn::IfThenElse(better, gain, best);
    at_best = hn::IfThenElse(better, places, at_best);
    places = hn::Add(places, next);
  }
  return best_place(F(), best, at_best);
}

/// Whether it may go up and down.
void open(const cpu::WorkingSet& set, int64_t v) {
  set.up[v] = set.value[v] < set.high[v] ? 0 : kInfinity;
  set.down[v] = set.value[v] > set.low[v] ? 0 : -kInfinity;
}

int64_t minimize(const cpu::WorkingSet& set, double tolerance, int64_t most) {
  Extremes ends = update(set, set.kernel, 0, set.kernel, 0);
  for (int64_t steps = 0; steps < most; ++steps) {
    const int64_t i = ends.rise;
    const double gap =
        (set.gradient[ends.fall] + set.down[ends.fall]) - (set.gradient[i] + set.up[i]);
    if (!(gap > tolerance)) return steps;
    int64_t j = partner(set, i);
    if (j < 0) j = ends.fall;  // out of float32's range
    const double cross = static_cast<double>(set.kernel[i * set.size + j]);
    const double curvature =
        (static_cast<double>(set.diagonal[i]) + static_cast<double>(set.diagonal[j])) - 2 * cross;
    const double room = std::min(set.high[i] - set.value[i], set.value[j] - set.low[j]);
    const double wanted =
        (set.gradient[j] - set.gradient[i]) / (curvature > 0 ? curvature : kLeastCurvature);
    const double move = std::min(wanted, room), before[] = {set.value[i], set.value[j]};
    set.value[i] = move == set.high[i] - before[0] ? set.high[i] : before[0] + move;
    set.value[j] = move == before[1] - set.low[j] ? set.low[j] : before[1] - move;
    open(set, i);
    open(set, j);
    if (set.value[i] == before[0] && set.value[j] == before[1]) return steps;
    ends = update(set, set.kernel + i * set.size, set.value[i] - before[0],
                  set.kernel + j * set.size, set.value[j] - before[1]);
  }
  return most;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

double squared_length(const double* row, int64_t columns) {
  return HR_SIMD(squared_length)(row, columns);
}

void kernel_values(const Kernel& kernel, double norm, const double* norms, int64_t columns,
                   double* products) {
  if (kernel.kind == KernelKind::kRbf) {
    HR_SIMD(scaled_distances)(kernel.gamma, norm, norms, columns, products);
    unary_function64(VectorFunction::kExp)(products, products, columns);
  } else if (kernel.kind == KernelKind::kPolynomial || kernel.kind == KernelKind::kSigmoid) {
    HR_SIMD(scaled_products)(kernel.gamma, kernel.coef0, columns, products);
    if (kernel.kind == KernelKind::kPolynomial)
      HR_SIMD(powers)(kernel.degree, columns, products);
    else
      unary_function64(VectorFunction::kTanh)(products, products, columns);
  }
}

void round_values(const double* values, int64_t count, float* out) {
  HR_SIMD(round_values)(values, count, out);
}

template <class T>
void add_scaled_rows(const T* const* rows, const double* scales, int64_t count, int64_t columns,
                     double* sums) {
  HR_SIMD(add_scaled_rows<T>)(rows, scales, count, columns, sums);
}

template void add_scaled_rows(const float* const*, const double*, int64_t, int64_t, double*);
template void add_scaled_rows(const double* const*, const double*, int64_t, int64_t, double*);

int64_t minimize(const WorkingSet& set, double tolerance, int64_t most) {
  return HR_SIMD(minimize)(set, tolerance, most);
}

}  // namespace hr::cpu

#endif
