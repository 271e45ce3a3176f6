// SPDX-License-Identifier: Apache-2.0
// Numbers as unsigned words that compare as they do: one text for the CPU and for CUDA.
#pragma once
#include "headrace/base/api.h"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace hr {

/// An unsigned integer of the width of T.
template <class T>
using WordOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// The word of an integer or of a float that is not NaN; -0.0 has that of 0.0.
template <class T>
HR_INLINE constexpr WordOf<T> ordered_word(T value) {
  using Word = WordOf<T>;
  constexpr auto kTop = static_cast<Word>(Word{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_floating_point_v<T>) {
    const auto bits = std::bit_cast<Word>(value + T{0});  // -0.0 + 0.0 is 0.0
    return static_cast<Word>(bits ^ ((bits & kTop) != 0 ? static_cast<Word>(~Word{0}) : kTop));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Word>(static_cast<Word>(value) ^ kTop);
  } else {
    return value;
  }
}

/// The way back.
template <class T>
HR_INLINE constexpr T value_of_ordered_word(WordOf<T> word) {
  using Word = WordOf<T>;
  constexpr auto kTop = static_cast<Word>(Word{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>((word & kTop) != 0 ? static_cast<Word>(word ^ kTop)
                                               : static_cast<Word>(~word));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(static_cast<Word>(word ^ kTop));
  else
    return word;
}

}  // namespace hr
