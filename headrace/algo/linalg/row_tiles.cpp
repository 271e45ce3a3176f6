// SPDX-License-Identifier: Apache-2.0
// Where the values of a tile come from.
#include "headrace/algo/linalg/row_tiles.h"

#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/row_tiles_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"

#include <utility>

namespace hr {

RowTiles::RowTiles(const Tensor& x) : RowTiles(std::vector<Tensor>{x}) {}

RowTiles::RowTiles(std::vector<Tensor> parts) : rows_(0), columns_(0), parts_(std::move(parts)) {
  for (const Tensor& x : parts_) {
    if (x.num_dimensions() != 2 || !x.dtype().is_real())
      throw_error<TypeMismatchError>(
          "row_tiles", "expected a 2-D array of numbers",
          {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
    rows_ = parts_[0].shape()[0];
    if (x.shape()[0] != rows_)
      throw_error<InvalidArgumentError>("row_tiles", "matrices differ in their number of rows",
                                        {{"rows", x.shape()[0]}, {"expected", rows_}});
    columns_ += x.shape()[1];
  }
}

RowTiles::RowTiles(const std::vector<Column>& columns)
    : rows_(columns.empty() ? 0 : columns.front().num_rows()),
      columns_(static_cast<int64_t>(columns.size())) {
  for (const Column& column : columns) {
    const Tensor part = as_tensor(column);
    if (part.num_elements() != rows_)
      throw_error<InvalidArgumentError>("row_tiles", "columns differ in length",
                                        {{"rows", part.num_elements()}, {"expected", rows_}});
    if (!part.dtype().is_real())
      throw_error<TypeMismatchError>("row_tiles", "expected a column of numbers",
                                     {{"dtype", part.dtype().name()}});
    parts_.push_back(Tensor(part.dtype(), {rows_, 1}, {1, 1}, part.buffer(), part.byte_offset()));
  }
}

RowTiles::RowTiles(int64_t rows, int64_t columns, Compute compute)
    : rows_(rows), columns_(columns), compute_(std::move(compute)) {}

template <class T>
void RowTiles::read(int64_t first, int64_t count, TileForm form, const double* shift,
                    const double* scale, T* out) const {
  const bool rows_lie = form == TileForm::kRows;
  const MatrixView<T> to{out, count, columns_, rows_lie ? columns_ : 1, rows_lie ? 1 : count};
  const auto move = [&](const AnyMatrix& from, int64_t column) {
    cpu::read_tile(from, shift == nullptr ? nullptr : shift + column,
                   scale == nullptr ? nullptr : scale + column,
                   to.block(0, column, count, from.columns));
  };
  if (compute_) {
    Buffer room = doubles(count * columns_);
    auto* made = room.mutable_as<double>();
    compute_(first, count, made);
    move(MatrixView<double>{made, count, columns_, 1, count}, 0);
    return;
  }
  int64_t column = 0;
  for (const Tensor& part : parts_) {
    check_on_host("row_tiles", part.place());
    const AnyMatrix matrix(part);
    move(matrix.block(first, 0, count, matrix.columns), column);
    column += matrix.columns;
  }
}

template void RowTiles::read(int64_t, int64_t, TileForm, const double*, const double*,
                             float*) const;
template void RowTiles::read(int64_t, int64_t, TileForm, const double*, const double*,
                             double*) const;

}  // namespace hr
