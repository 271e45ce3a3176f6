// SPDX-License-Identifier: Apache-2.0
// Lines parsed on a CUDA device: line ends counted by tile, added up, then a thread a line.
#include "headrace/algo/select/exclusive_scan_kernels.h"
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/data/device_launch.h"
#include "headrace/io/csv_device_reader_kernels.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBytes = 64;  // of a thread
static_assert(kThreads * kBytes == kLineTile);

struct DeviceBits {
  __device__ void set(uint32_t* words, int64_t bit) const {
    atomicOr(words + bit / 32, 1u << (bit % 32));
  }

  __device__ void clear(uint32_t* words, int64_t bit) const {
    atomicAnd(words + bit / 32, ~(1u << (bit % 32)));
  }
};

/// Which of four bytes are the given ones: a bit each.
__device__ unsigned equal_bits(unsigned four, unsigned byte) {
  // Each byte keeps a bit of its own, and the top byte adds them up.
  return (__vcmpeq4(four, byte * 0x01010101u) & 0x08040201u) * 0x01010101u >> 24;
}

/// The first bytes of line ends among the thread's 64 from `at` on.
__device__ uint64_t line_ends(const char* __restrict__ text, int64_t at, int64_t size) {
  if (at >= size) return 0;
  uint64_t feeds = 0, returns = 0;
  const auto* const sixteen = reinterpret_cast<const uint4*>(text + at);
#pragma unroll
  for (int k = 0; k < kBytes / 16; ++k) {
    const uint4 word = sixteen[k];
    const unsigned four[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      feeds |= uint64_t{equal_bits(four[j], '\n')} << (16 * k + 4 * j);
      returns |= uint64_t{equal_bits(four[j], '\r')} << (16 * k + 4 * j);
    }
  }
  const uint64_t before = at > 0 && text[at - 1] == '\r';
  const uint64_t ends = returns | (feeds & ~(returns << 1 | before));
  return size - at >= kBytes ? ends : ends & ((uint64_t{1} << (size - at)) - 1);
}

__device__ bool has_byte(const char* __restrict__ text, int64_t at, int64_t size, int byte) {
  if (byte < 0) return false;
  bool found = false;
  if (size - at >= kBytes) {
    const auto* const fours = reinterpret_cast<const unsigned*>(text + at);
#pragma unroll
    for (int k = 0; k < kBytes / 4; ++k)
      found |= __vcmpeq4(fours[k], static_cast<unsigned>(byte) * 0x01010101u) != 0;
    return found;
  }
  for (int64_t i = at; i < size; ++i)
    found |= static_cast<unsigned char>(text[i]) == static_cast<unsigned>(byte);
  return found;
}

__global__ void count_kernel(const char* __restrict__ text, int64_t size, int quote, int comment,
                             int64_t* __restrict__ tiles, LineCounts* counts) {
  __shared__ int warps[kThreads / 32];
  const int64_t at = int64_t{blockIdx.x} * kLineTile + int64_t{threadIdx.x} * kBytes;
  const int sum = __reduce_add_sync(~0u, __popcll(line_ends(text, at, size)));
  if (has_byte(text, at, size, quote) || has_byte(text, at, size, comment)) counts->special = 1;
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  int64_t total = 0;
  for (const int warp : warps) total += warp;
  tiles[blockIdx.x] = total;
}

