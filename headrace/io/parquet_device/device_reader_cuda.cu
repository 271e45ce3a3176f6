// SPDX-License-Identifier: Apache-2.0
// Parquet pages on a CUDA device: one thread block per page unpacks it and finds its values, and
// one block per slice of rows writes them.
#include "headrace/data/device_launch.h"
#include "headrace/io/parquet_device/device_reader_kernels.h"

namespace hr::parquet::cuda {

namespace {

constexpr int kPageThreads = 512;
constexpr int kRowThreads = 256;

/// Phases of the threads of a block; see HostBlock.
template <int kThreads>
struct CudaBlock {
  uint32_t* warps;  // shared, one per warp

  template <class F>
  __device__ void each(int64_t count, const F& f) const {
    for (int64_t i = threadIdx.x; i < count; i += kThreads) f(i);
    __syncthreads();
  }

  template <class F>
  __device__ bool any(int64_t count, const F& f) const {
    bool found = false;
    for (int64_t i = threadIdx.x; i < count; i += kThreads) found |= f(i);
    return __syncthreads_or(found) != 0;
  }

  template <class F>
  __device__ void each_apart(uint32_t count, const F& f) const {
    const uint32_t apart = count > kThreads / 32 ? 16 : 32;
    for (uint32_t i = threadIdx.x; i < count * apart; i += kThreads)
      if (i % apart == 0) f(i / apart);
    __syncthreads();
  }

  template <class F>
  __device__ void one(const F& f) const {
    __syncthreads();  // others may still read what it changes
    if (threadIdx.x == 0) f();
    __syncthreads();
  }

  __device__ uint32_t scan(uint32_t* values, int count) const {
    const int each = (count + kThreads - 1) / kThreads;
    const int begin = min(static_cast<int>(threadIdx.x) * each, count);
    const int end = min(begin + each, count);
    uint32_t own = 0;
    for (int i = begin; i < end; ++i) own += values[i];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t before = own;
    for (unsigned step = 1; step < 32; step *= 2) {
      const uint32_t left = __shfl_up_sync(~0u, before, step);
      if (lane >= step) before += left;
    }
    if (lane == 31) warps[warp] = before;
    __syncthreads();
    uint32_t all = 0;
    before -= own;
    for (unsigned w = 0; w < kThreads / 32; ++w) {
      if (w < warp) before += warps[w];
      all += warps[w];
    }
    for (int i = begin; i < end; ++i) {
      const uint32_t value = values[i];
      values[i] = before;
      before += value;
    }
    __syncthreads();
    return all;
  }

  __device__ void copy(uint8_t* to, const uint8_t* from, uint32_t size) const {
    const auto misplaced = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) & 15);
    const uint32_t front = min((16 - misplaced) & 15, size);
    if (threadIdx.x < front) to[threadIdx.x] = from[threadIdx.x];
    const uint32_t words = (size - front) / 16;
    auto* const wide = reinterpret_cast<uint4*>(to + front);
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < words; i += kThreads) {
      const uint8_t* const at = from + front + 16 * i;
      const uint64_t low = load_eight(at), high = load_eight(at + 8);
      wide[i] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                 static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
    }
    const uint32_t rest = front + 16 * words;
    if (threadIdx.x < size - rest) to[rest + threadIdx.x] = from[rest + threadIdx.x];
    __syncthreads();
  }

  __device__ static void set_bits(uint32_t* word, uint32_t bits) { atomicOr(word, bits); }
};

/// The same for all threads, though other blocks may refuse the chunk now.
__device__ bool is_refused_for_all(const DeviceChunk& chunk) {
  return __syncthreads_or(threadIdx.x == 0 && is_refused(chunk)) != 0;
}

