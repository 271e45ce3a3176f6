// SPDX-License-Identifier: Apache-2.0
// Keys of a join's rows as one number each, and their slots in a table: what the CUDA kernels
// compute of one row.
#pragma once
#include "headrace/base/api.h"

#include <cstddef>
#include <cstdint>

namespace hr {

inline constexpr int kMostSlotKeys = 8;

enum class SlotKeyKind : uint8_t { kBool, kSigned, kUnsigned, kFloating };

/// A value that is read once.
template <class T>
HR_INLINE T load_once(const std::byte* values, int64_t i) {
  const T* const at = reinterpret_cast<const T*>(values) + i;
#ifdef __CUDA_ARCH__
  return __ldcs(at);
#else
  return *at;
#endif
}

HR_INLINE bool slot_bit(const uint8_t* bits, int64_t i) {
  return bits[i >> 3] >> (i & 7) & 1;
}

/// Bits of a float as a number of the same order: -0.0 is 0.0, and NaN, whatever its bits, one
/// number above all others.
HR_INLINE uint64_t word_of_double(uint64_t bits) {
  constexpr uint64_t kSign = uint64_t{1} << 63, kInfinity = uint64_t{0x7FF} << 52;
  if ((bits & ~kSign) > kInfinity) bits = kInfinity | uint64_t{1} << 51;
  if (bits == kSign) bits = 0;
  return bits & kSign ? ~bits : bits | kSign;
}

HR_INLINE uint64_t word_of_float(uint32_t bits) {
  constexpr uint32_t kSign = uint32_t{1} << 31, kInfinity = uint32_t{0xFF} << 23;
  if ((bits & ~kSign) > kInfinity) bits = kInfinity | uint32_t{1} << 22;
  if (bits == kSign) bits = 0;
  return bits & kSign ? ~bits : bits | kSign;
}

/// A column of keys on one side, and what the right side says of its numbers.
struct SlotKey {
  SlotKeyKind kind = SlotKeyKind::kSigned;
  uint8_t bytes = 8;
  bool can_miss = false;  ///< null is `top` + 1; else no row of the right side has it
  int shift = 0;
  uint64_t least = 0;  ///< subtracted from words
  uint64_t top = 0;    ///< the greatest number of a value
  const std::byte* values = nullptr;
  const uint8_t* validity = nullptr;  ///< null: no value is
  int64_t offset = 0;

  HR_INLINE bool is_valid(int64_t row) const {
    return !validity || slot_bit(validity, offset + row);
  }

  /// The value as an unsigned number of the same order.
  HR_INLINE uint64_t word(int64_t row) const {
    const int64_t i = offset + row;
    if (kind == SlotKeyKind::kBool) return slot_bit(reinterpret_cast<const uint8_t*>(values), i);
    if (kind == SlotKeyKind::kFloating)
      return bytes == 8 ? word_of_double(load_once<unsigned long long>(values, i))
                        : word_of_float(load_once<unsigned>(values, i));
    if (kind == SlotKeyKind::kUnsigned) {
      if (bytes == 8) return load_once<unsigned long long>(values, i);
      if (bytes == 4) return load_once<unsigned>(values, i);
      if (bytes == 2) return load_once<unsigned short>(values, i);
      return load_once<unsigned char>(values, i);
    }
    int64_t value = 0;
    if (bytes == 8)
      value = load_once<long long>(values, i);
    else if (bytes == 4)
      value = load_once<int>(values, i);
    else if (bytes == 2)
      value = load_once<short>(values, i);
    else
      value = load_once<signed char>(values, i);
    return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
  }
};

/// The columns of keys of one side.
struct SlotKeys {
  SlotKey keys[kMostSlotKeys]{};
  int count = 0;

  /// The row's number; false where no row of the right side can have it.
  HR_INLINE bool read(int64_t row, uint64_t& number) const {
    number = 0;
    for (int k = 0; k < count; ++k) {
      const SlotKey& key = keys[k];
      uint64_t part = key.top + 1;
      if (key.is_valid(row)) {
        part = key.word(row) - key.least;
        if (part > key.top) return false;
      } else if (!key.can_miss) {
        return false;
      }
      number |= part << (key.shift & 63);  // of a key without bits the part is 0
    }
    return true;
  }
};

/// Bits of numbers up to `last`.
HR_INLINE int bits_of_number(uint64_t last) {
  int bits = 0;
  for (; last > 0; last >>= 1) ++bits;
  return bits;
}

/// Slots of numbers: their own, or those of a hash table, open and half empty at least.
struct SlotMap {
  static constexpr uint64_t kFree = ~uint64_t{0};
  static constexpr int64_t kNone = -1;

  uint64_t slots = 0;
  int shift = 0;              ///< from a hash to a place
  uint64_t* there = nullptr;  ///< the number in each place, kFree at first; null: they are slots

  /// The finalizer of MurmurHash3.
  HR_INLINE static uint64_t hash(uint64_t key) {
    key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDu;
    key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53u;
    return key ^ key >> 33;
  }

  /// Behind the places, a power of two, stands kFree's own slot.
  HR_INLINE uint64_t last_place() const { return slots - 2; }

  HR_INLINE int64_t find(uint64_t number) const {
    if (!there) return number < slots ? static_cast<int64_t>(number) : kNone;
    if (slots == 0) return kNone;
    if (number == kFree) return static_cast<int64_t>(slots - 1);
    for (uint64_t at = hash(number) >> shift;; at = (at + 1) & last_place()) {
      const uint64_t found = there[at];
      if (found == number) return static_cast<int64_t>(at);
      if (found == kFree) return kNone;
    }
  }

  /// The slot of a number, taken if it has none. `exchange(place, free, number)` puts the number
  /// into a place that is free, at once, and gives what stood there.
  template <class Exchange>
  HR_INLINE uint64_t take(uint64_t number, const Exchange& exchange) const {
    if (!there) return number;
    if (number == kFree) return slots - 1;
    for (uint64_t at = hash(number) >> shift;; at = (at + 1) & last_place()) {
      uint64_t found = there[at];
      if (found == kFree) found = exchange(there + at, kFree, number);
      if (found == kFree || found == number) return at;
    }
  }
};

}  // namespace hr
