// SPDX-License-Identifier: Apache-2.0
// Few columns: parts are tasks. Many: parts one after the other, and tiles of the result are tasks.
#include "headrace/algo/linalg/gram.h"

#include "headrace/algo/linalg/gram_kernels.h"
#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>

namespace hr {
namespace {

constexpr int64_t kFewColumns = 256;
constexpr int64_t kTileRows = 96;  // of the result; a multiple of the panels of every SIMD level

int64_t padded_to(int64_t size, int64_t width) {
  return (size + width - 1) / width * width;
}

/// The products of one block of rows after the other, the lower triangle.
class Accumulator {
 public:
  Accumulator(const RowTiles& x, const GramOptions& options)
      : x_(x),
        options_(options),
        width_(cpu::right_width<double>()),
        height_(cpu::left_width<double>()),
        room_(doubles(kSumBlock * (2 * x.columns() + padded_to(x.columns(), width_) +
                                   padded_to(x.columns(), height_)))) {}

  /// Rows [begin, end), at most kSumBlock of them.
  void add(int64_t begin, int64_t end, double* out, Update update) {
    const int64_t rows = end - begin, columns = x_.columns();
    auto* tile = room_.mutable_as<double>();
    double* const weighted = tile + kSumBlock * columns;
    double* const left = weighted + kSumBlock * columns;
    double* const right = left + kSumBlock * padded_to(columns, height_);
    constexpr int64_t kReadRows = 32;
    parallel_for((rows + kReadRows - 1) / kReadRows, [&](int64_t task) {
      const int64_t i = task * kReadRows;
      x_.read(begin + i, std::min(kReadRows, rows - i), TileForm::kRows, options_.shift, nullptr,
              tile + i * columns);
    });
    const double* second = tile;
    if (options_.weights != nullptr) {
      const auto* const weights = options_.weights->as<double>();
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          weighted[i * columns + j] = weights[begin + i] * tile[i * columns + j];
      second = weighted;
    }
    const auto panels = [&](const double* from, int64_t width, double* to) {
      const int64_t step = kTileRows / width * width;  // whole panels
      parallel_for((columns + step - 1) / step, [&](int64_t task) {
        const int64_t j = task * step, count = std::min(step, columns - j);
        cpu::pack(MatrixView<const double>{from + j, count, rows, 1, columns}, width,
                  to + j * rows);
      });
    };
    panels(tile, height_, left);
    panels(second, width_, right);
    const int64_t tiles = (columns + kTileRows - 1) / kTileRows;
    parallel_for(tiles, [&](int64_t task) {
      const int64_t i = (tiles - 1 - task) * kTileRows;  // the widest first
      const int64_t count = std::min(kTileRows, columns - i);
      cpu::multiply_packed(left + i * rows, right, rows,
                           MatrixView<double>{out + i * columns, count, i + count, columns},
                           update);
    });
  }

 private:
  const RowTiles& x_;
  const GramOptions& options_;
  int64_t width_;
  int64_t height_;
  Buffer room_;
};

/// Of rows on a device: whether the kernels take them.
[[maybe_unused]] void check_parts(std::string_view op, const RowTiles& x) {
  const auto& parts = x.parts();
  const bool taken = parts.size() <= 2 && parts[0].dtype().is_floating() &&
                     (parts.size() < 2 || parts[1].dtype() == TypeId::kFloat64);
  if (!taken)
    throw_error<UnsupportedError>(op, "no CUDA kernel takes rows of these dtypes",
                                  {{"matrices", parts.size()}, {"dtype", parts[0].dtype().name()}},
                                  "move the values first: x.to('cpu')");
}

void add_part(const RowTiles& x, const GramOptions& options, int64_t part, double* out) {
  const int64_t size = gram_part_rows(x.rows());
  const int64_t begin = part * size, end = std::min(x.rows(), begin + size);
  Accumulator sums(x, options);
  for (int64_t row = begin; row < end; row += kSumBlock)
    sums.add(row, std::min(end, row + kSumBlock), out, row == begin ? Update::kSet : Update::kAdd);
}

}  // namespace

WorkingBytes gram_working_bytes(int64_t rows, int64_t columns) {
  constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));
  const int64_t parts = (rows + gram_part_rows(rows) - 1) / gram_part_rows(rows);
  const int64_t matrices = columns <= kFewColumns ? parts : std::min<int64_t>(parts, 2);
  return {matrices * columns * columns * kDouble, 4 * kSumBlock * columns * kDouble};
}