/// Lines that begin behind the line ends of the block's tile, and the one at the text's begin.
__global__ void __launch_bounds__(kThreads)
    parse_kernel(const char* __restrict__ text, int64_t size, int64_t offset, LineTargets targets) {
  __shared__ uint16_t ends[kLineTile];
  __shared__ int warps[kThreads / 32];
  const int64_t tile = int64_t{blockIdx.x} * kLineTile;
  uint64_t bits = line_ends(text, tile + int64_t{threadIdx.x} * kBytes, size);
  const int lane = static_cast<int>(threadIdx.x % 32);
  int before = __popcll(bits);
  for (int step = 1; step < 32; step *= 2) {
    const int left = __shfl_up_sync(~0u, before, step);
    if (lane >= step) before += left;
  }
  if (lane == 31) warps[threadIdx.x / 32] = before;
  __syncthreads();
  int count = 0;
  before -= __popcll(bits);
  for (unsigned warp = 0; warp < kThreads / 32; ++warp) {
    if (warp < threadIdx.x / 32) before += warps[warp];
    count += warps[warp];
  }
  for (; bits != 0; bits &= bits - 1)
    ends[before++] =
        static_cast<uint16_t>(threadIdx.x * kBytes + __ffsll(static_cast<int64_t>(bits)) - 1);
  __syncthreads();

  const int64_t lines_before = targets.tiles[blockIdx.x];
  for (int k = static_cast<int>(threadIdx.x) - (blockIdx.x == 0); k < count; k += kThreads) {
    int64_t begin = 0;
    if (k >= 0) {
      begin = tile + ends[k];
      begin += text[begin] == '\r' && text[begin + 1] == '\n' ? 2 : 1;
    }
    if (begin >= size) continue;
    const int64_t line = lines_before + k + 1;
    if (parse_line(targets.syntax, targets.fields, targets.num_fields, targets.fives, text + begin,
                   line < targets.slots ? line : -1, DeviceBits{}))
      continue;
    int64_t end = begin;
    while (!LineSyntax::is_end(text[end])) ++end;
    const auto place = static_cast<int64_t>(
        atomicAdd(reinterpret_cast<unsigned long long*>(&targets.counts->refused), 1ull));
    if (place < kMostRefused) targets.refused[place] = {line, offset + begin, end - begin};
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

/// Calls f<T> for an unsigned T of `width` bytes.
template <class F>
void visit_width(int64_t width, F f) {
  if (width == 1)
    f(uint8_t{});
  else if (width == 2)
    f(uint16_t{});
  else if (width == 4)
    f(uint32_t{});
  else
    f(uint64_t{});
}

}  // namespace

void parse_lines(const DeviceCall& call, const LineTargets& targets, const char* text, int64_t size,
                 int64_t offset) {
  const unsigned tiles = blocks_of(size, kLineTile);
  count_kernel<<<tiles, kThreads, 0, stream_of(call)>>>(text, size, targets.quote, targets.comment,
                                                        targets.tiles, targets.counts);
  exclusive_scan(call, targets.tiles, tiles, &targets.counts->lines, true);
  parse_kernel<<<tiles, kThreads, 0, stream_of(call)>>>(text, size, offset, targets);
  check_cuda("read_csv", cudaGetLastError());
}

void patch_values(const DeviceCall& call, std::byte* values, const int64_t* slots,
                  const std::byte* from, int64_t count, int64_t width) {
  visit_width(width, [&]<class T>(T) {
    patch_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream_of(call)>>>(
        reinterpret_cast<T*>(values), slots, reinterpret_cast<const T*>(from), count);
  });
}

void patch_bits(const DeviceCall& call, std::byte* bits, const int64_t* slots, const uint8_t* from,
                int64_t count) {
  patch_bits_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream_of(call)>>>(
      reinterpret_cast<uint32_t*>(bits), slots, from, count);
}

void close_values(const DeviceCall& call, const std::byte* from, const int64_t* gone,
                  int64_t num_gone, int64_t rows, int64_t width, std::byte* to) {
  visit_width(width, [&]<class T>(T) {
    close_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
        reinterpret_cast<const T*>(from), gone, num_gone, rows, reinterpret_cast<T*>(to));
  });
}

void close_bits(const DeviceCall& call, const std::byte* from, const int64_t* gone,
                int64_t num_gone, int64_t rows, std::byte* to, unsigned long long* ones) {
  close_bits_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
      reinterpret_cast<const uint32_t*>(from), gone, num_gone, rows,
      reinterpret_cast<uint32_t*>(to), ones);
}

}  // namespace hr::cuda
