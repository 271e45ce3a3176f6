// SPDX-License-Identifier: Apache-2.0
// Rows of several columns at once: a thread has four rows, which wait for memory together.
#include "headrace/algo/bits/validity_device.h"
#include "headrace/data/device_launch.h"
#include "headrace/relational/join/joined_columns_kernels.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kAtOnce = 4;
constexpr int kRows = kThreads * kAtOnce;  // of a block

/// 16 bytes, aligned as buffers of other libraries are.
struct Pair {
  uint64_t first;
  uint64_t second;
};

/// Where the rows of a thread come from.
struct Sources {
  int64_t rows[kAtOnce];    // of the result
  int64_t at[kAtOnce];      // -1: none
  int64_t others[kAtOnce];  // where there is none
};

template <class T>
__device__ void move_values(const RowMove& move, const Sources& from, int64_t rows) {
  const T* const values = reinterpret_cast<const T*>(move.from.values) + move.from.offset;
  const T* const others = reinterpret_cast<const T*>(move.other.values) + move.other.offset;
  T* const out = reinterpret_cast<T*>(move.values);
  T found[kAtOnce];
#pragma unroll
  for (int k = 0; k < kAtOnce; ++k) {
    found[k] = T{};
    if (from.at[k] >= 0)
      found[k] = values[from.at[k]];
    else if (from.others[k] >= 0)
      found[k] = others[from.others[k]];
  }
#pragma unroll
  for (int k = 0; k < kAtOnce; ++k)
    if (from.rows[k] < rows) out[from.rows[k]] = found[k];
}

/// Bits of values (`of_values`) or of validity, a word a warp; gives how many are 0.
__device__ int move_bits(const RowMove& move, const Sources& from, int64_t rows, bool of_values,
                         uint32_t* out) {
  const auto bits_of = [&](const MovedFrom& column) {
    return of_values ? reinterpret_cast<const uint8_t*>(column.values) : column.validity;
  };
  const uint8_t* const bits = bits_of(move.from);
  const uint8_t* const others = bits_of(move.other);
  int zeros = 0;
#pragma unroll
  for (int k = 0; k < kAtOnce; ++k) {
    bool bit = false;
    if (from.at[k] >= 0)
      bit = !bits || bit_at(bits, move.from.offset + from.at[k]);
    else if (from.others[k] >= 0)
      bit = !others || bit_at(others, move.other.offset + from.others[k]);
    const unsigned word = __ballot_sync(~0u, bit);
    const unsigned inside = __ballot_sync(~0u, from.rows[k] < rows);
    zeros += __popc(inside & ~word);
    if (threadIdx.x % 32 == 0 && inside != 0) out[from.rows[k] / 32] = word;
  }
  return zeros;
}

__global__ void move_kernel(const __grid_constant__ RowMoves moves) {
  __shared__ int nulls[kMostMoves];
  if (threadIdx.x < kMostMoves) nulls[threadIdx.x] = 0;
  __syncthreads();
  Sources from;
#pragma unroll
  for (int k = 0; k < kAtOnce; ++k) {
    const int64_t row = int64_t{blockIdx.x} * kRows + k * kThreads + threadIdx.x;
    const bool inside = row < moves.rows;
    from.rows[k] = row;
    from.at[k] = inside ? moves.at[row] : -1;
    from.others[k] = inside && moves.other ? moves.other[row] : -1;
  }
  for (int m = 0; m < moves.count; ++m) {
    const RowMove& move = moves.moves[m];
    switch (move.bytes) {
      case 0:
        move_bits(move, from, moves.rows, true, reinterpret_cast<uint32_t*>(move.values));
        break;
      case 1:
        move_values<uint8_t>(move, from, moves.rows);
        break;
      case 2:
        move_values<uint16_t>(move, from, moves.rows);
        break;
      case 4:
        move_values<uint32_t>(move, from, moves.rows);
        break;
      case 8:
        move_values<uint64_t>(move, from, moves.rows);
        break;
      default:
        move_values<Pair>(move, from, moves.rows);
    }
    if (!move.validity) continue;
    const int zeros = move_bits(move, from, moves.rows, false, move.validity);
    if (threadIdx.x % 32 == 0 && zeros > 0) atomicAdd(&nulls[m], zeros);
  }
  __syncthreads();
  if (threadIdx.x < kMostMoves && nulls[threadIdx.x] > 0)
    atomicAdd(&moves.nulls[threadIdx.x], static_cast<unsigned long long>(nulls[threadIdx.x]));
}

__global__ void indicate_kernel(int64_t rows, const int32_t* __restrict__ left,
                                const int32_t* __restrict__ right, bool swapped,
                                int32_t* __restrict__ codes) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  codes[row] = left && left[row] < 0 ? !swapped : right && right[row] < 0 ? swapped : 2;
}

}  // namespace

void move_rows(const DeviceCall& call, const RowMoves& moves) {
  move_kernel<<<blocks_of(moves.rows, kRows), kThreads, 0,
                static_cast<cudaStream_t>(call.stream())>>>(moves);
}

void indicate_rows(const DeviceCall& call, int64_t rows, const int32_t* left, const int32_t* right,
                   bool swapped, int32_t* codes) {
  indicate_kernel<<<blocks_of(rows, kThreads), kThreads, 0,
                    static_cast<cudaStream_t>(call.stream())>>>(rows, left, right, swapped, codes);
}

void finish_moves(DeviceCall& call) {
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
