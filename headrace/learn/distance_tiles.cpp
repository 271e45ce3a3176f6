// SPDX-License-Identifier: Apache-2.0
// Packs rows in chunks, multiplies tiles and hands out their rows.
#include "headrace/learn/distance_tiles.h"

#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {
namespace {

constexpr double kUlp = 0x1p-24;

bool is_squared(Metric metric) {
  return metric == Metric::kEuclidean || metric == Metric::kSquaredEuclidean;
}

/// Packed rows of a chunk, in blocks of kTileColumns.
struct Chunk {
  int64_t rows;
  BudgetedVector<float> panels, norms;
  BudgetedVector<double> most;  ///< the largest norm of each block

  Chunk(int64_t most_rows, int64_t d)
      : rows(most_rows),
        panels(static_cast<size_t>(most_rows * d)),
        norms(static_cast<size_t>(most_rows)),
        most(static_cast<size_t>(most_rows / kTileColumns)) {}
};

/// Of `n` rows of length `d`.
int64_t rows_of_chunk(int64_t n, int64_t d) {
  const int64_t most = std::clamp((int64_t{1} << 21) / d, kTileColumns, int64_t{65536});
  const int64_t all = (n + kTileColumns - 1) / kTileColumns * kTileColumns;
  return std::min(most / kTileColumns * kTileColumns, all);
}

/// Panels of `count` rows of length `d` that lie one after the other, in blocks of kSumBlock of
/// depth, each with room for `room` rows.
void pack_deep(const float* rows, int64_t count, int64_t d, int64_t width, int64_t room,
               float* to) {
  for (int64_t k = 0; k < d; k += kSumBlock) {
    const int64_t depth = std::min(kSumBlock, d - k);
    cpu::pack(AnyMatrix(MatrixView<const float>{rows + k, count, depth, d}), width, to + k * room);
  }
}

void multiply_tile(Metric metric, const float* left, const float* right, int64_t d, int64_t rows,
                   int64_t columns, float* tile) {
  for (int64_t k = 0; k < d; k += kSumBlock) {
    const int64_t depth = std::min(kSumBlock, d - k);
    const float* a = left + k * kTileQueries;
    const float* b = right + k * kTileColumns;
    if (metric == Metric::kManhattan || metric == Metric::kChebyshev)
      cpu::absolute_tile(a, b, depth, rows, columns, metric == Metric::kChebyshev, k == 0, tile,
                         kTileColumns);
    else
      cpu::multiply_packed(a, b, depth, MatrixView<float>{tile, rows, columns, kTileColumns},
                           k == 0 ? Update::kSet : Update::kAdd);
  }
}

}  // namespace

FilterFrame::FilterFrame(const RowTiles& x, Metric metric)
    : shift(static_cast<size_t>(x.columns())), scales(shift.size(), 1) {
  if (metric == Metric::kCosine) return;
  const int64_t rows = x.rows(), d = x.columns();
  const int64_t count = std::min<int64_t>(rows, 1024);
  BudgetedVector<double> sample(static_cast<size_t>(count * d));
  for (int64_t i = 0; i < count; ++i)
    x.read(i * rows / count, 1, TileForm::kRows, nullptr, nullptr, sample.data() + i * d);
  for (size_t i = 0; i < sample.size(); ++i)
    shift[i % shift.size()] += sample[i] / static_cast<double>(count);
  double largest = 0;
  for (size_t i = 0; i < sample.size(); ++i)
    largest = std::max(largest, std::fabs(sample[i] - shift[i % shift.size()]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  if (largest > 0 && std::isfinite(largest))
    scale = std::ldexp(1.0, std::clamp(-exponent, -500, 500));
  std::fill(scales.begin(), scales.end(), scale);
}

double FilterFrame::read(const RowTiles& x, int64_t i, Metric metric, double* scratch,
                         float* out) const {
  const int64_t d = x.columns();
  x.read(i, 1, TileForm::kRows, metric == Metric::kCosine ? nullptr : shift.data(), scales.data(),
         scratch);
  double norm = 0;
  for (int64_t j = 0; j < d; ++j) {
    const double size = std::fabs(scratch[j]);
    if (metric == Metric::kManhattan)
      norm += size;
    else if (metric == Metric::kChebyshev)
      norm = std::max(norm, size);
    else
      norm += size * size;
  }
  const double times = metric == Metric::kCosine && norm > 0 ? 1 / std::sqrt(norm) : 1;
  for (int64_t j = 0; j < d; ++j) out[j] = static_cast<float>(scratch[j] * times);
  return metric == Metric::kCosine ? 1 : norm;
}

Metric metric_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"euclidean", "sqeuclidean", "cosine", "manhattan",
                                         "chebyshev"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    throw_error<InvalidArgumentError>("neighbors", "no such metric", {{"metric", name}},
                                      "use euclidean, sqeuclidean, cosine, manhattan or chebyshev");
  return static_cast<Metric>(found - std::begin(kNames));
}

void check_neighbors(std::string_view op, const Tensor& rows, const Tensor& queries) {
  for (const Tensor* x : {&rows, &queries})
    if (x->num_dimensions() != 2 || !x->dtype().is_floating())
      throw_error<TypeMismatchError>(
          op, "expected a 2-D float32 or float64 array",
          {{"dimensions", x->num_dimensions()}, {"dtype", x->dtype().name()}});
  if (rows.shape()[1] != queries.shape()[1] || rows.shape()[1] < 1)
    throw_error<InvalidArgumentError>(
        op, "rows and queries have different columns",
        {{"columns", rows.shape()[1]}, {"columns of queries", queries.shape()[1]}});
}

double reduced_distance(Metric metric, double distance) {
  return metric == Metric::kEuclidean ? distance * distance : distance;
}

double distance_of_reduced(Metric metric, double reduced) {
  return metric == Metric::kEuclidean ? std::sqrt(reduced) : reduced;
}

double exact_distance(Metric metric, const double* a, const double* b, int64_t dimensions) {
  double sum = 0, left = 0, right = 0;
  switch (metric) {
    case Metric::kEuclidean:
    case Metric::kSquaredEuclidean:
      for (int64_t j = 0; j < dimensions; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
      return sum;
    case Metric::kManhattan:
      for (int64_t j = 0; j < dimensions; ++j) sum += std::fabs(a[j] - b[j]);
      return sum;
    case Metric::kChebyshev:
      for (int64_t j = 0; j < dimensions; ++j) sum = std::max(sum, std::fabs(a[j] - b[j]));
      return sum;
    case Metric::kCosine:
      for (int64_t j = 0; j < dimensions; ++j) {
        sum += a[j] * b[j];
        left += a[j] * a[j];
        right += b[j] * b[j];
      }
      if (left == 0 || right == 0) return 1;
      return std::clamp(1 - sum / (std::sqrt(left) * std::sqrt(right)), 0.0, 2.0);
  }
  return sum;
}

int64_t TileRow::at_most(double reduced, int32_t* positions) const {
  double limit = reduced * unit + slack - offset;
  limit += std::fabs(limit) * 2 * kUlp;
  return cpu::positions_at_most(values, norms, factor, static_cast<float>(limit), count, positions);
}

WorkingBytes tiles_working_bytes(int64_t rows, int64_t columns) {
  const int64_t tile = kTileQueries * (2 * columns + 1 + kTileColumns);
  constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float));
  return {rows_of_chunk(rows, columns) * (columns + 1) * kFloat,
          std::max(tile, kTileColumns * columns) * kFloat};
}

