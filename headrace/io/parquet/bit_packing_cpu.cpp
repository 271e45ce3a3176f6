// SPDX-License-Identifier: Apache-2.0
#define HWY_TARGET_INCLUDE "headrace/io/parquet/bit_packing_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/io/parquet/bit_packing_kernels.h"

#include <array>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One integer of up to 32 bits, whose bytes are all before `end`.
inline uint32_t unpack_one(const uint8_t* in, const uint8_t* end, int64_t bit, uint64_t mask) {
  const uint8_t* const from = in + (bit >> 3);
  uint64_t word = 0;
  if (end - from >= 8)
    std::memcpy(&word, from, 8);
  else if (end > from)
    std::memcpy(&word, from, static_cast<size_t>(end - from));
  return static_cast<uint32_t>(word >> (bit & 7) & mask);
}

#if HWY_MAX_BYTES >= 32

// Eight integers of at most 25 bits from a whole byte on: each lane shuffles the four bytes that
// have its bits to one place and shifts them down. Reads 16 bytes from there and from the byte of
// the fifth integer.
struct EightAtOnce {
  explicit EightAtOnce(int width) : half_bytes(4 * width / 8) {
    for (int i = 0; i < 8; ++i) {
      const int bit = i < 4 ? i * width : i * width - 8 * half_bytes;
      for (int b = 0; b < 4; ++b)
        places[static_cast<size_t>(4 * i + b)] = static_cast<uint8_t>(bit / 8 + b);
      shifts[static_cast<size_t>(i)] = static_cast<uint32_t>(bit % 8);
    }
  }

  int half_bytes;
  alignas(32) std::array<uint8_t, 32> places;
  alignas(32) std::array<uint32_t, 8> shifts;
};

int64_t unpack_eights(const uint8_t* in, const uint8_t* end, int width, int64_t count,
                      uint32_t* out) {
  const hn::FixedTag<uint32_t, 8> d32;
  const hn::FixedTag<uint8_t, 32> d8;
  const hn::Half<decltype(d8)> half;
  const EightAtOnce plan(width);
  const auto places = hn::Load(d8, plan.places.data());
  const auto shifts = hn::Load(d32, plan.shifts.data());
  const auto mask = hn::Set(d32, (uint32_t{1} << width) - 1);
  int64_t done = 0;
  for (; done + 8 <= count && end - in >= plan.half_bytes + 16; done += 8, in += width) {
    const auto bytes = hn::Combine(d8, hn::LoadU(half, in + plan.half_bytes), hn::LoadU(half, in));
    const auto words = hn::BitCast(d32, hn::TableLookupBytes(bytes, places));
    hn::StoreU(hn::And(hn::Shr(words, shifts), mask), d32, out + done);
  }
  return done;
}

#endif

void unpack_bits(const uint8_t* in, const uint8_t* end, int64_t first_bit, int width, int64_t count,
                 uint32_t* out) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  int64_t done = 0;
#if HWY_MAX_BYTES >= 32
  if (width > 0 && width <= 25) {
    for (; done < count && ((first_bit + done * width) & 7) != 0; ++done)
      out[done] = unpack_one(in, end, first_bit + done * width, mask);
    done +=
        unpack_eights(in + ((first_bit + done * width) >> 3), end, width, count - done, out + done);
  }
#endif
  for (; done < count; ++done) out[done] = unpack_one(in, end, first_bit + done * width, mask);
}

uint32_t greatest(const uint32_t* numbers, int64_t count) {
  uint32_t most = 0;
  for (int64_t i = 0; i < count; ++i) most = numbers[i] > most ? numbers[i] : most;
  return most;
}

template <class T>
void gather_as(const std::byte* dictionary, const uint32_t* indices, int64_t count,
               std::byte* out) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out + i * static_cast<int64_t>(sizeof(T)),
                dictionary + static_cast<size_t>(indices[i]) * sizeof(T), sizeof(T));
}

struct Sixteen {
  uint64_t low;
  uint64_t high;
};

void gather(const std::byte* dictionary, int64_t element_bytes, const uint32_t* indices,
            int64_t count, std::byte* out) {
  switch (element_bytes) {
    case 1:
      return gather_as<uint8_t>(dictionary, indices, count, out);
    case 2:
      return gather_as<uint16_t>(dictionary, indices, count, out);
    case 4:
      return gather_as<uint32_t>(dictionary, indices, count, out);
    case 8:
      return gather_as<uint64_t>(dictionary, indices, count, out);
    default:
      return gather_as<Sixteen>(dictionary, indices, count, out);
  }
}

#if HWY_MAX_BYTES >= 32