__global__ void __launch_bounds__(kPageThreads, 2) zstd_kernel(PageBatch batch) {
  __shared__ ZstdWindow window;
  __shared__ uint32_t warps[kPageThreads / 32];
  const DevicePage& page = batch.pages[blockIdx.x];
  if (page.packing != PagePacking::kZstd || is_refused_for_all(batch.chunks[page.chunk])) return;
  unpack_zstd_page(CudaBlock<kPageThreads>{warps}, window, batch, page);
}

__global__ void __launch_bounds__(kPageThreads) page_kernel(PageBatch batch) {
  __shared__ union {
    SnappyWindow packed;
    PageWindow page;
  } window;
  __shared__ uint32_t warps[kPageThreads / 32];
  const CudaBlock<kPageThreads> block{warps};
  const DevicePage& page = batch.pages[blockIdx.x];
  const DeviceChunk& chunk = batch.chunks[page.chunk];
  if (is_refused_for_all(chunk)) return;
  unpack_page(block, window.packed, batch, page);
  if (is_refused_for_all(chunk)) return;
  if (page.is_dictionary) return read_dictionary(block, window.page, batch, page);
  PageValues& values = batch.values[blockIdx.x];
  const bool is_right = begin_page(block, window.page, batch, page, values);
  if (threadIdx.x != 0) return;
  if (!is_right)
    *chunk.refused = 1;
  else if (values.count < page.num_values)
    atomicAdd(chunk.nulls, static_cast<unsigned long long>(page.num_values - values.count));
}

/// Or-s a warp's bits of 32 rows to their word, which another block may share.
__device__ void put_bits(uint32_t* words, int64_t row, bool bit) {
  const unsigned bits = __ballot_sync(~0u, bit);
  if (threadIdx.x % 32 == 0 && bits != 0) atomicOr(words + row / 32, bits);
}

__global__ void __launch_bounds__(kRowThreads) rows_kernel(PageBatch batch) {
  int64_t at = 0;  // the page of the slice
  for (int64_t end = batch.num_pages; end - at > 1;) {
    const int64_t middle = (at + end) / 2;
    if (batch.pages[middle].first_slice <= blockIdx.x)
      at = middle;
    else
      end = middle;
  }
  const DevicePage page = batch.pages[at];
  const DeviceChunk chunk = batch.chunks[page.chunk];
  if (is_refused(chunk)) return;
  const PageValues values = batch.values[at];
  const int64_t begin =
      (page.first_row / kSliceRows + blockIdx.x - page.first_slice) * int64_t{kSliceRows};
  bool fits = true;
  for (int64_t row = begin + threadIdx.x; row < begin + kSliceRows; row += kRowThreads) {
    const int64_t slot = row - page.first_row;
    const bool is_row = slot >= 0 && slot < page.num_values;
    PageRow made;
    if (is_row) made = read_row(batch, page, values, static_cast<uint32_t>(slot));
    fits &= made.fits;
    if (chunk.validity) put_bits(chunk.validity, row, made.is_valid);
    if (chunk.width == 0)
      put_bits(reinterpret_cast<uint32_t*>(chunk.values), row, made.value.low != 0);
    else if (is_row)
      store_value(chunk.values + row * chunk.width, chunk.width, made.value);
  }
  if (!fits) *chunk.refused = 1;
}

}  // namespace

void find_values(void* stream, const PageBatch& batch, bool has_zstd) {
  const auto pages = static_cast<unsigned>(batch.num_pages);
  const auto queue = static_cast<cudaStream_t>(stream);
  if (has_zstd) zstd_kernel<<<pages, kPageThreads, 0, queue>>>(batch);
  page_kernel<<<pages, kPageThreads, 0, queue>>>(batch);
  check_cuda("read_parquet", cudaGetLastError());
}

void write_rows(void* stream, const PageBatch& batch, uint32_t slices) {
  rows_kernel<<<slices, kRowThreads, 0, static_cast<cudaStream_t>(stream)>>>(batch);
  check_cuda("read_parquet", cudaGetLastError());
}

}  // namespace hr::parquet::cuda
