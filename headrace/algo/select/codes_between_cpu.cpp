// SPDX-License-Identifier: Apache-2.0
// Codes of categories in a range: compared in vectors, whose masks are the bits.
#define HWY_TARGET_INCLUDE "headrace/algo/select/codes_between_cpu.cpp"
#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/codes_between.h"
#include "headrace/base/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Bit i of `out`: whether codes[i] - begin, without a sign, is less than `length`, turned by
/// `flip`.
void less_bits(const int32_t* codes, int64_t count, uint32_t begin, uint32_t length, uint64_t flip,
               uint8_t* out) {
  int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<uint32_t, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto first = hn::Set(d, begin), most = hn::Set(d, length);
  const auto* const unsigned_codes = reinterpret_cast<const uint32_t*>(codes);
  for (; row + 64 <= count; row += 64) {
    uint64_t word = 0;
    for (int64_t i = 0; i < 64; i += lanes) {
      uint8_t bits[8] = {};  // StoreMaskBits may write a few bytes more
      const auto code = hn::LoadU(d, unsigned_codes + row + i);
      hn::StoreMaskBits(d, hn::Lt(hn::Sub(code, first), most), bits);
      uint64_t part;
      std::memcpy(&part, bits, sizeof part);
      word |= (part & ((uint64_t{1} << lanes) - 1)) << i;
    }
    word ^= flip;
    std::memcpy(out + row / 8, &word, sizeof word);
  }
#endif
  for (; row < count; row += 64) {
    const int64_t rest = std::min<int64_t>(64, count - row);
    uint64_t word = 0;
    for (int64_t i = 0; i < rest; ++i)
      word |= uint64_t{static_cast<uint32_t>(codes[row + i]) - begin < length} << i;
    word = (word ^ flip) & (~uint64_t{0} >> (64 - rest));
    std::memcpy(out + row / 8, &word, static_cast<size_t>(bitmap_bytes(rest)));
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr {

Column codes_between(const Column& column, int32_t begin, int32_t end, bool inside,
                     const Mask* where) {
  const int64_t rows = column.num_rows();
  const int32_t* const codes = column.values<int32_t>().data();
  const auto first = static_cast<uint32_t>(begin);
  const auto length = static_cast<uint32_t>(std::max(end - begin, 0));
  const auto less_bits = HR_SIMD(less_bits);
  const Nulls null(column);
  Buffer bits = Buffer::allocate(bitmap_bytes(rows));
  uint8_t* const out = rows > 0 ? bits.mutable_as<uint8_t>() : nullptr;
  parallel_morsels(rows, {reads(column)}, [&](Morsel morsel) {
    less_bits(codes + morsel.begin, morsel.end - morsel.begin, first, length,
              inside ? 0 : ~uint64_t{0}, out + morsel.begin / 8);
    if (!where && !null.any()) return;
    for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
      const int64_t count = std::min<int64_t>(64, morsel.end - row);
      uint64_t word = load_bits(out, row, count) & null.valid(row, count);
      if (where) word &= where->word(row, count);
      std::memcpy(out + row / 8, &word, static_cast<size_t>(bitmap_bytes(count)));
    }
  });
  return Column(TypeId::kBool, rows, std::move(bits), null.bitmap(rows),
                null.any() ? column.null_count() : 0);
}

}  // namespace hr
#endif
