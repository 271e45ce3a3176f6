// SPDX-License-Identifier: Apache-2.0
// Sparse matrices. Their parts and their products are nodes that are ready.
#include "python/bind/bind.h"

#include "headrace/algo/sparse/sparse_layout.h"
#include "headrace/algo/sparse/sparse_product.h"
#include "headrace/base/error.h"

namespace {

using hr::NodePtr;
using hr::Sparse;
using hr::Tensor;

const Tensor& tensor_of(const NodePtr& node) {
  const hr::Value& value = hr::force(node);
  if (!std::holds_alternative<Tensor>(value))
    hr::throw_error<hr::TypeMismatchError>("csr_matrix", "expected an array");
  return std::get<Tensor>(value);
}

/// Elements [begin, end).
NodePtr part(const Tensor& tensor, int64_t begin, int64_t end) {
  return hr::lazy_value(Tensor(tensor.dtype(), {end - begin}, tensor.buffer(),
                               tensor.byte_offset() + begin * tensor.dtype().size_bytes()));
}

}  // namespace

void bind_sparse(nb::module_& m) {
  nb::class_<Sparse>(m, "Sparse")
      .def_prop_ro("shape",
                   [](const Sparse& matrix) { return std::pair(matrix.rows(), matrix.columns()); })
      .def_prop_ro("dtype", [](const Sparse& matrix) { return dtype_name(matrix.dtype()); })
      .def_prop_ro("num_entries", &Sparse::num_entries)
      .def("row_begin", &Sparse::row_begin, "row"_a)
      .def("indptr", [](const Sparse& matrix) { return hr::lazy_value(matrix.indptr()); })
      .def("indices",
           [](const Sparse& matrix) {
             return part(matrix.indices(), matrix.row_begin(0), matrix.row_begin(matrix.rows()));
           })
      .def("data",
           [](const Sparse& matrix) {
             return part(matrix.data(), matrix.row_begin(0), matrix.row_begin(matrix.rows()));
           })
      .def("slice", &Sparse::slice, "begin"_a, "count"_a);
  m.def(
      "sparse",
      [](int64_t rows, int64_t columns, const NodePtr& indptr, const NodePtr& indices,
         const NodePtr& data, bool check) {
        Sparse matrix(rows, columns, tensor_of(indptr), tensor_of(indices), tensor_of(data));
        if (check) hr::check_entries(matrix);
        return matrix;
      },
      "rows"_a, "columns"_a, "indptr"_a, "indices"_a, "data"_a, "check"_a, Unlocked());
  m.def(
      "sparse_from_dense",
      [](const NodePtr& dense) { return hr::sparse_from_dense(tensor_of(dense)); }, "dense"_a,
      Unlocked());
  m.def(
      "sparse_from_coordinates",
      [](int64_t rows, int64_t columns, const NodePtr& row, const NodePtr& column,
         const NodePtr& data) {
        return hr::sparse_from_coordinates(rows, columns, tensor_of(row), tensor_of(column),
                                           tensor_of(data));
      },
      "rows"_a, "columns"_a, "row"_a, "column"_a, "data"_a, Unlocked());
  m.def("sparse_canonical", &hr::canonical, "matrix"_a, Unlocked());
  m.def("sparse_transposed", &hr::transposed, "matrix"_a, Unlocked());
  m.def(
      "sparse_to_dense", [](const Sparse& matrix) { return hr::lazy_value(hr::to_dense(matrix)); },
      "matrix"_a, Unlocked());
  m.def(
      "sparse_take_rows",
      [](const Sparse& matrix, const NodePtr& rows) {
        return hr::take_rows(matrix, tensor_of(rows));
      },
      "matrix"_a, "rows"_a, Unlocked());
  m.def(
      "sparse_column_counts",
      [](const Sparse& matrix) { return hr::lazy_value(hr::column_counts(matrix)); }, "matrix"_a,
      Unlocked());
  m.def(
      "sparse_multiply",
      [](const Sparse& matrix, const NodePtr& dense) {
        return hr::lazy_value(hr::multiply(matrix, tensor_of(dense)));
      },
      "matrix"_a, "dense"_a, Unlocked());
}
