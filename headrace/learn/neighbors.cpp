// SPDX-License-Identifier: Apache-2.0
// Keeps for each query what may be near, and decides it in float64.
#include "headrace/learn/neighbors.h"

#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/distance_tiles.h"
#include "headrace/learn/kd_tree.h"
#include "headrace/learn/neighbors_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace hr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Where a tree is faster than tiles: 10 neighbours of 10,000 queries among 100,000 rows of 4
// columns take 83 ms by it and 410 ms by tiles, of 6 columns 279 and 390, of 8 columns 843 and 666
// (2 cores).
constexpr int64_t kTreeDimensions = 4;
constexpr int64_t kTreeRows = 2000;
constexpr int64_t kTreeQueries = 1000;

/// Whether a distance is less; NaN is behind all numbers.
bool is_nearer(double a, double b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}

/// A row whose distance to the query lies in [lower, upper].
struct Candidate {
  double lower;
  double upper;
  int64_t index;
};

/// Decides distances of one query.
struct Query {
  const RowTiles& rows;
  Metric metric;
  std::vector<double> point, other;

  Query(const RowTiles& all_rows, const RowTiles& queries, int64_t number, Metric by)
      : rows(all_rows),
        metric(by),
        point(static_cast<size_t>(rows.columns())),
        other(point.size()) {
    queries.read(number, 1, TileForm::kRows, nullptr, nullptr, point.data());
  }

  double distance(int64_t index) {
    rows.read(index, 1, TileForm::kRows, nullptr, nullptr, other.data());
    return exact_distance(metric, point.data(), other.data(), rows.columns());
  }
};

/// The candidates for the `count` nearest of one query.
struct Nearest {
  BudgetedVector<Candidate> found;
  double threshold = kInfinity;  ///< `count` rows are at most that far away

  void add(const TileRow& row, int64_t r, int64_t count, const RowTiles& rows,
           const RowTiles& queries, Metric metric) {
    double lower = row.lower(r), upper = row.upper(r);
    if (std::isnan(lower) || std::isnan(upper)) lower = -kInfinity, upper = kInfinity;
    if (lower > threshold) return;
    const int64_t room = 2 * count + 64;
    if (found.empty()) found.reserve(static_cast<size_t>(std::min(room, rows.rows())));
    found.push_back({lower, upper, row.first + r});
    if (static_cast<int64_t>(found.size()) < room) return;
    narrow(count);
    if (2 * static_cast<int64_t>(found.size()) > room + count) {
      Query query(rows, queries, row.query, metric);
      decide(count, query);
    }
  }

  /// Drops those that `count` others are nearer than.
  void narrow(int64_t count) {
    if (static_cast<int64_t>(found.size()) < count) return;
    thread_local std::vector<double> uppers;
    uppers.clear();
    for (const Candidate& each : found) uppers.push_back(each.upper);
    const auto last = uppers.begin() + (count - 1);
    std::nth_element(uppers.begin(), last, uppers.end(), is_nearer);
    threshold = std::min(threshold, *last);
    std::erase_if(found, [&](const Candidate& each) { return each.lower > threshold; });
  }

  /// Leaves the `count` nearest, in their order.
  void decide(int64_t count, Query& query) {
    for (Candidate& each : found)
      if (each.lower != each.upper) each.lower = each.upper = query.distance(each.index);
    const auto kept = std::min<int64_t>(count, static_cast<int64_t>(found.size()));
    std::partial_sort(found.begin(), found.begin() + kept, found.end(),
                      [](const Candidate& a, const Candidate& b) {
                        if (is_nearer(a.lower, b.lower)) return true;
                        return !is_nearer(b.lower, a.lower) && a.index < b.index;
                      });
    found.resize(static_cast<size_t>(kept));
    if (kept == count) threshold = std::min(threshold, found.back().upper);
  }
};

Tensor int64_tensor(Buffer buffer, Shape shape) {
  return Tensor(dtype_of<int64_t>(), std::move(shape), std::move(buffer));
}

/// Runs `body(query, point)` for all queries, in tasks of kTileQueries.
template <class F>
void for_queries(const RowTiles& queries, F body) {
  const int64_t n = queries.rows(), d = queries.columns();
  parallel_for(divide_up(n, kTileQueries), [&](int64_t task) {
    const int64_t first = task * kTileQueries, count = std::min(kTileQueries, n - first);
    std::vector<double> points(static_cast<size_t>(count * d));
    queries.read(first, count, TileForm::kRows, nullptr, nullptr, points.data());
    for (int64_t i = 0; i < count; ++i) body(first + i, points.data() + i * d);
  });
}

