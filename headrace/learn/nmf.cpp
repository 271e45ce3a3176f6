// SPDX-License-Identifier: Apache-2.0
// Coordinate descent with rows in lanes.
#include "headrace/learn/nmf.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hr {
namespace {

constexpr int64_t kLanes = 16;  // enough sums at a time to hide how long an addition takes
constexpr int64_t kBlock = 256;

/// Elements of one component; each is worked on alone, whatever the width of registers.
struct Lanes {
  double at __attribute__((vector_size(sizeof(double) * kLanes)));
};

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

/// One round over the components of up to 16 rows, `w[component][lane]`; lanes without a row hold
/// zeros, which stay. Returns the violation of each lane.
Lanes sweep(Lanes* w, const Lanes* target, const double* hessian, int64_t components) {
  const decltype(Lanes::at) zero = {};
  auto violation = zero;
  for (int64_t t = 0; t < components; ++t) {
    const double* line = hessian + t * components;
    auto slope = -target[t].at;
    for (int64_t r = 0; r < components; ++r) slope += line[r] * w[r].at;
    const auto falling = slope < zero ? slope : zero;
    const auto allowed = w[t].at == zero ? falling : slope;
    violation += allowed < zero ? -allowed : allowed;
    if (line[t] == 0) continue;
    const auto moved = w[t].at - slope / line[t];
    w[t].at = moved < zero ? zero : moved;
  }
  return {violation};
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
  const WorkingMemory working({rows * components * static_cast<int64_t>(sizeof(double)),
                               2 * components * static_cast<int64_t>(sizeof(Lanes))});
  Buffer made = Buffer::allocate(rows * components * static_cast<int64_t>(sizeof(double)));
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  BudgetedVector<double> sums(static_cast<size_t>(blocks));
  if (rows * components > 0) {
    const auto* from = w.as<double>();
    const auto* wanted = target.as<double>();
    const auto* squares = hessian.as<double>();
    auto* to = made.mutable_as<double>();
    parallel_for(blocks, [&](int64_t block) {
      BudgetedVector<Lanes> inside(static_cast<size_t>(components)), goal(inside);
      const int64_t end = std::min(rows, (block + 1) * kBlock);
      double sum = 0;
      for (int64_t first = block * kBlock; first < end; first += kLanes) {
        const int64_t count = std::min(kLanes, end - first);
        for (int64_t t = 0; t < components; ++t)
          for (int64_t i = 0; i < kLanes; ++i) {
            const int64_t at = (first + i) * components + t;
            inside[t].at[i] = i < count ? from[at] : 0.0;
            goal[t].at[i] = i < count ? wanted[at] : 0.0;
          }
        const Lanes violation = sweep(inside.data(), goal.data(), squares, components);
        for (int64_t i = 0; i < kLanes; ++i) sum += violation.at[i];
        for (int64_t i = 0; i < count; ++i)
          for (int64_t t = 0; t < components; ++t)
            to[(first + i) * components + t] = inside[t].at[i];
      }
      sums[static_cast<size_t>(block)] = sum;
    });
  }
  return {Tensor(w.dtype(), w.shape(), std::move(made)),
          std::accumulate(sums.begin(), sums.end(), 0.0)};
}

}  // namespace hr
