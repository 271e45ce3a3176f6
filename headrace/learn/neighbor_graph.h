// SPDX-License-Identifier: Apache-2.0
// Weights of each row's neighbours, and the undirected graph they make.
#pragma once
#include "headrace/data/sparse.h"

#include <cstdint>
#include <string_view>

namespace hr {

/// Throws TypeMismatchError unless `indices` is int64 and `distances` float64, both contiguous and
/// 2-D, and InvalidArgumentError unless their shapes are equal.
void check_neighbor_lists(std::string_view op, const Tensor& indices, const Tensor& distances);

/// The weight of an edge from those of its two directions; one that is not there weighs 0.
using JoinWeights = float (*)(float forth, float back, double share);

/// The symmetric matrix of `indices`, int64 [rows, count], each row's neighbours once and without
/// itself, and of their weights, float32 [rows, count]: entries (i, j) and (j, i) are
/// `join(w(i, j), w(j, i), share)`, float32, columns ascending, int32. Edges of weight 0 are left
/// out. Throws InvalidArgumentError for 2^31 rows or more and for neighbours that are not there.
HR_API Sparse joined_graph(const Tensor& indices, const Tensor& weights, JoinWeights join,
                           double share = 0);

}  // namespace hr
