// SPDX-License-Identifier: Apache-2.0
// Kernels of sort on the CPU. Sorting in cache is by radix: 12 bits a pass, the leading 24 bits
// first; what still ties there is nearly sorted and is finished by insertion.
#define HWY_TARGET_INCLUDE "headrace/algo/sort/sort_cpu.cpp"
#include "headrace/algo/bits/ordered_word_math.h"
#include "headrace/algo/bits/value_width.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/simd_targets.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void integers(const std::byte* values, int64_t rows, uint64_t base, bool descending,
              uint64_t* out) {
  const T* in = reinterpret_cast<const T*>(values);
  if (descending)
    for (int64_t i = 0; i < rows; ++i) out[i] = base - ordered_word(in[i]);
  else
    for (int64_t i = 0; i < rows; ++i) out[i] = ordered_word(in[i]) - base;
}

// Signed bits as a mask, 0.0 and -0.0 made one by the sum, NaN at the end.
template <class F, class U>
void floats(const std::byte* values, int64_t rows, bool descending, U missing, uint64_t* out) {
  const F* in = reinterpret_cast<const F*>(values);
  const U flip = descending ? static_cast<U>(~U{0}) : U{0};
  for (int64_t i = 0; i < rows; ++i) {
    const U word = static_cast<U>(ordered_word(in[i]) ^ flip);
    out[i] = in[i] != in[i] ? missing : word;
  }
}

void integers_of(Dtype dtype, const std::byte* values, int64_t rows, uint64_t base, bool descending,
                 uint64_t* out) {
  if (dtype.is_bool()) return integers<uint8_t>(values, rows, base, descending, out);
  switch (dtype.storage().id()) {
    case TypeId::kInt8:
      return integers<int8_t>(values, rows, base, descending, out);
    case TypeId::kInt16:
      return integers<int16_t>(values, rows, base, descending, out);
    case TypeId::kInt32:
      return integers<int32_t>(values, rows, base, descending, out);
    case TypeId::kInt64:
      return integers<int64_t>(values, rows, base, descending, out);
    case TypeId::kUInt8:
      return integers<uint8_t>(values, rows, base, descending, out);
    case TypeId::kUInt16:
      return integers<uint16_t>(values, rows, base, descending, out);
    case TypeId::kUInt32:
      return integers<uint32_t>(values, rows, base, descending, out);
    default:
      return integers<uint64_t>(values, rows, base, descending, out);
  }
}

void floats_of(Dtype dtype, const std::byte* values, int64_t rows, bool descending,
               bool missing_first, uint64_t* out) {
  if (dtype.id() == TypeId::kFloat32)
    floats<float, uint32_t>(values, rows, descending, missing_first ? 0 : ~uint32_t{0}, out);
  else
    floats<double, uint64_t>(values, rows, descending, missing_first ? 0 : ~uint64_t{0}, out);
}

cpu::WordRange range_of(const uint64_t* words, int64_t rows) {
  const hn::ScalableTag<uint64_t> tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  auto least = hn::Set(tag, ~uint64_t{0});
  auto greatest = hn::Zero(tag);
  int64_t i = 0;
  for (; i + lanes <= rows; i += lanes) {
    const auto value = hn::LoadU(tag, words + i);
    least = hn::Min(least, value);
    greatest = hn::Max(greatest, value);
  }
  cpu::WordRange range{hn::GetLane(hn::MinOfLanes(tag, least)),
                       hn::GetLane(hn::MaxOfLanes(tag, greatest))};
  for (; i < rows; ++i) {
    range.least = std::min(range.least, words[i]);
    range.greatest = std::max(range.greatest, words[i]);
  }
  return range;
}

