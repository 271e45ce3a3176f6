// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from outside: it throws instead of wrapping.
#pragma once
#include "headrace/base/error.h"

#include <concepts>
#include <cstdint>
#include <string_view>

namespace hr {

inline int64_t checked_multiply(std::string_view op, int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    throw_error<InvalidArgumentError>(op, "a size does not fit in 64 bits", {{"a", a}, {"b", b}});
  return result;
}

inline int64_t checked_add(std::string_view op, int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result))
    throw_error<InvalidArgumentError>(op, "a size does not fit in 64 bits", {{"a", a}, {"b", b}});
  return result;
}

constexpr int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

constexpr int64_t round_up(int64_t a, int64_t multiple) {
  return divide_up(a, multiple) * multiple;
}

}  // namespace hr
