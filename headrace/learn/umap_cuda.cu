// SPDX-License-Identifier: Apache-2.0
// Epochs of UMAP on a CUDA device: eight lanes to a row, each sum in the CPU's order.
#include "headrace/data/device_launch.h"
#include "headrace/exec/interrupt.h"
#include "headrace/learn/umap_kernels.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kSums = 8;

/// The CPU's power of a positive number, operation by operation.
__device__ float power(float x, float b) {
  const int bits = __float_as_int(x);
  const int exponent = (bits - 0x3F3504F3) >> 23;
  const float m = __int_as_float(bits - (exponent << 23));
  const float s = (m - 1) / (m + 1);
  const float square = s * s;
  float series = 0.32059889F;
  series = fmaf(series, square, 0.41219858F);
  series = fmaf(series, square, 0.57707802F);
  series = fmaf(series, square, 0.96179669F);
  series = fmaf(series, square, 2.88539008F);
  const float log = fmaf(series, s, static_cast<float>(exponent));
  const float y = fmaxf(fminf(b * log, 126), -126);
  const float whole = rintf(y);
  const float r = y - whole;
  float made = 1.5403530e-4F;
  made = fmaf(made, r, 1.3333558e-3F);
  made = fmaf(made, r, 9.6181291e-3F);
  made = fmaf(made, r, 5.5504109e-2F);
  made = fmaf(made, r, 0.24022651F);
  made = fmaf(made, r, 0.69314718F);
  made = fmaf(made, r, 1);
  return __int_as_float(__float_as_int(made) + (static_cast<int>(whole) << 23));
}

/// The sum of eight lanes, by the CPU's tree, to all of them.
__device__ float sum_of(float own, unsigned lanes) {
  for (int apart = kSums / 2; apart > 0; apart /= 2) own += __shfl_xor_sync(lanes, own, apart);
  return own;
}

/// A row's differences from another, and their square.
template <int kDimensions>
struct Difference {
  float apart[kDimensions];
  float square = 1e-12F;  // the power needs more than 0

  __device__ Difference(const float (&point)[kDimensions], const float* other) {
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) {
      apart[k] = point[k] - other[k];
      square += apart[k] * apart[k];
    }
  }

  /// Adds weight times the clipped slope along each coordinate.
  __device__ void add(float weight, float slope, float (&sums)[kDimensions]) const {
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) sums[k] += weight * fminf(fmaxf(slope * apart[k], -4), 4);
  }
};

template <int kDimensions>
__global__ void move_kernel(cpu::UmapEpoch epoch, int64_t rows) {
  const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kSums;
  const auto lane = static_cast<int>(threadIdx.x) % kSums;
  const unsigned lanes = 0xFFu << (threadIdx.x % 32 / kSums * kSums);
  if (row >= rows) return;
  float point[kDimensions];
  float along[kDimensions] = {};
  float strength = 0;
#pragma unroll
  for (int k = 0; k < kDimensions; ++k) point[k] = epoch.from[row * kDimensions + k];
  const auto padded = [](int64_t count) { return (count + kSums - 1) / kSums * kSums; };

  const int64_t first = epoch.begins[row];
  const int64_t edges = epoch.begins[row + 1] - first;
  if (edges > 0) {
    const float factor = 2 * epoch.a * epoch.b;
    float sums[kDimensions] = {};
    for (int64_t i = lane; i < padded(edges); i += kSums) {
      const int64_t other = i < edges ? epoch.others[first + i] : 0;
      const float weight = i < edges ? epoch.attraction * epoch.weights[first + i] : 0.0F;
      const Difference<kDimensions> to(point, epoch.fixed + other * kDimensions);
      const float near = power(to.square, epoch.b);
      const float slope = (factor * near) / (to.square * fmaf(epoch.a, near, 1));
      strength += weight * slope;
      to.add(weight, slope, sums);
    }
    strength = sum_of(strength, lanes);
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) along[k] += -1.0F * sum_of(sums[k], lanes);
  }
  const float wanted = epoch.samples[row];
  if (wanted > 0) {
    const auto block = static_cast<uint64_t>(epoch.draws[row]);
    const auto whole = static_cast<int64_t>(wanted);
    const float fraction = wanted - static_cast<float>(whole);
    const uint32_t word = philox_block(epoch.key, block).word[0];
    const int64_t samples = whole + (static_cast<float>(word >> 8) * 0x1p-24F < fraction ? 1 : 0);
    const float factor = 2 * epoch.repulsion * epoch.b;
    float sums[kDimensions] = {};
    for (int64_t i = lane; i < padded(samples); i += kSums) {
      int64_t other = 0;
      if (i < samples) {
        const PhiloxBlock words = philox_block(epoch.key, block + static_cast<uint64_t>(i + 1) / 4);
        const int at = static_cast<int>((i + 1) % 4);
        const uint32_t drawn = at == 0   ? words.word[0]
                               : at == 1 ? words.word[1]
                               : at == 2 ? words.word[2]
                                         : words.word[3];
        other = static_cast<int64_t>(drawn * static_cast<uint64_t>(epoch.fixed_rows) >> 32);
      }
      const Difference<kDimensions> to(point, epoch.fixed + other * kDimensions);
      const float far = (to.square + 0.001F) * fmaf(epoch.a, power(to.square, epoch.b), 1);
      to.add(i < samples ? 1.0F : 0.0F, factor / far, sums);
    }
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) along[k] += sum_of(sums[k], lanes);
  }
  const float step = epoch.rate / (1 + epoch.rate * strength);
#pragma unroll
  for (int k = 0; k < kDimensions; ++k)
    if (lane == k) epoch.to[row * kDimensions + k] = point[k] + step * along[k];
}

}  // namespace

Tensor umap_fit(const cpu::UmapEpoch& given, int64_t rows, int64_t epochs, double learning_rate,
                Place place) {
  DeviceCall call("umap_fit", place);
  cpu::UmapEpoch epoch = given;
  std::vector<Buffer> held;
  const auto sent = [&]<class T>(const T*& values, int64_t count) {
    held.push_back(call.table(values, count * static_cast<int64_t>(sizeof(T))));
    values = held.back().as<T>();
  };
  const int64_t entries = epoch.begins[rows];
  const int64_t bytes = rows * epoch.dimensions * static_cast<int64_t>(sizeof(float));
  sent(epoch.begins, rows + 1);
  sent(epoch.others, entries);
  sent(epoch.weights, entries);
  sent(epoch.samples, rows);
  sent(epoch.draws, rows);
  Buffer from = call.table(epoch.from, bytes), to = call.scratch(bytes);
  for (const Buffer* each : {&from, &to}) call.writes(*each);
  const auto kernel = epoch.dimensions == 1   ? move_kernel<1>
                      : epoch.dimensions == 2 ? move_kernel<2>
                                              : move_kernel<3>;
  for (int64_t done = 0; done < epochs; ++done) {
    report_progress(done, epochs);
    epoch.rate = cpu::umap_rate(learning_rate, done, epochs);
    epoch.key.stream = static_cast<uint32_t>(done);
    epoch.from = epoch.fixed = from.as<float>();
    epoch.to = const_cast<float*>(to.as<float>());
    kernel<<<blocks_of(rows * kSums, kThreads), kThreads, 0,
             static_cast<cudaStream_t>(call.stream())>>>(epoch, rows);
    std::swap(from, to);
  }
  call.finish(cudaGetLastError());
  return Tensor(dtype_of<float>(), {rows, epoch.dimensions}, from);
}

}  // namespace hr::cuda
