// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/convert.h"

#include "headrace/base/bits.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hr::parquet {

namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <class To>
void narrow(const std::byte* stored, int64_t count, std::byte* out) {
  int32_t lost = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = load<int32_t>(stored + 4 * i);
    const auto fitted = static_cast<To>(value);
    lost |= value ^ static_cast<int32_t>(fitted);
    store(out + i * static_cast<int64_t>(sizeof(To)), fitted);
  }
  if (lost != 0) damaged("an integer does not fit into the bits that its column says");
}

void narrow(Dtype dtype, const std::byte* stored, int64_t count, std::byte* out) {
  switch (dtype.id()) {
    case TypeId::kInt8:
      return narrow<int8_t>(stored, count, out);
    case TypeId::kUInt8:
      return narrow<uint8_t>(stored, count, out);
    case TypeId::kInt16:
      return narrow<int16_t>(stored, count, out);
    default:
      return narrow<uint16_t>(stored, count, out);
  }
}

// Nanoseconds of the day, then the day as Julius Caesar's successors count.
void convert_int96(const std::byte* stored, int64_t count, std::byte* out) {
  constexpr int64_t kEpoch = 2'440'588, kDay = int64_t{86'400} * 1'000'000'000;
  for (int64_t i = 0; i < count; ++i, stored += 12) {
    const auto nanos = load<int64_t>(stored);
    const int64_t days = int64_t{load<int32_t>(stored + 8)} - kEpoch;
    int64_t result;
    if (__builtin_mul_overflow(days, kDay, &result) ||
        __builtin_add_overflow(result, nanos, &result))
      unsupported("a timestamp lies outside of the years 1677 to 2262");
    store(out + 8 * i, result);
  }
}

void convert_to_seconds(const std::byte* stored, int64_t count, std::byte* out) {
  int64_t lost = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto millis = load<int64_t>(stored + 8 * i);
    lost |= millis % 1000;
    store(out + 8 * i, millis / 1000);
  }
  if (lost != 0) damaged("a time of a column in seconds has a fraction");
}

float float_of_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 31, fraction = half & 0x3FF;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent == 0) {
    const float small = static_cast<float>(fraction) * 0x1p-24F;
    return sign ? -small : small;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

void convert_decimals(const Leaf& leaf, const std::byte* stored, int64_t count, std::byte* out) {
  const int64_t width = leaf.stored_bytes;
  std::byte* const begin = out;
  for (int64_t i = 0; i < count; ++i, stored += width, out += 16) {
    if (leaf.physical == PhysicalType::kInt32)
      store(out, static_cast<Int128>(load<int32_t>(stored)));
    else if (leaf.physical == PhysicalType::kInt64)
      store(out, static_cast<Int128>(load<int64_t>(stored)));
    else
      decimal_of_bytes({reinterpret_cast<const char*>(stored), static_cast<size_t>(width)}, out);
  }
  check_digits(leaf.dtype, begin, count);
}

}  // namespace

void check_digits(Dtype dtype, const std::byte* decimals, int64_t count) {
  UInt128 limit = 1;
  for (int i = 0; i < dtype.precision(); ++i) limit *= 10;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = load<UInt128>(decimals + 16 * i);
    const bool is_negative = value >> 127 != 0;
    if ((is_negative ? -value : value) >= limit)
      damaged("a decimal has more digits than its column says");
  }
}

void decimal_of_bytes(std::string_view bytes, std::byte* out) {
  const bool is_negative = !bytes.empty() && (static_cast<uint8_t>(bytes[0]) & 128) != 0;
  const uint8_t filler = is_negative ? 255 : 0;
  UInt128 value = is_negative ? ~UInt128{0} : UInt128{0};
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    const size_t left = bytes.size() - i;
    const bool is_spare = left > 16;
    if ((is_spare && byte != filler) || (left == 16 && ((byte ^ filler) & 128) != 0))
      unsupported("a decimal has more than 38 digits");
    if (!is_spare) value = value << 8 | byte;
  }
  store(out, value);
}

void format_uuid(const std::byte* bytes, char* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *out++ = '-';
    const auto byte = static_cast<uint8_t>(bytes[i]);
    *out++ = kHex[byte >> 4];
    *out++ = kHex[byte & 15];
  }
}

std::optional<std::array<std::byte, 16>> parse_uuid(std::string_view text) {
  if (text.size() != kUuidCharacters) return {};
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
  };
  std::array<std::byte, 16> bytes;
  for (size_t i = 0, at = 0; i < bytes.size(); ++i, at += 2) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    bytes[i] = static_cast<std::byte>(digit(text[at]) << 4 | digit(text[at + 1]));
  }
  char again[kUuidCharacters];
  format_uuid(bytes.data(), again);
  if (text != std::string_view(again, sizeof again)) return {};
  return bytes;
}

void convert(const Leaf& leaf, const std::byte* stored, int64_t count, std::byte* out) {
  switch (leaf.conversion) {
    case Conversion::kNarrow:
      return narrow(leaf.dtype, stored, count, out);
    case Conversion::kWiden:
      for (int64_t i = 0; i < count; ++i)
        store(out + 8 * i, int64_t{load<int32_t>(stored + 4 * i)});
      return;
    case Conversion::kSeconds:
      return convert_to_seconds(stored, count, out);
    case Conversion::kInt96:
      return convert_int96(stored, count, out);
    case Conversion::kHalf:
      for (int64_t i = 0; i < count; ++i)
        store(out + 4 * i, float_of_half(load<uint16_t>(stored + 2 * i)));
      return;
    case Conversion::kDecimal:
      return convert_decimals(leaf, stored, count, out);
    default:
      if (stored != out && count > 0)
        std::memcpy(out, stored, static_cast<size_t>(count * leaf.stored_bytes));
  }
}

namespace {

struct SixteenBytes {
  uint64_t low;
  uint64_t high;
};

template <class T>
void spread_as(T* values, const uint8_t* valid, int64_t first, int64_t slots, int64_t dense) {
  for (int64_t end = slots; end > dense;) {
    const int64_t begin = std::max<int64_t>(end - 64, 0), count = end - begin;
    const uint64_t bits = load_bits(valid, first + begin, count);
    if (bits == 0) {
      std::memset(static_cast<void*>(values + begin), 0, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = count - 1; i >= 0; --i) {
        const auto bit = static_cast<int64_t>(bits >> i & 1);
        dense -= bit;
        values[begin + i] = bit ? values[dense] : T{};
      }
    }
    end = begin;
  }
}

}  // namespace

void spread(std::byte* values, int64_t width, const uint8_t* valid, int64_t first, int64_t slots,
            int64_t dense) {
  switch (width) {
    case 1:
      return spread_as(reinterpret_cast<uint8_t*>(values), valid, first, slots, dense);
    case 2:
      return spread_as(reinterpret_cast<uint16_t*>(values), valid, first, slots, dense);
    case 4:
      return spread_as(reinterpret_cast<uint32_t*>(values), valid, first, slots, dense);
    case 8:
      return spread_as(reinterpret_cast<uint64_t*>(values), valid, first, slots, dense);
    default:
      return spread_as(reinterpret_cast<SixteenBytes*>(values), valid, first, slots, dense);
  }
}

}  // namespace hr::parquet
