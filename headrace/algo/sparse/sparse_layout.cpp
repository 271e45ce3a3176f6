// SPDX-License-Identifier: Apache-2.0
// Sparse matrices row by row: counted, placed, written.
#include "headrace/algo/sparse/sparse_layout.h"

#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/zeroed.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace hr {
namespace {

constexpr const char* kOp = "csr_matrix";

constexpr auto kPointerBytes = static_cast<int64_t>(sizeof(int64_t));

template <class T>
Buffer room_for(int64_t count) {
  return Buffer::allocate(num_elements({count}) * static_cast<int64_t>(sizeof(T)));
}

/// Entries per row, at [row + 1], become the pointers.
void add_up(int64_t* pointers, int64_t rows) {
  pointers[0] = 0;
  for (int64_t row = 0; row < rows; ++row) pointers[row + 1] += pointers[row];
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
    Buffer indptr = room_for<Index>(rows + 1);
    auto* out = indptr.mutable_as<Index>();
    for (int64_t row = 0; row <= rows; ++row) out[row] = static_cast<Index>(pointers[row]);
    return Sparse(rows, columns, Tensor(dtype_of<Index>(), {rows + 1}, std::move(indptr)),
                  Tensor(dtype_of<Index>(), {entries}, std::move(indices)),
                  Tensor(dtype_of<Number>(), {entries}, std::move(data)));
  }
};

/// Calls `f(Index())` with the type of the indices of a new matrix.
template <class F>
Sparse with_index(int64_t rows, int64_t columns, int64_t entries, F&& f) {
  if (index_dtype(rows, columns, entries) == dtype_of<int32_t>()) return f(int32_t());
  return f(int64_t());
}

/// The same with the type of numbers.
template <class F>
Sparse with_number(Dtype dtype, F&& f) {
  if (dtype == dtype_of<float>()) return f(float());
  if (dtype == dtype_of<double>()) return f(double());
  if (dtype == dtype_of<int64_t>()) return f(int64_t());
  throw_error<TypeMismatchError>(kOp, "no dtype of sparse values", {{"dtype", dtype.name()}},
                                 "use float32, float64 or int64");
}

/// A stable counting sort of entries by group. `visit(chunk, put)` calls `put(group, ...)` for the
/// entries of a chunk in their order; all chunks run at once. `write(place, ...)` gets each entry
/// with its place. Returns where groups begin.
template <class Visit, class Write>
Buffer group_entries(int64_t chunks, int64_t groups, Visit&& visit, Write&& write) {
  Buffer places = allocate_zeroed_by_workers(chunks * groups * kPointerBytes);
  Buffer pointers = Buffer::allocate((groups + 1) * kPointerBytes);
  auto* place = places.mutable_as<int64_t>();
  auto* pointer = pointers.mutable_as<int64_t>();
  parallel_for(chunks, [&](int64_t chunk) {
    visit(chunk, [&](int64_t group, const auto&...) { ++place[chunk * groups + group]; });
  });
  int64_t total = 0;
  for (int64_t group = 0; group < groups; ++group) {
    pointer[group] = total;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      int64_t& here = place[chunk * groups + group];
      total += std::exchange(here, total);
    }
  }
  pointer[groups] = total;
  parallel_for(chunks, [&](int64_t chunk) {
    visit(chunk, [&](int64_t group, const auto&... entry) {
      write(place[chunk * groups + group]++, entry...);
    });
  });
  return pointers;
}

/// As many chunks as pay for counters of all groups.
int64_t num_chunks(int64_t entries, int64_t groups) {
  constexpr int64_t kLeast = int64_t{1} << 16, kMost = 16;
  return std::clamp(entries / std::max(groups, kLeast), int64_t{1}, kMost);
}

[[noreturn]] void refuse_place(int64_t entry, int64_t row, int64_t column, int64_t rows,
                               int64_t columns) {
  throw_error<InvalidArgumentError>(
      kOp, "an entry lies outside of the shape",
      {{"entry", entry}, {"row", row}, {"column", column}, {"rows", rows}, {"columns", columns}});
}

