// SPDX-License-Identifier: Apache-2.0
// Each part of the rows has sums of its own, added in order.
#include "headrace/learn/target_sums.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>

namespace hr {
namespace {

constexpr int64_t kMostParts = 32;
constexpr int64_t kRowsPerCell = 8;  // of a part, so that its sums take less memory than its rows
constexpr int64_t kMorsel = int64_t{1} << 17;

struct Cell {
  double count, sum, squares;
};

void check(const Tensor& values, Dtype dtype, int64_t rows) {
  if (values.num_dimensions() != 1 || values.dtype() != dtype || !values.is_contiguous())
    throw_error<TypeMismatchError>(
        "target_sums", "expected a contiguous 1-D array",
        {{"dtype", values.dtype().name()}, {"expected dtype", dtype.name()}});
  if (values.num_elements() != rows)
    throw_error<InvalidArgumentError>("target_sums", "the number of rows differs",
                                      {{"rows", values.num_elements()}, {"expected", rows}});
}

/// Where a row's level and fold are in a table of them.
class Places {
 public:
  Places(const Tensor& level, const Tensor& fold, int64_t levels, int64_t folds)
      : level_(level.as<int32_t>()), fold_(fold.as<int32_t>()), levels_(levels), folds_(folds) {
    check(level, dtype_of<int32_t>(), level.num_elements());
    check(fold, dtype_of<int32_t>(), level.num_elements());
  }

  int64_t at(int64_t row) const {
    const int64_t level = level_[row] == -1 ? levels_ : level_[row];
    const int64_t fold = fold_[row];
    if (level < 0 || level > levels_ || fold < 0 || fold >= folds_)
      throw_error<InvalidArgumentError>(
          "target_sums", "a level or a fold is out of range",
          {{"row", row}, {"level", level}, {"levels", levels_}, {"fold", fold}, {"folds", folds_}});
    return level * folds_ + fold;
  }

 private:
  const int32_t* level_;
  const int32_t* fold_;
  int64_t levels_;
  int64_t folds_;
};

}  // namespace

Tensor target_sums(const Tensor& level, const Tensor& fold, const Tensor& y, double center,
                   int64_t levels, int64_t folds) {
  const ScopedTag tag("target_sums");
  const int64_t rows = level.num_elements();
  const Places places(level, fold, levels, folds);
  check(y, dtype_of<double>(), rows);
  const int64_t cells = checked_multiply("target_sums", levels + 1, folds);
  const int64_t parts = std::clamp<int64_t>(rows / (kRowsPerCell * cells), 1, kMostParts);
  const auto bytes = static_cast<int64_t>(sizeof(Cell));
  Buffer partial = Buffer::allocate_zeroed(checked_multiply("target_sums", parts * cells, bytes));
  auto* sums = partial.mutable_as<Cell>();
  parallel_for(parts, [&](int64_t part) {
    Cell* to = sums + part * cells;
    const int64_t end = rows * (part + 1) / parts;
    for (int64_t row = rows * part / parts; row < end; ++row) {
      const double off = y.as<double>()[row] - center;
      Cell& cell = to[places.at(row)];
      cell.count += 1;
      cell.sum += off;
      cell.squares += off * off;
    }
  });
  Buffer total = Buffer::allocate(cells * bytes);
  auto* out = total.mutable_as<Cell>();
  std::copy_n(sums, cells, out);
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t i = 0; i < cells; ++i) {
      const Cell& cell = sums[part * cells + i];
      out[i].count += cell.count;
      out[i].sum += cell.sum;
      out[i].squares += cell.squares;
    }
  return Tensor(dtype_of<double>(), {levels + 1, folds, 3}, std::move(total));
}

Tensor target_encode(const Tensor& level, const Tensor& fold, const Tensor& table) {
  const ScopedTag tag("target_sums");
  if (table.num_dimensions() != 2 || table.dtype() != dtype_of<double>() || !table.is_contiguous())
    throw_error<TypeMismatchError>("target_sums", "expected a contiguous 2-D float64 table",
                                   {{"dtype", table.dtype().name()}});
  const int64_t rows = level.num_elements();
  const Places places(level, fold, table.shape()[0] - 1, table.shape()[1]);
  Buffer made = Buffer::allocate(rows * static_cast<int64_t>(sizeof(double)));
  auto* out = made.mutable_as<double>();
  parallel_for((rows + kMorsel - 1) / kMorsel, [&](int64_t morsel) {
    const int64_t end = std::min(rows, (morsel + 1) * kMorsel);
    for (int64_t row = morsel * kMorsel; row < end; ++row)
      out[row] = table.as<double>()[places.at(row)];
  });
  return Tensor(dtype_of<double>(), {rows}, std::move(made));
}

}  // namespace hr
