// SPDX-License-Identifier: Apache-2.0
// Scores, derivatives and gradients of a tile of points. No sum depends on the vector width.
#define HWY_TARGET_INCLUDE "headrace/learn/linear_loss_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/algo/math/vmath.h"
#include "headrace/learn/linear_loss_kernels.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;

constexpr int64_t kPanel = cpu::kPointPanel;
constexpr int64_t kSumLanes = 8;
constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));
constexpr int64_t kPanelVectors = kPanel / kLanes;
constexpr int64_t kSumVectors = kSumLanes / kLanes;

double tree(double* lanes) {
  for (int64_t half = kSumLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

double tree(const Vector* sums) {
  double lanes[kSumLanes];
  for (int64_t v = 0; v < kSumVectors; ++v) hn::StoreU(sums[v], Tag(), lanes + v * kLanes);
  return tree(lanes);
}

void widen_points(const float* from, int64_t panels, int64_t features, const double* shift,
                  double* out) {
  for (int64_t p = 0; p < panels; ++p)
    for (int64_t j = 0; j < features; ++j, from += kPanel, out += kPanel) {
      const double less = shift == nullptr ? 0 : shift[j];
      for (int64_t lane = 0; lane < kPanel; ++lane)
        out[lane] = static_cast<double>(from[lane]) - less;
    }
}

void shift_points(int64_t panels, int64_t features, const double* shift, double* out) {
  for (int64_t p = 0; p < panels; ++p)
    for (int64_t j = 0; j < features; ++j, out += kPanel)
      for (int64_t lane = 0; lane < kPanel; ++lane) out[lane] -= shift[j];
}

template <int kOutputs>
HWY_INLINE void panel_scores(const double* panel, int64_t features, const double* coefficients,
                             int64_t count, double* out) {
  const Tag tag;
  Vector sums[kOutputs][kPanelVectors];
  for (int k = 0; k < kOutputs; ++k)
    for (int64_t v = 0; v < kPanelVectors; ++v)
      sums[k][v] = hn::Set(tag, coefficients[k * (features + 1) + features]);
  for (int64_t j = 0; j < features; ++j, panel += kPanel) {
    Vector point[kPanelVectors];
#pragma GCC unroll 16
    for (int64_t v = 0; v < kPanelVectors; ++v) point[v] = hn::LoadU(tag, panel + v * kLanes);
#pragma GCC unroll 4
    for (int k = 0; k < kOutputs; ++k) {
      const auto times = hn::Set(tag, coefficients[k * (features + 1) + j]);
#pragma GCC unroll 16
      for (int64_t v = 0; v < kPanelVectors; ++v) sums[k][v] = fused(times, point[v], sums[k][v]);
    }
  }
  for (int k = 0; k < kOutputs; ++k)
    for (int64_t v = 0; v < kPanelVectors; ++v)
      hn::StoreU(sums[k][v], tag, out + k * count + v * kLanes);
}

void point_scores(const double* points, int64_t count, const cpu::LinearCoefficients& model,
                  double* out) {
  const int64_t row = model.features + 1;
  for (int64_t first = 0; first < count; first += kPanel) {
    const double* panel = points + first * model.features;
    int64_t k = 0;
    for (; k + 3 <= model.outputs; k += 3)
      panel_scores<3>(panel, model.features, model.at + k * row, count, out + k * count + first);
    if (model.outputs - k == 2)
      panel_scores<2>(panel, model.features, model.at + k * row, count, out + k * count + first);
    else if (model.outputs - k == 1)
      panel_scores<1>(panel, model.features, model.at + k * row, count, out + k * count + first);
  }
}

/// The sums of `kOutputs` outputs for `kFeatures` features.
template <int kOutputs, int kFeatures>
HWY_INLINE void gradient_block(const double* points, int64_t count, int64_t features,
                               const double* residuals, double* out) {
  const Tag tag;
  Vector sums[kOutputs][kFeatures][kSumVectors];
  for (int k = 0; k < kOutputs; ++k)
    for (int j = 0; j < kFeatures; ++j)
      for (int64_t v = 0; v < kSumVectors; ++v) sums[k][j][v] = hn::Zero(tag);
  for (int64_t i = 0; i < count; i += kSumLanes) {
    const double* from = points + i / kPanel * kPanel * features + i % kPanel;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kSumVectors; ++v) {
      Vector point[kFeatures];
#pragma GCC unroll 4
      for (int j = 0; j < kFeatures; ++j) point[j] = hn::LoadU(tag, from + j * kPanel + v * kLanes);
#pragma GCC unroll 4
      for (int k = 0; k < kOutputs; ++k) {
        const auto times = hn::LoadU(tag, residuals + k * count + i + v * kLanes);
#pragma GCC unroll 4
        for (int j = 0; j < kFeatures; ++j) sums[k][j][v] = fused(times, point[j], sums[k][j][v]);
      }
    }
  }
  for (int k = 0; k < kOutputs; ++k)
    for (int j = 0; j < kFeatures; ++j) out[k * (features + 1) + j] += tree(sums[k][j]);
}

template <int kFeatures>
HWY_INLINE void gradient_columns(const double* points, int64_t count, int64_t features,
                                 const double* residuals, int64_t outputs, double* out) {
  int64_t k = 0;
  for (; k + 3 <= outputs; k += 3)
    gradient_block<3, kFeatures>(points, count, features, residuals + k * count,
                                 out + k * (features + 1));
  for (; k < outputs; ++k)
    gradient_block<1, kFeatures>(points, count, features, residuals + k * count,
                                 out + k * (features + 1));
}

void add_point_gradients(const double* points, int64_t count, const double* residuals,
                         int64_t outputs, int64_t features, double* out) {
  int64_t j = 0;
  if (outputs < 3)
    for (; j + 4 <= features; j += 4)
      gradient_columns<4>(points + j * kPanel, count, features, residuals, outputs, out + j);
  for (; j + 2 <= features; j += 2)
    gradient_columns<2>(points + j * kPanel, count, features, residuals, outputs, out + j);
  if (j < features)
    gradient_columns<1>(points + j * kPanel, count, features, residuals, outputs, out + j);
}

void add_point_moments(const double* points, int64_t count, const double* weights, int64_t features,
                       double* sums, double* squares) {
  constexpr Tag tag;
  for (int64_t j = 0; j < features; ++j, points += kPanel) {
    Vector first[kSumVectors], second[kSumVectors];
    for (int64_t v = 0; v < kSumVectors; ++v) first[v] = second[v] = hn::Zero(tag);
    for (int64_t i = 0; i < count; i += kSumLanes) {
      const double* from = points + i / kPanel * kPanel * features + i % kPanel;
#pragma GCC unroll 8
      for (int64_t v = 0; v < kSumVectors; ++v) {
        const auto value = hn::LoadU(tag, from + v * kLanes);
        const auto part = hn::Mul(hn::LoadU(tag, weights + i + v * kLanes), value);
        first[v] = hn::Add(first[v], part);
        second[v] = hn::Add(second[v], hn::Mul(part, value));
      }
    }
    sums[j] += tree(first);
    squares[j] += tree(second);
  }
}

// ---- losses, whose exponentials are there
// ----------------------------------------------------------
/// `scores` are replaced by derivatives; `powers` has exp(-|score|) and `logs` log1p of it.
double logistic(const double* targets, const double* weights, int64_t count, const double* powers,
                const double* logs, double* scores) {
  constexpr Tag tag;
  const auto zero = hn::Zero(tag), one = hn::Set(tag, 1.0);
  Vector sums[kSumVectors];
  for (int64_t v = 0; v < kSumVectors; ++v) sums[v] = zero;
  for (int64_t i = 0; i < count; i += kSumLanes)
#pragma GCC unroll 8
    for (int64_t v = 0; v < kSumVectors; ++v) {
      const int64_t at = i + v * kLanes;
      const auto score = hn::LoadU(tag, scores + at), power = hn::LoadU(tag, powers + at);
      const auto target = hn::LoadU(tag, targets + at), weight = hn::LoadU(tag, weights + at);
      const auto above = hn::Gt(score, zero);
      const auto linear = hn::Sub(hn::IfThenElseZero(above, score), hn::Mul(target, score));
      sums[v] = hn::Add(sums[v], hn::Mul(weight, hn::Add(hn::LoadU(tag, logs + at), linear)));
      const auto share = hn::Div(hn::IfThenElse(above, one, power), hn::Add(one, power));
      hn::StoreU(hn::Mul(weight, hn::Sub(share, target)), tag, scores + at);
    }
  return tree(sums);
}

double squared_hinge(const double* targets, const double* weights, int64_t count, double* scores) {
  double lanes[kSumLanes] = {};
  for (int64_t i = 0; i < count; i += kSumLanes)
    for (int64_t lane = 0; lane < kSumLanes; ++lane) {
      const int64_t at = i + lane;
      const double sign = 2 * targets[at] - 1, apart = 1 - sign * scores[at];
      const double gap = apart > 0 ? apart : 0.0;
      lanes[lane] += weights[at] * (gap * gap);
      scores[at] = -2 * sign * gap * weights[at];
    }
  return tree(lanes);
}

double squared_distance(const double* targets, const double* weights, int64_t count, double epsilon,
                        double* scores) {
  double lanes[kSumLanes] = {};
  for (int64_t i = 0; i < count; i += kSumLanes)
    for (int64_t lane = 0; lane < kSumLanes; ++lane) {
      const int64_t at = i + lane;
      const double apart = scores[at] - targets[at];
      const double above = apart - epsilon, below = apart + epsilon;
      const double gap = above > 0 ? above : below < 0 ? below : 0.0;
      lanes[lane] += weights[at] * (gap * gap);
      scores[at] = 2 * gap * weights[at];
    }
  return tree(lanes);
}

/// Scores less the largest of each point, which comes to `most`.
void less_largest(int64_t count, int64_t outputs, double* scores, double* most) {
  std::copy_n(scores, count, most);
  for (int64_t k = 1; k < outputs; ++k)
    for (int64_t i = 0; i < count; ++i)
      most[i] = scores[k * count + i] > most[i] ? scores[k * count + i] : most[i];
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t i = 0; i < count; ++i) scores[k * count + i] -= most[i];
}

