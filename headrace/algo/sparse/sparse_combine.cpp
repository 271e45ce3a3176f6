// SPDX-License-Identifier: Apache-2.0
// Sorted rows of two matrices are merged: once to count, once to fill.
#include "headrace/algo/sparse/sparse_combine.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#include <bit>
#include <type_traits>

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

template <class Index, class Number>
struct Row {
  const Index* index;
  const Number* number;
  int64_t count;
};

template <class Index, class Number>
struct Rows {
  const Sparse& matrix;
  const Index* index = matrix.indices().as<Index>();
  const Number* number = matrix.data().as<Number>();

  Row<Index, Number> operator[](int64_t row) const {
    const int64_t begin = matrix.row_begin(row);
    return {index + begin, number + begin, matrix.row_begin(row + 1) - begin};
  }
};

/// How many entries of a row are before all of another, where none is between those; else -1.
template <class Index, class Number>
int64_t gap_for(Row<Index, Number> other, Row<Index, Number> row) {
  constexpr int64_t kShort = 64;
  if (other.count == 0 || row.count > kShort) return -1;
  int64_t before = 0;
  for (int64_t k = 0; k < row.count; ++k) before += row.index[k] < other.index[0] ? 1 : 0;
  const bool fits = before == row.count || row.index[before] > other.index[other.count - 1];
  return fits ? before : -1;
}

/// The number where `is_there`, else 0, without a branch.
template <class Number>
Number number_if(Number number, bool is_there) {
  using Word = std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>;
  return std::bit_cast<Number>(std::bit_cast<Word>(number) & (Word{0} - Word{is_there}));
}

/// Calls `put(at, column, element)` for the elements of a row, and returns how many are not 0. The
/// element after a 0 is put at the same `at` and overwrites it. The choice between the rows is
/// branchless, as it cannot be predicted.
template <class Operation, class Index, class Number, class Put>
int64_t merge_row(Row<Index, Number> left, Row<Index, Number> right, Put&& put) {
  int64_t a = 0, b = 0, at = 0;
  const auto add = [&](Index column, Number made) {
    put(at, column, made);
    at += made != 0 ? 1 : 0;
  };
  // A row that fits into a gap of the other one, as a part of a band often does, goes there whole.
  if (const int64_t before = gap_for(right, left); before >= 0) {
    for (; a < before; ++a) add(left.index[a], Operation::of(left.number[a], Number{0}));
    for (; b < right.count; ++b) add(right.index[b], Operation::of(Number{0}, right.number[b]));
  } else if (const int64_t first = gap_for(left, right); first >= 0) {
    for (; b < first; ++b) add(right.index[b], Operation::of(Number{0}, right.number[b]));
    for (; a < left.count; ++a) add(left.index[a], Operation::of(left.number[a], Number{0}));
  }
  while (a < left.count && b < right.count) {
    const Index a_column = left.index[a], b_column = right.index[b];
    const bool is_left = a_column <= b_column, is_right = b_column <= a_column;
    add(is_left ? a_column : b_column,
        Operation::of(number_if(left.number[a], is_left), number_if(right.number[b], is_right)));
    a += is_left ? 1 : 0;
    b += is_right ? 1 : 0;
  }
  for (; a < left.count; ++a) add(left.index[a], Operation::of(left.number[a], Number{0}));
  for (; b < right.count; ++b) add(right.index[b], Operation::of(Number{0}, right.number[b]));
  return at;
}

template <class Operation, class Index, class Number>
Sparse merged(const Sparse& left, const Sparse& right) {
  const int64_t rows = left.rows();
  Buffer pointers = Buffer::allocate(pointer_bytes(rows));
  auto* pointer = pointers.mutable_as<int64_t>();
  const Rows<Index, Number> left_rows{left}, right_rows{right};
  const auto merge = [&](int64_t row, auto&& put) {
    return merge_row<Operation>(left_rows[row], right_rows[row], put);
  };
  for_row_ranges(left, [&](RowRange range) {
    for (int64_t row = range.begin; row < range.end; ++row)
      pointer[row + 1] = merge(row, [](int64_t, Index, Number) {});
  });
  add_up(pointer, rows);
  return with_index(rows, left.columns(), pointer[rows], [&]<class Out>(Out) {
    NewMatrix<Out, Number> made(pointer[rows]);
    for_row_ranges(left, [&](RowRange range) {
      for (int64_t row = range.begin; row < range.end; ++row) {
        const int64_t begin = pointer[row];
        Out* const index = made.index + begin;
        Number* const number = made.number + begin;
        const auto put = [=](int64_t at, Index column, Number element) {
          index[at] = static_cast<Out>(column);
          number[at] = element;
        };
        // Another thread may have filled what is behind the range: no 0 may go there.
        const int64_t most = left.row_begin(row + 1) - left.row_begin(row) +
                             right.row_begin(row + 1) - right.row_begin(row);
        if (begin + most <= pointer[range.end])
          merge(row, put);
        else
          merge(row, [=](int64_t at, Index column, Number element) {
            if (element != 0) put(at, column, element);
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
