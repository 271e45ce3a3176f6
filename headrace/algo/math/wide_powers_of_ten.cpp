// SPDX-License-Identifier: Apache-2.0
// The table of powers of ten, made by the compiler from exact powers of five.
#include "headrace/algo/math/wide_powers_of_ten.h"

#include <bit>

namespace hr {

namespace {

// A number of up to 832 bits, the lowest word first: 5^324 has 753, and 2^831 over 5^292 still 153.
struct Large {
  static constexpr int kWords = 26;
  std::array<uint32_t, kWords> words{};

  constexpr void multiply_by_5() {
    uint64_t carry = 0;
    for (uint32_t& word : words) {
      carry += uint64_t{word} * 5;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }

  // Rounded down: the quotient of a quotient that is rounded down is that of the product.
  constexpr void divide_by_5() {
    uint64_t rest = 0;
    for (size_t i = kWords; i-- > 0;) {
      rest = rest << 32 | words[i];
      words[i] = static_cast<uint32_t>(rest / 5);
      rest %= 5;
    }
  }

  constexpr uint32_t bits_at(int bit, int count) const {
    uint32_t found = 0;
    for (int i = count; i-- > 0;) {
      const int at = bit + i;
      const uint32_t one = at < 0 ? 0 : words[static_cast<size_t>(at / 32)] >> (at % 32) & 1;
      found = found << 1 | one;
    }
    return found;
  }

  constexpr int size() const {
    for (int i = kWords; i-- > 0;)
      if (const uint32_t word = words[static_cast<size_t>(i)])
        return 32 * i + static_cast<int>(std::bit_width(word));
    return 0;
  }

  // The upper 128 bits; one more where others follow.
  constexpr WidePowerOfTen upper(bool is_exact) const {
    const int begin = size() - 128;
    WidePowerOfTen power{uint64_t{bits_at(begin + 96, 32)} << 32 | bits_at(begin + 64, 32),
                         uint64_t{bits_at(begin + 32, 32)} << 32 | bits_at(begin, 32)};
    for (int bit = 0; bit < begin; bit += 32)
      is_exact = is_exact && bits_at(bit, begin - bit < 32 ? begin - bit : 32) == 0;
    if (!is_exact && ++power.low == 0) ++power.high;
    return power;
  }
};

constexpr auto make_powers() {
  std::array<WidePowerOfTen, kMostPowerOfTen - kLeastPowerOfTen + 1> powers{};
  Large five;
  five.words[0] = 1;
  for (int k = 0; k <= kMostPowerOfTen; ++k, five.multiply_by_5())
    powers[static_cast<size_t>(k - kLeastPowerOfTen)] = five.upper(true);
  Large part;
  part.words[Large::kWords - 1] = uint32_t{1} << 31;
  for (int k = -1; k >= kLeastPowerOfTen; --k) {
    part.divide_by_5();
    powers[static_cast<size_t>(k - kLeastPowerOfTen)] = part.upper(false);
  }
  return powers;
}

}  // namespace

constexpr std::array<WidePowerOfTen, kMostPowerOfTen - kLeastPowerOfTen + 1> kMade = make_powers();
constinit const std::array<WidePowerOfTen, kMostPowerOfTen - kLeastPowerOfTen + 1>
    kWidePowersOfTen = kMade;

}  // namespace hr
