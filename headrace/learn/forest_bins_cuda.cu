// SPDX-License-Identifier: Apache-2.0
// Bins on a CUDA device: the sampled values of a column are sorted, a block of threads finds the
// borders, and each value searches its bin.
#include "headrace/algo/random/philox.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/data/device_launch.h"
#include "headrace/learn/forest_kernels.h"

#include <limits>

namespace hr::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBins = static_cast<int>(kForestBins);
constexpr int64_t kRows = 1 << 13;  // of a block of threads
constexpr uint64_t kNone = ~uint64_t{0};
static_assert(kBins < kThreads);

/// Unsigned integers in the order of the numbers; NaN is the greatest.
__device__ uint64_t ordered(double value) {
  if (isnan(value)) return kNone;
  const auto bits = static_cast<uint64_t>(__double_as_longlong(value));
  return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
}

__device__ double from_ordered(uint64_t bits) {
  return __longlong_as_double(
      static_cast<int64_t>(bits >> 63 != 0 ? bits & ~(uint64_t{1} << 63) : ~bits));
}

template <class T>
__global__ void sample_kernel(Matrix<T> x, int64_t feature, int64_t taken, uint64_t* out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < taken) out[i] = ordered(forest_value(x(forest_sampled_row(x.rows, taken, i), feature)));
}

/// Borders of sorted values, as on the CPU: one block of threads, each for a 255th of the values.
__global__ void edges_kernel(const uint64_t* __restrict__ sorted, int64_t taken, double* edges) {
  __shared__ int64_t counts[kThreads];
  __shared__ int64_t count;
  const int part = static_cast<int>(threadIdx.x);
  if (part == 0) {
    int64_t begin = 0;
    for (int64_t size = taken; size > 0;) {
      const int64_t half = size / 2;
      const bool right = sorted[begin + half] != kNone;
      begin = right ? begin + half + 1 : begin;
      size = right ? size - half - 1 : half;
    }
    count = begin;
  }
  __syncthreads();
  const auto first_of = [](int64_t k) { return max(int64_t{1}, (k * count + kBins - 1) / kBins); };
  const auto differs = [&](int64_t i) { return sorted[i] != sorted[i - 1]; };
  const int64_t end = part < kBins ? min(count, first_of(part + 1)) : 0;
  int64_t first = end;
  int64_t own = 0;
  for (int64_t i = part < kBins ? first_of(part) : 0; i < end; ++i) {
    if (!differs(i)) continue;
    if (own++ == 0) first = i;
  }
  counts[part] = own;
  __syncthreads();
  int64_t all = 0;
  for (int k = 0; k < kBins; ++k) all += counts[k];
  // A bin for each value; else one begins in each part but the first, where a value does.
  const bool few = all < kBins;
  int64_t at = 0;
  int64_t made = 0;
  for (int k = 0; k < kBins; ++k) {
    const int64_t here = few ? counts[k] : k > 0 && counts[k] > 0 ? 1 : 0;
    if (k < part) at += here;
    made += here;
  }
  if (!few && part == 0) own = 0;
  for (int64_t i = first; i < end && own > 0; ++i) {
    if (!differs(i)) continue;
    edges[at++] = forest_middle(from_ordered(sorted[i - 1]), from_ordered(sorted[i]));
    if (!few) break;
  }
  if (part >= made && part < kBins) edges[part] = std::numeric_limits<double>::infinity();
}

