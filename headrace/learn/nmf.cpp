// SPDX-License-Identifier: Apache-2.0
// Coordinate descent with rows in lanes.
#include "headrace/learn/nmf.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace hr {
namespace {

constexpr int64_t kLanes = 4;  // sums of more do not stay in registers
constexpr int64_t kBlock = 1024;

using Lanes = std::array<double, kLanes>;

void check(const Tensor& x, int64_t rows, int64_t columns) {
  if (x.dtype() != dtype_of<double>() || !x.is_contiguous() || x.num_dimensions() != 2)
    throw_error<TypeMismatchError>("nmf", "expected a contiguous 2-D float64 array",
                                   {{"dtype", x.dtype().name()}});
  if (x.shape()[0] != rows || x.shape()[1] != columns)
    throw_error<InvalidArgumentError>("nmf", "shapes do not fit",
                                      {{"rows", x.shape()[0]},
                                       {"columns", x.shape()[1]},
                                       {"expected rows", rows},
                                       {"expected columns", columns}});
}

/// One round over the components of up to 4 rows, `w[component][lane]`; lanes without a row hold
/// zeros, which stay. Returns the violation of each lane.
Lanes sweep(Lanes* w, const Lanes* target, const double* hessian, int64_t components) {
  Lanes violation{};
  for (int64_t t = 0; t < components; ++t) {
    const double* line = hessian + t * components;
    Lanes slope;
    for (int64_t i = 0; i < kLanes; ++i) slope[i] = -target[t][i];
    for (int64_t r = 0; r < components; ++r)
      for (int64_t i = 0; i < kLanes; ++i) slope[i] += line[r] * w[r][i];
    for (int64_t i = 0; i < kLanes; ++i) {
      const double allowed = w[t][i] == 0 ? std::min(slope[i], 0.0) : slope[i];
      violation[i] += std::abs(allowed);
    }
    if (line[t] == 0) continue;
    for (int64_t i = 0; i < kLanes; ++i) w[t][i] = std::max(w[t][i] - slope[i] / line[t], 0.0);
  }
  return violation;
}

}  // namespace

NmfSweep nmf_sweep(const Tensor& w, const Tensor& hessian, const Tensor& target) {
  const ScopedTag tag("nmf");
  if (w.num_dimensions() != 2)
    throw_error<InvalidArgumentError>("nmf", "expected a matrix",
                                      {{"dimensions", w.num_dimensions()}});
  const int64_t rows = w.shape()[0], components = w.shape()[1];
  check(w, rows, components);
  check(hessian, components, components);
  check(target, rows, components);
  Buffer made = Buffer::allocate(rows * components * static_cast<int64_t>(sizeof(double)));
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  if (rows * components > 0) {
    const auto* from = w.as<double>();
    const auto* wanted = target.as<double>();
    const auto* squares = hessian.as<double>();
    auto* to = made.mutable_as<double>();
    parallel_for(blocks, [&](int64_t block) {
      std::vector<Lanes> inside(static_cast<size_t>(components)), goal(inside);
      const int64_t end = std::min(rows, (block + 1) * kBlock);
      double sum = 0;
      for (int64_t first = block * kBlock; first < end; first += kLanes) {
        const int64_t count = std::min(kLanes, end - first);
        for (int64_t t = 0; t < components; ++t)
          for (int64_t i = 0; i < kLanes; ++i) {
            const int64_t at = (first + i) * components + t;
            inside[t][i] = i < count ? from[at] : 0.0;
            goal[t][i] = i < count ? wanted[at] : 0.0;
          }
        const Lanes violation = sweep(inside.data(), goal.data(), squares, components);
        sum = std::accumulate(violation.begin(), violation.end(), sum);
        for (int64_t i = 0; i < count; ++i)
          for (int64_t t = 0; t < components; ++t) to[(first + i) * components + t] = inside[t][i];
      }
      sums[static_cast<size_t>(block)] = sum;
    });
  }
  return {Tensor(w.dtype(), w.shape(), std::move(made)),
          std::accumulate(sums.begin(), sums.end(), 0.0)};
}

}  // namespace hr
