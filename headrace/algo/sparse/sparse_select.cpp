// SPDX-License-Identifier: Apache-2.0
// Entries found row by row, for rows, columns and places that are asked for.
#include "headrace/algo/sparse/sparse_select.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/zeroed.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>

namespace hr {
namespace {

Tensor check_numbers(std::string_view op, const Tensor& numbers) {
  if (numbers.num_dimensions() != 1 || numbers.dtype() != dtype_of<int64_t>())
    throw_error<TypeMismatchError>(op, "positions must be int64 with one dimension",
                                   {{"dtype", numbers.dtype().name()}});
  check_on_host(op, numbers.place());
  return contiguous(numbers, op);
}

void check_column(std::string_view op, int64_t column, int64_t columns) {
  if (column < 0 || column >= columns)
    throw_error<InvalidArgumentError>(op, "there is no such column",
                                      {{"column", column}, {"columns", columns}});
}

void check_row(std::string_view op, int64_t row, int64_t rows) {
  if (row < 0 || row >= rows)
    throw_error<InvalidArgumentError>(op, "there is no such row", {{"row", row}, {"rows", rows}});
}

/// Where each column of a matrix goes: positions columns[0][offsets[c]] to offsets[c + 1].
RowsByKey places_of_columns(const Tensor& wanted, int64_t columns) {
  const auto* column = wanted.as<int64_t>();
  const int64_t count = wanted.num_elements();
  for (int64_t k = 0; k < count; ++k) check_column("take", column[k], columns);
  const KeyedColumn numbers{nullptr, 8};
  return rows_by_key(moves(wanted), count, columns, {&numbers, 1});
}

/// A matrix of `columns` columns of what `visit(row, column, value, add)` adds, for the entries in
/// their order, by `add(column, value)`; it runs twice.
template <class Visit>
Sparse selected(const Sparse& matrix, int64_t columns, Visit&& visit) {
  const int64_t rows = matrix.rows();
  Buffer pointers = Buffer::allocate(pointer_bytes(rows));
  auto* pointer = pointers.mutable_as<int64_t>();
  Sparse result;
  visit_entries(matrix, [&]<class From, class Number>(From, Number) {
    const auto* index = matrix.indices().as<From>();
    const auto* number = matrix.data().as<Number>();
    const auto visit_row = [&](int64_t row, auto&& add) {
      for (int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k)
        visit(row, index[k], number[k], add);
    };
    for_row_ranges(matrix, [&](RowRange range) {
      for (int64_t row = range.begin; row < range.end; ++row) {
        int64_t count = 0;
        visit_row(row, [&](int64_t, Number) { ++count; });
        pointer[row + 1] = count;
      }
    });
    add_up(pointer, rows);
    result = with_index(rows, columns, pointer[rows], [&]<class Index>(Index) {
      NewMatrix<Index, Number> made(pointer[rows]);
      for_row_ranges(matrix, [&](RowRange range) {
        for (int64_t row = range.begin; row < range.end; ++row) {
          int64_t at = pointer[row];
          visit_row(row, [&](int64_t column, Number value) {
            made.index[at] = static_cast<Index>(column);
            made.number[at++] = value;
          });
        }
      });
      return made.finish(rows, columns, pointer);
    });
  });
  return result;
}

}  // namespace

Sparse without_zeros(const Sparse& matrix) {
  const ScopedTag tag("eliminate_zeros");
  return selected(matrix, matrix.columns(), [](int64_t, int64_t column, auto value, auto&& add) {
    if (value != 0) add(column, value);
  });
}

Sparse triangle(const Sparse& matrix, int64_t diagonal, bool lower) {
  const ScopedTag tag(lower ? "tril" : "triu");
  return selected(matrix, matrix.columns(),
                  [=](int64_t row, int64_t column, auto value, auto&& add) {
                    if (lower ? column - row <= diagonal : column - row >= diagonal)
                      add(column, value);
                  });
}

Sparse take_rows(const Sparse& matrix, const Tensor& rows) {
  const ScopedTag tag("take");
  check_shared(matrix);
  const Tensor wanted = check_numbers("take", rows);
  const auto* row = wanted.as<int64_t>();
  const int64_t count = wanted.num_elements();
  Buffer pointers = allocate_zeroed_by_workers(pointer_bytes(count));
  auto* pointer = pointers.mutable_as<int64_t>();
  for (int64_t k = 0; k < count; ++k) {
    check_row("take", row[k], matrix.rows());
    pointer[k + 1] = matrix.row_begin(row[k] + 1) - matrix.row_begin(row[k]);
  }
  add_up(pointer, count);
  Sparse result;
  visit_entries(matrix, [&]<class From, class Number>(From, Number) {
    const auto* index = matrix.indices().as<From>();
    const auto* number = matrix.data().as<Number>();
    result = with_index(count, matrix.columns(), pointer[count], [&]<class Index>(Index) {
      NewMatrix<Index, Number> made(pointer[count]);
      parallel_morsels(count, [&](const Morsel& morsel) {
        for (int64_t k = morsel.begin; k < morsel.end; ++k) {
          const int64_t from = matrix.row_begin(row[k]), entries = pointer[k + 1] - pointer[k];
          for (int64_t i = 0; i < entries; ++i) {
            made.index[pointer[k] + i] = static_cast<Index>(index[from + i]);
            made.number[pointer[k] + i] = number[from + i];
          }
        }
      });
      return made.finish(count, matrix.columns(), pointer);
    });
  });
  return result;
}

Sparse take_columns(const Sparse& matrix, const Tensor& columns) {
  const ScopedTag tag("take");
  const Tensor wanted = check_numbers("take", columns);
  const RowsByKey to = places_of_columns(wanted, matrix.columns());
  const auto* begin = to.offsets.as<int64_t>();
  const auto* place = to.columns[0].as<int64_t>();
  return selected(matrix, wanted.num_elements(),
                  [=](int64_t, int64_t column, auto value, auto&& add) {
                    for (int64_t i = begin[column]; i < begin[column + 1]; ++i)
                      add(place[i], value);
                  });
}

Tensor take_elements(const Sparse& matrix, const Tensor& rows, const Tensor& columns) {
  const ScopedTag tag("take");
  check_shared(matrix);
  const Tensor at_row = check_numbers("take", rows), at_column = check_numbers("take", columns);
  const int64_t count = at_row.num_elements();
  if (at_column.num_elements() != count)
    throw_error<InvalidArgumentError>("take", "rows and columns differ in length",
                                      {{"rows", count}, {"columns", at_column.num_elements()}});
  Buffer out = Buffer::allocate(sparse_bytes(count, matrix.dtype().size_bytes()));
  if (count == 0) return Tensor(matrix.dtype(), {count}, std::move(out));
  const bool sorted = is_sorted(matrix);
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    const auto* number = matrix.data().as<Number>();
    const auto* row = at_row.as<int64_t>();
    const auto* column = at_column.as<int64_t>();
    auto* element = out.mutable_as<Number>();
    parallel_morsels(count, [&](const Morsel& morsel) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        check_row("take", row[i], matrix.rows());
        check_column("take", column[i], matrix.columns());
        const Index* at = index + matrix.row_begin(row[i]);
        const Index* const end = index + matrix.row_begin(row[i] + 1);
        const auto wanted = static_cast<Index>(column[i]);
        if (sorted) at = std::lower_bound(at, end, wanted);
        Number sum = 0;
        for (; at < end && (!sorted || *at == wanted); ++at)
          if (*at == wanted) sum = wrapped_sum(sum, number[at - index]);
        element[i] = sum;
      }
    });
  });
  return Tensor(matrix.dtype(), {count}, std::move(out));
}

