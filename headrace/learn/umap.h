// SPDX-License-Identifier: Apache-2.0
// UMAP: few coordinates in which the fuzzy graph of neighbours is kept.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/sparse.h"

#include <cstdint>
#include <string>

namespace hr {

// L. McInnes, J. Healy, J. Melville, "UMAP: Uniform Manifold Approximation and Projection for
// Dimension Reduction", arXiv 1802.03426, 2018. Neighbours are int64 indices and float64 distances
// [rows, count], nearest first.

/// The fuzzy union of the rows' neighbours (without themselves): a neighbour's membership falls
/// from 1 at the `connectivity`-th other distance on, such that a row's memberships sum to
/// log2(count + 1). An edge of memberships p and q weighs mix (p + q - p q) + (1 - mix) p q.
HR_API Sparse umap_graph(const Tensor& indices, const Tensor& distances, double connectivity,
                         double mix);

struct UmapOptions {
  double a = 1.577;  ///< similarity at distance d is 1 / (1 + a d^(2 b))
  double b = 0.895;
  int64_t epochs = 500;
  double learning_rate = 1;
  double repulsion = 1;      ///< what a negative sample weighs
  double negative_rate = 5;  ///< negative samples for an edge of the largest weight, each epoch
  uint64_t seed = 0;
};

/// Positions, float32 [rows, dimensions], from `init` of that shape. In an epoch all edges pull,
/// rows drawn for each row push, and a row moves by the sum over one plus the strength of its
/// pulls, so that many of them do not throw it over its goal. All of it reads the positions of the
/// last epoch only, draws follow from seed, epoch and row, and each sum has an order by shape: the
/// same bits for any number of threads and SIMD level, and where `init` is on a CUDA device. Throws
/// InvalidArgumentError for an `init` that does not fit or is not finite.
HR_API Tensor umap_fit(const Sparse& graph, const Tensor& init, const UmapOptions& options);

/// Why `umap_fit` has no kernel for CUDA, or nothing.
HR_API std::string umap_why_no_kernel(int64_t dimensions);

/// Places new rows among fitted ones, `embedding`, that stay. `indices` and `distances` are of
/// their nearest fitted rows. A row at distance 0 from one takes its place; the place of another
/// depends on that row alone.
HR_API Tensor umap_place(const Tensor& indices, const Tensor& distances, const Tensor& embedding,
                         const UmapOptions& options);

}  // namespace hr
