// SPDX-License-Identifier: Apache-2.0
// Sorted rows of two matrices are merged: once to count, once to fill.
#include "headrace/algo/sparse/sparse_combine.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#include <cmath>
#include <limits>

namespace hr {
namespace {

struct Add {
  template <class Number>
  static Number of(Number a, Number b) {
    return wrapped_sum(a, b);
  }
};

struct Subtract {
  template <class Number>
  static Number of(Number a, Number b) {
    if constexpr (std::is_integral_v<Number>)
      return static_cast<Number>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    else
      return a - b;
  }
};

struct Multiply {
  template <class Number>
  static Number of(Number a, Number b) {
    if constexpr (std::is_integral_v<Number>)
      return static_cast<Number>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};

struct Maximum {
  template <class Number>
  static Number of(Number a, Number b) {
    return a != a || a >= b ? a : b;
  }
};

struct Minimum {
  template <class Number>
  static Number of(Number a, Number b) {
    return a != a || a <= b ? a : b;
  }
};

/// Calls `visit(column, element)` for the elements of a row that are not 0.
template <class Operation, class Index, class Number, class Visit>
void merge_row(const Sparse& left, const Sparse& right, int64_t row, Index, Number, Visit&& visit) {
  const auto* left_index = left.indices().as<Index>();
  const auto* right_index = right.indices().as<Index>();
  const auto* left_number = left.data().as<Number>();
  const auto* right_number = right.data().as<Number>();
  int64_t a = left.row_begin(row), b = right.row_begin(row);
  const int64_t a_end = left.row_begin(row + 1), b_end = right.row_begin(row + 1);
  while (a < a_end || b < b_end) {
    const int64_t a_column = a < a_end ? left_index[a] : std::numeric_limits<int64_t>::max();
    const int64_t b_column = b < b_end ? right_index[b] : std::numeric_limits<int64_t>::max();
    const Number from_left = a_column <= b_column ? left_number[a++] : Number{0};
    const Number from_right = b_column <= a_column ? right_number[b++] : Number{0};
    const Number made = Operation::of(from_left, from_right);
    if (made != 0) visit(static_cast<Index>(std::min(a_column, b_column)), made);
  }
}

template <class Operation, class Index, class Number>
Sparse merged(const Sparse& left, const Sparse& right) {
  const int64_t rows = left.rows();
  Buffer pointers = Buffer::allocate(pointer_bytes(rows));
  auto* pointer = pointers.mutable_as<int64_t>();
  for_row_ranges(left, [&](RowRange range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      int64_t count = 0;
      merge_row<Operation>(left, right, row, Index(), Number(), [&](Index, Number) { ++count; });
      pointer[row + 1] = count;
    }
  });
  add_up(pointer, rows);
  return with_index(rows, left.columns(), pointer[rows], [&]<class Out>(Out) {
    NewMatrix<Out, Number> made(pointer[rows]);
    for_row_ranges(left, [&](RowRange range) {
      for (int64_t row = range.begin; row < range.end; ++row) {
        int64_t at = pointer[row];
        merge_row<Operation>(left, right, row, Index(), Number(), [&](Index column, Number number) {
          made.index[at] = static_cast<Out>(column);
          made.number[at++] = number;
        });
      }
    });
    return made.finish(rows, left.columns(), pointer);
  });
}

template <class Operation>
Sparse merged(const Sparse& left, const Sparse& right) {
  Sparse result;
  visit_entries(left, [&]<class Index, class Number>(Index, Number) {
    result = merged<Operation, Index, Number>(left, right);
  });
  return result;
}

}  // namespace

Sparse combine(const Sparse& left, const Sparse& right, SparseOperation operation) {
  const ScopedTag tag("sparse_combine");
  if (left.rows() != right.rows() || left.columns() != right.columns())
    throw_error<InvalidArgumentError>("csr_matrix", "inconsistent shapes",
                                      {{"rows", left.rows()},
                                       {"columns", left.columns()},
                                       {"other_rows", right.rows()},
                                       {"other_columns", right.columns()}});
  if (left.dtype() != right.dtype())
    throw_error<TypeMismatchError>(
        "csr_matrix", "matrices of different dtypes",
        {{"left", left.dtype().name()}, {"right", right.dtype().name()}});
  Sparse a = canonical(left), b = canonical(right);
  if (a.indices().dtype() != b.indices().dtype()) {
    a = with_index_dtype(a, dtype_of<int64_t>());
    b = with_index_dtype(b, dtype_of<int64_t>());
  }
  switch (operation) {
    case SparseOperation::kAdd:
      return merged<Add>(a, b);
    case SparseOperation::kSubtract:
      return merged<Subtract>(a, b);
    case SparseOperation::kMultiply:
      return merged<Multiply>(a, b);
    case SparseOperation::kMaximum:
      return merged<Maximum>(a, b);
    default:
      return merged<Minimum>(a, b);
  }
}

}  // namespace hr
