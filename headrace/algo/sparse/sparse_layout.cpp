// SPDX-License-Identifier: Apache-2.0
// Sparse matrices row by row: counted, placed, written.
#include "headrace/algo/sparse/sparse_layout.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/zeroed.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hr {
namespace {

constexpr const char* kOp = "csr_matrix";
constexpr size_t kFewKeys = 24;

/// A column and the place of its entry in the row: what rows are sorted by.
struct EntryKey {
  uint64_t column;
  uint64_t place;

  bool operator<(const EntryKey& other) const {
    return column != other.column ? column < other.column : place < other.place;
  }
};

/// Sorts few keys, none twice, by how many are less: no branch depends on their order, which in
/// rows of a new matrix is random.
void sort_few(std::vector<uint64_t>& keys) {
  uint64_t sorted[kFewKeys];
  uint32_t ranks[kFewKeys];
  const size_t count = keys.size();
  for (size_t i = 0; i < count; ++i) {
    uint32_t rank = 0;
    for (size_t j = 0; j < i; ++j) {
      const uint32_t is_less = keys[j] < keys[i] ? 1 : 0;
      rank += is_less;
      ranks[j] += 1 - is_less;
    }
    ranks[i] = rank;
  }
  for (size_t i = 0; i < count; ++i) sorted[ranks[i]] = keys[i];
  std::copy_n(sorted, count, keys.begin());
}

/// Sorts the entries of a row by column, those of one column in their order; `order` is room.
template <class Index, class Visit>
void visit_sorted(const Index* index, int64_t count, std::vector<uint64_t>& packed,
                  std::vector<EntryKey>& order, Visit&& visit) {
  // Both in one word where they fit, as nearly always.
  if (sizeof(Index) == 4 && count <= std::numeric_limits<uint32_t>::max()) {
    packed.resize(static_cast<size_t>(count));
    for (int64_t k = 0; k < count; ++k)
      packed[static_cast<size_t>(k)] =
          static_cast<uint64_t>(index[k]) << 32 | static_cast<uint64_t>(k);
    if (packed.size() <= kFewKeys)
      sort_few(packed);
    else
      std::sort(packed.begin(), packed.end());
    for (const uint64_t key : packed)
      visit(static_cast<Index>(key >> 32), static_cast<int64_t>(key & 0xffff'ffff));
    return;
  }
  order.clear();
  for (int64_t k = 0; k < count; ++k)
    order.push_back({static_cast<uint64_t>(index[k]), static_cast<uint64_t>(k)});
  std::sort(order.begin(), order.end());
  for (const EntryKey& key : order)
    visit(static_cast<Index>(key.column), static_cast<int64_t>(key.place));
}

/// Whether each row ascends by column, also strictly: with one entry for each.
bool rows_ascend(const Sparse& matrix, bool strictly) {
  std::atomic<bool> ascends = true;
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    for_row_ranges(matrix, [&](RowRange rows) {
      bool here = ascends.load(std::memory_order_relaxed);
      int64_t k = matrix.row_begin(rows.begin);
      for (int64_t row = rows.begin; here && row < rows.end; ++row) {
        const int64_t end = matrix.row_begin(row + 1);
        for (++k; k < end; ++k)
          here &= index[k - 1] < index[k] || (!strictly && index[k - 1] == index[k]);
        k = end;
      }
      if (!here) ascends = false;
    });
  });
  return ascends;
}

/// Rows sorted by column; entries of one column are added in their order, or stay so.
Sparse sorted_rows(const Sparse& matrix, bool add) {
  const ScopedTag tag(kOp);
  const int64_t rows = matrix.rows(), before = matrix.row_begin(0);
  Sparse result;
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    const auto* number = matrix.data().as<Number>();
    Buffer pointers = allocate_zeroed_by_workers(pointer_bytes(rows));
    auto* pointer = pointers.mutable_as<int64_t>();
    NewMatrix<Index, Number> sorted(matrix.num_entries());
    for_row_ranges(matrix, [&](RowRange range) {
      std::vector<uint64_t> packed;
      std::vector<EntryKey> order;
      for (int64_t row = range.begin; row < range.end; ++row) {
        const int64_t first = matrix.row_begin(row);
        Index* const index_out = sorted.index + (first - before);
        Number* const number_out = sorted.number + (first - before);
        int64_t last = -1;
        visit_sorted(index + first, matrix.row_begin(row + 1) - first, packed, order,
                     [&](Index column, int64_t k) {
                       if (add && last >= 0 && index_out[last] == column) {
                         number_out[last] = wrapped_sum(number_out[last], number[first + k]);
                       } else {
                         index_out[++last] = column;
                         number_out[last] = number[first + k];
                       }
                     });
        pointer[row + 1] = last + 1;
      }
    });
    add_up(pointer, rows);
    if (pointer[rows] == matrix.num_entries()) {
      result = sorted.finish(rows, matrix.columns(), pointer);
      return;
    }
    NewMatrix<Index, Number> made(pointer[rows]);
    for_row_ranges(matrix, [&](RowRange range) {
      for (int64_t row = range.begin; row < range.end; ++row) {
        const int64_t from = matrix.row_begin(row) - before, to = pointer[row];
        const auto count = static_cast<size_t>(pointer[row + 1] - to);
        if (count == 0) continue;
        std::memcpy(made.index + to, sorted.index + from, count * sizeof(Index));
        std::memcpy(made.number + to, sorted.number + from, count * sizeof(Number));
      }
    });
    result = made.finish(rows, matrix.columns(), pointer);
  });
  return result;
}

