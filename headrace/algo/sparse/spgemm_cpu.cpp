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

/// The sums of a row of few products, by column: kept in order, without bits. A row that has more
/// is left to these.
template <class Number>
struct FewSums {
  static constexpr int64_t kMost = 8;

  int64_t columns[kMost];
  Number sums[kMost];
  int64_t count = 0;
  int64_t products = 0;

  HR_INLINE void add(int64_t column, Number value) {
    int64_t at = count;
    while (at > 0 && columns[at - 1] > column) --at;
    if (at > 0 && columns[at - 1] == column) {
      sums[at - 1] += value;
      return;
    }
    for (int64_t i = count++; i > at; --i) {
      columns[i] = columns[i - 1];
      sums[i] = sums[i - 1];
    }
    columns[at] = column;
    sums[at] = Number{0} + value;
  }

  /// Whether all products of a row are in it.
  bool is_whole() const { return products <= kMost; }
};

/// The words that a row has touched, from the lowest to the highest group.
struct Touched {
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
};

/// Sets bits [first, last] and those of their words' groups.
HR_INLINE void set_range(uint64_t first, uint64_t last, cpu::RowBits bits) {
  const uint64_t low = first >> 6, high = last >> 6;
  const uint64_t from = ~uint64_t{0} << (first & 63), to = ~uint64_t{0} >> (63 - (last & 63));
  if (low == high) {
    bits.words[low] |= from & to;
  } else {
    bits.words[low] |= from;
    for (uint64_t word = low + 1; word < high; ++word) bits.words[word] = ~uint64_t{0};
    bits.words[high] |= to;
  }
  for (uint64_t word = low; word <= high; ++word) bits.groups[word >> 6] |= bit_of(word);
}

/// Calls `visit(first entry, end, k)` for the rows that the entries k of a row pick. The memory of
/// those of later entries is asked for meanwhile: rows are picked at random, as a rule.
template <class Matrices, class Visit>
HR_INLINE void visit_picked(const Matrices& matrices, int64_t row, Visit&& visit) {
  constexpr int64_t kAhead = 4, kPointersAhead = 12;
  const int64_t all = matrices.left->row_begin(matrices.left->rows());
  const int64_t end = matrices.left->row_begin(row + 1);
  for (int64_t k = matrices.left->row_begin(row); k < end; ++k) {
    if (k + kPointersAhead < all) {
      __builtin_prefetch(matrices.right_begin +
                         matrices.right_begin_width * matrices.left_index[k + kPointersAhead]);
      const int64_t soon = matrices.right->row_begin(matrices.left_index[k + kAhead]);
      __builtin_prefetch(matrices.right_index + soon);
      __builtin_prefetch(matrices.right_number + soon);
    }
    const auto from = static_cast<int64_t>(matrices.left_index[k]);
    const int64_t begin = matrices.right->row_begin(from);
    const int64_t stop = matrices.right->row_begin(from + 1);
    if (begin < stop) visit(begin, stop, k);
  }
}

/// Sets the bits of the columns of a row of the product.
template <class Matrices>
HR_INLINE Touched mark_columns(const Matrices& matrices, int64_t row, cpu::RowBits bits) {
  Touched touched;
  visit_picked(matrices, row, [&](int64_t at, int64_t stop, int64_t) {
    const auto first = static_cast<uint64_t>(matrices.right_index[at]);
    const auto last = static_cast<uint64_t>(matrices.right_index[stop - 1]);
    touched.low = touched.low < first >> 6 ? touched.low : first >> 6;
    touched.high = touched.high > last >> 6 ? touched.high : last >> 6;
    // Neighbours, as in banded matrices, at once.
    if (last - first == static_cast<uint64_t>(stop - at - 1)) return set_range(first, last, bits);
    for (; at < stop; ++at) {
      const auto column = static_cast<uint64_t>(matrices.right_index[at]);
      bits.words[column >> 6] |= bit_of(column);
      bits.groups[column >> 12] |= bit_of(column >> 6);
    }
  });
  return touched;
}

/// The products of a row, as far as these are few.
template <class Matrices>
HR_INLINE auto few_sums(const Matrices& matrices, int64_t row) {
  using Number = typename Matrices::Value;
  FewSums<Number> few;
  visit_picked(matrices, row, [&](int64_t at, int64_t stop, int64_t k) {
    few.products += stop - at;
    if (!few.is_whole()) return;
    for (; at < stop; ++at)
      few.add(static_cast<int64_t>(matrices.right_index[at]),
              matrices.left_number[k] * matrices.right_number[at]);
  });
  return few;
}

template <class Matrices>
HR_INLINE bool may_be_few(const Matrices& matrices, int64_t row) {
  return matrices.left->row_begin(row + 1) - matrices.left->row_begin(row) <=
         FewSums<typename Matrices::Value>::kMost;
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
    if (may_be_few(matrices, row))
      if (const auto few = few_sums(matrices, row); few.is_whole()) {
        counts[row + 1] = few.count;
        continue;
      }
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
    Index* const columns = matrices.index + matrices.begins[row];
    Number* const sums = matrices.number + matrices.begins[row];
    if (may_be_few(matrices, row))
      if (const auto few = few_sums(matrices, row); few.is_whole()) {
        for (int64_t i = 0; i < few.count; ++i) {
          columns[i] = static_cast<Index>(few.columns[i]);
          sums[i] = few.sums[i];
        }
        continue;
      }
    const Touched touched = mark_columns(matrices, row, bits);
    uint32_t count = 0;
    visit_words(touched, bits, [&](uint64_t word) {
      bits.before[word] = count;
      for (uint64_t left = bits.words[word]; left != 0; left &= left - 1) {
        columns[count] =
            static_cast<Index>(word << 6 | static_cast<uint64_t>(__builtin_ctzll(left)));
        sums[count++] = 0;
      }
    });
    const auto rank = [&](int64_t at) {
      const auto column = static_cast<uint64_t>(matrices.right_index[at]);
      return bits.before[column >> 6] + ones(bits.words[column >> 6] & (bit_of(column) - 1));
    };
    visit_picked(matrices, row, [&](int64_t at, int64_t stop, int64_t k) {
      const Number factor = matrices.left_number[k];
      const Number* HWY_RESTRICT from = matrices.right_number;
      if (matrices.right_index[stop - 1] - matrices.right_index[at] == stop - at - 1) {
        Number* HWY_RESTRICT to = sums + rank(at);  // neighbours have neighbouring sums
        for (int64_t i = 0; i < stop - at; ++i) to[i] += factor * from[at + i];
        return;
      }
      for (; at < stop; ++at) sums[rank(at)] += factor * from[at];
    });
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
