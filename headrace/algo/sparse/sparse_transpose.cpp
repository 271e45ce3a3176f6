// SPDX-License-Identifier: Apache-2.0
// Entries by column: those of a band are read where each column meets it, others are grouped by
// key.
#include "headrace/algo/sparse/sparse_transpose.h"

#include "headrace/algo/sort/radix_partition_kernels.h"
#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace hr {
namespace {

/// Rows that each have neighbouring columns in order and begin and end no earlier than the row
/// before, as in banded matrices: so the rows of a column are neighbours as well, and where its
/// entries go follows from them. `Value` is as wide as the values.
template <class Index, class Out, class Value>
class Band {
 public:
  explicit Band(const Sparse& matrix)
      : matrix_(matrix),
        index_(matrix.indices().as<Index>()),
        value_(reinterpret_cast<const Value*>(matrix.data().data())),
        columns_(matrix.columns()) {
    const int64_t rows = matrix.rows(), from = matrix.row_begin(0), to = matrix.row_begin(rows);
    begin_ = partition_point(int64_t{0}, rows,
                             [&](int64_t row) { return matrix.row_begin(row + 1) <= from; });
    end_ = partition_point(begin_, rows, [&](int64_t row) { return matrix.row_begin(row) < to; });
  }

  /// Nothing where rows are no band, or where a column is so long that its values, a row apart, do
  /// not stay in cache until the next column.
  std::optional<Sparse> transposed() const {
    constexpr int64_t kFewRows = 16, kLong = int64_t{1} << 11;
    const int64_t entries = matrix_.num_entries();
    if (entries / kLong > columns_) return {};
    if (!is_band({begin_, std::min(begin_ + kFewRows, end_)})) return {};
    std::atomic<bool> band = true;
    for_row_ranges(matrix_, [&](RowRange rows) {
      if (band.load(std::memory_order_relaxed) && !is_band(rows)) band = false;
    });
    if (!band) return {};
    Buffer indptr = room_for<Out>(checked_add("transpose", columns_, 1));
    Buffer rows = Buffer::allocate_spillable(sparse_bytes(entries, int64_t{sizeof(Out)}));
    Buffer values = Buffer::allocate_spillable(sparse_bytes(entries, int64_t{sizeof(Value)}));
    auto* const pointer = indptr.mutable_as<Out>();
    const int64_t step = std::max<int64_t>(1, kTask * columns_ / std::max<int64_t>(entries, 1));
    parallel_morsels(columns_, step, {}, [&](const Morsel& columns) {
      move(columns.begin, columns.end, pointer, rows, values);
    });
    pointer[columns_] = static_cast<Out>(entries);
    rows.seal();
    values.seal();
    return Sparse(columns_, matrix_.rows(),
                  Tensor(dtype_of<Out>(), {columns_ + 1}, std::move(indptr)),
                  Tensor(dtype_of<Out>(), {entries}, std::move(rows)),
                  Tensor(matrix_.dtype(), {entries}, std::move(values)));
  }

 private:
  // Entries that are gathered in cache before they leave, and about those of a task.
  static constexpr int64_t kBlock = int64_t{1} << 13, kTask = 16 * kBlock;

  int64_t first(int64_t row) const { return index_[matrix_.row_begin(row)]; }
  int64_t last(int64_t row) const { return index_[matrix_.row_begin(row + 1) - 1]; }

  bool is_band(RowRange rows) const {
    const int64_t begin = std::max(rows.begin, begin_), end = std::min(rows.end, end_);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t from = matrix_.row_begin(row), to = matrix_.row_begin(row + 1);
      if (from == to) return false;
      const Index least = index_[from];
      bool neighbours = index_[to - 1] - least == to - 1 - from;
      for (int64_t k = from + 1; k < to; ++k) neighbours &= index_[k - 1] < index_[k];
      if (!neighbours) return false;
      if (row > begin_ && (first(row - 1) > least || last(row - 1) > index_[to - 1])) return false;
    }
    return true;
  }

  /// The first row that ends at or behind a column, and the first that begins behind it.
  RowRange rows_of(int64_t column) const {
    return {partition_point(begin_, end_, [&](int64_t row) { return last(row) < column; }),
            partition_point(begin_, end_, [&](int64_t row) { return first(row) <= column; })};
  }