void pack(const uint64_t* words, int64_t rows, uint64_t least, int drop, int index_bits,
          uint64_t* packed) {
  for (int64_t i = 0; i < rows; ++i)
    packed[i] = ((words[i] - least) >> drop) << index_bits | static_cast<uint64_t>(i);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

constexpr int64_t kInsertion = 32;  // rows that insertion sorts as fast as two passes

void insertion_sort(uint64_t* x, int64_t rows) {
  for (int64_t i = 1; i < rows; ++i) {
    const uint64_t value = x[i];
    int64_t at = i;
    for (; at > 0 && x[at - 1] > value; --at) x[at] = x[at - 1];
    x[at] = value;
  }
}

// One pass a digit, least digit first; the result is in `x`.
void radix_sort(uint64_t* x, uint64_t* scratch, int64_t rows, int low, int bits, int most) {
  const int passes = (bits + most - 1) / most;
  if (passes == 0) return;
  const int digit = (bits + passes - 1) / passes;
  const size_t bins = size_t{1} << digit;
  const uint64_t mask = bins - 1;
  std::vector<uint32_t> counts(bins * static_cast<size_t>(passes), 0);
  for (int64_t i = 0; i < rows; ++i) {
    uint64_t word = x[i] >> low;
    for (size_t at = 0; at < counts.size(); at += bins, word >>= digit)
      ++counts[at + (word & mask)];
  }
  uint64_t* from = x;
  uint64_t* to = scratch;
  for (int pass = 0; pass < passes; ++pass) {
    uint32_t* next = counts.data() + bins * static_cast<size_t>(pass);
    const int shift = low + pass * digit;
    uint32_t place = 0;
    bool constant = false;
    for (size_t bin = 0; bin < bins; ++bin) {
      const uint32_t count = next[bin];
      constant |= count == rows;
      next[bin] = place;
      place += count;
    }
    if (constant) continue;
    for (int64_t i = 0; i < rows; ++i) to[next[(from[i] >> shift) & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != x) std::memcpy(x, from, static_cast<size_t>(rows) * sizeof *x);
}

template <class T>
void pick(const std::byte* values, const uint32_t* at, int64_t rows, std::byte* out) {
  const T* in = reinterpret_cast<const T*>(values);
  T* to = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < rows; ++i) to[i] = in[at[i]];
}

template <class T>
void reverse(const std::byte* values, int64_t rows, std::byte* out) {
  const T* in = reinterpret_cast<const T*>(values);
  std::reverse_copy(in, in + rows, reinterpret_cast<T*>(out));
}

}  // namespace

void integer_words(Dtype dtype, const std::byte* values, int64_t rows, uint64_t base,
                   bool descending, uint64_t* out) {
  HR_SIMD(integers_of)(dtype, values, rows, base, descending, out);
}

void float_words(Dtype dtype, const std::byte* values, int64_t rows, bool descending,
                 bool missing_first, uint64_t* out) {
  HR_SIMD(floats_of)(dtype, values, rows, descending, missing_first, out);
}

WordRange word_range(const uint64_t* words, int64_t rows) {
  return HR_SIMD(range_of)(words, rows);
}

void pack_words(const uint64_t* words, int64_t rows, uint64_t least, int drop, int index_bits,
                uint64_t* packed) {
  HR_SIMD(pack)(words, rows, least, drop, index_bits, packed);
}

void search_splitters(const uint64_t* words, int64_t rows, const uint64_t* tree, int levels,
                      uint16_t* out) {
  constexpr int64_t kTogether = 16;  // independent searches hide each other's loads
  const uint32_t leaves = uint32_t{1} << levels;
  int64_t row = 0;
  for (; row + kTogether <= rows; row += kTogether) {
    uint32_t at[kTogether];
    for (uint32_t& place : at) place = 1;
    for (int level = 0; level < levels; ++level)
#pragma GCC unroll 16
      for (int64_t k = 0; k < kTogether; ++k)
        at[k] = 2 * at[k] + static_cast<uint32_t>(words[row + k] >= tree[at[k]]);
    for (int64_t k = 0; k < kTogether; ++k) out[row + k] = static_cast<uint16_t>(at[k] - leaves);
  }
  for (; row < rows; ++row) {
    uint32_t at = 1;
    for (int level = 0; level < levels; ++level)
      at = 2 * at + static_cast<uint32_t>(words[row] >= tree[at]);
    out[row] = static_cast<uint16_t>(at - leaves);
  }
}

void sort_packed(uint64_t* packed, uint64_t* scratch, int64_t rows, int low, int bits) {
  if (rows <= kInsertion) return insertion_sort(packed, rows);
  const int index = std::bit_width(static_cast<uint64_t>(rows - 1));
  const int most = rows < 8192 ? 8 : 12;
  const int enough = (index + 5 + most) / most * most;
  if (bits <= enough) return radix_sort(packed, scratch, rows, low, bits, most);
  const int skipped = bits - enough;
  radix_sort(packed, scratch, rows, low + skipped, enough, most);
  // Runs of ties are in their first order, so where they are long all bits can be sorted as well.
  int64_t ties = 0, run = 0, longest = 0;
  for (int64_t i = 1; i < rows; ++i) {
    const bool tie = packed[i] >> (low + skipped) == packed[i - 1] >> (low + skipped);
    ties += tie;
    run = tie ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  if (ties > rows / 8 || longest > kInsertion)
    return radix_sort(packed, scratch, rows, low, bits, most);
  insertion_sort(packed, rows);
}

void pick_values(const std::byte* values, const uint32_t* at, int64_t rows, int64_t width,
                 std::byte* out) {
  visit_width(width, [&]<class T>(std::type_identity<T>) { pick<T>(values, at, rows, out); });
}

void reverse_values(const std::byte* values, int64_t rows, int64_t width, std::byte* out) {
  visit_width(width, [&]<class T>(std::type_identity<T>) { reverse<T>(values, rows, out); });
}

}  // namespace hr::cpu
#endif
