// SPDX-License-Identifier: Apache-2.0
// Core numbers on a CUDA device: vertices of the least degree go, round by round; small rounds
// follow each other in one block of threads, without the host.
#include "headrace/exec/interrupt.h"
#include "headrace/graph/density/core_number_kernels.h"
#include "headrace/graph/structure/device_rows.h"

#include <utility>

namespace hr::cuda {

namespace {

constexpr int kTailThreads = 1024;
constexpr unsigned kTailVertices = 1 << 12;  // that one block takes away in a round
constexpr unsigned long long kTailEntries = 1 << 16;

/// What a round takes away: vertices and their entries.
struct Taken {
  unsigned long long entries;
  unsigned vertices;
  unsigned at;  // which of the two queues has them
};

/// Rows by source and, of a directed graph, by target.
struct Forms {
  Rows rows[2];
  int count;

  __device__ int64_t degree(int64_t v) const {
    return rows[0].degree(v) + (count > 1 ? rows[1].degree(v) : 0);
  }
};

__global__ void start_kernel(Forms forms, int* degrees, uint32_t* left) {
  const int64_t v = own_item();
  if (v >= forms.rows[0].vertices) return;
  degrees[v] = static_cast<int>(forms.degree(v));
  left[v] = static_cast<uint32_t>(v);
}

/// The least degree above `core` of those left; up to `core` are those taken away.
__global__ void least_kernel(const int* degrees, const uint32_t* left, unsigned count, int core,
                             int* least) {
  int own = 0x7FFFFFFF;
  for (int64_t i = own_item(); i < count; i += int64_t{gridDim.x} * kRowThreads) {
    const int degree = degrees[left[i]];
    if (degree > core) own = min(own, degree);
  }
  own = __reduce_min_sync(kAllLanes, own);
  if (threadIdx.x % 32 == 0) atomicMin(least, own);
}

/// Moves the vertices of the least degree to the queue; those above it stay.
__global__ void split_kernel(Forms forms, const int* degrees, const uint32_t* left, unsigned count,
                             const int* core, uint32_t* kept, unsigned* kept_count, uint32_t* queue,
                             Taken* taken) {
  const int64_t i = own_item();
  if (i >= count) return;
  const uint32_t v = left[i];
  const int degree = degrees[v];
  if (degree > *core) kept[next_place(kept_count)] = v;
  if (degree != *core) return;
  queue[next_place(&taken->vertices)] = v;
  atomicAdd(&taken->entries, static_cast<unsigned long long>(forms.degree(v)));
}

/// A neighbour of more than `core` loses an edge; who brings it down to `core` takes it next.
struct TakeAway {
  Forms forms;
  int form;
  int* degrees;
  int core;
  uint32_t* next;
  Taken* taken;

  __device__ void operator()(uint32_t, int64_t entry) const {
    const uint32_t target = forms.rows[form].targets[entry];
    if (degrees[target] <= core) return;
    const int known = atomicSub(&degrees[target], 1);
    if (known <= core) {
      atomicAdd(&degrees[target], 1);
    } else if (known == core + 1) {
      next[next_place(&taken->vertices)] = target;
      atomicAdd(&taken->entries, static_cast<unsigned long long>(forms.degree(target)));
    }
  }
};

/// Rounds while they are small. `taken` says in which queue the next one is.
__global__ void tail_kernel(Forms forms, int* degrees, int core, uint32_t* first, uint32_t* second,
                            Taken* taken) {
  __shared__ Taken now;
  __shared__ Taken next;
  if (threadIdx.x == 0) now = *taken;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) next = {0, 0, now.at ^ 1};
    __syncthreads();
    if (now.vertices == 0 || now.vertices > kTailVertices || now.entries > kTailEntries) break;
    const uint32_t* const queue = now.at == 0 ? first : second;
    uint32_t* const behind = now.at == 0 ? second : first;
    for (unsigned i = threadIdx.x / 32; i < now.vertices; i += kTailThreads / 32) {
      const uint32_t v = queue[i];
      for (int form = 0; form < forms.count; ++form) {
        const TakeAway away{forms, form, degrees, core, behind, &next};
        const int64_t end = forms.rows[form].begin(v + 1);
        for (int64_t entry = forms.rows[form].begin(v) + threadIdx.x % 32; entry < end; entry += 32)
          away(v, entry);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) now = next;
  }
  if (threadIdx.x == 0) *taken = now;
}

__global__ void widen_kernel(const int* degrees, int64_t count, int64_t* out) {
  const int64_t v = own_item();
  if (v < count) out[v] = degrees[v];
}

}  // namespace

Column core_number(const Graph& graph) {
  const Csr in = graph.in_there();
  DeviceCall call("core_number", graph.place());
  Forms forms{{rows_of(call, graph.out_there()), {}}, 1};
  if (graph.is_directed()) {
    forms.rows[1] = rows_of(call, in);
    forms.count = 2;
  }
  const int64_t count = forms.rows[0].vertices;
  if (count == 0) return Column(TypeId::kInt64, 0, Buffer());
  const cudaStream_t stream = stream_of(call);
  const Room<int> degrees(call, count);
  Room<uint32_t> left[2] = {{call, count}, {call, count}};
  const Room<uint32_t> queues[2] = {{call, count}, {call, count}};
  const Room<Taken> taken(call, 1);
  const Room<int> least(call, 1);
  const Room<unsigned> kept(call, 1);
  Expansion expansions[2] = {{call, forms.rows[0]}, {call, forms.rows[1]}};
  start_kernel<<<blocks_of(count, kRowThreads), kRowThreads, 0, stream>>>(forms, degrees.data,
                                                                          left[0].data);
  auto remaining = static_cast<unsigned>(count);
  for (int core = -1; remaining > 0;) {
    look_for_interrupt();
    least.fill(call, 0x7F);
    kept.fill(call, 0);
    taken.fill(call, 0);
    least_kernel<<<blocks_in_turn(remaining, kRowThreads, graph.place().index, 8), kRowThreads, 0,
                   stream>>>(degrees.data, left[0].data, remaining, core, least.data);
    split_kernel<<<blocks_of(remaining, kRowThreads), kRowThreads, 0, stream>>>(
        forms, degrees.data, left[0].data, remaining, least.data, left[1].data, kept.data,
        queues[0].data, taken.data);
    std::swap(left[0], left[1]);
    core = fetched(call, least.data);
    remaining = fetched(call, kept.data);
    for (;;) {
      tail_kernel<<<1, kTailThreads, 0, stream>>>(forms, degrees.data, core, queues[0].data,
                                                  queues[1].data, taken.data);
      const Taken now = fetched(call, taken.data);
      if (now.vertices == 0) break;
      const Taken next{0, 0, now.at ^ 1};
      const Buffer table = call.table(&next, sizeof next);
      check_cuda("core_number", cudaMemcpyAsync(taken.data, table.data(), sizeof next,
                                                cudaMemcpyDeviceToDevice, stream));
      for (int form = 0; form < forms.count; ++form)
        expansions[form].run(
            queues[now.at].data, now.vertices, static_cast<int64_t>(now.entries),
            TakeAway{forms, form, degrees.data, core, queues[now.at ^ 1].data, taken.data});
    }
  }
  const Buffer made = call.scratch(8 * count);
  widen_kernel<<<blocks_of(count, kRowThreads), kRowThreads, 0, stream>>>(
      degrees.data, count, call.writes_as<int64_t>(made));
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt64, count, made);
}

}  // namespace hr::cuda
