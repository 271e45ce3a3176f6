// SPDX-License-Identifier: Apache-2.0
// The table of a join: which rows of the right side have a key.
#pragma once
#include "headrace/algo/keys/rank_map.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/relational/join/key_filter.h"

#include <cstdint>

namespace hr {

/// Rows by key in one array without chains ("unchained" tables: Birler, Schmidt, Fent, Neumann,
/// DaMoN 2024): a directory says where the rows of a slot end, and those of one key lie together
/// in the order of the rows. Keys from a small range are their own slots; those from a wider one
/// are bits of a map, and their rank in it is their slot; neither are compared. Others are hashed,
/// and 16 bits of each slot's entry say which of them cannot be there. The same table for any
/// number of threads.
class HR_API JoinHashTable {
 public:
  /// Fewer than 2^31 rows. `probes`: how many keys will be asked for, if known: many are worth a
  /// map of a wider range.
  explicit JoinHashTable(const JoinKeys& keys, int64_t probes = 0);

  /// No two rows have the same key.
  bool is_unique() const { return unique_; }

  /// The most keys of one call of `probe`.
  static constexpr int64_t kBlock = 256;

  /// The keys that have rows, in order: which they are, where their rows begin in `rows()`, and how
  /// many there are.
  struct Matches {
    int64_t size = 0;
    uint32_t keys[kBlock];
    uint32_t begins[kBlock];
    uint32_t counts[kBlock];
  };

  void probe(const uint64_t* keys, int64_t count, Matches& matches) const;

  /// Numbers of the rows, those of one key together.
  const uint32_t* rows() const { return rows_.as<uint32_t>(); }

 private:
  struct Build;

  enum class Slots : uint8_t { kKeys, kRanks, kHashes };

  void choose_slots(const JoinKeys& keys, int64_t probes);
  uint64_t slot_of(uint64_t key) const;
  void probe_hashed(const uint64_t* keys, int64_t count, Matches& matches) const;

  int64_t num_rows_ = 0;
  Slots kind_ = Slots::kKeys;
  bool unique_ = true;
  KeyRange range_{};
  uint64_t slots_ = 0;
  int shift_ = 0;    // from a hash to its slot
  RankMap ranks_{};  // where ranks are slots
  Buffer ends_{};    // of a slot's rows: uint32, or uint64 where hashed, 48 bits and 16 of a filter
  Buffer rows_{};    // uint32
  Buffer keys_{};    // of these, where hashed: uint64
};

}  // namespace hr
