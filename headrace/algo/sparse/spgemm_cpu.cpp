// SPDX-License-Identifier: Apache-2.0
// Rows of a sparse product: bits of their columns, then sums at the ranks of those bits.
#define HWY_TARGET_INCLUDE "headrace/algo/sparse/spgemm_cpu.cpp"
#include "headrace/algo/sparse/spgemm_kernels.h"
#include "headrace/base/simd_targets.h"

#include <bit>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

HR_INLINE int64_t ones(uint64_t bits) {
  return __builtin_popcountll(bits);
}
HR_INLINE uint64_t bit_of(uint64_t place) {
  return uint64_t{1} << (place & 63);
}

/// The sums of a row of few products, by column: kept in order, without bits.
template <class Number>
struct FewSums {
  static constexpr int64_t kMost = 8;

  int64_t columns[kMost];
  Number sums[kMost];
  int64_t count = 0;

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

/// The sums of a row of at most kMost products.
template <class Matrices>
HR_INLINE auto few_sums(const Matrices& matrices, int64_t row) {
  using Number = typename Matrices::Value;
  FewSums<Number> few;
  visit_picked(matrices, row, [&](int64_t at, int64_t stop, int64_t k) {
    for (; at < stop; ++at)
      few.add(static_cast<int64_t>(matrices.right_index[at]),
              matrices.left_number[k] * matrices.right_number[at]);
  });
  return few;
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

/// Columns [low, high] of a row of the product, as long as the rows that it picks have neighbouring
/// columns and no gaps are between them.
struct Window {
  int64_t low = 0;
  int64_t high = -1;
  bool is_whole = true;

  HR_INLINE void add(int64_t first, int64_t last, int64_t count) {
    if (high < low) {
      low = first;
      high = last;
    }
    is_whole = last - first == count - 1 && first <= high + 1 && last >= low - 1;
    low = low < first ? low : first;
    high = high > last ? high : last;
  }
};

template <class Matrices>
bool find_row_windows(const Matrices& matrices, RowRange rows, cpu::RowWindows windows) {
  constexpr int64_t kAhead = 16;
  const Sparse *const left = matrices.left, *const right = matrices.right;
  const int64_t all = left->row_begin(left->rows());
  bool known = true;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t begin = left->row_begin(row), end = left->row_begin(row + 1);
    int64_t products = 0;
    for (int64_t k = begin; k < end; ++k) {
      if (k + kAhead < all)
        __builtin_prefetch(matrices.right_begin +
                           matrices.right_begin_width * matrices.left_index[k + kAhead]);
      const auto from = static_cast<int64_t>(matrices.left_index[k]);
      products += right->row_begin(from + 1) - right->row_begin(from);
    }
    windows.products[row + 1] = products;
    if (products <= FewSums<typename Matrices::Value>::kMost) {
      windows.counts[row + 1] = few_sums(matrices, row).count;
      windows.firsts[row] = cpu::RowWindows::kFew;
      continue;
    }
    Window window;
    for (int64_t k = begin; window.is_whole && k < end; ++k) {
      const auto from = static_cast<int64_t>(matrices.left_index[k]);
      const int64_t first = right->row_begin(from), count = right->row_begin(from + 1) - first;
      if (count > 0)
        window.add(static_cast<int64_t>(matrices.right_index[first]),
                   static_cast<int64_t>(matrices.right_index[first + count - 1]), count);
    }
    known &= window.is_whole;
    windows.counts[row + 1] = window.high - window.low + 1;
    windows.firsts[row] = window.is_whole ? window.low : cpu::RowWindows::kUnknown;
  }
  return known;
}

/// Sums of `count` neighbouring columns from `low` on, in kVectors vectors: each product has the
/// place of its column, so that sums stay in registers.
template <int kVectors, class Sums, class Number = typename Sums::Value>
HR_INLINE void add_in_vectors(const Sums& sums, int64_t row, int64_t low, int64_t count,
                              Number* HWY_RESTRICT out) {
  using Place = std::conditional_t<sizeof(Number) == 4, float, double>;
  const hn::ScalableTag<Number> d;
  const hn::Rebind<Place, decltype(d)> places;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> made[kVectors];
  for (int v = 0; v < kVectors; ++v) made[v] = hn::Zero(d);
  const auto iota = hn::Iota(places, Place{0});
  const int64_t end = sums.left->row_begin(row + 1);
  for (int64_t k = sums.left->row_begin(row); k < end; ++k) {
    const auto from = static_cast<int64_t>(sums.left_index[k]);
    const int64_t begin = sums.right->row_begin(from), stop = sums.right->row_begin(from + 1);
    if (begin == stop) continue;
    const int64_t first = static_cast<int64_t>(sums.right_index[begin]) - low;
    const auto least = hn::Set(places, static_cast<Place>(first));
    const auto most = hn::Set(places, static_cast<Place>(first + stop - begin));
    const auto factor = hn::Set(d, sums.left_number[k]);
    const Number* HWY_RESTRICT numbers = sums.right_number + (begin - first);
    for (int v = 0; v < kVectors; ++v) {
      const auto at = hn::Add(iota, hn::Set(places, static_cast<Place>(v * lanes)));
      const auto mask = hn::RebindMask(d, hn::And(hn::Ge(at, least), hn::Lt(at, most)));
      const auto values = hn::MaskedLoad(mask, d, numbers + v * lanes);
      // Not 0 times a factor, which may be infinite. Sums are never -0, so 0 changes none.
      made[v] = hn::Add(made[v], hn::IfThenElseZero(mask, hn::Mul(factor, values)));
    }
  }
  const auto last = hn::Set(places, static_cast<Place>(count));
  for (int v = 0; v < kVectors; ++v) {
    const auto at = hn::Add(iota, hn::Set(places, static_cast<Place>(v * lanes)));
    hn::BlendedStore(made[v], hn::RebindMask(d, hn::Lt(at, last)), d, out + v * lanes);
  }
}

/// Sums of a row whose columns are neighbours.
template <class Sums, class Number = typename Sums::Value>
HR_INLINE void add_window(const Sums& sums, int64_t row, int64_t low, int64_t count,
                          Number* HWY_RESTRICT out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Number>()));
  const int64_t picked = sums.left->row_begin(row + 1) - sums.left->row_begin(row);
  // Vectors that are mostly empty cost more than stores.
  if (picked * count <= 4 * (sums.products[row + 1] - sums.products[row])) {
    switch ((count + lanes - 1) / lanes) {
#define HR_VECTORS(n) \
  case n:             \
    return add_in_vectors<n>(sums, row, low, count, out);
      HR_VECTORS(1)
      HR_VECTORS(2)
      HR_VECTORS(3)
      HR_VECTORS(4)
      HR_VECTORS(5)
      HR_VECTORS(6)
      HR_VECTORS(7)
      HR_VECTORS(8)
#undef HR_VECTORS
      default:
        break;
    }
  }
  for (int64_t i = 0; i < count; ++i) out[i] = 0;
  visit_picked(sums, row, [&](int64_t at, int64_t stop, int64_t k) {
    const Number factor = sums.left_number[k];
    const Number* HWY_RESTRICT from = sums.right_number + at;
    Number* HWY_RESTRICT to = out + (static_cast<int64_t>(sums.right_index[at]) - low);
    for (int64_t i = 0; i < stop - at; ++i) to[i] += factor * from[i];
  });
}