Tensor gram(const RowTiles& x, const GramOptions& options) {
  const int64_t columns = x.columns(), size = checked_multiply("gram", columns, columns);
  const WorkingMemory working(x.place().is_gpu() ? WorkingBytes()
                                                 : gram_working_bytes(x.rows(), columns));
  const ScopedTag tag("gram");
  const int64_t parts = (x.rows() + gram_part_rows(x.rows()) - 1) / gram_part_rows(x.rows());
  const bool together = columns <= kFewColumns;
  Buffer made = doubles(size);
  auto* out = made.mutable_as<double>();
  const auto mirror = [&] {
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t j = 0; j < i; ++j) out[j * columns + i] = out[i * columns + j];
    return Tensor(TypeId::kFloat64, {columns, columns}, std::move(made));
  };
  if constexpr (built_with_cuda)
    if (x.place().is_gpu() && size > 0 && x.rows() > 0) {
      check_parts("gram", x);
      cuda::gram(x.parts(), options.shift, options.weights, out);
      return mirror();
    }
  if (parts == 0) std::fill(out, out + size, 0.0);
  Buffer room = doubles(parts < 2 ? 0 : checked_multiply("gram", together ? parts - 1 : 1, size));
  auto* rest = room.mutable_as<double>();
  const auto place_of = [&](int64_t part) {
    return part == 0 ? out : rest + (together ? part - 1 : 0) * size;
  };
  if (together)
    parallel_for(parts, [&](int64_t part) { add_part(x, options, part, place_of(part)); });
  for (int64_t part = 0; part < parts; ++part) {
    if (!together) add_part(x, options, part, place_of(part));
    const double* from = place_of(part);
    for (int64_t i = 0; i < columns && part > 0; ++i)
      for (int64_t j = 0; j <= i; ++j) out[i * columns + j] += from[i * columns + j];
  }
  return mirror();
}

Tensor column_sums(const RowTiles& x, const Tensor* weights) {
  const ScopedTag tag("column_sums");
  const int64_t columns = x.columns(), size = gram_part_rows(x.rows());
  const int64_t parts = std::max<int64_t>(1, (x.rows() + size - 1) / size);
  Buffer made = doubles(parts * columns);
  auto* out = made.mutable_as<double>();
  std::fill_n(out, parts * columns, 0.0);
  if (x.place().is_gpu() && columns > 0 && x.rows() > 0) {
    if constexpr (built_with_cuda) {
      check_parts("column_sums", x);
      cuda::column_sums(x.parts(), weights, out);
    }
  } else {
    const auto* const weight = weights == nullptr ? nullptr : weights->as<double>();
    parallel_for(parts, [&](int64_t part) {
      Buffer room = doubles(kSumBlock * columns);
      auto* const tile = room.mutable_as<double>();
      double* const sums = out + part * columns;
      const int64_t end = std::min(x.rows(), (part + 1) * size);
      for (int64_t row = part * size; row < end; row += kSumBlock) {
        const int64_t rows = std::min(kSumBlock, end - row);
        x.read(row, rows, TileForm::kRows, nullptr, nullptr, tile);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            sums[j] +=
                weight == nullptr ? tile[i * columns + j] : weight[row + i] * tile[i * columns + j];
      }
    });
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t j = 0; j < columns; ++j) out[j] += out[part * columns + j];
  }
  return Tensor(TypeId::kFloat64, {columns}, std::move(made));
}

SecondMoments second_moments(const RowTiles& x, const Tensor* weights, bool center) {
  SecondMoments found;
  found.total = static_cast<double>(x.rows());
  if (weights != nullptr) {
    const Tensor column(TypeId::kFloat64, {x.rows(), 1}, weights->buffer(), weights->byte_offset());
    found.total = *column_sums(RowTiles(column)).as<double>();
  }
  Buffer means = doubles(x.columns());
  auto* const mean = means.mutable_as<double>();
  std::fill_n(mean, x.columns(), 0.0);
  if (center) {
    const Tensor sums = column_sums(x, weights);
    for (int64_t j = 0; j < x.columns(); ++j) mean[j] = sums.as<double>()[j] / found.total;
  }
  found.products = gram(x, {.shift = center ? mean : nullptr, .weights = weights});
  found.means = Tensor(TypeId::kFloat64, {x.columns()}, std::move(means));
  return found;
}

}  // namespace hr
