// SPDX-License-Identifier: Apache-2.0
// Sparse matrices. Their parts and their products are nodes that are ready.
#include "python/bind/bind.h"

#include "headrace/algo/sparse/sparse_combine.h"
#include "headrace/algo/sparse/sparse_coordinates.h"
#include "headrace/algo/sparse/sparse_layout.h"
#include "headrace/algo/sparse/sparse_product.h"
#include "headrace/algo/sparse/sparse_select.h"
#include "headrace/algo/sparse/sparse_stack.h"
#include "headrace/algo/sparse/sparse_transpose.h"
#include "headrace/algo/sparse/spgemm.h"
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

hr::SparseOperation operation_of(std::string_view word) {
  using enum hr::SparseOperation;
  if (word == "add") return kAdd;
  if (word == "subtract") return kSubtract;
  if (word == "multiply") return kMultiply;
  return word == "maximum" ? kMaximum : kMinimum;
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
      .def("indices", [](const Sparse& matrix) { return hr::lazy_value(matrix.entry_indices()); })
      .def("data", [](const Sparse& matrix) { return hr::lazy_value(matrix.entry_data()); })
      .def("rows",
           [](const Sparse& matrix) {
             return hr::lazy_value(hr::row_numbers(matrix, matrix.indices().dtype()));
           })
      .def(
          "with_data",
          [](const Sparse& matrix, const NodePtr& data) {
            return hr::packed(matrix).with_data(tensor_of(data));
          },
          "data"_a)
      .def("slice", &Sparse::slice, "begin"_a, "count"_a);
  m.def(
      "sparse",
      [](int64_t rows, int64_t columns, const NodePtr& indptr, const NodePtr& indices,
         const NodePtr& data, std::string_view layout) {
        Sparse matrix(rows, columns, tensor_of(indptr), tensor_of(indices), tensor_of(data));
        if (!layout.empty()) hr::check_entries(matrix, layout);
        return matrix;
      },
      "rows"_a, "columns"_a, "indptr"_a, "indices"_a, "data"_a, "layout"_a, Unlocked());
  m.def(
      "sparse_from_dense",
      [](const NodePtr& dense) { return hr::sparse_from_dense(tensor_of(dense)); }, "dense"_a,
      Unlocked());
  m.def(
      "sparse_check_coordinates",
      [](int64_t rows, int64_t columns, const NodePtr& row, const NodePtr& column,
         const NodePtr& data) {
        hr::check_coordinates(rows, columns, tensor_of(row), tensor_of(column), tensor_of(data));
      },
      "rows"_a, "columns"_a, "row"_a, "column"_a, "data"_a, Unlocked());
  m.def(
      "sparse_from_coordinates",
      [](int64_t rows, int64_t columns, const NodePtr& row, const NodePtr& column,
         const NodePtr& data) {
        return hr::sparse_from_coordinates(rows, columns, tensor_of(row), tensor_of(column),
                                           tensor_of(data));
      },
      "rows"_a, "columns"_a, "row"_a, "column"_a, "data"_a, Unlocked());
  m.def(
      "sparse_canonical_from_coordinates",
      [](int64_t rows, int64_t columns, const NodePtr& row, const NodePtr& column,
         const NodePtr& data) {
        return hr::canonical_from_coordinates(rows, columns, tensor_of(row), tensor_of(column),
                                              tensor_of(data));
      },
      "rows"_a, "columns"_a, "row"_a, "column"_a, "data"_a, Unlocked());
  m.def("sparse_canonical", &hr::canonical, "matrix"_a, Unlocked());
  m.def("sparse_is_canonical", &hr::is_canonical, "matrix"_a, Unlocked());
  m.def("sparse_sorted", &hr::sorted, "matrix"_a, Unlocked());
  m.def("sparse_is_sorted", &hr::is_sorted, "matrix"_a, Unlocked());
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
      "sparse_take_columns",
      [](const Sparse& matrix, const NodePtr& columns) {
        return hr::take_columns(matrix, tensor_of(columns));
      },
      "matrix"_a, "columns"_a, Unlocked());
  m.def(
      "sparse_take_elements",
      [](const Sparse& matrix, const NodePtr& rows, const NodePtr& columns) {
        return hr::lazy_value(hr::take_elements(matrix, tensor_of(rows), tensor_of(columns)));
      },
      "matrix"_a, "rows"_a, "columns"_a, Unlocked());
  m.def(
      "sparse_dense_at_entries",
      [](const Sparse& matrix, const NodePtr& dense) {
        return hr::lazy_value(hr::dense_at_entries(matrix, tensor_of(dense)));
      },
      "matrix"_a, "dense"_a, Unlocked());
  m.def(
      "sparse_row_extremes",
      [](const Sparse& matrix, bool largest) {
        return hr::lazy_value(hr::row_extremes(matrix, largest));
      },
      "matrix"_a, "largest"_a, Unlocked());
  m.def(
      "sparse_combine",
      [](const Sparse& left, const Sparse& right, std::string_view operation) {
        return hr::combine(left, right, operation_of(operation));
      },
      "left"_a, "right"_a, "operation"_a, Unlocked());
  m.def(
      "sparse_matmul",
      [](const Sparse& left, const Sparse& right) { return hr::multiply(left, right); }, "left"_a,
      "right"_a, Unlocked());
  m.def("sparse_without_zeros", &hr::without_zeros, "matrix"_a, Unlocked());
  m.def("sparse_triangle", &hr::triangle, "matrix"_a, "diagonal"_a, "lower"_a, Unlocked());
  m.def(
      "sparse_stack_rows",
      [](const std::vector<Sparse>& parts, bool diagonal) {
        return hr::stack_rows(parts, diagonal);
      },
      "parts"_a, "diagonal"_a, Unlocked());
  m.def(
      "sparse_stack_columns",
      [](const std::vector<Sparse>& parts) { return hr::stack_columns(parts); }, "parts"_a,
      Unlocked());
  m.def("sparse_kron", &hr::kron, "left"_a, "right"_a, Unlocked());
  m.def(
      "sparse_multiply_transposed",
      [](const Sparse& matrix, const NodePtr& dense) {
        return hr::lazy_value(hr::multiply_transposed(matrix, tensor_of(dense)));
      },
      "matrix"_a, "dense"_a, Unlocked());
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