// Sixteen elements of 4 bytes at once: rows of bytes zipped to pairs, pairs to elements.
int64_t join_fours(const uint8_t* streams, int64_t stride, int64_t first, int64_t count,
                   std::byte* out) {
  const hn::FixedTag<uint8_t, 16> d8;
  const hn::FixedTag<uint16_t, 8> d16;
  const hn::FixedTag<uint32_t, 4> d32;
  auto* to = reinterpret_cast<uint32_t*>(out);
  int64_t done = 0;
  for (; done + 16 <= count; done += 16, to += 16) {
    const uint8_t* const from = streams + first + done;
    const auto a = hn::LoadU(d8, from), b = hn::LoadU(d8, from + stride);
    const auto c = hn::LoadU(d8, from + 2 * stride), e = hn::LoadU(d8, from + 3 * stride);
    const auto ab_low = hn::BitCast(d16, hn::InterleaveLower(d8, a, b));
    const auto ab_high = hn::BitCast(d16, hn::InterleaveUpper(d8, a, b));
    const auto ce_low = hn::BitCast(d16, hn::InterleaveLower(d8, c, e));
    const auto ce_high = hn::BitCast(d16, hn::InterleaveUpper(d8, c, e));
    hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d16, ab_low, ce_low)), d32, to);
    hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d16, ab_low, ce_low)), d32, to + 4);
    hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d16, ab_high, ce_high)), d32, to + 8);
    hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d16, ab_high, ce_high)), d32, to + 12);
  }
  return done;
}

// Eight bytes: fours of the low and of the high half, zipped once more.
int64_t join_eights(const uint8_t* streams, int64_t stride, int64_t first, int64_t count,
                    std::byte* out) {
  const hn::FixedTag<uint32_t, 4> d32;
  const hn::FixedTag<uint64_t, 2> d64;
  alignas(16) std::array<uint32_t, 16> low, high;
  auto* to = reinterpret_cast<uint64_t*>(out);
  int64_t done = 0;
  for (; done + 16 <= count; done += 16) {
    join_fours(streams, stride, first + done, 16, reinterpret_cast<std::byte*>(low.data()));
    join_fours(streams + 4 * stride, stride, first + done, 16,
               reinterpret_cast<std::byte*>(high.data()));
    for (size_t i = 0; i < 16; i += 4, to += 4) {
      const auto l = hn::Load(d32, low.data() + i), h = hn::Load(d32, high.data() + i);
      hn::StoreU(hn::BitCast(d64, hn::InterleaveLower(d32, l, h)), d64, to);
      hn::StoreU(hn::BitCast(d64, hn::InterleaveUpper(d32, l, h)), d64, to + 2);
    }
  }
  return done;
}

#endif

void join_bytes(const uint8_t* streams, int64_t stride, int64_t width, int64_t first, int64_t count,
                std::byte* out) {
  int64_t done = 0;
#if HWY_MAX_BYTES >= 32
  if (width == 4) done = join_fours(streams, stride, first, count, out);
  if (width == 8) done = join_eights(streams, stride, first, count, out);
#endif
  for (; done < count; ++done)
    for (int64_t b = 0; b < width; ++b)
      out[done * width + b] = static_cast<std::byte>(streams[b * stride + first + done]);
}

// True where all strings have equal lengths in common with the one before: those of numbers that
// are written with leading zeros do.
bool are_alike(const int64_t* prefixes, const int64_t* suffixes, int64_t count) {
  int64_t differs = 0;
  for (int64_t i = 1; i < count; ++i)
    differs |= (prefixes[i] ^ prefixes[0]) | (suffixes[i] ^ suffixes[0]);
  return differs == 0;
}

int64_t short_front_coded_bytes(const int64_t* prefixes, const int64_t* suffixes, int64_t count,
                                int64_t last_bytes) {
  constexpr uint64_t kMost = 12;
  if (count > 1 && are_alike(prefixes, suffixes, count)) {  // the first stands for all
    const int64_t one = short_front_coded_bytes(prefixes, suffixes, 1, last_bytes);
    return one < 0 ? one : one * count;
  }
  // The difference of numbers of which one is too large has its highest bit set.
  uint64_t bytes = 0, too_large = static_cast<uint64_t>(last_bytes - prefixes[0]);
  for (int64_t i = 0; i < count; ++i) {
    const auto prefix = static_cast<uint64_t>(prefixes[i]);
    const auto suffix = static_cast<uint64_t>(suffixes[i]);
    too_large |= prefix | suffix | (kMost - prefix) | (kMost - suffix) | (kMost - prefix - suffix);
    bytes += suffix;
  }
  for (int64_t i = 1; i < count; ++i)
    too_large |= static_cast<uint64_t>(prefixes[i - 1] + suffixes[i - 1] - prefixes[i]);
  return too_large >> 63 ? -1 : static_cast<int64_t>(bytes);
}

