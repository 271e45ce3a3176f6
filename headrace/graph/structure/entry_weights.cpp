// SPDX-License-Identifier: Apache-2.0
// Weights of edges in the order of entries.
#include "headrace/graph/structure/entry_weights.h"

#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/graph/structure/entry_weights_kernels.h"

#include <cmath>

namespace hr {

namespace {

[[noreturn]] void refuse(std::string_view op, int64_t edge, double weight) {
  if (!std::isfinite(weight))
    throw_error<InvalidArgumentError>(op, "a weight is not finite",
                                      {{"edge", edge}, {"weight", weight}});
  if (weight == 0)
    throw_error<InvalidArgumentError>(op, "a weight is 0", {{"edge", edge}, {"weight", weight}});
  throw_error<InvalidArgumentError>(
      op, "a weight is negative", {{"edge", edge}, {"weight", weight}},
      op == "shortest_path_length" ? "bellman_ford takes weights of any sign" : "");
}

bool is_bad(double weight, WeightRule rule) {
  return !std::isfinite(weight) || (rule != WeightRule::kAny && weight < 0) ||
         (rule == WeightRule::kPositive && weight == 0);
}

}  // namespace

void check_weights(std::string_view op, const Column& weights, WeightRule rule) {
  if constexpr (built_with_cuda)
    if (weights.place().is_gpu()) {
      if (const int64_t bad = cuda::first_bad_value(op, weights, rule); bad >= 0)
        refuse(op, bad, cuda::value_there(op, weights, bad));
      return;
    }
  const std::span<const double> from = weights.values<double>();
  parallel_morsels(weights.num_rows(), [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i)
      if (const double weight = from[static_cast<size_t>(i)]; is_bad(weight, rule))
        refuse(op, i, weight);
  });
}

Buffer entry_weights(std::string_view op, const Csr& csr, const Column& weights, WeightRule rule) {
  if (!csr.edges) throw_error<InternalError>(op, "the graph keeps no edges");
  check_weights(op, weights, rule);
  if constexpr (built_with_cuda)
    if (weights.place().is_gpu()) return cuda::entry_weights(op, csr, weights);
  const std::span<const double> from = weights.values<double>();
  const int64_t entries = csr.entries();
  Buffer made = Buffer::allocate_temporary(8 * entries);
  if (entries == 0) return made;
  auto* const out = made.mutable_as<double>();
  const auto* const edges = csr.edges.as<uint32_t>();
  parallel_morsels(entries,
                   {{&csr.edges, 0, 32, 32, entries}, {&made, 0, 64, 64, entries, 0, 0, true}},
                   [&](Morsel morsel) {
                     for (int64_t i = morsel.begin; i < morsel.end; ++i) out[i] = from[edges[i]];
                   });
  made.seal();
  return made;
}

}  // namespace hr