bool all_finite(const RowTiles& rows) {
  std::atomic<bool> finite{true};
  for_queries(rows, [&](int64_t, const double* point) {
    if (!std::all_of(point, point + rows.columns(), [](double x) { return std::isfinite(x); }))
      finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

/// By shape, but that what is not finite has no place in a tree.
bool takes_tree(const RowTiles& rows, const RowTiles& queries, Metric metric,
                NeighborSearch search) {
  const bool can = rows.columns() <= KdTree::kMostDimensions && rows.rows() > 0 &&
                   (metric == Metric::kEuclidean || metric == Metric::kSquaredEuclidean);
  if (!can || search == NeighborSearch::kTiles) return false;
  if (search == NeighborSearch::kAuto && (rows.columns() > kTreeDimensions ||
                                          rows.rows() < kTreeRows || queries.rows() < kTreeQueries))
    return false;
  return all_finite(rows) && all_finite(queries);
}

bool is_euclidean(Metric metric) {
  return metric == Metric::kEuclidean || metric == Metric::kSquaredEuclidean;
}

}  // namespace

std::string why_no_kernel(Metric metric, int64_t count) {
  if (!is_euclidean(metric)) return "this metric has no kernel for CUDA";
  return count > cuda::kMostNeighbors ? "more than 256 neighbours have no kernel for CUDA" : "";
}

NeighborSearch neighbor_search_named(std::string_view name) {
  if (name == "auto") return NeighborSearch::kAuto;
  if (name == "brute") return NeighborSearch::kTiles;
  if (name == "kd_tree" || name == "ball_tree") return NeighborSearch::kTree;
  throw_error<InvalidArgumentError>("nearest_neighbors", "there is no such search",
                                    {{"name", name}});
}

Neighbors nearest_neighbors(const Tensor& points, const Tensor& asked, int64_t count, Metric metric,
                            bool others, NeighborSearch search) {
  constexpr std::string_view kOp = "nearest_neighbors";
  check_neighbors(kOp, points, asked);
  const RowTiles rows(points), queries(asked);
  const int64_t n = queries.rows();
  if (count < 1 || count > rows.rows() - (others ? 1 : 0))
    throw_error<InvalidArgumentError>(kOp, "count is out of range",
                                      {{"count", count}, {"rows", rows.rows()}});
  const ScopedTag tag(kOp);
  if constexpr (built_with_cuda)
    if (points.place().is_gpu() && why_no_kernel(metric, count).empty())
      return cuda::nearest_neighbors(points, asked, count, metric == Metric::kSquaredEuclidean,
                                     others, {RowTiles(cuda::sample_rows(points)), metric});
  check_on_host(kOp, points.place());
  const int64_t bytes =
      checked_multiply(kOp, checked_multiply(kOp, n, count), static_cast<int64_t>(sizeof(double)));
  if (takes_tree(rows, queries, metric, search)) {
    // Of a row its coordinates twice, its number, its place in an order, and at most half a box.
    const WorkingMemory working({2 * bytes + rows.rows() * (20 * rows.columns() + 32), 0});
    Buffer indices = Buffer::allocate(bytes), distances = Buffer::allocate(bytes);
    const KdTree tree(rows);
    for_queries(queries, [&](int64_t q, const double* point) {
      thread_local std::vector<NearRow> found;
      found.resize(static_cast<size_t>(count));
      tree.nearest(point, others ? q : -1, found);
      for (int64_t i = 0; i < count; ++i) {
        const NearRow& each = found[static_cast<size_t>(i)];
        indices.mutable_as<int64_t>()[q * count + i] = each.row;
        distances.mutable_as<double>()[q * count + i] = distance_of_reduced(metric, each.distance);
      }
    });
    return {int64_tensor(std::move(indices), {n, count}),
            Tensor(dtype_of<double>(), {n, count}, std::move(distances))};
  }
  constexpr int64_t kBatch = 128 * kTileQueries;
  const int64_t room = std::min(2 * count + 64, rows.rows());  // of a query for its candidates
  WorkingBytes taken = tiles_working_bytes(rows.rows(), rows.columns());
  taken.all += 2 * bytes + std::min(n, kBatch) * room * static_cast<int64_t>(sizeof(Candidate));
  const WorkingMemory working(taken);
  Buffer indices = Buffer::allocate(bytes), distances = Buffer::allocate(bytes);
  for (int64_t begin = 0; begin < n; begin += kBatch) {
    const int64_t end = std::min(n, begin + kBatch);
    BudgetedVector<int64_t> chosen(static_cast<size_t>(end - begin));
    std::iota(chosen.begin(), chosen.end(), begin);
    std::vector<Nearest> nearest(chosen.size());
    for_tiles(rows, queries, chosen, metric, [&](const TileRow& block) {
      Nearest& own = nearest[static_cast<size_t>(block.query - begin)];
      int32_t positions[kTileColumns];
      // Among the first rows of all, each narrows soon what of the next may be near.
      for (int64_t from = 0, step = 0; from < block.count; from += step) {
        step = std::min(block.count - from, std::max(room, block.first + from));
        const TileRow row = block.part(from, step);
        const int64_t near = row.at_most(own.threshold, positions);
        for (int64_t p = 0; p < near; ++p)
          if (!others || row.first + positions[p] != row.query)
            own.add(row, positions[p], count, rows, queries, metric);
      }
    });
    parallel_for((end - begin + 63) / 64, [&](int64_t k) {
      for (int64_t q = begin + k * 64; q < std::min(end, begin + (k + 1) * 64); ++q) {
        Nearest& own = nearest[static_cast<size_t>(q - begin)];
        Query query(rows, queries, q, metric);
        own.narrow(count);
        own.decide(count, query);
        for (int64_t i = 0; i < count; ++i) {
          const Candidate& each = own.found[static_cast<size_t>(i)];
          indices.mutable_as<int64_t>()[q * count + i] = each.index;
          distances.mutable_as<double>()[q * count + i] = distance_of_reduced(metric, each.lower);
        }
      }
    });
  }
  return {int64_tensor(std::move(indices), {n, count}),
          Tensor(dtype_of<double>(), {n, count}, std::move(distances))};
}

NeighborRuns neighbors_within(const Tensor& points, const Tensor& asked, double radius,
                              Metric metric, bool others, NeighborSearch search) {
  constexpr std::string_view kOp = "neighbors_within";
  check_neighbors(kOp, points, asked);
  const ScopedTag tag(kOp);
  const RowTiles rows(points), queries(asked);
  const int64_t n = queries.rows();
  const double limit = radius < 0 ? -1 : reduced_distance(metric, radius);
  BudgetedVector<int64_t> chosen(static_cast<size_t>(n));
  std::iota(chosen.begin(), chosen.end(), int64_t{0});
  struct Found {
    double distance;
    int64_t index;
    int64_t query;
  };
  // Of the queries that for_tiles takes together: those of one lie in order among the others.
  std::vector<BudgetedVector<Found>> within(
      static_cast<size_t>((n + kTileQueries - 1) / kTileQueries));
  const auto by_tiles = [&] {
    for_tiles(rows, queries, chosen, metric, [&](const TileRow& row) {
      int32_t positions[kTileColumns];
      const int64_t near = row.at_most(limit, positions);
      if (near == 0) return;
      Query query(rows, queries, row.query, metric);
      for (int64_t p = 0; p < near; ++p) {
        const int64_t index = row.first + positions[p];
        if (others && index == row.query) continue;
        const double distance = query.distance(index);
        if (distance <= limit)
          within[static_cast<size_t>(row.query / kTileQueries)].push_back(
              {distance, index, row.query});
      }
    });
  };
  const auto by_tree = [&] {
    const KdTree tree(rows);
    for_queries(queries, [&](int64_t q, const double* point) {
      thread_local std::vector<NearRow> found;
      found.clear();
      tree.within(point, limit, found);
      std::sort(found.begin(), found.end(),
                [](const NearRow& a, const NearRow& b) { return a.row < b.row; });
      for (const NearRow& each : found)
        if (!others || each.row != q)
          within[static_cast<size_t>(q / kTileQueries)].push_back({each.distance, each.row, q});
    });
  };
  if (limit >= 0 && takes_tree(rows, queries, metric, search))
    by_tree();
  else
    by_tiles();
  constexpr int64_t kWord = static_cast<int64_t>(sizeof(int64_t));
  Buffer offsets = Buffer::allocate((n + 1) * kWord);
  auto* ends = offsets.mutable_as<int64_t>();
  std::fill_n(ends, n + 1, int64_t{0});
  for (const auto& group : within)
    for (const Found& each : group) ++ends[each.query + 1];
  std::partial_sum(ends, ends + n + 1, ends);
  const int64_t total = ends[n];
  Buffer indices = Buffer::allocate(total * kWord), distances = Buffer::allocate(total * kWord);
  for (size_t group = 0; group < within.size(); ++group) {
    const int64_t first = static_cast<int64_t>(group) * kTileQueries;
    int64_t next[kTileQueries];
    std::copy_n(ends + first, std::min(kTileQueries, n - first), next);
    for (const Found& each : within[group]) {
      const int64_t at = next[each.query - first]++;
      indices.mutable_as<int64_t>()[at] = each.index;
      distances.mutable_as<double>()[at] = distance_of_reduced(metric, each.distance);
    }
    within[group] = {};
  }
  return {int64_tensor(std::move(offsets), {n + 1}), int64_tensor(std::move(indices), {total}),
          Tensor(dtype_of<double>(), {total}, std::move(distances))};
}

}  // namespace hr
