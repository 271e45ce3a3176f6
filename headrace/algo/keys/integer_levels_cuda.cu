// SPDX-License-Identifier: Apache-2.0
// Levels on a CUDA device: a mark for each value between the least and the greatest, or a sort.
#include "headrace/algo/keys/integer_levels_kernels.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/data/device_launch.h"

#include <cub/device/device_select.cuh>
#include <limits>

namespace hr::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 4096;                       // of a block of threads
constexpr int64_t kMostMarks = int64_t{1} << 22;  // one byte each
constexpr int64_t kWord = sizeof(int64_t);

/// Rows of a block, neighbours reading neighbours.
template <class T, class F>
__device__ void for_rows(const View<T>& x, const F& body) {
  const int64_t first = int64_t{blockIdx.x} * kRows;
  const int64_t end = min(first + kRows, x.size);
  for (int64_t i = first + threadIdx.x; i < end; i += kThreads) body(i, int64_t{x[i]});
}

template <class T>
__global__ void range_kernel(View<T> x, long long* range) {
  long long least = std::numeric_limits<long long>::max();
  long long greatest = std::numeric_limits<long long>::min();
  for_rows(x, [&](int64_t, int64_t value) {
    least = min(least, static_cast<long long>(value));
    greatest = max(greatest, static_cast<long long>(value));
  });
  for (int half = 16; half > 0; half /= 2) {
    least = min(least, __shfl_down_sync(~0u, least, half));
    greatest = max(greatest, __shfl_down_sync(~0u, greatest, half));
  }
  if (threadIdx.x % 32 != 0) return;
  atomicMin(range, least);
  atomicMax(range + 1, greatest);
}

template <class T>
__global__ void mark_kernel(View<T> x, int64_t least, uint8_t* marks) {
  // Most values were seen: reading is cheaper than writing to few places.
  for_rows(x, [&](int64_t, int64_t value) {
    if (marks[value - least] == 0) marks[value - least] = 1;
  });
}

template <class T>
__global__ void widen_kernel(View<T> x, int64_t* out) {
  for_rows(x, [&](int64_t i, int64_t value) { out[i] = value; });
}

template <class T>
__global__ void place_kernel(View<T> x, const int64_t* __restrict__ levels, int count,
                             int32_t* out) {
  for_rows(x, [&](int64_t i, int64_t value) {
    int begin = 0;
    int size = count;
    while (size > 0) {
      const int half = size / 2;
      const bool right = levels[begin + half] < value;
      begin = right ? begin + half + 1 : begin;
      size = right ? size - half - 1 : half;
    }
    out[i] = begin < count && levels[begin] == value ? begin : -1;
  });
}

template <class T>
__global__ void starts_kernel(int64_t width, int64_t count, T* out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = static_cast<T>(i * width);
}

/// Calls f(View<T>) for integers.
template <class F>
void visit(const Tensor& x, const F& f) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, uint64_t>) f(view_of<T>(x));
  });
}

BudgetedVector<int64_t> distinct_by_sort(const Tensor& x) {
  const int64_t rows = x.num_elements();
  Buffer wide;
  {
    DeviceCall call("distinct_integers", x.place());
    call.reads(x.buffer());
    wide = call.scratch(rows * kWord);
    visit(x, [&]<class T>(const View<T>& view) {
      widen_kernel<T>
          <<<blocks_of(rows, kRows), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
              view, call.writes_as<int64_t>(wide));
    });
    call.finish(cudaGetLastError());
  }
  const Column sorted =
      sort_integers(Column(dtype_of<int64_t>(), rows, std::move(wide)), SortOrder{});
  DeviceCall call("distinct_integers", x.place());
  call.reads(sorted.values_buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const Buffer made = call.scratch((rows + 1) * kWord);
  auto* const out = call.writes_as<int64_t>(made);
  const auto* const from = sorted.values_buffer().as<int64_t>();
  size_t bytes = 0;
  check_cuda("distinct_integers",
             cub::DeviceSelect::Unique(nullptr, bytes, from, out + 1, out, rows, stream));
  const Buffer room = call.scratch(static_cast<int64_t>(bytes));
  check_cuda("distinct_integers",
             cub::DeviceSelect::Unique(call.writes(room), bytes, from, out + 1, out, rows, stream));
  call.finish(cudaGetLastError());
  int64_t count = 0;
  call.fetch(&count, out, kWord);
  BudgetedVector<int64_t> found(static_cast<size_t>(count));
  call.fetch(found.data(), out + 1, count * kWord);
  return found;
}

}  // namespace

BudgetedVector<int64_t> distinct_integers(const Tensor& x) {
  int64_t range[2] = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  DeviceCall call("distinct_integers", x.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  call.reads(x.buffer());
  const Buffer ends = call.table(range, sizeof range);
  const unsigned blocks = blocks_of(x.num_elements(), kRows);
  visit(x, [&]<class T>(const View<T>& view) {
    range_kernel<T><<<blocks, kThreads, 0, stream>>>(view, call.writes_as<long long>(ends));
  });
  call.fetch(range, ends.data(), sizeof range);
  const uint64_t apart = static_cast<uint64_t>(range[1]) - static_cast<uint64_t>(range[0]);
  if (apart >= static_cast<uint64_t>(kMostMarks)) {
    call.finish(cudaGetLastError());
    return distinct_by_sort(x);
  }
  const int64_t size = static_cast<int64_t>(apart) + 1;
  const Buffer marks = call.scratch(size);
  call.fill(call.writes(marks), 0, size);
  visit(x, [&]<class T>(const View<T>& view) {
    mark_kernel<T><<<blocks, kThreads, 0, stream>>>(view, range[0], call.writes_as<uint8_t>(marks));
  });
  call.finish(cudaGetLastError());
  BudgetedVector<uint8_t> there(static_cast<size_t>(size));
  call.fetch(there.data(), marks.data(), size);
  BudgetedVector<int64_t> found;
  for (size_t i = 0; i < there.size(); ++i)
    if (there[i] != 0) found.push_back(range[0] + static_cast<int64_t>(i));
  return found;
}

void level_places(const Tensor& x, const int64_t* levels, int64_t count, Buffer& out) {
  DeviceCall call("level_places", x.place());
  call.reads(x.buffer());
  const int64_t nothing = 0;
  const Buffer table =
      call.table(count == 0 ? &nothing : levels, std::max<int64_t>(count, 1) * kWord);
  visit(x, [&]<class T>(const View<T>& view) {
    place_kernel<T>
        <<<blocks_of(view.size, kRows), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            view, table.as<int64_t>(), static_cast<int>(count), call.writes_as<int32_t>(out));
  });
  call.finish(cudaGetLastError());
}

void row_starts(const Tensor& entries, int64_t width, int64_t count, Buffer& out) {
  DeviceCall call("row_starts", entries.place());
  visit(entries, [&]<class T>(const View<T>&) {
    starts_kernel<T>
        <<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            width, count, call.writes_as<T>(out));
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
