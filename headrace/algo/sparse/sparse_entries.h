// SPDX-License-Identifier: Apache-2.0
// For loops over the entries of sparse matrices: their types, and tasks of rows.
#pragma once
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/data/sparse.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/buffer/pin.h"

#include <algorithm>
#include <string_view>

namespace hr {

/// Calls `f(Index(), Number())` with the C++ types of a matrix's indices and data.
template <class F>
void visit_entries(const Sparse& matrix, F&& f) {
  const auto with_index = [&](auto index) {
    switch (matrix.dtype().id()) {
      case TypeId::kFloat32:
        return f(index, float());
      case TypeId::kInt64:
        return f(index, int64_t());
      default:
        return f(index, double());
    }
  };
  if (matrix.indices().dtype() == dtype_of<int32_t>()) return with_index(int32_t());
  return with_index(int64_t());
}

struct RowRange {
  int64_t begin;
  int64_t end;
};

/// Whether others, as SciPy, may write to where entries are.
inline bool is_shared(const Sparse& matrix) {
  return matrix.indices().buffer().is_foreign() || matrix.indptr().buffer().is_foreign();
}

/// Refuse pointers that descend or leave the entries, and columns of some rows that are not there,
/// as `check_entries` does.
HR_API void check_pointers(const Sparse& matrix);
HR_API void check_columns(const Sparse& matrix, RowRange rows,
                          std::string_view layout = "csr_matrix");

/// Checks a shared matrix: for loops that read entries but not by `for_row_ranges`.
HR_API void check_shared(const Sparse& matrix);

/// Rows cut into ranges of about equally many entries; the borders follow from the matrix and the
/// number of ranges alone.
class RowRanges {
 public:
  RowRanges(const Sparse& matrix, int64_t count) : matrix_(matrix), count_(count) {}

  int64_t count() const { return count_; }

  RowRange operator[](int64_t index) const { return {border(index), border(index + 1)}; }

 private:
  /// The first row that begins at or behind this share of the entries.
  int64_t border(int64_t index) const {
    if (index == 0) return 0;
    if (index == count_) return matrix_.rows();
    const int64_t entries = matrix_.num_entries();
    const int64_t entry = matrix_.row_begin(0) + entries / count_ * index;
    return partition_point(int64_t{0}, matrix_.rows(),
                           [&](int64_t row) { return matrix_.row_begin(row) < entry; });
  }

  const Sparse& matrix_;
  int64_t count_;
};

/// The bytes of the entries of rows, in indices or data.
inline PinnedRange entry_range(const Sparse& matrix, const Tensor& part, RowRange rows) {
  const int64_t width = part.dtype().size_bytes();
  return {&part.buffer(), part.byte_offset() + matrix.row_begin(rows.begin) * width,
          part.byte_offset() + matrix.row_begin(rows.end) * width};
}

/// As many ranges of rows as pay for a sum or counter of every column in each.
inline int64_t num_column_chunks(const Sparse& matrix) {
  constexpr int64_t kLeast = int64_t{1} << 16, kMost = 16;
  return std::clamp(matrix.num_entries() / std::max(matrix.columns(), kLeast), int64_t{1}, kMost);
}

/// Runs `body(RowRange)` over all rows on all workers, in ranges of about 2^15 entries or rows,
/// with the entries pinned. Entries that others may have written to are checked on the way.
template <class F>
void for_row_ranges(const Sparse& matrix, F&& body) {
  constexpr int64_t kWork = int64_t{1} << 15;
  const bool shared = is_shared(matrix);
  if (shared) check_pointers(matrix);
  const RowRanges ranges(matrix, 1 + std::max(matrix.num_entries(), matrix.rows()) / kWork);
  parallel_for(ranges.count(), [&](int64_t k) {
    const RowRange rows = ranges[k];
    const Pin pin{entry_range(matrix, matrix.indices(), rows),
                  entry_range(matrix, matrix.data(), rows)};
    if (shared) check_columns(matrix, rows);
    body(rows);
  });
}

}  // namespace hr
