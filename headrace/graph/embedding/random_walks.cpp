// SPDX-License-Identifier: Apache-2.0
// Walks side by side, a step of each at a time.
#include "headrace/graph/embedding/random_walks.h"

#include "headrace/base/error.h"
#include "headrace/graph/embedding/random_walks_kernels.h"
#include "headrace/graph/embedding/random_walks_math.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hr {

namespace {

constexpr int64_t kBeside = 64;  // walks of a task
// Sums of weights up to each entry of its row.
BudgetedVector<double> prefix_sums(const Csr& csr, const Buffer& weights) {
  BudgetedVector<double> made(static_cast<size_t>(csr.entries()));
  if (made.empty()) return made;
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      double sum = 0;
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i)
        made[static_cast<size_t>(i)] = sum += weights.as<double>()[i];
    }
  });
  return made;
}

// Walks [first, first + count), whose places are rows of `out`.
void run(const WalkSteps& steps, int64_t width, int64_t first, int64_t count, int64_t* out) {
  std::array<int64_t, kBeside> entries;  // that they are about to follow
  for (int64_t step = 1; step < width; ++step) {
    for (int64_t w = 0; w < count; ++w) {
      const int64_t from = out[w * width + step - 1];
      const auto at = static_cast<size_t>(w);
      entries[at] = from == kWalkEnd ? kWalkEnd : steps.draw(first + w, step, 0, from);
      if (entries[at] != kWalkEnd) __builtin_prefetch(steps.targets + entries[at]);
    }
    for (int64_t w = 0; w < count; ++w) {
      int64_t* const place = out + w * width + step;
      int64_t entry = entries[static_cast<size_t>(w)];
      if (entry != kWalkEnd && steps.is_biased && step > 1)
        entry = steps.biased(first + w, step, place[-2], place[-1], entry);
      *place = entry == kWalkEnd ? kWalkEnd : steps.targets[entry];
      if (entry != kWalkEnd) __builtin_prefetch(steps.offsets + *place);
    }
  }
}

}  // namespace

Tensor random_walks(const Graph& graph, const Column& starts, const WalkOptions& options,
                    const std::optional<Column>& weights) {
  constexpr const char* kOp = "random_walks";
  if (options.length < 0 || options.length > INT32_MAX)
    throw_error<InvalidArgumentError>(kOp, "invalid number of steps", {{"length", options.length}});
  const auto is_bias = [](double value) { return value >= 1e-6 && value <= 1e6; };
  if (!is_bias(options.p) || !is_bias(options.q))
    throw_error<InvalidArgumentError>(kOp, "expected biases of 1e-6 to 1e6",
                                      {{"p", options.p}, {"q", options.q}});
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::random_walks(graph, starts, options, weights);
  const Csr& csr = graph.out();
  BudgetedVector<double> sums;
  if (weights) sums = prefix_sums(csr, graph.out_weights(kOp, *weights, WeightRule::kNotNegative));
  const int64_t walks = starts.num_rows(), width = options.length + 1;
  Buffer made = Buffer::allocate(8 * walks * width);
  if (walks > 0) {
    auto* const out = made.mutable_as<int64_t>();
    const WalkSteps steps(csr.offsets.as<int64_t>(),
                          csr.targets ? csr.targets.as<uint32_t>() : nullptr,
                          sums.empty() ? nullptr : sums.data(), options);
    const std::span<const int64_t> first = starts.values<int64_t>();
    parallel_morsels(walks, kBeside, {}, [&](Morsel morsel) {
      for (int64_t w = morsel.begin; w < morsel.end; ++w)
        out[w * width] = first[static_cast<size_t>(w)];
      run(steps, width, morsel.begin, morsel.end - morsel.begin, out + morsel.begin * width);
    });
  }
  made.seal();
  return Tensor(TypeId::kInt64, {walks, width}, std::move(made));
}

}  // namespace hr
