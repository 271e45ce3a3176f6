// SPDX-License-Identifier: Apache-2.0
// The nearest rows, and those within a radius, by comparing all with all in tiles or by a kd-tree.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace hr {

enum class Metric { kEuclidean, kSquaredEuclidean, kCosine, kManhattan, kChebyshev };

/// "euclidean", "sqeuclidean", "cosine", "manhattan" or "chebyshev"; InvalidArgumentError for
/// others.
HR_API Metric metric_named(std::string_view name);

/// Why `nearest_neighbors` has no kernel for CUDA, or nothing.
HR_API std::string why_no_kernel(Metric metric, int64_t count);

/// How to look: by tiles of all pairs, or by a kd-tree of the rows (Euclidean, finite rows of at
/// most 12 dimensions; else by tiles). The answer is the same; kAuto takes the tree for many
/// queries in at most four dimensions.
enum class NeighborSearch { kAuto, kTiles, kTree };

/// "auto", "brute", "kd_tree" or "ball_tree" (which is a kd-tree here); InvalidArgumentError for
/// others.
HR_API NeighborSearch neighbor_search_named(std::string_view name);

/// What `nearest_neighbors` finds, nearest first.
struct Neighbors {
  Tensor indices;    ///< int64 [queries, count]
  Tensor distances;  ///< float64 [queries, count]
};

/// What `neighbors_within` finds: those of query q lie from offsets[q] to offsets[q + 1].
struct NeighborRuns {
  Tensor offsets;    ///< int64 [queries + 1]
  Tensor indices;    ///< int64, ascending in each run
  Tensor distances;  ///< float64
};

// Rows and queries are [rows, features], float32 or float64, of any strides. A product of tiles in
// float32 only tells which rows are too far, within its proven error; float64 distances, summed in
// the order of the features, decide, ties by the lowest index: the same bits for any number of
// threads and any SIMD level. Nothing of the size rows x queries is made. With `others`, queries
// are the rows themselves and none is its own neighbour. All throw TypeMismatchError unless both
// are 2-D float32 or float64, InvalidArgumentError for sizes that do not fit.

/// The `count` nearest rows of each query. Scratch: packed rows of 8 MiB (more above 2,048
/// features, of which 1,024 rows are packed at a time), 48 (count + 32) bytes for each of 6,144
/// queries at a time, and 0.2 MiB for each thread. On a CUDA device, up to 256 Euclidean
/// neighbours: the host's bits, and 128 MiB.
HR_API Neighbors nearest_neighbors(const Tensor& rows, const Tensor& queries, int64_t count,
                                   Metric metric, bool others,
                                   NeighborSearch search = NeighborSearch::kAuto);

/// The rows at most `radius` away from each query.
HR_API NeighborRuns neighbors_within(const Tensor& rows, const Tensor& queries, double radius,
                                     Metric metric, bool others,
                                     NeighborSearch search = NeighborSearch::kAuto);

}  // namespace hr