template <class Index, class Number>
Sparse dense_entries(const Tensor& dense) {
  const int64_t rows = dense.shape()[0], columns = dense.shape()[1];
  const auto* values = dense.as<Number>();
  Buffer pointers = allocate_zeroed_by_workers(pointer_bytes(rows));
  auto* pointer = pointers.mutable_as<int64_t>();
  const int64_t step = std::max<int64_t>(1, kMorselRows / std::max<int64_t>(columns, 1));
  parallel_morsels(rows, step, {}, [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      for (int64_t k = 0; k < columns; ++k) pointer[row + 1] += values[row * columns + k] != 0;
  });
  add_up(pointer, rows);
  NewMatrix<Index, Number> made(pointer[rows]);
  parallel_morsels(rows, step, {}, [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      int64_t at = pointer[row];
      for (int64_t k = 0; k < columns; ++k)
        if (const Number value = values[row * columns + k]; value != 0) {
          made.index[at] = static_cast<Index>(k);
          made.number[at++] = value;
        }
    }
  });
  return made.finish(rows, columns, pointer);
}

}  // namespace

Dtype index_dtype(int64_t rows, int64_t columns, int64_t entries) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return std::max({rows, columns, entries}) <= kMost ? dtype_of<int32_t>() : dtype_of<int64_t>();
}

bool is_canonical(const Sparse& matrix) {
  return rows_ascend(matrix, true);
}

bool is_sorted(const Sparse& matrix) {
  return rows_ascend(matrix, false);
}

void check_pointers(const Sparse& matrix) {
  const int64_t begin = matrix.row_begin(0), end = matrix.row_begin(matrix.rows());
  if (begin < 0 || end > matrix.indices().num_elements())
    throw_error<InvalidArgumentError>(kOp, "indptr leaves the entries",
                                      {{"first", begin}, {"end", end}});
  parallel_morsels(matrix.rows(), [&](const Morsel& morsel) {
    bool ascends = true;
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      ascends &= matrix.row_begin(row) <= matrix.row_begin(row + 1);
    for (int64_t row = morsel.begin; !ascends && row < morsel.end; ++row)
      if (matrix.row_begin(row + 1) < matrix.row_begin(row))
        throw_error<InvalidArgumentError>(
            kOp, "indptr descends",
            {{"row", row}, {"first", matrix.row_begin(row)}, {"end", matrix.row_begin(row + 1)}});
  });
}

void check_columns(const Sparse& matrix, RowRange rows, std::string_view layout) {
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    using Word = std::make_unsigned_t<Index>;
    constexpr int64_t kMost = std::numeric_limits<Index>::max();
    const auto last = static_cast<Word>(std::min(matrix.columns() - 1, kMost));
    const int64_t begin = matrix.row_begin(rows.begin), end = matrix.row_begin(rows.end);
    Word signs = 0;  // of what is below 0 or, from the last column, above it
    for (int64_t k = begin; k < end; ++k)
      signs |= static_cast<Word>(index[k]) | (last - static_cast<Word>(index[k]));
    const bool fit = static_cast<Index>(signs) >= 0;
    for (int64_t row = rows.begin; !fit && row < rows.end; ++row)
      for (int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k)
        if (index[k] < 0 || index[k] >= matrix.columns())
          refuse_place(layout, k, row, index[k], matrix.rows(), matrix.columns());
  });
}

void check_entries(const Sparse& matrix, std::string_view layout) {
  check_pointers(matrix);
  const RowRanges ranges(matrix, 1 + matrix.num_entries() / kMorselRows);
  parallel_for(ranges.count(), [&](int64_t k) { check_columns(matrix, ranges[k], layout); });
}

void check_shared(const Sparse& matrix) {
  if (is_shared(matrix)) check_entries(matrix);
}

Sparse sparse_from_dense(const Tensor& dense) {
  const ScopedTag tag(kOp);
  if (dense.num_dimensions() != 2)
    throw_error<TypeMismatchError>(kOp, "a matrix has two dimensions",
                                   {{"dimensions", dense.num_dimensions()}});
  check_on_host(kOp, dense.place());
  const Tensor packed = contiguous(dense, kOp);
  return visit_number(dense.dtype(), [&]<class Number>(Number) {
    return with_index(dense.shape()[0], dense.shape()[1], dense.num_elements(),
                      [&]<class Index>(Index) { return dense_entries<Index, Number>(packed); });
  });
}

