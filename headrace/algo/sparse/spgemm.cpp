// SPDX-License-Identifier: Apache-2.0
// Checks, counts and allocates for the product of sparse matrices.
#include "headrace/algo/sparse/spgemm.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/algo/sparse/spgemm_kernels.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <vector>

namespace hr {
namespace {

constexpr const char* kOp = "matmul";
// Products of a task, at most and at least, and columns for each of them: clearing the bits then
// costs little.
constexpr int64_t kProducts = int64_t{1} << 18, kFewProducts = int64_t{1} << 14, kColumns = 16;
constexpr int64_t kTasks = 16;  // of small products

/// Rows cut where about kProducts products are full.
std::vector<int64_t> row_borders(const int64_t* products, int64_t rows, int64_t columns) {
  std::vector<int64_t> borders{0};
  const int64_t share = std::clamp(products[rows] / kTasks, kFewProducts, kProducts);
  const int64_t step = std::max(share, columns / kColumns);
  while (borders.back() < rows) {
    const int64_t* const from = products + borders.back();
    const int64_t* const next = std::upper_bound(from + 1, products + rows + 1, *from + step);
    borders.push_back(std::clamp<int64_t>(next - products - 1, borders.back() + 1,
                                          std::min(rows, borders.back() + kMorselRows)));
  }
  return borders;
}

/// Zeroed bits for rows of this many columns.
class BitsOfRows {
 public:
  explicit BitsOfRows(int64_t columns) : words_(columns / 64 + 1), groups_(divide_up(words_, 64)) {
    room_ = Buffer::allocate_zeroed((words_ + groups_) * kWord + words_ * kWord / 2 + kWord);
  }

  cpu::RowBits get() {
    auto* words = room_.mutable_as<uint64_t>();
    return {words, words + words_, reinterpret_cast<uint32_t*>(words + words_ + groups_)};
  }

 private:
  static constexpr auto kWord = static_cast<int64_t>(sizeof(uint64_t));
  int64_t words_;
  int64_t groups_;
  Buffer room_;
};

template <class Index, class Element>
Sparse product_of(const Sparse& left, const Sparse& right) {
  using Number = std::conditional_t<std::is_same_v<Element, int64_t>, uint64_t, Element>;
  const cpu::SparseMatrices<Index, Number> matrices{&left,
                                                    left.indices().as<Index>(),
                                                    left.data().as<Number>(),
                                                    &right,
                                                    right.indices().as<Index>(),
                                                    right.data().as<Number>(),
                                                    right.indptr().data(),
                                                    right.indptr().dtype().size_bytes()};
  const int64_t rows = left.rows(), columns = right.columns();
  Buffer work = Buffer::allocate(pointer_bytes(rows)),
         entries = Buffer::allocate(pointer_bytes(rows)),
         firsts = Buffer::allocate(pointer_bytes(rows));
  const cpu::RowWindows windows{work.mutable_as<int64_t>(), entries.mutable_as<int64_t>(),
                                firsts.mutable_as<int64_t>()};
  std::atomic<bool> all_known = true;
  for_row_ranges(left, [&](RowRange range) {
    if (!cpu::find_windows(matrices, range, windows)) all_known = false;
  });
  add_up(windows.products, rows);
  const std::vector<int64_t> borders = row_borders(windows.products, rows, columns);
  const auto for_tasks = [&](auto&& body) {
    parallel_for(static_cast<int64_t>(borders.size()) - 1, [&](int64_t task) {
      BitsOfRows bits(columns);
      const auto at = static_cast<size_t>(task);
      body(RowRange{borders[at], borders[at + 1]}, bits.get());
    });
  };
  int64_t* const counts = windows.counts;
  if (!all_known)
    for_tasks([&](RowRange range, cpu::RowBits bits) {
      cpu::count_products(matrices, range, bits, windows);
    });
  add_up(counts, rows);
  return with_index(rows, columns, counts[rows], [&]<class Out>(Out) {
    NewMatrix<Out, Element> made(counts[rows]);
    const cpu::SparseSums<Index, Number, Out> sums{
        matrices,       counts,     windows.products,
        windows.firsts, made.index, reinterpret_cast<Number*>(made.number)};
    for_tasks([&](RowRange range, cpu::RowBits bits) { cpu::add_products(sums, range, bits); });
    return made.finish(rows, columns, counts);
  });
}

}  // namespace

Sparse multiply(const Sparse& left, const Sparse& right) {
  const ScopedTag tag(kOp);
  if (left.columns() != right.rows())
    throw_error<InvalidArgumentError>(kOp, "sizes do not fit",
                                      {{"columns", left.columns()}, {"rows", right.rows()}});
  if (left.dtype() != right.dtype())
    throw_error<TypeMismatchError>(
        kOp, "matrices of different dtypes",
        {{"left", left.dtype().name()}, {"right", right.dtype().name()}});
  const Sparse by_rows = canonical(right);
  const bool wide = left.indices().dtype() != by_rows.indices().dtype();
  const Sparse a = wide ? with_index_dtype(left, dtype_of<int64_t>()) : left,
               b = wide ? with_index_dtype(by_rows, dtype_of<int64_t>()) : by_rows;
  Sparse result;
  visit_entries(a, [&]<class Index, class Number>(Index, Number) {
    result = product_of<Index, Number>(a, b);
  });
  return result;
}

}  // namespace hr