/// `powers` are exponentials, which become derivatives; `totals` their sums.
void shares(const double* targets, const double* weights, int64_t count, int64_t outputs,
            const double* totals, double* powers) {
  for (int64_t k = 0; k < outputs; ++k) {
    const auto own = static_cast<double>(k);
    for (int64_t i = 0; i < count; ++i) {
      const double share = powers[k * count + i] / totals[i];
      powers[k * count + i] = weights[i] * (share - (targets[i] == own ? 1.0 : 0.0));
    }
  }
}

void sum_columns(const double* values, int64_t count, int64_t outputs, double* out) {
  std::copy_n(values, count, out);
  for (int64_t k = 1; k < outputs; ++k)
    for (int64_t i = 0; i < count; ++i) out[i] += values[k * count + i];
}

double sum(const double* values, int64_t count) {
  double lanes[kSumLanes] = {};
  for (int64_t i = 0; i < count; i += kSumLanes)
    for (int64_t lane = 0; lane < kSumLanes; ++lane) lanes[lane] += values[i + lane];
  return tree(lanes);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void read_points(const AnyMatrix& x, const double* shift, float* room, double* out) {
  const int64_t panels = (x.rows + kPointPanel - 1) / kPointPanel;
  if (x.dtype == dtype_of<float>()) {
    pack(x, kPointPanel, room);
    HR_SIMD(widen_points)(room, panels, x.columns, shift, out);
    return;
  }
  pack(x, kPointPanel, out);
  if (shift != nullptr) HR_SIMD(shift_points)(panels, x.columns, shift, out);
}

void point_scores(const double* points, int64_t count, const LinearCoefficients& coefficients,
                  double* out) {
  HR_SIMD(point_scores)(points, count, coefficients, out);
}

void add_point_gradients(const double* points, int64_t count, const double* residuals,
                         int64_t outputs, int64_t features, double* out) {
  HR_SIMD(add_point_gradients)(points, count, residuals, outputs, features, out);
}

void add_point_moments(const double* points, int64_t count, const double* weights, int64_t features,
                       double* sums, double* squares) {
  HR_SIMD(add_point_moments)(points, count, weights, features, sums, squares);
}

namespace {

/// `scratch` has room for two numbers a point.
double residuals_of(const LinearProblem& problem, const double* targets, const double* weights,
                    int64_t count, double* scores, double* scratch) {
  const int64_t outputs = problem.outputs;
  if (problem.loss == LinearLoss::kSquaredHinge)
    return HR_SIMD(squared_hinge)(targets, weights, count, scores);
  if (problem.loss == LinearLoss::kSquaredDistance)
    return HR_SIMD(squared_distance)(targets, weights, count, problem.epsilon, scores);
  const auto exponentials = unary_function64(VectorFunction::kExp);
  double* const second = scratch + count;
  if (problem.loss == LinearLoss::kLogistic) {
    for (int64_t i = 0; i < count; ++i) scratch[i] = -std::fabs(scores[i]);
    exponentials(scratch, scratch, count);
    unary_function64(VectorFunction::kLog1p)(scratch, second, count);
    return HR_SIMD(logistic)(targets, weights, count, scratch, second, scores);
  }
  HR_SIMD(less_largest)(count, outputs, scores, scratch);
  for (int64_t i = 0; i < count; ++i)
    second[i] = scores[static_cast<int64_t>(targets[i]) * count + i];
  exponentials(scores, scores, outputs * count);
  HR_SIMD(sum_columns)(scores, count, outputs, scratch);
  HR_SIMD(shares)(targets, weights, count, outputs, scratch, scores);
  unary_function64(VectorFunction::kLog)(scratch, scratch, count);
  for (int64_t i = 0; i < count; ++i) scratch[i] = weights[i] * (scratch[i] - second[i]);
  return HR_SIMD(sum)(scratch, count);
}

}  // namespace

double point_residuals(const LinearProblem& problem, const double* targets, const double* weights,
                       int64_t count, double* scores, double* gradient, int64_t row) {
  double scratch[2 * kMostPoints];
  const double value = residuals_of(problem, targets, weights, count, scores, scratch);
  for (int64_t k = 0; k < problem.outputs; ++k)
    gradient[k * row + row - 1] += HR_SIMD(sum)(scores + k * count, count);
  return value;
}

namespace {

template <class T>
void apply(VectorFunction function, T* values, int64_t count) {
  if constexpr (std::is_same_v<T, double>)
    unary_function64(function)(values, values, count);
  else
    unary_function32(function)(values, values, count);
}

/// Of two classes: -(max(z, 0) + log1p(exp(-|z|))) of the score z and of -z.
template <class T>
void two_shares(const ClassScores<T>& scores, int64_t begin, int64_t count, T* out) {
  T rest[kShareRows];
  for (int64_t i = 0; i < count; ++i) rest[i] = -std::fabs(scores(begin + i, 0));
  apply(VectorFunction::kExp, rest, count);
  apply(VectorFunction::kLog1p, rest, count);
  for (int64_t i = 0; i < count; ++i) {
    const T z = scores(begin + i, 0);
    out[2 * i] = -((z > 0 ? z : T{0}) + rest[i]);
    out[2 * i + 1] = -((z < 0 ? -z : T{0}) + rest[i]);
  }
}

template <class T>
void shares(const ClassScores<T>& scores, int64_t begin, int64_t count, T* out) {
  T most[kShareRows], total[kShareRows], power[kShareRows];
  const int64_t classes = scores.classes;
  for (int64_t i = 0; i < count; ++i) most[i] = scores(begin + i, 0);
  for (int64_t k = 1; k < classes; ++k)
    for (int64_t i = 0; i < count; ++i) {
      const T score = scores(begin + i, k);
      most[i] = most[i] >= score || std::isnan(most[i]) ? most[i] : score;
    }
  for (int64_t k = 0; k < classes; ++k) {
    for (int64_t i = 0; i < count; ++i) {
      const T less = scores(begin + i, k) - most[i];
      power[i] = less;
      out[i * classes + k] = less;
    }
    apply(VectorFunction::kExp, power, count);
    for (int64_t i = 0; i < count; ++i) total[i] = k == 0 ? power[i] : total[i] + power[i];
  }
  apply(VectorFunction::kLog, total, count);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < classes; ++k) out[i * classes + k] -= total[i];
}

}  // namespace

template <class T>
void share_scores(const ClassScores<T>& scores, bool two, int64_t begin, int64_t count, T* out) {
  (two ? two_shares<T> : shares<T>)(scores, begin, count, out);
}

template void share_scores(const ClassScores<float>&, bool, int64_t, int64_t, float*);
template void share_scores(const ClassScores<double>&, bool, int64_t, int64_t, double*);

}  // namespace hr::cpu

#endif
