// SPDX-License-Identifier: Apache-2.0
// Blocks of points against tiles of others; what is not asked for is summed at once.
#include "headrace/learn/pairwise.h"

#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/distance_tiles.h"
#include "headrace/learn/pairwise_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace hr {
namespace {

constexpr int64_t kBlock = 64;
constexpr int64_t kTile = 256;
constexpr int64_t kWord = static_cast<int64_t>(sizeof(double));

/// Points one after the other, and the length of each where the metric needs it.
struct Points {
  BudgetedVector<double> values, lengths;

  template <class F>
  Points(const RowTiles& x, int64_t count, Metric metric, F row_at)
      : values(static_cast<size_t>(count * x.columns())) {
    const int64_t d = x.columns();
    for (int64_t i = 0; i < count; ++i) {
      double* row = values.data() + i * d;
      x.read(row_at(i), 1, TileForm::kRows, nullptr, nullptr, row);
      if (metric != Metric::kCosine) continue;
      double sum = 0;
      for (int64_t j = 0; j < d; ++j) sum += row[j] * row[j];
      lengths.push_back(std::sqrt(sum));
    }
  }
};

/// Points with each coordinate side by side.
struct PointTile {
  int64_t count, dimensions;
  BudgetedVector<double> columns, lengths;

  template <class F>
  PointTile(const RowTiles& x, int64_t num_points, Metric metric, F row_at)
      : count(num_points), dimensions(x.columns()) {
    Points points(x, count, metric, row_at);
    columns.resize(points.values.size());
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < dimensions; ++j)
        columns[static_cast<size_t>(j * count + i)] =
            points.values[static_cast<size_t>(i * dimensions + j)];
    lengths = std::move(points.lengths);
  }

  void distances(Metric metric, const Points& from, int64_t i, double* out) const {
    cpu::point_distances(metric, from.values.data() + i * dimensions, columns.data(), dimensions,
                         count, out);
    if (metric == Metric::kEuclidean) cpu::square_roots(out, count);
    if (metric != Metric::kCosine) return;
    const double length = from.lengths[static_cast<size_t>(i)];
    for (int64_t k = 0; k < count; ++k) {
      const double other = lengths[static_cast<size_t>(k)];
      out[k] = length == 0 || other == 0 ? 1 : std::clamp(1 - out[k] / (length * other), 0.0, 2.0);
    }
  }
};

/// Rows by class, each in ascending order.
struct Classes {
  BudgetedVector<int64_t> begins, rows;

  Classes(std::string_view op, const Tensor& x, const Tensor& labels) {
    const int64_t n = x.shape()[0];
    if (labels.dtype() != dtype_of<int64_t>() || labels.num_elements() != n ||
        !labels.is_contiguous())
      throw_error<InvalidArgumentError>(op, "expected an int64 label for each row",
                                        {{"labels", labels.num_elements()}, {"rows", n}});
    const std::span<const int64_t> of(labels.as<int64_t>(), static_cast<size_t>(n));
    const int64_t last = n == 0 ? -1 : *std::max_element(of.begin(), of.end());
    if (last >= n)
      throw_error<InvalidArgumentError>(op, "more classes than rows", {{"label", last}});
    begins.assign(static_cast<size_t>(std::max<int64_t>(last, -1) + 2), 0);
    for (const int64_t label : of)
      if (label >= 0) ++begins[static_cast<size_t>(label) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    BudgetedVector<int64_t> next(begins.begin(), begins.end() - 1);
    rows.resize(static_cast<size_t>(begins.back()));
    for (int64_t i = 0; i < n; ++i)
      if (of[static_cast<size_t>(i)] >= 0)
        rows[static_cast<size_t>(next[static_cast<size_t>(of[static_cast<size_t>(i)])]++)] = i;
  }

  int64_t count() const { return static_cast<int64_t>(begins.size()) - 1; }

  int64_t begin(int64_t c) const { return begins[static_cast<size_t>(c)]; }

  int64_t size(int64_t c) const { return begin(c + 1) - begin(c); }

  int64_t class_at(int64_t place) const {
    return std::upper_bound(begins.begin(), begins.end(), place) - begins.begin() - 1;
  }

  /// Calls `take(row, class, sum)` with the sum of distances from each row to each class, or to
  /// its own one; classes in their order, and rows at the same time.
  template <class F>
  void sum_distances(const RowTiles& x, const double* weights, Metric metric, bool only_own,
                     F take) const;
};

template <class F>
void Classes::sum_distances(const RowTiles& x, const double* weights, Metric metric, bool only_own,
                            F take) const {
  const auto total = static_cast<int64_t>(rows.size());
  const auto row_from = [&](int64_t first) {
    return [&, first](int64_t i) { return rows[static_cast<size_t>(first + i)]; };
  };
  parallel_for((total + kBlock - 1) / kBlock, [&](int64_t block) {
    const int64_t first = block * kBlock, size_of_block = std::min(kBlock, total - first);
    const Points points(x, size_of_block, metric, row_from(first));
    const int64_t lowest = only_own ? class_at(first) : 0;
    const int64_t end = only_own ? class_at(first + size_of_block - 1) + 1 : count();
    for (int64_t c = lowest; c < end; ++c) {
      double sums[kBlock] = {};
      for (int64_t place = begin(c); place < begin(c + 1); place += kTile) {
        const int64_t size_of_tile = std::min(kTile, begin(c + 1) - place);
        const PointTile tile(x, size_of_tile, metric, row_from(place));
        double distances[kTile], weight[kTile];
        for (int64_t k = 0; weights != nullptr && k < size_of_tile; ++k)
          weight[k] = weights[rows[static_cast<size_t>(place + k)]];
        for (int64_t i = 0; i < size_of_block; ++i) {
          tile.distances(metric, points, i, distances);
          if (first + i >= place && first + i < place + size_of_tile)
            distances[first + i - place] = 0;
          sums[i] +=
              cpu::sum_in_lanes(distances, weights == nullptr ? nullptr : weight, size_of_tile);
        }
      }
      for (int64_t i = 0; i < size_of_block; ++i)
        if (!only_own || (first + i >= begin(c) && first + i < begin(c + 1)))
          take(rows[static_cast<size_t>(first + i)], c, sums[i]);
    }
  });
}

}  // namespace

