// SPDX-License-Identifier: Apache-2.0
// Lines parsed on a CUDA device: row ends found by tile, added up, then a thread a line.
#include "headrace/algo/select/exclusive_scan_kernels.h"
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/data/device_launch.h"
#include "headrace/io/csv_device_reader_kernels.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

struct DeviceBits {
  __device__ void set(uint32_t* words, int64_t bit) const {
    atomicOr(words + bit / 32, 1u << (bit % 32));
  }

  __device__ void clear(uint32_t* words, int64_t bit) const {
    atomicAnd(words + bit / 32, ~(1u << (bit % 32)));
  }

  __device__ int64_t add(int64_t* sum, int64_t value) const {
    return static_cast<int64_t>(atomicAdd(reinterpret_cast<unsigned long long*>(sum),
                                          static_cast<unsigned long long>(value)));
  }
};

/// Phases of the threads of a block; see parquet::HostBlock.
template <int kSize>
struct ThreadBlock {
  uint32_t* warps;  // shared, one per warp

  template <class F>
  __device__ void each(int64_t count, const F& f) const {
    for (int64_t i = threadIdx.x; i < count; i += kSize) f(i);
    __syncthreads();
  }

  template <class F>
  __device__ void one(const F& f) const {
    __syncthreads();  // others may still read what it changes
    if (threadIdx.x == 0) f();
    __syncthreads();
  }

  /// For at most kSize values.
  __device__ uint32_t scan(uint32_t* values, int count) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const uint32_t own = thread < count ? values[thread] : 0;
    uint32_t before = own;
    for (int step = 1; step < 32; step *= 2) {
      const uint32_t left = __shfl_up_sync(~0u, before, step);
      if (lane >= step) before += left;
    }
    if (lane == 31) warps[thread / 32] = before;
    __syncthreads();
    uint32_t all = 0;
    before -= own;
    for (int warp = 0; warp < kSize / 32; ++warp) {
      if (warp < thread / 32) before += warps[warp];
      all += warps[warp];
    }
    if (thread < count) values[thread] = before;
    __syncthreads();
    return all;
  }
};

__global__ void __launch_bounds__(kThreads) count_kernel(LineTargets targets, LineText text) {
  __shared__ TileWindow window;
  __shared__ uint32_t warps[kThreads / 32];
  count_tile(ThreadBlock<kThreads>{warps}, window, targets, text, blockIdx.x);
}

__global__ void __launch_bounds__(kResolvedTiles)
    resolve_kernel(LineTargets targets, int64_t num_tiles) {
  __shared__ ResolveWindow window;
  __shared__ uint32_t warps[kResolvedTiles / 32];
  resolve_tiles(ThreadBlock<kResolvedTiles>{warps}, window, targets, num_tiles);
}

__global__ void __launch_bounds__(kThreads)
    parse_kernel(LineTargets targets, LineText text, int64_t offset) {
  __shared__ RowWindow window;
  __shared__ uint32_t warps[kThreads / 32];
  parse_tile(ThreadBlock<kThreads>{warps}, window, targets, text, offset, blockIdx.x, DeviceBits{});
}

/// Bytes that a view points to.
__device__ int64_t far_bytes(const uint4& view) {
  return view.x > sizeof(StringView::inlined) ? view.x : 0;
}

/// The sum of a thread's value and those of the threads before it; gives the sum of all.
__device__ int64_t add_up(int64_t* warps, int64_t& value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned step = 1; step < 32; step *= 2) {
    const int64_t left = __shfl_up_sync(~0u, value, step);
    if (lane >= step) value += left;
  }
  __syncthreads();  // others may still read the last sums
  if (lane == 31) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int64_t all = 0;
  for (unsigned warp = 0; warp < kThreads / 32; ++warp) {
    if (warp < threadIdx.x / 32) value += warps[warp];
    all += warps[warp];
  }
  return all;
}

__global__ void __launch_bounds__(kThreads)
    count_text_kernel(const uint4* __restrict__ views, int64_t rows, int64_t* __restrict__ parts) {
  __shared__ int64_t warps[kThreads / 32];
  const int64_t begin = int64_t{blockIdx.x} * kTextRows;
  const int64_t end = min(begin + kTextRows, rows);
  int64_t sum = 0;
  for (int64_t row = begin + threadIdx.x; row < end; row += kThreads) sum += far_bytes(views[row]);
  const int64_t all = add_up(warps, sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = all;
}

__global__ void __launch_bounds__(kThreads)
    gather_text_kernel(uint4* views, int64_t rows, const int64_t* __restrict__ parts,
                       const char* const* __restrict__ text, char* __restrict__ to) {
  __shared__ int64_t warps[kThreads / 32];
  const int64_t begin = int64_t{blockIdx.x} * kTextRows;
  const int lane = static_cast<int>(threadIdx.x % 32);
  int64_t done = parts[blockIdx.x];
  for (int64_t at = begin; at < min(begin + kTextRows, rows); at += kThreads) {
    const int64_t row = at + threadIdx.x;
    uint4 view = row < rows ? views[row] : uint4{0, 0, 0, 0};
    const int64_t bytes = far_bytes(view);
    int64_t place = bytes;
    const int64_t all = add_up(warps, place);
    place += done - bytes;
    const char* from = nullptr;
    if (bytes > 0) {
      from = text[view.z] + view.w;
      view.z = 0;
      view.w = static_cast<uint32_t>(place);
      views[row] = view;
    }
    // A warp copies the strings of its lanes one after the other.
    for (unsigned left = __ballot_sync(~0u, bytes > 0); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const auto* const source = reinterpret_cast<const char*>(
          __shfl_sync(~0u, reinterpret_cast<unsigned long long>(from), owner));
      const int64_t first = __shfl_sync(~0u, place, owner), size = __shfl_sync(~0u, bytes, owner);
      for (int64_t i = lane; i < size; i += 32) to[first + i] = source[i];
    }
    done += all;
  }
}

template <class T>
__global__ void patch_kernel(T* values, const int64_t* __restrict__ slots,
                             const T* __restrict__ from, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) values[slots[i]] = from[i];
}

