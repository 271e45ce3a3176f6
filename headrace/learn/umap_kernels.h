// SPDX-License-Identifier: Apache-2.0
// Kernel of UMAP: an epoch of some rows.
#pragma once
#include "headrace/algo/random/philox.h"

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

/// Moves rows [begin, end).
void umap_move(const UmapEpoch& epoch, int64_t begin, int64_t end);

}  // namespace hr::cpu