void for_tiles(const RowTiles& rows, const RowTiles& queries, std::span<const int64_t> chosen,
               Metric metric, const std::function<void(const TileRow&)>& visit) {
  const int64_t n = rows.rows(), d = rows.columns();
  const FilterFrame frame(rows, metric);
  const int64_t most_rows = rows_of_chunk(n, d);
  const WorkingMemory working(tiles_working_bytes(n, d));
  Chunk chunk(most_rows, d);
  const bool squared = is_squared(metric);
  const bool absolute = metric == Metric::kManhattan || metric == Metric::kChebyshev;
  const double relative =
      (metric == Metric::kChebyshev ? 8.0 : static_cast<double>(2 * (d + 8))) * kUlp;
  const double least = static_cast<double>(d + 8) * 0x1p-120;
  const auto groups = (static_cast<int64_t>(chosen.size()) + kTileQueries - 1) / kTileQueries;
  for (int64_t begin = 0; begin < n; begin += most_rows) {
    const int64_t end = std::min(n, begin + most_rows);
    const int64_t blocks = (end - begin + kTileColumns - 1) / kTileColumns;
    parallel_for(blocks, [&](int64_t block) {
      const int64_t first = begin + block * kTileColumns;
      const int64_t count = std::min(kTileColumns, end - first);
      BudgetedVector<float> read(static_cast<size_t>(count * d));
      std::vector<double> scratch(static_cast<size_t>(d));
      double most = 0;
      for (int64_t i = 0; i < count; ++i) {
        const double norm =
            frame.read(rows, first + i, metric, scratch.data(), read.data() + i * d);
        chunk.norms[static_cast<size_t>(block * kTileColumns + i)] =
            absolute ? 0.0F : static_cast<float>(norm);
        most = std::max(most, norm);
      }
      chunk.most[static_cast<size_t>(block)] = most;
      pack_deep(read.data(), count, d, cpu::right_width<float>(), kTileColumns,
                chunk.panels.data() + block * kTileColumns * d);
    });
    parallel_for(groups, [&](int64_t group) {
      const int64_t from = group * kTileQueries;
      const int64_t count = std::min(kTileQueries, static_cast<int64_t>(chosen.size()) - from);
      BudgetedVector<float> read(static_cast<size_t>(count * d));
      BudgetedVector<float> panels(static_cast<size_t>(kTileQueries * d + kTileQueries));
      BudgetedVector<float> tile(static_cast<size_t>(kTileQueries * kTileColumns));
      std::vector<double> scratch(static_cast<size_t>(d));
      double norms[kTileQueries];
      for (int64_t i = 0; i < count; ++i)
        norms[i] = frame.read(queries, chosen[static_cast<size_t>(from + i)], metric,
                              scratch.data(), read.data() + i * d);
      pack_deep(read.data(), count, d, cpu::left_width<float>(), kTileQueries, panels.data());
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t first = begin + block * kTileColumns;
        const int64_t columns = std::min(kTileColumns, end - first);
        multiply_tile(metric, panels.data(), chunk.panels.data() + block * kTileColumns * d, d,
                      count, columns, tile.data());
        for (int64_t i = 0; i < count; ++i) {
          TileRow row;
          row.query = chosen[static_cast<size_t>(from + i)];
          row.first = first;
          row.count = columns;
          row.values = tile.data() + i * kTileColumns;
          row.norms = chunk.norms.data() + block * kTileColumns;
          row.factor = squared ? -2.0F : absolute ? 1.0F : -1.0F;
          row.offset = squared ? norms[i] : 0;
          row.slack = relative * (norms[i] + chunk.most[static_cast<size_t>(block)]) + least;
          row.unit = squared ? frame.scale * frame.scale : frame.scale;
          visit(row);
        }
      }
    });
  }
}

}  // namespace hr