__global__ void patch_bits_kernel(uint32_t* words, const int64_t* __restrict__ slots,
                                  const uint8_t* __restrict__ from, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  if (from[i] != 0)
    DeviceBits().set(words, slots[i]);
  else
    DeviceBits().clear(words, slots[i]);
}

/// The slot of a row: of the slots that are gone, those before it are skipped.
__device__ int64_t slot_of(int64_t row, const int64_t* __restrict__ gone, int64_t num_gone) {
  const auto is_before = [&](int64_t place) { return gone[place] - place <= row; };
  return row + partition_point(int64_t{0}, num_gone, is_before);
}

template <class T>
__global__ void close_kernel(const T* __restrict__ from, const int64_t* __restrict__ gone,
                             int64_t num_gone, int64_t rows, T* __restrict__ to) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < rows) to[row] = from[slot_of(row, gone, num_gone)];
}

__global__ void close_bits_kernel(const uint32_t* __restrict__ from,
                                  const int64_t* __restrict__ gone, int64_t num_gone, int64_t rows,
                                  uint32_t* __restrict__ to, unsigned long long* ones) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  bool bit = false;
  if (row < rows) {
    const int64_t slot = slot_of(row, gone, num_gone);
    bit = from[slot / 32] >> (slot % 32) & 1;
  }
  const unsigned word = __ballot_sync(~0u, bit);
  if (threadIdx.x % 32 != 0 || row >= rows) return;
  to[row / 32] = word;
  atomicAdd(ones, static_cast<unsigned long long>(__popc(word)));
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

/// Calls f<T> for a T of `width` bytes.
template <class F>
void visit_width(int64_t width, F f) {
  if (width == 1)
    f(uint8_t{});
  else if (width == 2)
    f(uint16_t{});
  else if (width == 4)
    f(uint32_t{});
  else if (width == 8)
    f(uint64_t{});
  else
    f(uint4{});
}

}  // namespace

void parse_lines(const DeviceCall& call, const LineTargets& targets, const LineText& text,
                 int64_t offset) {
  const unsigned tiles = blocks_of(text.end - text.begin, kLineTile);
  count_kernel<<<tiles, kThreads, 0, stream_of(call)>>>(targets, text);
  resolve_kernel<<<1, kResolvedTiles, 0, stream_of(call)>>>(targets, tiles);
  parse_kernel<<<tiles, kThreads, 0, stream_of(call)>>>(targets, text, offset);
  check_cuda("read_csv", cudaGetLastError());
}

void count_text(const DeviceCall& call, const std::byte* views, int64_t rows, int64_t* parts,
                int64_t* total) {
  const unsigned count = blocks_of(rows, kTextRows);
  count_text_kernel<<<count, kThreads, 0, stream_of(call)>>>(reinterpret_cast<const uint4*>(views),
                                                             rows, parts);
  exclusive_scan(call, parts, count, total, false);
  check_cuda("read_csv", cudaGetLastError());
}

void gather_text(const DeviceCall& call, std::byte* views, int64_t rows, const int64_t* parts,
                 const char* const* text, char* to) {
  gather_text_kernel<<<blocks_of(rows, kTextRows), kThreads, 0, stream_of(call)>>>(
      reinterpret_cast<uint4*>(views), rows, parts, text, to);
  check_cuda("read_csv", cudaGetLastError());
}

void patch_values(const DeviceCall& call, std::byte* values, const int64_t* slots,
                  const std::byte* from, int64_t count, int64_t width) {
  visit_width(width, [&]<class T>(T) {
    patch_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream_of(call)>>>(
        reinterpret_cast<T*>(values), slots, reinterpret_cast<const T*>(from), count);
  });
  check_cuda("read_csv", cudaGetLastError());
}

void patch_bits(const DeviceCall& call, std::byte* bits, const int64_t* slots, const uint8_t* from,
                int64_t count) {
  patch_bits_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream_of(call)>>>(
      reinterpret_cast<uint32_t*>(bits), slots, from, count);
  check_cuda("read_csv", cudaGetLastError());
}

void close_values(const DeviceCall& call, const std::byte* from, const int64_t* gone,
                  int64_t num_gone, int64_t rows, int64_t width, std::byte* to) {
  visit_width(width, [&]<class T>(T) {
    close_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
        reinterpret_cast<const T*>(from), gone, num_gone, rows, reinterpret_cast<T*>(to));
  });
  check_cuda("read_csv", cudaGetLastError());
}

void close_bits(const DeviceCall& call, const std::byte* from, const int64_t* gone,
                int64_t num_gone, int64_t rows, std::byte* to, unsigned long long* ones) {
  close_bits_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
      reinterpret_cast<const uint32_t*>(from), gone, num_gone, rows,
      reinterpret_cast<uint32_t*>(to), ones);
  check_cuda("read_csv", cudaGetLastError());
}

}  // namespace hr::cuda
