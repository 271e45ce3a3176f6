// SPDX-License-Identifier: Apache-2.0
// Random numbers on a CUDA device: a thread makes the two draws of a block of Philox, with the
// CPU's bits.
#include "headrace/algo/math/vmath_lane.h"
#include "headrace/algo/random/random_kernels.h"
#include "headrace/algo/random/random_math.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr double kTwoPi = 6.283185307179586476925286766559;

template <class T>
__device__ void two_draws(FloatDraw draw, const PhiloxBlock& block, T& first, T& second) {
  const uint64_t a = philox_word(block, 0), b = philox_word(block, 1);
  if (draw == FloatDraw::kUniform) {
    if constexpr (sizeof(T) == 4) {
      first = unit_of_float(a);
      second = unit_of_float(b);
    } else {
      first = unit(a);
      second = unit(b);
    }
  } else if (draw == FloatDraw::kNormal) {
    const double length = sqrt(-2.0 * vmath::log(Lane(positive_unit(a))).v);
    Lane sine, cosine;
    vmath::sin_cos(Lane(unit(b) * kTwoPi), sine, cosine);
    first = static_cast<T>(length * cosine.v);
    second = static_cast<T>(length * sine.v);
  } else {
    first = static_cast<T>(0.0 - vmath::log(Lane(positive_unit(a))).v);
    second = static_cast<T>(0.0 - vmath::log(Lane(positive_unit(b))).v);
  }
}

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first;
  T second;
};

template <class T, FloatDraw draw>
__global__ void floats_kernel(RandomKey key, int64_t count, T* __restrict__ out) {
  const int64_t step = int64_t{gridDim.x} * kThreads, pairs = (count + 1) / 2;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < pairs; i += step) {
    Pair<T> pair;
    two_draws(draw, philox_block(key, static_cast<uint64_t>(i)), pair.first, pair.second);
    if (2 * i + 1 < count)
      reinterpret_cast<Pair<T>*>(out)[i] = pair;
    else
      out[2 * i] = pair.first;
  }
}

__global__ void integers_kernel(uint64_t low, uint64_t range, uint64_t bias, RandomKey key,
                                int64_t count, uint64_t* __restrict__ out) {
  const int64_t step = int64_t{gridDim.x} * kThreads, pairs = (count + 1) / 2;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < pairs; i += step) {
    const PhiloxBlock block = philox_block(key, static_cast<uint64_t>(i));
    for (int half = 0; half < 2 && 2 * i + half < count; ++half) {
      const uint64_t word = philox_word(block, half);
      out[2 * i + half] = low + (range == 0 ? word : bounded(key, 2 * i + half, word, range, bias));
    }
  }
}

unsigned blocks_at(const Buffer& out, int64_t count) {
  return blocks_in_turn((count + 1) / 2, kThreads, out.place().index, 16);
}

template <class T>
void draw_floats(DeviceCall& call, FloatDraw draw, RandomKey key, int64_t count,
                 const Buffer& out) {
  T* const to = call.writes_as<T>(out);
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const unsigned blocks = blocks_at(out, count);
  if (draw == FloatDraw::kUniform)
    floats_kernel<T, FloatDraw::kUniform><<<blocks, kThreads, 0, stream>>>(key, count, to);
  else if (draw == FloatDraw::kNormal)
    floats_kernel<T, FloatDraw::kNormal><<<blocks, kThreads, 0, stream>>>(key, count, to);
  else
    floats_kernel<T, FloatDraw::kExponential><<<blocks, kThreads, 0, stream>>>(key, count, to);
}

}  // namespace

void random_floats(FloatDraw draw, RandomKey key, int64_t count, bool in_float, const Buffer& out) {
  DeviceCall call("random", out.place());
  if (in_float)
    draw_floats<float>(call, draw, key, count, out);
  else
    draw_floats<double>(call, draw, key, count, out);
  call.finish(cudaGetLastError());
}

void random_integers(uint64_t low, uint64_t range, RandomKey key, int64_t count,
                     const Buffer& out) {
  DeviceCall call("random", out.place());
  const uint64_t bias = range == 0 ? 0 : (0 - range) % range;
  integers_kernel<<<blocks_at(out, count), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
      low, range, bias, key, count, call.writes_as<uint64_t>(out));
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
