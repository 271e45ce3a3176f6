// SPDX-License-Identifier: Apache-2.0
// Direct sums for few taps on a CUDA device, in the CPU's order of taps: the same bits.
#include "headrace/data/device_launch.h"
#include "headrace/signal/fft_convolve_kernels.h"

#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kOutputs = 8;  // of a thread, next to each other
constexpr int kTile = kThreads * kOutputs;
constexpr int kTapsAtATime = 4;

/// Samples between the taps that the CPU takes one after the other: 64 bytes.
template <class T>
constexpr int kStep = 64 / static_cast<int>(sizeof(T));

template <class T>
struct Taps {
  T tap[kMostDirectTaps];
};

/// Where sample i of a tile lies: a gap behind each thread's outputs keeps the lanes of a warp in
/// different banks.
__device__ int place(int i) {
  return i + i / kOutputs;
}

template <class T>
__global__ void direct_kernel(View<T> x, const __grid_constant__ Taps<T> taps, int num_taps,
                              int64_t first_position, int64_t num_outputs, T* __restrict__ out) {
  constexpr int S = kStep<T>;
  constexpr int kBlock = kTapsAtATime * S;  // taps of a block
  // Samples before the tile's first output that any whole block of taps needs.
  constexpr int kBefore = static_cast<int>(kMostDirectTaps);
  __shared__ T tile[(kBefore + kTile) / kOutputs * (kOutputs + 1)];
  const int64_t begin = int64_t{blockIdx.x} * kTile;
  const int64_t first = first_position + begin - kBefore;
  for (int i = static_cast<int>(threadIdx.x); i < kBefore + kTile; i += kThreads) {
    const int64_t j = first + i;
    tile[place(i)] = j >= 0 && j < x.size ? x[j] : T{0};
  }
  __syncthreads();
  // Eight samples, and the gap, make a row; the thread's outputs are one.
  constexpr int kRow = kOutputs + 1;
  const T* const own = tile + (kBefore / kOutputs + static_cast<int>(threadIdx.x)) * kRow;
  T sum[kOutputs] = {};
  for (int block = 0; block < num_taps; block += kBlock) {
    const int left = num_taps - block;
    // Sample u - k - q S of output u is in slot (u - k) mod 8: each step of k brings in one.
    T window[kTapsAtATime][kOutputs];
    const T* const first_row = own - block / kOutputs * kRow;
#pragma unroll
    for (int q = 0; q < kTapsAtATime; ++q)
#pragma unroll
      for (int u = 0; u < kOutputs; ++u) window[q][u] = first_row[u - q * (S / kOutputs) * kRow];
#pragma unroll
    for (int k = 0; k < S; ++k) {
      if (k >= left) break;
#pragma unroll
      for (int q = 0; q < kTapsAtATime; ++q)
        if (k + q * S < left) {
          const T tap = taps.tap[block + k + q * S];
#pragma unroll
          for (int u = 0; u < kOutputs; ++u) sum[u] += window[q][(u - k + S) % kOutputs] * tap;
          const int next = (k + 1) % kOutputs == 0 ? 0 : kOutputs - (k + 1) % kOutputs;
          window[q][(kOutputs - 1 - k + S) % kOutputs] =
              first_row[next - ((k + kOutputs) / kOutputs + q * (S / kOutputs)) * kRow];
        }
    }
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < kOutputs; ++u)
    tile[place(static_cast<int>(threadIdx.x) * kOutputs + u)] = sum[u];
  __syncthreads();
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
    const int i = u * kThreads + static_cast<int>(threadIdx.x);
    if (begin + i < num_outputs) out[begin + i] = tile[place(i)];
  }
}

}  // namespace

void direct_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps,
                     Buffer& out) {
  DeviceCall call("fft_convolve", signal.place());
  call.reads(signal.buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  visit_floating(signal.dtype(), [&]<class T>(std::type_identity<T>) {
    Taps<T> counting{};
    const int64_t stride = taps.is_contiguous() ? 1 : taps.strides()[0];
    for (int64_t k = 0; k < job.num_taps; ++k)
      counting.tap[k] = taps.as<T>()[(job.first_tap + k) * stride];
    direct_kernel<T><<<blocks_of(job.num_outputs, kTile), kThreads, 0, stream>>>(
        view_of<T>(signal), counting, static_cast<int>(job.num_taps), job.first_position,
        job.num_outputs, call.writes_as<T>(out) + job.first_output);
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
