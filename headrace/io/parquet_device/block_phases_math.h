// SPDX-License-Identifier: Apache-2.0
// How a block of threads works: in phases over independent items, each of which sees all that the
// phases before it wrote. The host runs the same phases one item after the other, for tests.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <cstring>

namespace hr::parquet {

/// One thread as a block. `is_reversed`: items run from the last to the first, as nothing may
/// depend on their order.
struct HostBlock {
  bool is_reversed = false;

  /// f(i) for all i below `count`.
  template <class F>
  HR_BOTH void each(int64_t count, const F& f) const {
    for (int64_t i = 0; i < count; ++i) f(is_reversed ? count - 1 - i : i);
  }

  /// The same; whether any f was true.
  template <class F>
  HR_BOTH bool any(int64_t count, const F& f) const {
    bool found = false;
    each(count, [&](int64_t i) { found |= f(i); });
    return found;
  }

  /// The same for few items that take long, each unlike the others.
  template <class F>
  HR_BOTH void each_apart(uint32_t count, const F& f) const {
    each(count, [&](int64_t i) { f(static_cast<uint32_t>(i)); });
  }

  /// f() once.
  template <class F>
  HR_BOTH void one(const F& f) const {
    f();
  }

  /// Replaces each value by the sum of those before it; gives the sum of all.
  HR_BOTH uint32_t scan(uint32_t* values, int count) const {
    uint32_t sum = 0;
    for (int i = 0; i < count; ++i) {
      const uint32_t value = values[i];
      values[i] = sum;
      sum += value;
    }
    return sum;
  }

  /// Bytes that do not overlap.
  HR_BOTH void copy(uint8_t* to, const uint8_t* from, uint32_t size) const {
    for (uint32_t i = 0; i < size; ++i) to[i] = from[i];
  }

  /// Ors bits into a word that others of the phase change as well.
  HR_BOTH static void set_bits(uint32_t* word, uint32_t bits) { *word |= bits; }
};

/// Bytes behind the end of what is read that must exist.
inline constexpr int64_t kReadSlack = 16;

/// Four bytes at any address. On a device up to three more on each side are read.
HR_BOTH inline uint32_t load_four(const uint8_t* from) {
#ifdef __CUDA_ARCH__
  const auto address = reinterpret_cast<uintptr_t>(from);
  const auto* const words = reinterpret_cast<const uint32_t*>(address & ~uintptr_t{3});
  const auto shift = static_cast<unsigned>(address & 3) * 8;
  return shift == 0 ? words[0] : __funnelshift_r(words[0], words[1], shift);
#else
  uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
#endif
}

HR_BOTH inline uint64_t load_eight(const uint8_t* from) {
#ifdef __CUDA_ARCH__
  const auto address = reinterpret_cast<uintptr_t>(from);
  const auto* const words = reinterpret_cast<const uint32_t*>(address & ~uintptr_t{3});
  const auto shift = static_cast<unsigned>(address & 3) * 8;
  const uint32_t a = words[0], b = words[1];
  if (shift == 0) return a | uint64_t{b} << 32;
  return __funnelshift_r(a, b, shift) | uint64_t{__funnelshift_r(b, words[2], shift)} << 32;
#else
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
#endif
}

HR_BOTH inline int count_ones(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __popc(word);
#else
  return __builtin_popcount(word);
#endif
}

/// The lowest `count` bits, at most 32.
HR_BOTH inline uint32_t low_bits(uint32_t count) {
  return count >= 32 ? ~0u : (1u << count) - 1;
}

}  // namespace hr::parquet
