// SPDX-License-Identifier: Apache-2.0
// Radix sorts of words: CUB's, compiled once for each width.
#include "headrace/algo/sort/radix_sort_kernels.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <type_traits>

namespace hr::cuda {

namespace {

/// The type that CUB is compiled for: one for each width.
template <class T>
using Word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;

template <class T>
Word<T>* words(T* place) {
  return reinterpret_cast<Word<T>*>(place);
}

/// Calls one of CUB's functions for the room that it needs, and then to work there.
template <class F>
void with_room(DeviceCall& call, F&& work) {
  size_t bytes = 0;
  check_cuda("sort", work(nullptr, bytes));
  const Buffer room = call.scratch(static_cast<int64_t>(bytes));
  check_cuda("sort", work(call.writes(room), bytes));
}

template <class Key, class Value>
int sort_pairs_by(DeviceCall& call, Key* const (&keys)[2], Value* const (&values)[2], int64_t rows,
                  int low, int bits) {
  cub::DoubleBuffer<Word<Key>> key(words(keys[0]), words(keys[1]));
  cub::DoubleBuffer<Word<Value>> value(words(values[0]), words(values[1]));
  with_room(call, [&](void* room, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(room, bytes, key, value, static_cast<unsigned>(rows),
                                           low, low + bits,
                                           static_cast<cudaStream_t>(call.stream()));
  });
  return value.selector;
}

// ---- runs that tie in their upper bits ----------------------------------------------------------

constexpr int kThreads = 256;
constexpr int kRowsAThread = 8;
constexpr int64_t kTile = int64_t{kThreads} * kRowsAThread;
constexpr int kMostRun = 64;        // rows of a run that one thread puts in order
constexpr int64_t kRowsAHead = 16;  // one run is expected in this number of rows

struct Runs {
  unsigned count;
  unsigned is_too_long;  // a run, or their list
};

using Key64 = unsigned long long;

/// Lists where runs begin whose keys agree from bit `low` on and are not in order.
__global__ void runs_kernel(const Key64* __restrict__ keys, int64_t count, int low, Runs* runs,
                            unsigned* __restrict__ heads, unsigned most) {
  __shared__ unsigned found[kTile];
  __shared__ unsigned size;
  __shared__ unsigned begin;
  if (threadIdx.x == 0) size = 0;
  __syncthreads();
  for (int k = 0; k < kRowsAThread; ++k) {
    const int64_t i = int64_t{blockIdx.x} * kTile + k * kThreads + threadIdx.x;
    if (i == 0 || i >= count) continue;
    const Key64 key = keys[i];
    const Key64 before = keys[i - 1];
    if (before <= key || (before >> low) != (key >> low)) continue;
    // The first fall of a run speaks for it.
    int64_t head = i - 1;
    bool is_first = true;
    for (; head > 0 && (keys[head - 1] >> low) == (key >> low); --head)
      if (keys[head - 1] > keys[head] || i - head > kMostRun) {
        is_first = false;
        if (i - head > kMostRun) runs->is_too_long = 1;
        break;
      }
    if (is_first) found[atomicAdd(&size, 1u)] = static_cast<unsigned>(head);
  }
  __syncthreads();
  if (size == 0) return;
  if (threadIdx.x == 0) begin = atomicAdd(&runs->count, size);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < size; k += kThreads) {
    if (begin + k < most)
      heads[begin + k] = found[k];
    else
      runs->is_too_long = 1;
  }
}

/// Sorts each run by insertion, which keeps equal keys in their order.
template <class Value>
__global__ void mend_kernel(Key64* __restrict__ keys, Value* __restrict__ values, int64_t count,
                            int low, Runs* runs, const unsigned* __restrict__ heads,
                            unsigned most) {
  const unsigned size = runs->count < most ? runs->count : most;
  for (unsigned k = blockIdx.x * kThreads + threadIdx.x; k < size; k += gridDim.x * kThreads) {
    const int64_t head = heads[k];
    const Key64 upper = keys[head] >> low;
    int64_t end = head + 1;
    while (end < count && end - head <= kMostRun && (keys[end] >> low) == upper) ++end;
    if (end - head > kMostRun) {
      runs->is_too_long = 1;
      continue;
    }
    for (int64_t i = head + 1; i < end; ++i) {
      const Key64 key = keys[i];
      const Value value = values ? values[i] : Value{};
      int64_t to = i;
      for (; to > head && keys[to - 1] > key; --to) {
        keys[to] = keys[to - 1];
        if (values) values[to] = values[to - 1];
      }
      keys[to] = key;
      if (values) values[to] = value;
    }
  }
}

/// Whether all is in order then; else it is nearer to it, and equal keys still stand in theirs.
template <class Value>
bool mend_runs(DeviceCall& call, uint64_t* keys, Value* values, int64_t rows, int low) {
  const int64_t most = rows / kRowsAHead + 1024;
  const Buffer room = call.scratch(static_cast<int64_t>(sizeof(Runs)) + 4 * most);
  std::byte* const begin = call.writes(room);
  call.fill(begin, 0, sizeof(Runs));
  auto* const runs = reinterpret_cast<Runs*>(begin);
  auto* const heads = reinterpret_cast<unsigned*>(begin + sizeof(Runs));
  const auto stream = static_cast<cudaStream_t>(call.stream());
  runs_kernel<<<blocks_of(rows, kTile), kThreads, 0, stream>>>(words(keys), rows, low, runs, heads,
                                                               static_cast<unsigned>(most));
  const auto blocks = std::min<unsigned>(2048, blocks_of(most, kThreads));
  mend_kernel<<<blocks, kThreads, 0, stream>>>(words(keys), values ? words(values) : nullptr, rows,
                                               low, runs, heads, static_cast<unsigned>(most));
  Runs found{};
  call.fetch(&found, runs, sizeof found);
  return found.is_too_long == 0;
}

template <class Value>
int sort_pairs_leading(DeviceCall& call, uint64_t* const (&keys)[2], Value* const (&values)[2],
                       int64_t rows, int bits, int lead) {
  const int low = bits - lead;
  const int at = sort_pairs_by(call, keys, values, rows, low, lead);
  if (low == 0 || mend_runs(call, keys[at], values[at], rows, low)) return at;
  return at ^ sort_pairs_by<uint64_t, Value>(call, {keys[at], keys[1 - at]},
                                             {values[at], values[1 - at]}, rows, 0, bits);
}

template <class Key>
int sort_keys_by(DeviceCall& call, Key* const (&keys)[2], int64_t rows, int low, int bits) {
  cub::DoubleBuffer<Word<Key>> key(words(keys[0]), words(keys[1]));
  with_room(call, [&](void* room, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(room, bytes, key, static_cast<unsigned>(rows), low,
                                          low + bits, static_cast<cudaStream_t>(call.stream()));
  });
  return key.selector;
}

}  // namespace

