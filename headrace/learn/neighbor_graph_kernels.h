// SPDX-License-Identifier: Apache-2.0
// Kernels of neighbor_graph.
#pragma once
#include "headrace/data/device.h"

#include <cstdint>

namespace hr {

// The search for weights of an entropy: when it ends.
inline constexpr double kEntropyTolerance = 1e-5;
inline constexpr int kEntropySteps = 100;

/// Throws InvalidArgumentError for a row with a neighbour that is too far.
[[noreturn]] void throw_not_finite_square(int64_t row);

}  // namespace hr

namespace hr::cuda {

/// The most directed edges that these kernels take.
inline constexpr int64_t kMostGraphEdges = (int64_t{1} << 30) - 1;

/// The weights, float32 [rows, count], of neighbours at `distances` that have this entropy, as
/// `tsne_affinities` defines them. Waits. Throws InvalidArgumentError for squares of distances that
/// are not finite.
Buffer entropy_weights(DeviceCall& call, const double* distances, int64_t rows, int64_t count,
                       double entropy);

/// Compressed rows on a device.
struct JoinedGraph {
  Buffer begins;   ///< int64 [rows + 1]
  Buffer others;   ///< int32
  Buffer weights;  ///< float32
};

/// `joined_graph` of lists on a device, where weights of both directions are added. Waits.
JoinedGraph summed_graph(DeviceCall& call, const int64_t* indices, const float* weights,
                         int64_t rows, int64_t count);

}  // namespace hr::cuda
