// SPDX-License-Identifier: Apache-2.0
// Few columns and many parts: parts are tasks. Otherwise parts one after the other, and tiles of
// the result are tasks.
#include "headrace/algo/linalg/gram.h"

#include "headrace/algo/linalg/gram_kernels.h"
#include "headrace/algo/linalg/matmul.h"
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
constexpr int64_t kFewParts = 4;
constexpr int64_t kTile = 16 << 10;  // bytes of rows on their way to the panels
constexpr int64_t kTaskColumns =
    72;  // panels of two sides fit in an L2 cache: 48, 72, 96 take 795, 760, 935 ms
constexpr int64_t kBlocks = 8;  // that are packed before all threads turn to the products
constexpr int64_t kPanels = int64_t{4} << 20;  // bytes of them, at most, unless one has more
constexpr int64_t kDouble = sizeof(double);

/// Blocks of `size` numbers each that are packed together, of `rows` rows.
int64_t blocks_together(int64_t rows, int64_t size) {
  const int64_t most = divide_up(std::min(rows, gram_part_rows(rows)), kSumBlock);
  return std::min(most, std::clamp<int64_t>(kPanels / (size * kDouble), 1, kBlocks));
}

/// Where blocks of rows go, and their products.
class Panels {
 public:
  Panels(const RowTiles& x, const GramOptions& options)
      : x_(x),
        options_(options),
        width_(cpu::panel_columns()),
        columns_(divide_up(x.columns(), width_)),
        sides_(options.weights == nullptr ? 1 : 2) {}

  /// Panels of a block.
  int64_t columns() const { return columns_; }

  int64_t width() const { return width_; }

  /// Numbers of a block, and of the products.
  int64_t block_size() const { return sides_ * columns_ * cpu::panel_stride(); }

  int64_t size() const { return columns_ * (columns_ + 1) / 2 * width_ * width_; }

  /// Rows that are read at a time; values are computed for a whole block.
  int64_t read_rows() const {
    const int64_t few = kTile / kDouble / x_.columns() / 8 * 8;
    return x_.parts().empty() ? kSumBlock : std::clamp<int64_t>(few, 8, kSumBlock);
  }

  /// Rows [begin, begin + count) as rows `first` on of a block.
  void read(int64_t begin, int64_t count, int64_t first, double* tile, double* block) const {
    x_.read(begin, count, TileForm::kRows, options_.shift, nullptr, tile);
    cpu::pack_panels(tile, count, x_.columns(), nullptr, first, block);
    if (options_.weights == nullptr) return;
    const double* weights = options_.weights->as<double>() + begin;
    cpu::pack_panels(tile, count, x_.columns(), weights, first, right_of(block));
  }

  void multiply(double* block, int64_t depth, const cpu::Squares& part, const cpu::Ahead& ahead,
                double* products) const {
    cpu::multiply_panels(block, right_of(block), depth, x_.columns(), part, ahead, products);
  }

  /// Where the first matrix has rows [begin, end), if they lie one after the other.
  cpu::Ahead rows_at(int64_t begin, int64_t end) const {
    if (x_.parts().empty() || begin >= end) return {};
    const AnyMatrix first(x_.parts()[0]);
    if (first.column_stride != 1 || first.row_stride != first.columns) return {};
    const int64_t size = first.dtype.size_bytes();
    return {first.block(begin, 0, 0, 0).data, (end - begin) * first.columns * size};
  }

  /// The square at row p, column q.
  int64_t square(int64_t p, int64_t q) const { return (p * (p + 1) / 2 + q) * width_ * width_; }

 private:
  double* right_of(double* block) const {
    return block + (sides_ - 1) * columns_ * cpu::panel_stride();
  }

  const RowTiles& x_;
  const GramOptions& options_;
  int64_t width_;
  int64_t columns_;
  int64_t sides_;
};

/// Changes no first sum.
constexpr double kNothing = -0.0;

/// The products of part `part`, by one thread.
void add_part(const RowTiles& x, const Panels& panels, int64_t part, double* products) {
  const int64_t size = gram_part_rows(x.rows()), step = panels.read_rows();
  const int64_t end = std::min(x.rows(), (part + 1) * size);
  Buffer room = doubles(step * x.columns() + panels.block_size());
  auto* tile = room.mutable_as<double>();
  double* const block = tile + step * x.columns();
  std::fill_n(products, panels.size(), kNothing);
  for (int64_t row = part * size; row < end; row += kSumBlock) {
    const int64_t depth = std::min(kSumBlock, end - row);
    for (int64_t i = 0; i < depth; i += step)
      panels.read(row + i, std::min(step, depth - i), i, tile, block);
    const int64_t next = row + kSumBlock;
    panels.multiply(block, depth, {0, panels.columns(), 0, panels.columns()},
                    panels.rows_at(next, std::min(end, next + kSumBlock)), products);
  }
}