int radix_sort(DeviceCall& call, uint32_t* const (&keys)[2], uint32_t* const (&values)[2],
               int64_t rows, int low, int bits) {
  return sort_pairs_by(call, keys, values, rows, low, bits);
}

int radix_sort(DeviceCall& call, uint64_t* const (&keys)[2], uint32_t* const (&values)[2],
               int64_t rows, int low, int bits) {
  return sort_pairs_by(call, keys, values, rows, low, bits);
}

int radix_sort(DeviceCall& call, uint32_t* const (&keys)[2], uint64_t* const (&values)[2],
               int64_t rows, int low, int bits) {
  return sort_pairs_by(call, keys, values, rows, low, bits);
}

int radix_sort(DeviceCall& call, uint64_t* const (&keys)[2], uint64_t* const (&values)[2],
               int64_t rows, int low, int bits) {
  return sort_pairs_by(call, keys, values, rows, low, bits);
}

int radix_sort(DeviceCall& call, uint32_t* const (&keys)[2], int64_t rows, int low, int bits) {
  return sort_keys_by(call, keys, rows, low, bits);
}

int radix_sort(DeviceCall& call, uint64_t* const (&keys)[2], int64_t rows, int low, int bits) {
  return sort_keys_by(call, keys, rows, low, bits);
}

int radix_sort_leading(DeviceCall& call, uint64_t* const (&keys)[2], uint32_t* const (&values)[2],
                       int64_t rows, int bits, int lead) {
  return sort_pairs_leading(call, keys, values, rows, bits, lead);
}

int radix_sort_leading(DeviceCall& call, uint64_t* const (&keys)[2], uint64_t* const (&values)[2],
                       int64_t rows, int bits, int lead) {
  return sort_pairs_leading(call, keys, values, rows, bits, lead);
}

int radix_sort_leading(DeviceCall& call, uint64_t* const (&keys)[2], int64_t rows, int bits,
                       int lead) {
  const int low = bits - lead;
  const int at = sort_keys_by(call, keys, rows, low, lead);
  if (low == 0 || mend_runs(call, keys[at], static_cast<uint32_t*>(nullptr), rows, low)) return at;
  return at ^ sort_keys_by<uint64_t>(call, {keys[at], keys[1 - at]}, rows, 0, bits);
}

int sort_pairs(DeviceCall& call, uint32_t* const (&keys)[2], uint32_t* const (&numbers)[2],
               int64_t rows, int bits) {
  return radix_sort(call, keys, numbers, rows, 0, bits);
}

int sort_pairs(DeviceCall& call, uint64_t* const (&keys)[2], uint32_t* const (&numbers)[2],
               int64_t rows, int bits) {
  return radix_sort(call, keys, numbers, rows, 0, bits);
}

int sort_words(DeviceCall& call, uint64_t* const (&words)[2], int64_t rows, int bits) {
  return radix_sort(call, words, rows, 0, bits);
}

}  // namespace hr::cuda
