// SPDX-License-Identifier: Apache-2.0
// Rows of several matrices copied behind each other, and Kronecker products.
#include "headrace/algo/sparse/sparse_stack.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <vector>

namespace hr {
namespace {

void check_parts(std::string_view op, std::span<const Sparse> parts) {
  if (parts.empty()) throw_error<InvalidArgumentError>(op, "there are no matrices");
  for (const Sparse& part : parts)
    if (part.dtype() != parts[0].dtype())
      throw_error<TypeMismatchError>(
          op, "matrices of different dtypes",
          {{"first", parts[0].dtype().name()}, {"other", part.dtype().name()}});
}

void check_size(std::string_view op, std::string_view what, int64_t first, int64_t other) {
  if (first != other)
    throw_error<InvalidArgumentError>(op, "incompatible dimensions: the matrices differ in size",
                                      {{"of", what}, {"first", first}, {"other", other}});
}

/// Entries of a row to `made` from `at` on, `shift` columns to the right.
template <class Index, class Number>
void copy_row(const Sparse& part, int64_t row, int64_t shift, NewMatrix<Index, Number>& made,
              int64_t at) {
  visit_entries(part, [&]<class From>(From, auto) {
    const auto* index = part.indices().as<From>();
    const auto* number = part.data().as<Number>();
    for (int64_t k = part.row_begin(row); k < part.row_begin(row + 1); ++k, ++at) {
      made.index[at] = static_cast<Index>(index[k] + shift);
      made.number[at] = number[k];
    }
  });
}

}  // namespace

Sparse stack_rows(std::span<const Sparse> parts, bool diagonal) {
  const char* const op = diagonal ? "block_diag" : "vstack";
  const ScopedTag tag(op);
  check_parts(op, parts);
  int64_t rows = 0, columns = 0, entries = 0;
  for (const Sparse& part : parts) {
    if (!diagonal) check_size(op, "columns", parts[0].columns(), part.columns());
    rows = checked_add(op, rows, part.rows());
    columns = diagonal ? checked_add(op, columns, part.columns()) : part.columns();
    entries = checked_add(op, entries, part.num_entries());
  }
  Buffer pointers = Buffer::allocate(pointer_bytes(rows));
  auto* pointer = pointers.mutable_as<int64_t>();
  int64_t first = 0, before = 0;
  for (const Sparse& part : parts) {
    for (int64_t row = 0; row < part.rows(); ++row)
      pointer[first + row] = before + part.row_begin(row) - part.row_begin(0);
    first += part.rows();
    before += part.num_entries();
  }
  pointer[rows] = entries;
  return visit_number(parts[0].dtype(), [&]<class Number>(Number) {
    return with_index(rows, columns, entries, [&]<class Index>(Index) {
      NewMatrix<Index, Number> made(entries);
      int64_t row_shift = 0, shift = 0;
      for (const Sparse& part : parts) {
        for_row_ranges(part, [&](RowRange range) {
          for (int64_t row = range.begin; row < range.end; ++row)
            copy_row(part, row, shift, made, pointer[row_shift + row]);
        });
        row_shift += part.rows();
        if (diagonal) shift += part.columns();
      }
      return made.finish(rows, columns, pointer);
    });
  });
}

Sparse stack_columns(std::span<const Sparse> parts) {
  const ScopedTag tag("hstack");
  check_parts("hstack", parts);
  const int64_t rows = parts[0].rows();
  int64_t columns = 0, entries = 0;
  for (const Sparse& part : parts) {
    check_shared(part);
    check_size("hstack", "rows", rows, part.rows());
    columns = checked_add("hstack", columns, part.columns());
    entries = checked_add("hstack", entries, part.num_entries());
  }
  Buffer pointers = Buffer::allocate(pointer_bytes(rows));
  auto* pointer = pointers.mutable_as<int64_t>();
  parallel_morsels(rows, [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      int64_t count = 0;
      for (const Sparse& part : parts) count += part.row_begin(row + 1) - part.row_begin(row);
      pointer[row + 1] = count;
    }
  });
  add_up(pointer, rows);
  return visit_number(parts[0].dtype(), [&]<class Number>(Number) {
    return with_index(rows, columns, entries, [&]<class Index>(Index) {
      NewMatrix<Index, Number> made(entries);
      parallel_morsels(rows, [&](const Morsel& morsel) {
        for (int64_t row = morsel.begin; row < morsel.end; ++row) {
          int64_t at = pointer[row], shift = 0;
          for (const Sparse& part : parts) {
            copy_row(part, row, shift, made, at);
            at += part.row_begin(row + 1) - part.row_begin(row);
            shift += part.columns();
          }
        }
      });
      return made.finish(rows, columns, pointer);
    });
  });
}

Sparse kron(const Sparse& left, const Sparse& right) {
  const ScopedTag tag("kron");
  const Sparse pair[] = {left, right};
  check_parts("kron", pair);
  for (const Sparse& each : pair) check_shared(each);
  const int64_t rows = num_elements({left.rows(), right.rows()});
  const int64_t columns = num_elements({left.columns(), right.columns()});
  const int64_t entries = num_elements({left.num_entries(), right.num_entries()});
  Buffer pointers = Buffer::allocate(pointer_bytes(rows));
  auto* pointer = pointers.mutable_as<int64_t>();
  for (int64_t i = 0; i < left.rows(); ++i)
    for (int64_t k = 0; k < right.rows(); ++k)
      pointer[i * right.rows() + k + 1] = (left.row_begin(i + 1) - left.row_begin(i)) *
                                          (right.row_begin(k + 1) - right.row_begin(k));
  add_up(pointer, rows);
  Sparse a = left, b = right;
  if (a.indices().dtype() != b.indices().dtype()) {
    a = with_index_dtype(a, dtype_of<int64_t>());
    b = with_index_dtype(b, dtype_of<int64_t>());
  }
  Sparse result;
  visit_entries(a, [&]<class From, class Element>(From, Element) {
    using Number = std::conditional_t<std::is_same_v<Element, int64_t>, uint64_t, Element>;
    const auto* left_index = a.indices().template as<From>();
    const auto* right_index = b.indices().template as<From>();
    const auto* left_number = a.data().template as<Number>();
    const auto* right_number = b.data().template as<Number>();
    result = with_index(rows, columns, entries, [&]<class Index>(Index) {
      NewMatrix<Index, Element> made(entries);
      parallel_morsels(rows, [&](const Morsel& morsel) {
        for (int64_t row = morsel.begin; row < morsel.end; ++row) {
          const int64_t i = row / b.rows(), k = row % b.rows();
          int64_t at = pointer[row];
          for (int64_t p = a.row_begin(i); p < a.row_begin(i + 1); ++p)
            for (int64_t q = b.row_begin(k); q < b.row_begin(k + 1); ++q, ++at) {
              made.index[at] =
                  static_cast<Index>(int64_t{left_index[p]} * b.columns() + right_index[q]);
              made.number[at] = static_cast<Element>(left_number[p] * right_number[q]);
            }
        }
      });
      return made.finish(rows, columns, pointer);
    });
  });
  return result;
}

}  // namespace hr
