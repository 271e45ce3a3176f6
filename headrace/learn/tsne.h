// SPDX-License-Identifier: Apache-2.0
// t-SNE: few coordinates in which neighbours stay neighbours.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/sparse.h"

#include <cstdint>
#include <string>

namespace hr {

/// The most coordinates of an embedding.
inline constexpr int64_t kMostTsneDimensions = 3;

/// Joint probabilities of rows (L. van der Maaten and G. Hinton, JMLR 9, 2008): each row's
/// neighbours (int64 [rows, count], without itself) weigh exp(-b distance^2), where b gives their
/// weights the entropy log(perplexity) within 1e-5; the sum with the transpose, scaled to the sum
/// 1. Distances are float64. Where neighbours are too few or too equal for the perplexity, their
/// weights are equal. Throws InvalidArgumentError for squares of distances that are not finite.
HR_API Sparse tsne_affinities(const Tensor& indices, const Tensor& distances, double perplexity);

struct TsneOptions {
  double exaggeration = 12;  ///< of attraction, in the first 250 iterations
  double learning_rate = 200;
  int64_t most = 1000;  ///< iterations
  int64_t most_without_progress = 300;
  double least_gradient = 1e-7;
  double angle = 0.5;  ///< extent over distance at which points count as one; 0: never
};

struct Tsne {
  Tensor embedding;       ///< float32 [rows, dimensions]
  double divergence = 0;  ///< of Kullback and Leibler, of the embedding
  int64_t last = 0;       ///< the last iteration, counted from 0
};

/// Gradient descent with momentum and gains from `init`, float32 [rows, 1 to 3], by the affinities
/// of neighbours. Points are sorted
/// along a Z-order curve, where 16 neighbours and groups of groups, four at a time, are the tree
/// that repels (L. van der Maaten, JMLR 15, 2014, with one traversal for 16 points). Student's t
/// has max(dimensions - 1, 1) degrees of freedom. An iteration reads the positions of the last one
/// only, and each sum has an order by shape: the same bits for any number of threads and SIMD
/// level, and on a CUDA device, where all three are then. Memory: about 70 bytes a row, and what
/// the affinities take. Throws as `tsne_affinities`, and InvalidArgumentError for positions that
/// diverge.
HR_API Tsne tsne_fit(const Tensor& indices, const Tensor& distances, double perplexity,
                     const Tensor& init, const TsneOptions& options);

/// Why rows with `count` neighbours each have no kernel for CUDA; empty: they have one.
HR_API std::string tsne_why_no_kernel(int64_t rows, int64_t count);

}  // namespace hr