#if HWY_TARGET != HWY_SCALAR

// Sixteen bytes of one of these tables, from 16 - n on: the places that move text behind n bytes,
// or the mask of n bytes.
alignas(64) constexpr std::array<uint8_t, 32> kMoved = {
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15};
alignas(64) constexpr std::array<uint8_t, 32> kFirst = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0};

void put_front_coded(const int64_t* prefixes, const int64_t* suffixes, int64_t count,
                     const char* text, const std::byte* last, std::byte* out) {
  const hn::FixedTag<uint8_t, 16> d8;
  auto* to = reinterpret_cast<uint8_t*>(out);
  const auto* from = reinterpret_cast<const uint8_t*>(text);
  auto before = hn::LoadU(d8, reinterpret_cast<const uint8_t*>(last));
  if (are_alike(prefixes, suffixes, count)) {  // no string waits for the one before
    const int64_t begin = 4 + prefixes[0], end = begin + suffixes[0];
    const auto size = static_cast<uint32_t>(end - 4);
    std::array<uint8_t, 16> first;
    hn::StoreU(hn::And(before, hn::LoadU(d8, kFirst.data() + 16 - begin)), d8, first.data());
    std::memcpy(first.data(), &size, sizeof size);
    const auto same = hn::LoadU(d8, first.data());
    const auto is_text = hn::LoadU(d8, kFirst.data() + 16 - end);
    const auto places =
        hn::IfThenElse(hn::MaskFromVec(is_text), hn::LoadU(d8, kMoved.data() + 16 - begin),
                       hn::Set(d8, uint8_t{128}));
    for (int64_t i = 0; i < count; ++i, to += 16, from += suffixes[0])
      hn::StoreU(hn::Or(same, hn::TableLookupBytesOr0(hn::LoadU(d8, from), places)), d8, to);
    return;
  }
  for (int64_t i = 0; i < count; ++i, to += 16) {
    const int64_t begin = 4 + prefixes[i], end = begin + suffixes[i];  // in the view
    const auto own =
        hn::TableLookupBytesOr0(hn::LoadU(d8, from), hn::LoadU(d8, kMoved.data() + 16 - begin));
    // What follows the string is cut off what is stored alone: the next one waits for less.
    before = hn::Or(hn::And(before, hn::LoadU(d8, kFirst.data() + 16 - begin)), own);
    hn::StoreU(hn::And(before, hn::LoadU(d8, kFirst.data() + 16 - end)), d8, to);
    const auto size = static_cast<uint32_t>(end - 4);
    std::memcpy(to, &size, sizeof size);
    from += suffixes[i];
  }
}

#else

void put_front_coded(const int64_t* prefixes, const int64_t* suffixes, int64_t count,
                     const char* text, const std::byte* last, std::byte* out) {
  for (int64_t i = 0; i < count; ++i, last = out, out += 16) {
    const auto prefix = static_cast<size_t>(prefixes[i]), suffix = static_cast<size_t>(suffixes[i]);
    const auto size = static_cast<uint32_t>(prefix + suffix);
    std::array<std::byte, 16> view{};
    std::memcpy(view.data(), &size, sizeof size);
    std::memcpy(view.data() + 4, last + 4, prefix);
    std::memcpy(view.data() + 4 + prefix, text, suffix);
    std::memcpy(out, view.data(), view.size());
    text += suffix;
  }
}

#endif

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::parquet::cpu {

void unpack_bits(const uint8_t* in, const uint8_t* end, int64_t first_bit, int width, int64_t count,
                 uint32_t* out) {
  HR_SIMD(unpack_bits)(in, end, first_bit, width, count, out);
}

uint32_t greatest(const uint32_t* numbers, int64_t count) {
  return HR_SIMD(greatest)(numbers, count);
}

void gather(const std::byte* dictionary, int64_t element_bytes, const uint32_t* indices,
            int64_t count, std::byte* out) {
  HR_SIMD(gather)(dictionary, element_bytes, indices, count, out);
}

void join_bytes(const uint8_t* streams, int64_t stride, int64_t width, int64_t first, int64_t count,
                std::byte* out) {
  HR_SIMD(join_bytes)(streams, stride, width, first, count, out);
}

int64_t short_front_coded_bytes(const int64_t* prefixes, const int64_t* suffixes, int64_t count,
                                int64_t last_bytes) {
  return HR_SIMD(short_front_coded_bytes)(prefixes, suffixes, count, last_bytes);
}

void put_front_coded(const int64_t* prefixes, const int64_t* suffixes, int64_t count,
                     const char* text, const std::byte* last, std::byte* out) {
  HR_SIMD(put_front_coded)(prefixes, suffixes, count, text, last, out);
}

}  // namespace hr::parquet::cpu
#endif
