// SPDX-License-Identifier: Apache-2.0
// Rows of a sparse product: bits of their columns, then sums at the ranks of those bits.
#define HWY_TARGET_INCLUDE "headrace/algo/sparse/spgemm_cpu.cpp"
#include "headrace/algo/sparse/spgemm_kernels.h"
#include "headrace/base/simd_targets.h"

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

HR_INLINE int64_t ones(uint64_t bits) {
  return __builtin_popcountll(bits);
}
HR_INLINE uint64_t bit_of(uint64_t place) {
  return uint64_t{1} << (place & 63);
}

/// The words that a row has touched, from the lowest to the highest group.
struct Touched {
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
};

/// Sets the bits of the columns of a row of the product.
template <class Matrices>
HR_INLINE Touched mark_columns(const Matrices& matrices, int64_t row, cpu::RowBits bits) {
  Touched touched;
  const int64_t end = matrices.left->row_begin(row + 1);
  for (int64_t k = matrices.left->row_begin(row); k < end; ++k) {
    const auto from = static_cast<int64_t>(matrices.left_index[k]);
    const int64_t stop = matrices.right->row_begin(from + 1);
    int64_t at = matrices.right->row_begin(from);
    if (at == stop) continue;
    // A word is written when the columns leave it: in banded matrices many are of one word.
    uint64_t word = static_cast<uint64_t>(matrices.right_index[at]) >> 6, set = 0;
    touched.low = touched.low < word ? touched.low : word;
    for (; at < stop; ++at) {
      const auto column = static_cast<uint64_t>(matrices.right_index[at]);
      if (column >> 6 != word) {
        bits.words[word] |= set;
        bits.groups[word >> 6] |= bit_of(word);
        word = column >> 6;
        set = 0;
      }
      set |= bit_of(column);
    }
    bits.words[word] |= set;
    bits.groups[word >> 6] |= bit_of(word);
    touched.high = touched.high > word ? touched.high : word;
  }
  return touched;
}

/// Calls `visit(word)` for the touched words in order.
template <class Visit>
HR_INLINE void visit_words(Touched touched, cpu::RowBits bits, Visit&& visit) {
  if (touched.low > touched.high) return;
  for (uint64_t group = touched.low >> 6; group <= touched.high >> 6; ++group)
    for (uint64_t left = bits.groups[group]; left != 0; left &= left - 1)
      visit(group << 6 | static_cast<uint64_t>(__builtin_ctzll(left)));
}

HR_INLINE void clear_words(Touched touched, cpu::RowBits bits) {
  visit_words(touched, bits, [&](uint64_t word) { bits.words[word] = 0; });
  if (touched.low > touched.high) return;
  for (uint64_t group = touched.low >> 6; group <= touched.high >> 6; ++group)
    bits.groups[group] = 0;
}

template <class Matrices>
void count_rows(const Matrices& matrices, RowRange rows, cpu::RowBits bits, int64_t* counts) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const Touched touched = mark_columns(matrices, row, bits);
    int64_t count = 0;
    visit_words(touched, bits, [&](uint64_t word) { count += ones(bits.words[word]); });
    clear_words(touched, bits);
    counts[row + 1] = count;
  }
}

template <class Matrices>
void add_rows(const Matrices& matrices, RowRange rows, cpu::RowBits bits) {
  using Index = typename Matrices::OutIndex;
  using Number = typename Matrices::Value;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const Touched touched = mark_columns(matrices, row, bits);
    uint32_t count = 0;
    Index* const columns = matrices.index + matrices.begins[row];
    Number* const sums = matrices.number + matrices.begins[row];
    visit_words(touched, bits, [&](uint64_t word) {
      bits.before[word] = count;
      for (uint64_t left = bits.words[word]; left != 0; left &= left - 1) {
        columns[count] =
            static_cast<Index>(word << 6 | static_cast<uint64_t>(__builtin_ctzll(left)));
        sums[count++] = 0;
      }
    });
    const int64_t end = matrices.left->row_begin(row + 1);
    for (int64_t k = matrices.left->row_begin(row); k < end; ++k) {
      const auto from = static_cast<int64_t>(matrices.left_index[k]);
      const Number factor = matrices.left_number[k];
      const int64_t stop = matrices.right->row_begin(from + 1);
      for (int64_t at = matrices.right->row_begin(from); at < stop; ++at) {
        const auto column = static_cast<uint64_t>(matrices.right_index[at]);
        const uint64_t word = column >> 6;
        const int64_t rank = bits.before[word] + ones(bits.words[word] & (bit_of(column) - 1));
        sums[rank] += factor * matrices.right_number[at];
      }
    }
    clear_words(touched, bits);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class Index, class Number>
void count_products(const SparseMatrices<Index, Number>& matrices, RowRange rows, RowBits bits,
                    int64_t* counts) {
  using Matrices = SparseMatrices<Index, Number>;
  HR_SIMD(count_rows<Matrices>)(matrices, rows, bits, counts);
}

template <class Index, class Number, class Out>
void add_products(const SparseSums<Index, Number, Out>& sums, RowRange rows, RowBits bits) {
  using Sums = SparseSums<Index, Number, Out>;
  HR_SIMD(add_rows<Sums>)(sums, rows, bits);
}

#define HR_SPGEMM(Index, Number)                                                                   \
  template void count_products(const SparseMatrices<Index, Number>&, RowRange, RowBits, int64_t*); \
  template void add_products(const SparseSums<Index, Number, int32_t>&, RowRange, RowBits);        \
  template void add_products(const SparseSums<Index, Number, int64_t>&, RowRange, RowBits);
HR_SPGEMM(int32_t, float)
HR_SPGEMM(int32_t, double)
HR_SPGEMM(int32_t, uint64_t)
HR_SPGEMM(int64_t, float)
HR_SPGEMM(int64_t, double)
HR_SPGEMM(int64_t, uint64_t)
#undef HR_SPGEMM

}  // namespace hr::cpu
#endif
