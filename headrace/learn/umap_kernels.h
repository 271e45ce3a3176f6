// SPDX-License-Identifier: Apache-2.0
// Kernels of UMAP: an epoch of some rows, and all epochs on a CUDA device.
#pragma once
#include "headrace/algo/random/philox.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr::cpu {

/// Rows that move and rows that they are compared with (the same ones in a fit).
struct UmapEpoch {
  int64_t dimensions;
  const int64_t* begins;  ///< the first edge of each row
  const int32_t* others;  ///< where edges go
  const float* weights;   ///< of edges, up to 1
  const float* samples;   ///< negative samples to draw for each row, in the mean
  const int64_t* draws;   ///< the first block of random words of each row
  const float* from;      ///< [rows, dimensions]
  float* to;
  const float* fixed;  ///< [fixed_rows, dimensions]
  int64_t fixed_rows;
  float a;
  float b;
  float attraction;  ///< 2 where both ends move
  float repulsion;
  float rate = 1;
  RandomKey key = {};
};

/// Blocks of random words that a row with this mean number of samples takes.
inline int64_t umap_blocks(float samples) {
  return (static_cast<int64_t>(samples) + 2 + 3) / 4;  // four words each, one for the fraction
}

/// How far rows move in an epoch.
inline float umap_rate(double learning_rate, int64_t epoch, int64_t epochs) {
  return static_cast<float>(learning_rate *
                            (1 - static_cast<double>(epoch) / static_cast<double>(epochs)));
}

/// Moves rows [begin, end).
void umap_move(const UmapEpoch& epoch, int64_t begin, int64_t end);

}  // namespace hr::cpu

namespace hr::cuda {

/// The most coordinates that the kernel moves.
inline constexpr int64_t kMostUmapDimensions = 3;

/// All epochs of a fit, whose arrays are the host's: positions on the device, in the end the CPU's
/// bits.
Tensor umap_fit(const cpu::UmapEpoch& epoch, int64_t rows, int64_t epochs, double learning_rate,
                Place place);

}  // namespace hr::cuda
