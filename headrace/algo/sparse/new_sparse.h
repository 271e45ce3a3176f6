// SPDX-License-Identifier: Apache-2.0
// For makers of sparse matrices: rows are counted, then filled.
#pragma once
#include "headrace/algo/sort/rows_by_key.h"
#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/algo/sparse/sparse_layout.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"

#include <type_traits>

namespace hr {

/// Bytes of `count` elements of `width` bytes. A shape may be far larger than memory, so what does
/// not fit in 64 bits is refused here.
inline int64_t sparse_bytes(int64_t count, int64_t width) {
  return checked_multiply("csr_matrix", count, width);
}

/// Bytes of where `rows` rows begin, and where the last one ends.
inline int64_t pointer_bytes(int64_t rows) {
  return sparse_bytes(checked_add("csr_matrix", rows, 1), int64_t{sizeof(int64_t)});
}

template <class T>
Buffer room_for(int64_t count) {
  return Buffer::allocate(sparse_bytes(count, int64_t{sizeof(T)}));
}

/// A part of the entries that moves with them; it outlives the move.
inline KeyedColumn moves(const Tensor& from) {
  return {&from.buffer(), from.dtype().size_bytes(), from.byte_offset()};
}

[[noreturn]] inline void refuse_place(std::string_view layout, int64_t entry, int64_t row,
                                      int64_t column, int64_t rows, int64_t columns) {
  if (layout == "csc_matrix") {
    std::swap(row, column);
    std::swap(rows, columns);
  }
  throw_error<InvalidArgumentError>(
      layout, "an entry lies outside of the shape",
      {{"entry", entry}, {"row", row}, {"column", column}, {"rows", rows}, {"columns", columns}});
}

/// Entries per row, at [row + 1], become the pointers.
inline void add_up(int64_t* pointers, int64_t rows) {
  pointers[0] = 0;
  for (int64_t row = 0; row < rows; ++row) pointers[row + 1] += pointers[row];
}

/// Where rows begin, in the dtype of the indices.
template <class Index>
Tensor pointers_of(const int64_t* pointers, int64_t rows) {
  Buffer indptr = room_for<Index>(checked_add("csr_matrix", rows, 1));
  auto* out = indptr.mutable_as<Index>();
  parallel_morsels(rows + 1, [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      out[row] = static_cast<Index>(pointers[row]);
  });
  return Tensor(dtype_of<Index>(), {rows + 1}, std::move(indptr));
}

/// A matrix whose row lengths are known, to be filled with entries.
template <class Index, class Number>
struct NewMatrix {
  int64_t entries;
  Buffer indices;
  Buffer data;
  Index* index;
  Number* number;

  explicit NewMatrix(int64_t count)
      : entries(count),
        indices(room_for<Index>(count)),
        data(room_for<Number>(count)),
        index(count == 0 ? nullptr : indices.mutable_as<Index>()),
        number(count == 0 ? nullptr : data.mutable_as<Number>()) {}

  /// `pointers` get the dtype of the indices.
  Sparse finish(int64_t rows, int64_t columns, const int64_t* pointers) {
    return Sparse(rows, columns, pointers_of<Index>(pointers, rows),
                  Tensor(dtype_of<Index>(), {entries}, std::move(indices)),
                  Tensor(dtype_of<Number>(), {entries}, std::move(data)));
  }
};

/// Entries by their key: `keys` are the rows of the result, `indices` its columns.
template <class Index>
Sparse grouped(const Tensor& keys, int64_t rows, int64_t columns, const Tensor& indices,
               const Tensor& data) {
  const int64_t entries = data.num_elements();
  const KeyedColumn parts[] = {moves(indices), moves(data)};
  RowsByKey made = rows_by_key(moves(keys), entries, rows, parts);
  return Sparse(rows, columns, pointers_of<Index>(made.offsets.template as<int64_t>(), rows),
                Tensor(dtype_of<Index>(), {entries}, std::move(made.columns[0])),
                Tensor(data.dtype(), {entries}, std::move(made.columns[1])));
}

/// Indices in the dtype of a new matrix; the tensor itself where it has that.
inline Tensor as_indices(const Tensor& values, Dtype dtype) {
  if (values.dtype() == dtype) return values;
  const int64_t count = values.num_elements();
  Buffer made = Buffer::allocate(sparse_bytes(count, dtype.size_bytes()));
  const auto convert = [&]<class From, class To>(From, To) {
    if (count == 0) return;
    const auto* from = values.as<From>();
    auto* to = made.mutable_as<To>();
    parallel_morsels(count, [&](const Morsel& morsel) {
      for (int64_t k = morsel.begin; k < morsel.end; ++k) to[k] = static_cast<To>(from[k]);
    });
  };
  if (dtype == dtype_of<int32_t>())
    convert(int64_t(), int32_t());
  else
    convert(int32_t(), int64_t());
  return Tensor(dtype, {count}, std::move(made));
}

/// Calls `f(Index())` with the type of the indices of a new matrix.
template <class F>
Sparse with_index(int64_t rows, int64_t columns, int64_t entries, F&& f) {
  if (index_dtype(rows, columns, entries) == dtype_of<int32_t>()) return f(int32_t());
  return f(int64_t());
}

/// Calls `f(Number())` with the type of values.
template <class F>
Sparse visit_number(Dtype dtype, F&& f) {
  if (dtype == dtype_of<float>()) return f(float());
  if (dtype == dtype_of<double>()) return f(double());
  if (dtype == dtype_of<int64_t>()) return f(int64_t());
  throw_error<TypeMismatchError>("csr_matrix", "no dtype of sparse values",
                                 {{"dtype", dtype.name()}}, "use float32, float64 or int64");
}

template <class Number>
Number wrapped_sum(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<Number>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

}  // namespace hr
