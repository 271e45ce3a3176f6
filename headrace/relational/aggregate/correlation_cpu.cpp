// SPDX-License-Identifier: Apache-2.0
// Block kernels of correlation.
#define HWY_TARGET_INCLUDE "headrace/relational/aggregate/correlation_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/relational/aggregate/correlation_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using cpu::PairSums;
using D = hn::ScalableTag<double>;
using Vec = hn::Vec<D>;

constexpr int kLanes = 8;
constexpr int kWidth =
    static_cast<int>(hn::MaxLanes(D())) < kLanes ? static_cast<int>(hn::MaxLanes(D())) : kLanes;
constexpr int kVectors = kLanes / kWidth;

/// The 8 lanes of one sum.
struct Lanes {
  Vec part[kVectors];

  HR_INLINE Lanes() {
    for (int j = 0; j < kVectors; ++j) part[j] = hn::Zero(D());
  }

  HR_INLINE void add(int j, Vec value) { part[j] = hn::Add(part[j], value); }

  HR_INLINE double sum() const {
    double lane[kLanes];
    for (int j = 0; j < kVectors; ++j) hn::StoreU(part[j], D(), lane + j * kWidth);
    for (int half = kLanes / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
    return lane[0];
  }
};

}  // namespace

void sum_products_of_4(const double* a, const double* b, int64_t stride, int64_t count,
                       double* sums) {
  Lanes lanes[4];
  for (int64_t i = 0; i < count; i += kLanes)
    for (int j = 0; j < kVectors; ++j) {
      const int64_t at = i + j * kWidth;
      const Vec own = hn::LoadU(D(), a + at);
      for (int k = 0; k < 4; ++k)
        lanes[k].add(j, hn::Mul(own, hn::LoadU(D(), b + k * stride + at)));
    }
  for (int k = 0; k < 4; ++k) sums[k] = lanes[k].sum();
}

double sum_products(const double* a, const double* b, int64_t count) {
  Lanes lanes;
  for (int64_t i = 0; i < count; i += kLanes)
    for (int j = 0; j < kVectors; ++j) {
      const int64_t at = i + j * kWidth;
      lanes.add(j, hn::Mul(hn::LoadU(D(), a + at), hn::LoadU(D(), b + at)));
    }
  return lanes.sum();
}

double sum_values(const double* a, int64_t count) {
  Lanes lanes;
  for (int64_t i = 0; i < count; i += kLanes)
    for (int j = 0; j < kVectors; ++j) lanes.add(j, hn::LoadU(D(), a + i + j * kWidth));
  return lanes.sum();
}

void add_pair_sums(const double* a, double shift_a, const double* b, double shift_b, int64_t count,
                   PairSums& sums) {
  const Vec center_a = hn::Set(D(), shift_a), center_b = hn::Set(D(), shift_b),
            one = hn::Set(D(), 1.0);
  Lanes rows, of_a, of_b, of_aa, of_bb, of_ab;
  for (int64_t i = 0; i < count; i += kLanes)
    for (int j = 0; j < kVectors; ++j) {
      const int64_t at = i + j * kWidth;
      const Vec x = hn::LoadU(D(), a + at), y = hn::LoadU(D(), b + at);
      const auto both = hn::And(hn::Eq(x, x), hn::Eq(y, y));
      const Vec own = hn::IfThenElseZero(both, hn::Sub(x, center_a)),
                other = hn::IfThenElseZero(both, hn::Sub(y, center_b));
      rows.add(j, hn::IfThenElseZero(both, one));
      of_a.add(j, own);
      of_b.add(j, other);
      of_aa.add(j, hn::Mul(own, own));
      of_bb.add(j, hn::Mul(other, other));
      of_ab.add(j, hn::Mul(own, other));
    }
  sums.count += rows.sum();
  sums.a += of_a.sum();
  sums.b += of_b.sum();
  sums.aa += of_aa.sum();
  sums.bb += of_bb.sum();
  sums.ab += of_ab.sum();
}

}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void sum_products_of_4(const double* a, const double* b, int64_t stride, int64_t count,
                       double* sums) {
  HR_SIMD(sum_products_of_4)(a, b, stride, count, sums);
}

double sum_products(const double* a, const double* b, int64_t count) {
  return HR_SIMD(sum_products)(a, b, count);
}

double sum_values(const double* a, int64_t count) {
  return HR_SIMD(sum_values)(a, count);
}

void add_pair_sums(const double* a, double shift_a, const double* b, double shift_b, int64_t count,
                   PairSums& sums) {
  HR_SIMD(add_pair_sums)(a, shift_a, b, shift_b, count, sums);
}

}  // namespace hr::cpu
#endif
