// SPDX-License-Identifier: Apache-2.0
// Kernels of random numbers: element i is a function of the key and i.
#pragma once
#include "headrace/algo/random/philox.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>

namespace hr {

enum class FloatDraw : uint8_t { kUniform, kNormal, kExponential };

}  // namespace hr

namespace hr::cpu {

void random_floats(FloatDraw draw, RandomKey key, int64_t count, double* out);
void random_floats(FloatDraw draw, RandomKey key, int64_t count, float* out);
void random_integers(uint64_t low, uint64_t range, RandomKey key, int64_t count, uint64_t* out);
void random_poisson(double mean, RandomKey key, int64_t count, int64_t* out);

}  // namespace hr::cpu

namespace hr::cuda {

/// The same draws, at least one, into room on a device.
void random_floats(FloatDraw draw, RandomKey key, int64_t count, bool in_float, const Buffer& out);
void random_integers(uint64_t low, uint64_t range, RandomKey key, int64_t count, const Buffer& out);

}  // namespace hr::cuda
