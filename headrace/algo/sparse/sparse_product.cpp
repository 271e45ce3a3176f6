// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for the product of a sparse matrix.
#include "headrace/algo/sparse/sparse_product.h"

#include "headrace/algo/sparse/sparse_product_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/memory/log/tag.h"

#include <type_traits>

namespace hr {

Tensor multiply(const Sparse& matrix, const Tensor& dense) {
  const ScopedTag tag("matmul");
  const int64_t dimensions = dense.num_dimensions();
  if (dimensions < 1 || dimensions > 2 || dense.dtype() != matrix.dtype())
    throw_error<TypeMismatchError>("matmul", "no vector or matrix of the sparse matrix's dtype",
                                   {{"dimensions", dimensions},
                                    {"dtype", dense.dtype().name()},
                                    {"matrix", matrix.dtype().name()}});
  if (dense.shape()[0] != matrix.columns())
    throw_error<InvalidArgumentError>("matmul", "sizes do not fit",
                                      {{"columns", matrix.columns()}, {"rows", dense.shape()[0]}});
  check_on_host("matmul", dense.place());
  const Tensor packed = contiguous(dense, "matmul");
  const int64_t width = dimensions == 1 ? 1 : dense.shape()[1];
  Shape shape{matrix.rows()};
  if (dimensions == 2) shape.push_back(width);
  Buffer out = Buffer::allocate(num_elements(shape) * matrix.dtype().size_bytes());
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

}  // namespace hr