/// Codes of the rows, and the least and greatest of each bin as ordered integers.
template <class T>
__global__ void codes_kernel(Matrix<T> x, const double* __restrict__ edges, uint8_t* codes,
                             unsigned long long* low, unsigned long long* high) {
  __shared__ double own[kBins];
  __shared__ unsigned long long least[kBins];
  __shared__ unsigned long long greatest[kBins];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t feature = blockIdx.y;
  if (thread < kBins) {
    own[thread] = edges[feature * kBins + thread];
    least[thread] = kNone;
    greatest[thread] = 0;
  }
  __syncthreads();
  const int64_t first = int64_t{blockIdx.x} * kRows;
  const int64_t end = min(first + kRows, x.rows);
  for (int64_t row = first + thread; row < end; row += kThreads) {
    const double value = forest_value(x(row, feature));
    const bool missing = isnan(value);
    const int bin = missing ? kForestMissing : forest_bin(own, value);
    codes[feature * x.rows + row] = static_cast<uint8_t>(bin);
    if (missing) continue;
    const unsigned long long place = ordered(value);
    if (place < least[bin]) atomicMin(least + bin, place);
    if (place > greatest[bin]) atomicMax(greatest + bin, place);
  }
  __syncthreads();
  if (thread >= kBins || greatest[thread] == 0) return;
  atomicMin(low + feature * kBins + thread, least[thread]);
  atomicMax(high + feature * kBins + thread, greatest[thread]);
}

__global__ void borders_kernel(const unsigned long long* least, const unsigned long long* greatest,
                               int64_t count, double* low, double* high) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const bool there = greatest[i] != 0;
  low[i] = there ? from_ordered(least[i]) : std::numeric_limits<double>::infinity();
  high[i] = there ? from_ordered(greatest[i]) : -std::numeric_limits<double>::infinity();
}

__global__ void take_kernel(const uint8_t* __restrict__ codes, int64_t rows,
                            const int64_t* __restrict__ places, int64_t count, uint8_t* out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int64_t feature = blockIdx.y;
  if (i < count) out[feature * count + i] = codes[feature * rows + places[i]];
}

}  // namespace

void forest_bins(const Tensor& x, const Buffer& codes, double* low, double* high) {
  constexpr int64_t kWord = 8;
  DeviceCall call("forest_bins", x.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  call.reads(x.buffer());
  const int64_t rows = x.shape()[0], features = x.shape()[1], borders = features * kForestBins;
  const int64_t taken = std::min(rows, kForestSample);
  const Buffer words = call.scratch(2 * taken * kWord), numbers = call.scratch(2 * taken * 4);
  auto* const word = call.writes_as<uint64_t>(words);
  auto* const number = call.writes_as<uint32_t>(numbers);
  const Buffer edges = call.scratch(borders * kWord);
  auto* const edge = call.writes_as<double>(edges);
  const Buffer ends = call.scratch(2 * borders * kWord), made = call.scratch(2 * borders * kWord);
  call.fill(call.writes(ends), 0xFF, borders * kWord);
  call.fill(call.writes(ends) + borders * kWord, 0, borders * kWord);
  auto* const least = call.writes_as<unsigned long long>(ends);
  auto* const border = call.writes_as<double>(made);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const Matrix<T> matrix = matrix_of<T>(x);
    for (int64_t feature = 0; feature < features; ++feature) {
      sample_kernel<T>
          <<<blocks_of(taken, kThreads), kThreads, 0, stream>>>(matrix, feature, taken, word);
      const int order = sort_pairs(call, {word, word + taken}, {number, number + taken}, taken, 64);
      edges_kernel<<<1, kThreads, 0, stream>>>(word + order * taken, taken,
                                               edge + feature * kForestBins);
    }
    const dim3 blocks(blocks_of(rows, kRows), static_cast<unsigned>(features));
    codes_kernel<T><<<blocks, kThreads, 0, stream>>>(matrix, edge, call.writes_as<uint8_t>(codes),
                                                     least, least + borders);
  });
  borders_kernel<<<blocks_of(borders, kThreads), kThreads, 0, stream>>>(
      least, least + borders, borders, border, border + borders);
  call.finish(cudaGetLastError());
  call.fetch(low, border, borders * kWord);
  call.fetch(high, border + borders, borders * kWord);
}

void forest_take(const Buffer& codes, int64_t rows, int64_t features, const int64_t* places,
                 int64_t count, const Buffer& out) {
  DeviceCall call("forest_bins", codes.place());
  call.reads(codes);
  const Buffer there = call.table(places, count * int64_t{sizeof(int64_t)});
  const dim3 blocks(blocks_of(count, kThreads), static_cast<unsigned>(features));
  take_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
      codes.as<uint8_t>(), rows, there.as<int64_t>(), count, call.writes_as<uint8_t>(out));
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