template <class Matrices>
void count_rows(const Matrices& matrices, RowRange rows, cpu::RowBits bits,
                cpu::RowWindows windows) {
  int64_t* const counts = windows.counts;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (windows.firsts[row] != cpu::RowWindows::kUnknown) continue;
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
    if (const int64_t low = matrices.firsts[row]; low >= 0) {
      const int64_t count = matrices.begins[row + 1] - matrices.begins[row];
      for (int64_t i = 0; i < count; ++i) columns[i] = static_cast<Index>(low + i);
      add_window(matrices, row, low, count, sums);
      continue;
    }
    if (matrices.firsts[row] == cpu::RowWindows::kFew) {
      const auto few = few_sums(matrices, row);
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
bool find_windows(const SparseMatrices<Index, Number>& matrices, RowRange rows,
                  RowWindows windows) {
  using Matrices = SparseMatrices<Index, Number>;
  return HR_SIMD(find_row_windows<Matrices>)(matrices, rows, windows);
}

template <class Index, class Number>
void count_products(const SparseMatrices<Index, Number>& matrices, RowRange rows, RowBits bits,
                    RowWindows windows) {
  using Matrices = SparseMatrices<Index, Number>;
  HR_SIMD(count_rows<Matrices>)(matrices, rows, bits, windows);
}

template <class Index, class Number, class Out>
void add_products(const SparseSums<Index, Number, Out>& sums, RowRange rows, RowBits bits) {
  using Sums = SparseSums<Index, Number, Out>;
  HR_SIMD(add_rows<Sums>)(sums, rows, bits);
}

#define HR_SPGEMM(Index, Number)                                                            \
  template bool find_windows(const SparseMatrices<Index, Number>&, RowRange, RowWindows);   \
  template void count_products(const SparseMatrices<Index, Number>&, RowRange, RowBits,     \
                               RowWindows);                                                 \
  template void add_products(const SparseSums<Index, Number, int32_t>&, RowRange, RowBits); \
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
