// SPDX-License-Identifier: Apache-2.0
// Values that are only moved, by their width.
#pragma once
#include <array>
#include <cstdint>
#include <type_traits>

namespace hr {

/// Calls `f(std::type_identity<T>{})` with a type of `width` bytes: 1, 2, 4, 8 or 16.
template <class F>
decltype(auto) visit_width(int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f(std::type_identity<uint8_t>{});
    case 2:
      return f(std::type_identity<uint16_t>{});
    case 4:
      return f(std::type_identity<uint32_t>{});
    case 8:
      return f(std::type_identity<uint64_t>{});
    default:
      return f(std::type_identity<std::array<uint64_t, 2>>{});
  }
}

}  // namespace hr