/// The products of all parts, one after the other, each by all threads: those of `part` first.
void add_parts(const RowTiles& x, const Panels& panels, double* part, double* products) {
  const int64_t size = gram_part_rows(x.rows()), step = panels.read_rows();
  const int64_t reads = divide_up(kSumBlock, step), block_size = panels.block_size();
  const int64_t most = blocks_together(x.rows(), block_size);
  Buffer room = doubles(most * block_size);
  auto* const blocks = room.mutable_as<double>();
  const int64_t side = kTaskColumns / panels.width(), sides = divide_up(panels.columns(), side);
  std::fill_n(part, panels.size(), kNothing);
  std::fill_n(products, panels.size(), kNothing);
  for (int64_t begin = 0; begin < x.rows();) {
    const int64_t part_end = std::min(x.rows(), (begin / size + 1) * size);
    const int64_t end = std::min(part_end, begin + most * kSumBlock);
    const int64_t count = divide_up(end - begin, kSumBlock);
    const auto depth_of = [&](int64_t k) {
      return std::min(kSumBlock, end - begin - k * kSumBlock);
    };
    parallel_for(count * reads, [&](int64_t task) {
      const int64_t k = task / reads, i = task % reads * step, depth = depth_of(k);
      if (i >= depth) return;
      Buffer tile = doubles(step * x.columns());
      panels.read(begin + k * kSumBlock + i, std::min(step, depth - i), i,
                  tile.mutable_as<double>(), blocks + k * block_size);
    });
    parallel_for(sides * (sides + 1) / 2, [&](int64_t task) {
      int64_t p = 0, q = task;
      while (q > p) q -= ++p;
      const cpu::Squares mine{p * side, std::min(panels.columns(), (p + 1) * side), q * side,
                              std::min(panels.columns(), (q + 1) * side)};
      for (int64_t k = 0; k < count; ++k)
        panels.multiply(blocks + k * block_size, depth_of(k), mine, {}, part);
      if (end < part_end) return;
      for (int64_t row = mine.row; row < mine.last_row; ++row) {
        const int64_t last = panels.square(row, std::min(row + 1, mine.last_column));
        for (int64_t i = panels.square(row, mine.column); i < last; ++i) {
          products[i] += part[i];
          part[i] = kNothing;
        }
      }
    });
    begin = end;
  }
}

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

}  // namespace

WorkingBytes gram_working_bytes(int64_t rows, int64_t columns) {
  const int64_t width = cpu::panel_columns(), padded = divide_up(columns, width) * width;
  const int64_t parts = divide_up(rows, gram_part_rows(rows));
  const bool together = columns <= kFewColumns && parts >= kFewParts;
  const int64_t halves = together ? parts : std::min<int64_t>(parts, 2);
  const int64_t block = 2 * divide_up(columns, width) * cpu::panel_stride();
  const int64_t tile = kSumBlock * columns * kDouble;
  const int64_t all = (columns * columns + halves * padded * (padded + width) / 2) * kDouble;
  if (together) return {all, block * kDouble + tile};
  return {all + blocks_together(rows, std::max<int64_t>(block, 1)) * block * kDouble, tile};
}

Tensor gram(const RowTiles& x, const GramOptions& options) {
  const int64_t columns = x.columns(), size = checked_multiply("gram", columns, columns);
  const WorkingMemory working(x.place().is_gpu() ? WorkingBytes()
                                                 : gram_working_bytes(x.rows(), columns));
  const ScopedTag tag("gram");
  Buffer made = doubles(size);
  auto* out = made.mutable_as<double>();
  const auto mirrored = [&] {
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t j = 0; j < i; ++j) out[j * columns + i] = out[i * columns + j];
    return Tensor(TypeId::kFloat64, {columns, columns}, std::move(made));
  };
  if (x.rows() == 0 || columns == 0) {
    std::fill_n(out, size, 0.0);
    return mirrored();
  }
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      check_parts("gram", x);
      cuda::gram(x.parts(), options.shift, options.weights, out);
      return mirrored();
    }
  const int64_t parts = divide_up(x.rows(), gram_part_rows(x.rows()));
  const Panels panels(x, options);
  const bool together = columns <= kFewColumns && parts >= kFewParts;
  Buffer room = doubles(checked_multiply("gram", together ? parts : 2, panels.size()));
  auto* const products = room.mutable_as<double>();
  if (together) {
    parallel_for(parts,
                 [&](int64_t part) { add_part(x, panels, part, products + part * panels.size()); });
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t i = 0; i < panels.size(); ++i) products[i] += products[part * panels.size() + i];
  } else {
    add_parts(x, panels, products + panels.size(), products);
  }
  const int64_t width = panels.width();
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j <= i; ++j)
      out[i * columns + j] =
          products[panels.square(i / width, j / width) + i % width * width + j % width];
  return mirrored();
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
    const int64_t step =
        x.parts().empty()
            ? kSumBlock
            : std::clamp<int64_t>(kTile / kDouble / std::max<int64_t>(1, columns), 8, kSumBlock);
    parallel_for(parts, [&](int64_t part) {
      Buffer room = doubles(step * columns);
      auto* const tile = room.mutable_as<double>();
      double* const sums = out + part * columns;
      const int64_t end = std::min(x.rows(), (part + 1) * size);
      for (int64_t row = part * size; row < end; row += step) {
        const int64_t rows = std::min(step, end - row);
        x.read(row, rows, TileForm::kRows, nullptr, nullptr, tile);
        cpu::add_rows(tile, rows, columns, weight == nullptr ? nullptr : weight + row, sums);
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