Tensor dense_at_entries(const Sparse& matrix, const Tensor& dense) {
  const ScopedTag tag("multiply");
  if (dense.shape() != Shape{matrix.rows(), matrix.columns()} || dense.dtype() != matrix.dtype())
    throw_error<InvalidArgumentError>(
        "multiply", "no matrix of this shape and dtype",
        {{"rows", matrix.rows()}, {"columns", matrix.columns()}, {"dtype", matrix.dtype().name()}});
  check_on_host("multiply", dense.place());
  const int64_t entries = matrix.num_entries(), before = matrix.row_begin(0);
  Buffer out = Buffer::allocate(sparse_bytes(entries, matrix.dtype().size_bytes()));
  if (entries == 0) return Tensor(matrix.dtype(), {entries}, std::move(out));
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    const auto* from = dense.as<Number>();
    const int64_t down = dense.strides()[0], across = dense.strides()[1];
    auto* to = out.mutable_as<Number>();
    for_row_ranges(matrix, [&](RowRange rows) {
      for (int64_t row = rows.begin; row < rows.end; ++row)
        for (int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k)
          to[k - before] = from[row * down + index[k] * across];
    });
  });
  return Tensor(matrix.dtype(), {entries}, std::move(out));
}

Tensor row_extremes(const Sparse& matrix, bool largest) {
  const ScopedTag tag(largest ? "max" : "min");
  if (matrix.columns() == 0)
    throw_error<InvalidArgumentError>(largest ? "max" : "min", "there are no elements to compare",
                                      {{"rows", matrix.rows()}, {"columns", matrix.columns()}});
  const Sparse one = canonical(matrix);
  Buffer out = Buffer::allocate(sparse_bytes(one.rows(), one.dtype().size_bytes()));
  if (one.rows() == 0) return Tensor(one.dtype(), {0}, std::move(out));
  visit_entries(one, [&]<class Index, class Number>(Index, Number) {
    const auto* number = one.data().as<Number>();
    auto* extreme = out.mutable_as<Number>();
    for_row_ranges(one, [&](RowRange rows) {
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        int64_t k = one.row_begin(row);
        const int64_t end = one.row_begin(row + 1);
        Number best = end - k < one.columns() ? Number{0} : number[k];
        for (; k < end; ++k)
          if (best == best && !(largest ? best >= number[k] : best <= number[k])) best = number[k];
        extreme[row] = best;
      }
    });
  });
  return Tensor(one.dtype(), {one.rows()}, std::move(out));
}

}  // namespace hr