template <class Number>
Number wrapped_sum(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<Number>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

/// Sorts the entries of a row by column and adds those of one column; returns how many are left.
template <class Index, class Number>
int64_t compact_row(const Index* index, const Number* number, int64_t count,
                    std::vector<std::pair<Index, int64_t>>& order, Index* index_out,
                    Number* number_out) {
  order.clear();
  for (int64_t k = 0; k < count; ++k) order.emplace_back(index[k], k);
  std::sort(order.begin(), order.end());
  int64_t last = -1;
  for (const auto& [column, k] : order) {
    if (last >= 0 && index_out[last] == column) {
      number_out[last] = wrapped_sum(number_out[last], number[k]);
    } else {
      index_out[++last] = column;
      number_out[last] = number[k];
    }
  }
  return last + 1;
}

/// Entries in the order of their rows, those of a row in their own.
template <class Index, class Place, class Number>
Sparse by_rows(int64_t rows, int64_t columns, int64_t entries, const Place* row,
               const Place* column, const Number* value) {
  parallel_morsels(entries, [&](const Morsel& morsel) {
    for (int64_t k = morsel.begin; k < morsel.end; ++k)
      if (row[k] < 0 || row[k] >= rows || column[k] < 0 || column[k] >= columns)
        refuse_place(k, row[k], column[k], rows, columns);
  });
  const int64_t chunks = num_chunks(entries, rows);
  NewMatrix<Index, Number> made(entries);
  const Buffer pointers = group_entries(
      chunks, rows,
      [&](int64_t chunk, auto&& put) {
        for (int64_t k = entries * chunk / chunks; k < entries * (chunk + 1) / chunks; ++k)
          put(row[k], k);
      },
      [&](int64_t place, int64_t k) {
        made.index[place] = static_cast<Index>(column[k]);
        made.number[place] = value[k];
      });
  return made.finish(rows, columns, pointers.as<int64_t>());
}

/// Whether each row is sorted, with one entry for each column.
bool is_canonical(const Sparse& matrix) {
  std::atomic<bool> ascends = true;
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    for_row_ranges(matrix, [&](RowRange rows) {
      bool here = ascends.load(std::memory_order_relaxed);
      int64_t k = matrix.row_begin(rows.begin);
      for (int64_t row = rows.begin; here && row < rows.end; ++row) {
        const int64_t end = matrix.row_begin(row + 1);
        for (++k; k < end; ++k) here &= index[k - 1] < index[k];
        k = end;
      }
      if (!here) ascends = false;
    });
  });
  return ascends;
}

template <class Index, class Number>
Sparse dense_entries(const Tensor& dense) {
  const int64_t rows = dense.shape()[0], columns = dense.shape()[1];
  const auto* values = dense.as<Number>();
  Buffer pointers = allocate_zeroed_by_workers((rows + 1) * kPointerBytes);
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

void check_entries(const Sparse& matrix) {
  const int64_t begin = matrix.row_begin(0), end = matrix.row_begin(matrix.rows());
  // Pointers first: what they say chooses what is read.
  parallel_morsels(matrix.rows(), [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const int64_t first = matrix.row_begin(row), last = matrix.row_begin(row + 1);
      if (first < begin || last < first || last > end)
        throw_error<InvalidArgumentError>(kOp, "indptr descends or leaves the entries",
                                          {{"row", row}, {"first", first}, {"end", last}});
    }
  });
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    for_row_ranges(matrix, [&](RowRange rows) {
      for (int64_t row = rows.begin; row < rows.end; ++row)
        for (int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k)
          if (index[k] < 0 || index[k] >= matrix.columns())
            refuse_place(k, row, index[k], matrix.rows(), matrix.columns());
    });
  });
}

Sparse sparse_from_dense(const Tensor& dense) {
  const ScopedTag tag(kOp);
  if (dense.num_dimensions() != 2)
    throw_error<TypeMismatchError>(kOp, "a matrix has two dimensions",
                                   {{"dimensions", dense.num_dimensions()}});
  check_on_host(kOp, dense.place());
  const Tensor packed = contiguous(dense, kOp);
  return with_number(dense.dtype(), [&]<class Number>(Number) {
    return with_index(dense.shape()[0], dense.shape()[1], dense.num_elements(),
                      [&]<class Index>(Index) { return dense_entries<Index, Number>(packed); });
  });
}

