// SPDX-License-Identifier: Apache-2.0
// Random walks on a CUDA device, a thread each.
#include "headrace/graph/embedding/random_walks_kernels.h"
#include "headrace/graph/embedding/random_walks_math.h"
#include "headrace/graph/structure/device_rows.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/plan/graph/placement.h"

namespace hr::cuda {

namespace {

/// Sums of weights up to each entry of its row, in its order; a warp a row, which fetches for all
/// of its threads.
__global__ void prefix_sums_kernel(Rows rows, double* weights) {
  const int64_t v = own_item() / 32;
  if (v >= rows.vertices) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t end = rows.begin(v + 1);
  double sum = 0;
  for (int64_t first = rows.begin(v); first < end; first += 32) {
    const double own = first + lane < end ? weights[first + lane] : 0;
    double to_own = 0;
    for (int i = 0; i < 32; ++i) {
      sum += __shfl_sync(kAllLanes, own, i);
      if (i == lane) to_own = sum;
    }
    if (first + lane < end) weights[first + lane] = to_own;
  }
}

__global__ void walks_kernel(WalkSteps steps, const int64_t* starts, int64_t walks, int64_t width,
                             int64_t* out) {
  const int64_t walk = own_item();
  if (walk >= walks) return;
  int64_t* const places = out + walk * width;
  int64_t before = kWalkEnd;
  int64_t at = starts[walk];
  places[0] = at;
  for (int64_t step = 1; step < width; ++step) {
    int64_t entry = at == kWalkEnd ? kWalkEnd : steps.draw(walk, step, 0, at);
    if (entry != kWalkEnd && steps.is_biased && step > 1)
      entry = steps.biased(walk, step, before, at, entry);
    before = at;
    at = entry == kWalkEnd ? kWalkEnd : steps.targets[entry];
    places[step] = at;
  }
}

}  // namespace

Tensor random_walks(const Graph& graph, const Column& starts, const WalkOptions& options,
                    const std::optional<Column>& weights) {
  constexpr std::string_view kOp = "random_walks";
  const int64_t walks = starts.num_rows();
  const int64_t width = options.length + 1;
  const Csr& csr = graph.out_there();
  Buffer sums;
  if (weights) sums = hr::entry_weights(kOp, csr, *weights, WeightRule::kNotNegative);
  const Column there = std::get<Column>(to_place(Value(starts), graph.place()));
  DeviceCall call(kOp, graph.place());
  const Rows rows = rows_of(call, csr);
  call.reads(there.values_buffer());
  double* const of_entries = sums ? call.writes_as<double>(sums) : nullptr;
  if (of_entries)
    prefix_sums_kernel<<<blocks_of(32 * rows.vertices, kRowThreads), kRowThreads, 0,
                         stream_of(call)>>>(rows, of_entries);
  const Buffer made = call.scratch(8 * walks * width);
  if (walks > 0)
    walks_kernel<<<blocks_of(walks, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
        WalkSteps(rows.offsets, rows.targets, of_entries, options),
        there.values_buffer().as<int64_t>() + there.offset(), walks, width,
        call.writes_as<int64_t>(made));
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {walks, width}, made);
}

}  // namespace hr::cuda
