// SPDX-License-Identifier: Apache-2.0
// The table of a join: which rows of the right side have a key.
#pragma once
#include "headrace/memory/buffer.h"
#include "headrace/memory/pin.h"

#include <cstdint>

namespace hr {

/// One 64-bit key a row, contiguous from a byte of a buffer on.
struct JoinKeys {
  Buffer buffer{};
  int64_t first_byte = 0;
  int64_t rows = 0;

  const uint64_t* data() const {
    return reinterpret_cast<const uint64_t*>(buffer.data() + first_byte);
  }

  Touch touch() const { return {&buffer, 8 * first_byte, 64, 64, rows}; }
};

/// Rows by key in one array without chains ("unchained" tables: Birler, Schmidt, Fent, Neumann,
/// DaMoN 2024): a directory says where the rows of a slot end, and those of one key lie together
/// in the order of the rows. Keys from a small range are their own slots; those from a wider one
/// are bits of a map, and their rank in it is their slot; neither are compared. Others are hashed,
/// and 16 bits of each slot's entry say which of them cannot be there. The same table for any
/// number of threads.
class HR_API JoinTable {
 public:
  /// Fewer than 2^31 rows.
  explicit JoinTable(const JoinKeys& keys);

  /// No two rows have the same key.
  bool is_unique() const { return unique_; }

  /// The most keys of one call of `find`.
  static constexpr int64_t kBlock = 256;

  /// Where the rows of each key begin in `rows()`, and how many there are: none, 0.
  void find(const uint64_t* keys, int64_t count, uint32_t* begins, uint32_t* counts) const;

  /// Numbers of the rows, those of one key together.
  const uint32_t* rows() const { return rows_.as<uint32_t>(); }

 private:
  struct Build;

  enum class Slots : uint8_t { kKeys, kRanks, kHashes };

  /// 64 keys that follow each other: which of them there are, and how many there are before.
  struct Word {
    uint64_t bits;
    uint64_t rank;
  };

  void choose_slots(const JoinKeys& keys);
  void map_keys(const JoinKeys& keys);
  uint64_t slot_of(uint64_t key) const;
  uint64_t rank_of(uint64_t offset) const;
  void find_hashed(const uint64_t* keys, int64_t count, uint32_t* begins, uint32_t* counts) const;

  int64_t num_rows_ = 0;
  Slots kind_ = Slots::kKeys;
  bool unique_ = true;
  uint64_t least_ = 0;  // of the keys
  uint64_t width_ = 0;  // the greatest less the least
  uint64_t slots_ = 0;
  int shift_ = 0;  // from a hash to its slot
  Buffer map_{};   // Word, where ranks are slots
  Buffer ends_{};  // of a slot's rows: uint32, or uint64 where hashed, 48 bits and 16 of a filter
  Buffer rows_{};  // uint32
  Buffer keys_{};  // of these, where hashed: uint64
};

}  // namespace hr
