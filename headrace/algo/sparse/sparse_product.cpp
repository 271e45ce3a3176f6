// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for the product of a sparse matrix.
#include "headrace/algo/sparse/sparse_product.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/algo/sparse/sparse_layout.h"
#include "headrace/algo/sparse/sparse_product_kernels.h"
#include "headrace/algo/sparse/sparse_transpose.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/zeroed.h"
#include "headrace/memory/log/tag.h"

#include <type_traits>

namespace hr {
namespace {

/// Refuses factors that do not fit a matrix with `columns` columns.
void check_factor(const Sparse& matrix, int64_t columns, const Tensor& dense) {
  const int64_t dimensions = dense.num_dimensions();
  if (dimensions < 1 || dimensions > 2 || dense.dtype() != matrix.dtype())
    throw_error<TypeMismatchError>("matmul", "no vector or matrix of the sparse matrix's dtype",
                                   {{"dimensions", dimensions},
                                    {"dtype", dense.dtype().name()},
                                    {"matrix", matrix.dtype().name()}});
  if (dense.shape()[0] != columns)
    throw_error<InvalidArgumentError>("matmul", "sizes do not fit",
                                      {{"columns", columns}, {"rows", dense.shape()[0]}});
  check_on_host("matmul", dense.place());
}

}  // namespace

Tensor multiply(const Sparse& matrix, const Tensor& dense) {
  const ScopedTag tag("matmul");
  check_factor(matrix, matrix.columns(), dense);
  const int64_t dimensions = dense.num_dimensions();
  const Tensor packed = contiguous(dense, "matmul");
  const int64_t width = dimensions == 1 ? 1 : dense.shape()[1];
  Shape shape{matrix.rows()};
  if (dimensions == 2) shape.push_back(width);
  Buffer out = Buffer::allocate(sparse_bytes(num_elements(shape), matrix.dtype().size_bytes()));
  if (num_elements(shape) == 0) return Tensor(matrix.dtype(), shape, std::move(out));
  visit_entries(matrix, [&]<class Index, class Element>(Index, Element) {
    using Number = std::conditional_t<std::is_same_v<Element, int64_t>, uint64_t, Element>;
    const cpu::SparseProduct<Index, Number> product{
        &matrix, matrix.indices().as<Index>(), matrix.data().as<Number>(), packed.as<Number>(),
        width,   out.mutable_as<Number>()};
    for_row_ranges(matrix, [&](RowRange rows) {
      if (width == 1) return cpu::sparse_times_vector(product, rows);
      cpu::sparse_times_matrix(product, rows);
    });
  });
  return Tensor(matrix.dtype(), shape, std::move(out));
}

Tensor multiply_transposed(const Sparse& matrix, const Tensor& dense) {
  const ScopedTag tag("matmul");
  check_factor(matrix, matrix.rows(), dense);
  if (dense.num_dimensions() == 2) return multiply(transposed(matrix), dense);
  check_shared(matrix);
  const Tensor packed = contiguous(dense, "matmul");
  const int64_t columns = matrix.columns();
  const RowRanges ranges(matrix, num_column_chunks(matrix));
  Buffer parts = allocate_zeroed_by_workers(
      sparse_bytes(num_elements({ranges.count(), columns}), matrix.dtype().size_bytes()));
  if (columns == 0) return Tensor(matrix.dtype(), {0}, std::move(parts));
  visit_entries(matrix, [&]<class Index, class Element>(Index, Element) {
    using Number = std::conditional_t<std::is_same_v<Element, int64_t>, uint64_t, Element>;
    const auto* index = matrix.indices().as<Index>();
    const auto* number = matrix.data().as<Number>();
    const auto* factor = packed.as<Number>();
    auto* part = parts.mutable_as<Number>();
    parallel_for(ranges.count(), [&](int64_t chunk) {
      const RowRange rows = ranges[chunk];
      Number* const sums = part + chunk * columns;
      for (int64_t row = rows.begin; row < rows.end; ++row)
        for (int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k)
          sums[index[k]] += number[k] * factor[row];
    });
    parallel_morsels(columns, [&](const Morsel& morsel) {
      for (int64_t chunk = 1; chunk < ranges.count(); ++chunk)
        for (int64_t column = morsel.begin; column < morsel.end; ++column)
          part[column] += part[chunk * columns + column];
    });
  });
  return Tensor(matrix.dtype(), {columns}, std::move(parts));
}

}  // namespace hr
