// SPDX-License-Identifier: Apache-2.0
// Components on a CUDA device: first neighbours are joined, then what is not of the largest
// component (M. Sutton, T. Ben-Nun, A. Barak, IPDPS 2018).
#include "headrace/algo/sparse/device_sets.h"
#include "headrace/graph/search/components_kernels.h"
#include "headrace/graph/structure/device_rows.h"

#include <algorithm>

namespace hr::cuda {

namespace {

constexpr int64_t kFirst = 2;   // neighbours of each vertex that are joined first
constexpr int kSample = 1024;   // vertices that tell which component is the largest
constexpr int64_t kAlone = 64;  // entries of a row that its thread joins; longer ones are spread
constexpr unsigned kNone = ~0u;

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

__global__ void start_kernel(unsigned* parents, int64_t count) {
  const int64_t v = own_item();
  if (v < count) parents[v] = static_cast<unsigned>(v);
}

__global__ void first_kernel(Rows rows, Sets sets) {
  const int64_t v = own_item();
  if (v >= rows.vertices) return;
  const int64_t end = min(rows.begin(v + 1), rows.begin(v) + kFirst);
  for (int64_t entry = rows.begin(v); entry < end; ++entry)
    sets.join(static_cast<unsigned>(v), rows.targets[entry]);
}

/// Every vertex points at its root.
__global__ void flatten_kernel(Sets sets, int64_t count) {
  const int64_t v = own_item();
  if (v < count) sets.parents[v] = sets.root(static_cast<unsigned>(v));
}

__global__ void sample_kernel(const unsigned* parents, int64_t count, unsigned* sample) {
  const int64_t i = threadIdx.x;
  sample[i] = parents[i * count / kSample];
}

/// Long rows wait in `open` with their number of entries.
__global__ void rest_kernel(Rows rows, Sets sets, unsigned largest, uint32_t* open,
                            unsigned* waiting, unsigned long long* entries) {
  const int64_t v = own_item();
  if (v >= rows.vertices || sets.parents[v] == largest) return;
  const int64_t begin = rows.begin(v);
  const int64_t end = rows.begin(v + 1);
  if (end - begin > kAlone) {
    open[next_place(waiting)] = static_cast<uint32_t>(v);
    atomicAdd(entries, static_cast<unsigned long long>(end - begin));
    return;
  }
  for (int64_t entry = begin + kFirst; entry < end; ++entry)
    sets.join(static_cast<unsigned>(v), rows.targets[entry]);
}

struct Join {
  Rows rows;
  Sets sets;

  __device__ void operator()(uint32_t v, int64_t entry) const { sets.join(v, rows.targets[entry]); }
};

__global__ void roots_kernel(const unsigned* parents, int64_t count, uint32_t* is_root) {
  const int64_t v = own_item();
  if (v <= count) is_root[v] = v < count && parents[v] == static_cast<unsigned>(v) ? 1 : 0;
}

__global__ void label_kernel(const unsigned* parents, const uint32_t* numbers, int64_t count,
                             int64_t* out) {
  const int64_t v = own_item();
  if (v < count) out[v] = numbers[parents[v]];
}

}  // namespace

Column connected_components(const Graph& graph) {
  DeviceCall call("connected_components", graph.place());
  const Rows rows = rows_of(call, graph.out_there());
  const int64_t count = rows.vertices;
  if (count == 0) return Column(TypeId::kInt64, 0, Buffer());
  const cudaStream_t stream = stream_of(call);
  const Room<unsigned> parents(call, count);
  const Sets sets{parents.data};
  start_kernel<<<grid(count), kRowThreads, 0, stream>>>(parents.data, count);
  first_kernel<<<grid(count), kRowThreads, 0, stream>>>(rows, sets);
  flatten_kernel<<<grid(count), kRowThreads, 0, stream>>>(sets, count);
  // Entries of the largest component may be left out where the other end has them too.
  unsigned largest = kNone;
  if (!graph.is_directed()) {
    const Room<unsigned> room(call, kSample);
    sample_kernel<<<1, kSample, 0, stream>>>(parents.data, count, room.data);
    std::vector<unsigned> sample(kSample);
    call.fetch(sample.data(), room.data, kSample * 4);
    std::ranges::sort(sample);
    size_t most = 0;
    for (auto first = sample.begin(); first != sample.end();) {
      const auto last = std::upper_bound(first, sample.end(), *first);
      if (static_cast<size_t>(last - first) > most) {
        most = static_cast<size_t>(last - first);
        largest = *first;
      }
      first = last;
    }
  }
  const Room<uint32_t> open(call, count);
  const Room<unsigned long long> counts(call, 2);
  counts.fill(call, 0);
  rest_kernel<<<grid(count), kRowThreads, 0, stream>>>(
      rows, sets, largest, open.data, reinterpret_cast<unsigned*>(counts.data), counts.data + 1);
  unsigned long long waiting[2];
  call.fetch(waiting, counts.data, sizeof waiting);
  Expansion(call, rows)
      .run(open.data, static_cast<int64_t>(waiting[0]), static_cast<int64_t>(waiting[1]),
           Join{rows, sets});
  flatten_kernel<<<grid(count), kRowThreads, 0, stream>>>(sets, count);
  const Room<uint32_t> numbers(call, count + 1);
  roots_kernel<<<grid(count + 1), kRowThreads, 0, stream>>>(parents.data, count, numbers.data);
  exclusive_sums(call, numbers.data, count + 1);
  const Buffer made = call.scratch(8 * count);
  label_kernel<<<grid(count), kRowThreads, 0, stream>>>(parents.data, numbers.data, count,
                                                        call.writes_as<int64_t>(made));
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt64, count, made);
}

}  // namespace hr::cuda