Tensor pairwise_distances(const Tensor& asked, const Tensor& points, Metric metric, bool same) {
  constexpr std::string_view kOp = "pairwise_distances";
  check_neighbors(kOp, points, asked);
  const ScopedTag tag(kOp);
  const RowTiles queries(asked), rows(points);
  const int64_t n = queries.rows(), m = rows.rows();
  Buffer made = Buffer::allocate(checked_multiply(kOp, checked_multiply(kOp, n, m), kWord));
  auto* out = made.mutable_as<double>();
  parallel_for((n + kBlock - 1) / kBlock, [&](int64_t block) {
    const int64_t first = block * kBlock, count = std::min(kBlock, n - first);
    const Points from(queries, count, metric, [&](int64_t i) { return first + i; });
    for (int64_t begin = 0; begin < m; begin += kTile) {
      const PointTile tile(rows, std::min(kTile, m - begin), metric,
                           [&](int64_t i) { return begin + i; });
      for (int64_t i = 0; i < count; ++i)
        tile.distances(metric, from, i, out + (first + i) * m + begin);
    }
    for (int64_t i = first; same && i < first + count; ++i) out[i * m + i] = 0;
  });
  return Tensor(dtype_of<double>(), {n, m}, std::move(made));
}

Tensor silhouettes(const Tensor& x, const Tensor& labels, Metric metric) {
  constexpr std::string_view kOp = "silhouettes";
  check_neighbors(kOp, x, x);
  const ScopedTag tag(kOp);
  const Classes classes(kOp, x, labels);
  const int64_t n = x.shape()[0];
  Buffer made = Buffer::allocate(n * kWord);
  auto* out = made.mutable_as<double>();
  BudgetedVector<double> next(static_cast<size_t>(n), std::numeric_limits<double>::infinity());
  const auto* own = labels.as<int64_t>();
  std::fill_n(out, n, 0.0);
  classes.sum_distances(RowTiles(x), nullptr, metric, false,
                        [&](int64_t row, int64_t c, double sum) {
                          const auto size = static_cast<double>(classes.size(c));
                          double& least = next[static_cast<size_t>(row)];
                          if (c == own[row])
                            out[row] = size > 1 ? sum / (size - 1) : 0;
                          else
                            least = std::min(least, sum / size);
                        });
  for (int64_t i = 0; i < n; ++i) {
    const double near = out[i], far = next[static_cast<size_t>(i)];
    const bool alone = own[i] < 0 || classes.size(own[i]) == 1;
    out[i] = alone || std::max(near, far) == 0 ? 0 : (far - near) / std::max(near, far);
  }
  return Tensor(dtype_of<double>(), {n}, std::move(made));
}

Tensor medoids(const Tensor& x, const Tensor& labels, const Tensor& weights, Metric metric) {
  constexpr std::string_view kOp = "medoids";
  check_neighbors(kOp, x, x);
  const ScopedTag tag(kOp);
  const Classes classes(kOp, x, labels);
  if (weights.dtype() != dtype_of<double>() || weights.num_elements() != x.shape()[0] ||
      !weights.is_contiguous())
    throw_error<InvalidArgumentError>(kOp, "expected a float64 weight for each row",
                                      {{"weights", weights.num_elements()}});
  BudgetedVector<double> sums(static_cast<size_t>(x.shape()[0]));
  classes.sum_distances(
      RowTiles(x), weights.as<double>(), metric, true,
      [&](int64_t row, int64_t, double sum) { sums[static_cast<size_t>(row)] = sum; });
  Buffer made = Buffer::allocate(classes.count() * kWord);
  for (int64_t c = 0; c < classes.count(); ++c) {
    const auto* begin = classes.rows.data() + classes.begin(c);
    made.mutable_as<int64_t>()[c] =
        *std::min_element(begin, begin + classes.size(c), [&](int64_t a, int64_t b) {
          return sums[static_cast<size_t>(a)] < sums[static_cast<size_t>(b)];
        });
  }
  return Tensor(dtype_of<int64_t>(), {classes.count()}, std::move(made));
}

}  // namespace hr