Sparse canonical(const Sparse& matrix) {
  return is_canonical(matrix) ? matrix : sorted_rows(matrix, true);
}

Sparse sorted(const Sparse& matrix) {
  return is_sorted(matrix) ? matrix : sorted_rows(matrix, false);
}

Tensor row_numbers(const Sparse& matrix, Dtype dtype) {
  const ScopedTag tag("row_numbers");
  const int64_t entries = matrix.num_entries(), before = matrix.row_begin(0);
  Buffer made = Buffer::allocate(sparse_bytes(entries, dtype.size_bytes()));
  const auto fill = [&]<class Index>(Index) {
    if (entries == 0) return;
    auto* out = made.mutable_as<Index>();
    for_row_ranges(matrix, [&](RowRange rows) {
      for (int64_t row = rows.begin; row < rows.end; ++row)
        std::fill(out + (matrix.row_begin(row) - before),
                  out + (matrix.row_begin(row + 1) - before), static_cast<Index>(row));
    });
  };
  if (dtype == dtype_of<int32_t>())
    fill(int32_t());
  else
    fill(int64_t());
  return Tensor(dtype, {entries}, std::move(made));
}

Sparse packed(const Sparse& matrix) {
  const int64_t before = matrix.row_begin(0), count = matrix.rows() + 1;
  if (before == 0 && matrix.num_entries() == matrix.data().num_elements()) return matrix;
  Buffer pointers = Buffer::allocate(sparse_bytes(count, matrix.indptr().dtype().size_bytes()));
  const auto shift = [&]<class Index>(Index) {
    auto* out = pointers.mutable_as<Index>();
    for (int64_t row = 0; row < count; ++row)
      out[row] = static_cast<Index>(matrix.row_begin(row) - before);
  };
  if (matrix.indptr().dtype() == dtype_of<int32_t>())
    shift(int32_t());
  else
    shift(int64_t());
  return Sparse(matrix.rows(), matrix.columns(),
                Tensor(matrix.indptr().dtype(), {count}, std::move(pointers)),
                matrix.entry_indices(), matrix.entry_data());
}

Sparse with_index_dtype(const Sparse& matrix, Dtype dtype) {
  const int64_t end = matrix.row_begin(matrix.rows());
  if (dtype == dtype_of<int32_t>() &&
      index_dtype(matrix.rows(), matrix.columns(), end) != dtype_of<int32_t>())
    throw_error<InvalidArgumentError>(
        kOp, "the indices do not fit into int32",
        {{"rows", matrix.rows()}, {"columns", matrix.columns()}, {"entries", end}});
  return Sparse(matrix.rows(), matrix.columns(), as_indices(matrix.indptr(), dtype),
                as_indices(matrix.indices(), dtype), matrix.data());
}

Tensor to_dense(const Sparse& matrix) {
  const ScopedTag tag("toarray");
  const int64_t rows = matrix.rows(), columns = matrix.columns();
  const Shape shape{rows, columns};
  Tensor result;
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    const auto* number = matrix.data().as<Number>();
    Buffer values =
        allocate_zeroed_by_workers(sparse_bytes(num_elements(shape), int64_t{sizeof(Number)}));
    auto* out = values.mutable_as<Number>();
    for_row_ranges(matrix, [&](RowRange range) {
      for (int64_t row = range.begin; row < range.end; ++row)
        for (int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k)
          out[row * columns + index[k]] = wrapped_sum(out[row * columns + index[k]], number[k]);
    });
    result = Tensor(matrix.dtype(), shape, std::move(values));
  });
  return result;
}

Tensor column_counts(const Sparse& matrix) {
  const ScopedTag tag("column_counts");
  check_shared(matrix);
  const int64_t columns = matrix.columns();
  const RowRanges ranges(matrix, num_column_chunks(matrix));
  Buffer parts = allocate_zeroed_by_workers(
      sparse_bytes(num_elements({ranges.count(), columns}), int64_t{sizeof(int64_t)}));
  auto* part = columns == 0 ? nullptr : parts.mutable_as<int64_t>();
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    parallel_for(ranges.count(), [&](int64_t chunk) {
      const RowRange rows = ranges[chunk];
      for (int64_t k = matrix.row_begin(rows.begin); k < matrix.row_begin(rows.end); ++k)
        ++part[chunk * columns + index[k]];
    });
  });
  for (int64_t chunk = 1; chunk < ranges.count(); ++chunk)
    for (int64_t column = 0; column < columns; ++column)
      part[column] += part[chunk * columns + column];
  return Tensor(dtype_of<int64_t>(), {columns}, std::move(parts));
}

}  // namespace hr
