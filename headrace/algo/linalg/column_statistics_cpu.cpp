// SPDX-License-Identifier: Apache-2.0
// Statistics of columns from tiles of rows, part by part.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/column_statistics_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/algo/linalg/column_statistics.h"
#include "headrace/algo/linalg/column_statistics_kernels.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Adds rows to counts, sums, least and greatest values of the columns.
void add_statistics(const double* HWY_RESTRICT row, int64_t rows, int64_t columns,
                    double* HWY_RESTRICT count, double* HWY_RESTRICT sum,
                    double* HWY_RESTRICT least, double* HWY_RESTRICT greatest) {
  for (int64_t i = 0; i < rows; ++i, row += columns)
    for (int64_t j = 0; j < columns; ++j) {
      const double value = row[j];
      const bool known = value == value;
      count[j] += known ? 1.0 : 0.0;
      sum[j] += known ? value : 0.0;
      least[j] = value < least[j] ? value : least[j];
      greatest[j] = value > greatest[j] ? value : greatest[j];
    }
}

void add_squares(const double* HWY_RESTRICT row, int64_t rows, int64_t columns,
                 const double* HWY_RESTRICT means, double* HWY_RESTRICT sum) {
  for (int64_t i = 0; i < rows; ++i, row += columns)
    for (int64_t j = 0; j < columns; ++j) {
      const double apart = row[j] - means[j];
      sum[j] += row[j] == row[j] ? apart * apart : 0.0;
    }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {
namespace {

constexpr int64_t kTileDoubles = int64_t{1} << 12;

/// `body(part, row)` for each row of each part, its values as float64.
template <class F>
void for_rows(const Tensor& x, F body) {
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const int64_t size = statistics_part_rows(rows);
  const int64_t step = std::max<int64_t>(1, kTileDoubles / columns);
  const RowTiles tiles(x);
  parallel_for((rows + size - 1) / size, [&](int64_t part) {
    Buffer room = doubles(step * columns);
    auto* const tile = room.mutable_as<double>();
    const int64_t end = std::min(rows, (part + 1) * size);
    for (int64_t row = part * size; row < end; row += step) {
      const int64_t count = std::min(step, end - row);
      tiles.read(row, count, TileForm::kRows, nullptr, nullptr, tile);
      body(part, tile, count);
    }
  });
}

}  // namespace

void column_statistics(const Tensor& x, double* out) {
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const int64_t size = statistics_part_rows(rows), parts = (rows + size - 1) / size;
  for (int64_t part = 0; part < parts; ++part) {
    double* const own = out + part * 4 * columns;
    std::fill_n(own, 2 * columns, 0.0);
    std::fill_n(own + 2 * columns, columns, std::numeric_limits<double>::infinity());
    std::fill_n(own + 3 * columns, columns, -std::numeric_limits<double>::infinity());
  }
  for_rows(x, [=](int64_t part, const double* tile, int64_t count) {
    double* const own = out + part * 4 * columns;
    HR_SIMD(add_statistics)
    (tile, count, columns, own, own + columns, own + 2 * columns, own + 3 * columns);
  });
}

void column_squares(const Tensor& x, const double* means, double* out) {
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const int64_t size = statistics_part_rows(rows), parts = (rows + size - 1) / size;
  std::fill_n(out, parts * columns, 0.0);
  for_rows(x, [=](int64_t part, const double* tile, int64_t count) {
    HR_SIMD(add_squares)(tile, count, columns, means, out + part * columns);
  });
}

}  // namespace hr::cpu

#endif