Sparse sparse_from_coordinates(int64_t rows, int64_t columns, const Tensor& row,
                               const Tensor& column, const Tensor& data) {
  const ScopedTag tag(kOp);
  const int64_t entries = data.num_elements();
  for (const Tensor* part : {&row, &column, &data}) {
    if (part->num_dimensions() != 1 || part->num_elements() != entries)
      throw_error<InvalidArgumentError>(kOp, "data, rows and columns differ in length",
                                        {{"data", entries}, {"other", part->num_elements()}});
    check_on_host(kOp, part->place());
  }
  const Dtype place = row.dtype();
  if (column.dtype() != place || (place != dtype_of<int32_t>() && place != dtype_of<int64_t>()))
    throw_error<TypeMismatchError>(kOp, "rows and columns must be int32 or int64, both the same",
                                   {{"rows", place.name()}, {"columns", column.dtype().name()}});
  const Tensor at_row = contiguous(row, kOp), at_column = contiguous(column, kOp),
               values = contiguous(data, kOp);
  return canonical(with_number(data.dtype(), [&]<class Number>(Number) {
    return with_index(rows, columns, entries, [&]<class Index>(Index) {
      const auto grouped = [&]<class Place>(Place) {
        return by_rows<Index>(rows, columns, entries, at_row.as<Place>(), at_column.as<Place>(),
                              values.as<Number>());
      };
      return place == dtype_of<int32_t>() ? grouped(int32_t()) : grouped(int64_t());
    });
  }));
}

Sparse canonical(const Sparse& matrix) {
  const ScopedTag tag(kOp);
  if (is_canonical(matrix)) return matrix;
  const int64_t rows = matrix.rows();
  Sparse result;
  visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
    const auto* index = matrix.indices().as<Index>();
    const auto* number = matrix.data().as<Number>();
    Buffer pointers = allocate_zeroed_by_workers((rows + 1) * kPointerBytes);
    auto* pointer = pointers.mutable_as<int64_t>();
    const int64_t before = matrix.row_begin(0);
    NewMatrix<Index, Number> sorted(matrix.num_entries());
    for_row_ranges(matrix, [&](RowRange range) {
      std::vector<std::pair<Index, int64_t>> order;
      for (int64_t row = range.begin; row < range.end; ++row) {
        const int64_t first = matrix.row_begin(row);
        pointer[row + 1] =
            compact_row(index + first, number + first, matrix.row_begin(row + 1) - first, order,
                        sorted.index + (first - before), sorted.number + (first - before));
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

Sparse transposed(const Sparse& matrix) {
  const ScopedTag tag("transpose");
  const RowRanges ranges(matrix, num_chunks(matrix.num_entries(), matrix.columns()));
  Sparse result;
  visit_entries(matrix, [&]<class From, class Number>(From, Number) {
    const auto* index = matrix.indices().as<From>();
    const auto* number = matrix.data().as<Number>();
    result =
        with_index(matrix.columns(), matrix.rows(), matrix.num_entries(), [&]<class Index>(Index) {
          NewMatrix<Index, Number> made(matrix.num_entries());
          const Buffer pointers = group_entries(
              ranges.count(), matrix.columns(),
              [&](int64_t chunk, auto&& put) {
                const RowRange rows = ranges[chunk];
                for (int64_t row = rows.begin; row < rows.end; ++row) {
                  const int64_t end = matrix.row_begin(row + 1);
                  for (int64_t k = matrix.row_begin(row); k < end; ++k) put(index[k], k, row);
                }
              },
              [&](int64_t place, int64_t k, int64_t row) {
                made.index[place] = static_cast<Index>(row);
                made.number[place] = number[k];
              });
          return made.finish(matrix.columns(), matrix.rows(), pointers.as<int64_t>());
        });
  });
  return result;
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
        allocate_zeroed_by_workers(num_elements(shape) * static_cast<int64_t>(sizeof(Number)));
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

Sparse take_rows(const Sparse& matrix, const Tensor& rows) {
  const ScopedTag tag("take");
  if (rows.num_dimensions() != 1 || rows.dtype() != dtype_of<int64_t>())
    throw_error<TypeMismatchError>("take", "rows must be int64 with one dimension",
                                   {{"dtype", rows.dtype().name()}});
  const Tensor wanted = contiguous(rows, "take");
  const auto* row = wanted.as<int64_t>();
  const int64_t count = wanted.num_elements();
  Buffer pointers = allocate_zeroed_by_workers((count + 1) * kPointerBytes);
  auto* pointer = pointers.mutable_as<int64_t>();
  for (int64_t k = 0; k < count; ++k) {
    if (row[k] < 0 || row[k] >= matrix.rows())
      throw_error<InvalidArgumentError>("take", "there is no such row",
                                        {{"row", row[k]}, {"rows", matrix.rows()}});
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

Tensor column_counts(const Sparse& matrix) {
  const ScopedTag tag("column_counts");
  const int64_t columns = matrix.columns();
  const RowRanges ranges(matrix, num_chunks(matrix.num_entries(), columns));
  Buffer parts = allocate_zeroed_by_workers(ranges.count() * columns * kPointerBytes);
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