  /// Entries of columns before this one, which these rows are of.
  int64_t place_of(int64_t column, RowRange rows) const {
    int64_t place = matrix_.row_begin(rows.begin) - matrix_.row_begin(0);
    for (int64_t row = rows.begin; row < rows.end; ++row) place += column - first(row);
    return place;
  }

  void move(int64_t begin, int64_t end, Out* pointer, Buffer& rows, Buffer& values) const {
    RowRange here = rows_of(begin);
    const RowRange behind = rows_of(end);
    const int64_t all = std::max(here.begin, behind.end);
    const int64_t place = place_of(begin, here), stop = place_of(end, behind);
    const auto written = [&](const Buffer& buffer, int64_t width) {
      return PinnedRange{&buffer, width * place, width * stop, true};
    };
    const Pin pin{entry_range(matrix_, matrix_.data(), {here.begin, all}),
                  written(rows, sizeof(Out)), written(values, sizeof(Value))};
    // Where the value of each row in column 0 would be.
    const int64_t from_row = here.begin;
    BudgetedVector<const Value*> base(static_cast<size_t>(all - from_row));
    for (int64_t row = from_row; row < all; ++row)
      base[static_cast<size_t>(row - from_row)] = value_ + (matrix_.row_begin(row) - first(row));
    BudgetedVector<Out> row_of(static_cast<size_t>(2 * kBlock));
    BudgetedVector<Value> value_of(row_of.size());
    int64_t done = place, at = 0;
    const auto copy_out = [&](const auto& from, Buffer& to) {
      const auto width = static_cast<int64_t>(sizeof(from[0]));
      cpu::copy_out(reinterpret_cast<const std::byte*>(from.data()), at * width,
                    to.mutable_data() + done * width);
    };
    for (int64_t column = begin; column < end; ++column) {
      while (here.begin < end_ && last(here.begin) < column) ++here.begin;
      here.end = std::max(here.begin, here.end);
      while (here.end < all && first(here.end) <= column) ++here.end;
      pointer[column] = static_cast<Out>(done + at);
      const int64_t length = here.end - here.begin;
      if (at + length > static_cast<int64_t>(row_of.size())) {
        row_of.resize(static_cast<size_t>(at + length));
        value_of.resize(row_of.size());
      }
      const Value* const* const from = base.data() + (here.begin - from_row);
      Out* const row_to = row_of.data() + at;
      Value* const value_to = value_of.data() + at;
      for (int64_t i = 0; i < length; ++i) row_to[i] = static_cast<Out>(here.begin + i);
      for (int64_t i = 0; i < length; ++i) value_to[i] = from[i][column];
      at += length;
      if (at < kBlock && column + 1 < end) continue;
      copy_out(row_of, rows);
      copy_out(value_of, values);
      done += at;
      at = 0;
    }
    cpu::finish_copies();
  }

  const Sparse& matrix_;
  const Index* index_;
  const Value* value_;
  int64_t columns_;
  int64_t begin_;  // rows before it and from end_ on have no entries
  int64_t end_;
};

template <class Out>
Sparse transposed_to(const Sparse& matrix) {
  std::optional<Sparse> made;
  if (matrix.num_entries() > 0)
    visit_entries(matrix, [&]<class Index, class Number>(Index, Number) {
      using Value = std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>;
      made = Band<Index, Out, Value>(matrix).transposed();
    });
  if (made) return *made;
  return grouped<Out>(matrix.entry_indices(), matrix.columns(), matrix.rows(),
                      row_numbers(matrix, dtype_of<Out>()), matrix.entry_data());
}

}  // namespace

Sparse transposed(const Sparse& matrix) {
  const ScopedTag tag("transpose");
  if (is_shared(matrix)) check_pointers(matrix);
  const Dtype index = index_dtype(matrix.columns(), matrix.rows(), matrix.num_entries());
  return index == dtype_of<int32_t>() ? transposed_to<int32_t>(matrix)
                                      : transposed_to<int64_t>(matrix);
}

}  // namespace hr
