// SPDX-License-Identifier: Apache-2.0
// Finds core rows, joins those that are near, and gives the rest to the lowest cluster near them.
#include "headrace/learn/dbscan.h"

#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/dbscan_kernels.h"
#include "headrace/learn/dense_grid.h"
#include "headrace/learn/distance_tiles.h"
#include "headrace/learn/neighbors_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace hr {
namespace {

/// Whether rows of `x` are near, where the filter leaves it open.
struct Decision {
  const RowTiles& x;
  Metric metric;
  double limit;
  int64_t query = -1;
  std::vector<double> point = {}, other = {};

  bool near(const TileRow& row, int64_t r) {
    if (row.upper(r) <= limit) return true;
    const auto d = static_cast<size_t>(x.columns());
    if (query != row.query) {
      point.resize(d);
      other.resize(d);
      query = row.query;
      x.read(query, 1, TileForm::kRows, nullptr, nullptr, point.data());
    }
    x.read(row.first + r, 1, TileForm::kRows, nullptr, nullptr, other.data());
    return exact_distance(metric, point.data(), other.data(), x.columns()) <= limit;
  }
};

/// Clusters of all pairs in tiles: the lowest core row of each row's cluster, or -1.
BudgetedVector<int64_t> compare_all(const RowTiles& x, const double* weights, double limit,
                                    double least_weight, Metric metric,
                                    BudgetedVector<uint8_t>& core) {
  const int64_t rows = x.rows();
  const auto near_rows = [&](const TileRow& row, auto take) {
    int32_t positions[kTileColumns];
    const int64_t count = row.at_most(limit, positions);
    Decision decision{x, metric, limit};
    for (int64_t p = 0; p < count; ++p)
      if (decision.near(row, positions[p])) take(row.first + positions[p]);
  };
  BudgetedVector<int64_t> all(static_cast<size_t>(rows));
  std::iota(all.begin(), all.end(), int64_t{0});
  BudgetedVector<double> weight(all.size());
  for_tiles(x, x, all, metric, [&](const TileRow& row) {
    double& sum = weight[static_cast<size_t>(row.query)];
    if (weights == nullptr && sum >= least_weight) return;  // more do not matter
    near_rows(row, [&](int64_t i) { sum += weights == nullptr ? 1 : weights[i]; });
  });
  BudgetedVector<int64_t> dense, sparse;
  for (const int64_t i : all) {
    core[static_cast<size_t>(i)] = weight[static_cast<size_t>(i)] >= least_weight;
    (core[static_cast<size_t>(i)] != 0 ? dense : sparse).push_back(i);
  }
  DisjointSets sets(rows);
  for_tiles(x, x, dense, metric, [&](const TileRow& row) {
    if (row.first >= row.query) return;  // the pair comes again, the other way round
    near_rows(row, [&](int64_t i) {
      if (i < row.query && core[static_cast<size_t>(i)] != 0) sets.join(i, row.query);
    });
  });
  BudgetedVector<int64_t> lowest(all.size(), -1);
  for (const int64_t i : dense) lowest[static_cast<size_t>(i)] = sets.root(i);
  for_tiles(x, x, sparse, metric, [&](const TileRow& row) {
    int64_t& own = lowest[static_cast<size_t>(row.query)];
    near_rows(row, [&](int64_t i) {
      if (core[static_cast<size_t>(i)] == 0) return;
      const int64_t root = sets.root(i);
      if (own < 0 || root < own) own = root;
    });
  });
  return lowest;
}

/// Clusters on a CUDA device: as `compare_all`.
BudgetedVector<int64_t> cluster_there(const Tensor& x, const Tensor& weights, cuda::Density density,
                                      Metric metric, BudgetedVector<uint8_t>& core) {
  BudgetedVector<int64_t> lowest(core.size());
  const bool squared = metric == Metric::kSquaredEuclidean;
  if (squared || x.shape()[1] > 3 ||
      !cuda::cluster_by_grid(x, weights, density, lowest.data(), core.data()))
    cuda::cluster_by_tiles(x, weights, density, squared,
                           FilterFrame(RowTiles(cuda::sample_rows(x)), metric), lowest.data(),
                           core.data());
  return lowest;
}

}  // namespace

DenseClusters dbscan(const Tensor& points, const Tensor& given, double epsilon, double least_weight,
                     Metric metric) {
  check_neighbors("dbscan", points, points);
  const RowTiles x(points);
  const int64_t rows = x.rows();
  if (given.num_elements() != 0 && (given.dtype() != dtype_of<double>() ||
                                    given.num_elements() != rows || !given.is_contiguous()))
    throw_error<InvalidArgumentError>("dbscan", "expected a float64 weight for each row",
                                      {{"weights", given.num_elements()}, {"rows", rows}});
  const ScopedTag tag("dbscan");
  const bool there = built_with_cuda && points.place().is_gpu();
  if (!there) check_on_host("dbscan", points.place());
  std::optional<DenseGrid::Corner> corner;
  if (!there && metric == Metric::kEuclidean) corner = DenseGrid::corner(x, epsilon);
  const bool in_grid = corner.has_value();
  WorkingBytes taken;
  if (!there && !in_grid) taken = tiles_working_bytes(rows, x.columns());
  // Of a row its number, weight, set and cluster; in the grid its coordinates, and a cell's too.
  if (!there) taken.all += rows * (1 + 8 * (in_grid ? 9 + x.columns() : 4));
  const WorkingMemory working(taken);
  const double* weights = given.num_elements() == 0 ? nullptr : given.as<double>();
  BudgetedVector<uint8_t> core(static_cast<size_t>(rows));
  const double limit = reduced_distance(metric, epsilon);
  BudgetedVector<int64_t> lowest;
  if constexpr (built_with_cuda)
    if (there) lowest = cluster_there(points, given, {epsilon, least_weight}, metric, core);
  if (in_grid)
    lowest = DenseGrid(x, epsilon, *corner).clusters(weights, least_weight, core);
  else if (!there)
    lowest = compare_all(x, weights, limit, least_weight, metric, core);

  constexpr int64_t kWord = static_cast<int64_t>(sizeof(int64_t));
  Buffer labels = Buffer::allocate(rows * kWord);
  BudgetedVector<int64_t> number(static_cast<size_t>(rows));
  int64_t clusters = 0, cores = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (lowest[static_cast<size_t>(i)] == i) number[static_cast<size_t>(i)] = clusters++;
    cores += core[static_cast<size_t>(i)];
  }
  Buffer indices = Buffer::allocate(cores * kWord);
  int64_t at = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t of = lowest[static_cast<size_t>(i)];
    labels.mutable_as<int64_t>()[i] = of < 0 ? -1 : number[static_cast<size_t>(of)];
    if (core[static_cast<size_t>(i)] != 0) indices.mutable_as<int64_t>()[at++] = i;
  }
  const auto keep = [&](Buffer& values, int64_t size) {
    const Tensor made(dtype_of<int64_t>(), {size}, std::move(values));
    return output_at("dbscan", made, points.place());
  };
  return {keep(labels, rows), keep(indices, cores)};
}

}  // namespace hr
