// SPDX-License-Identifier: Apache-2.0
// Kernels of joins on a CUDA device: build, probe, and pairs in the order of left rows.
#pragma once
#include "headrace/data/device.h"
#include "headrace/relational/join/join_slots_math.h"

#include <cstdint>

namespace hr::cuda {

inline constexpr uint32_t kNoRow = ~uint32_t{0};  // -1 as int32
inline constexpr int64_t kSlotTile = 4096;        // rows of a block of threads

/// Which rows of a side are picked: a bit each, in whole tiles, and how many there are in a tile;
/// once `compact` may run, how many there are before it.
struct PickedTiles {
  uint32_t* bits = nullptr;
  int64_t* tiles = nullptr;
};

/// The least and the greatest word of each key's values: `kMostSlotKeys` of each, set to all ones
/// and zeros before.
void slot_key_ranges(const DeviceCall& call, const SlotKeys& keys, int64_t rows,
                     unsigned long long* least, unsigned long long* greatest);

/// Gives right rows their slots, and `row_of` (kNoRow at first) the row of each slot. Sets
/// `*has_twice` where two rows have one: then row_of holds any of them.
void put_rows(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
              uint32_t* row_of, int64_t* has_twice);
/// Gives right rows their slots, and marks these.
void put_marks(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
               uint8_t* marks);

/// Of each left row its only match, or kNoRow; picks those with a match. Marks the slots that they
/// have, if `marks` is not null. Finds nothing if `*has_twice`.
void probe_rows(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
                const uint32_t* row_of, const int64_t* has_twice, uint32_t* matches,
                PickedTiles picked, uint8_t* marks);
/// Picks rows whose slot is marked, or if not `marked` those whose is not.
void probe_marks(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
                 const uint8_t* marks, bool marked, PickedTiles picked);

/// Turns the counts of tiles into those before each; the number of all follows the last one.
void scan_tiles(const DeviceCall& call, PickedTiles picked, int64_t rows);

/// The rows picked, in order, from `left` and `right` on (null: not wanted): their numbers in
/// `left`, and in `right` what `matches` has for each.
void compact_matches(const DeviceCall& call, PickedTiles picked, int64_t rows,
                     const uint32_t* matches, uint32_t* left, uint32_t* right);
/// The same of right rows without a match: kNoRow in `left`, their numbers in `right`.
void compact_unmatched(const DeviceCall& call, PickedTiles picked, int64_t rows, uint32_t* left,
                       uint32_t* right);
/// Each left row with its match or none.
void pair_all(const DeviceCall& call, int64_t rows, const uint32_t* matches, uint32_t* left,
              uint32_t* right);

/// Right rows in the order of their slots, in `rows_by_slot`, which has room for as many twice, as
/// `slots` has; those of one slot stay in order. `bounds`: where those of each slot begin and end,
/// zeros at first.
const uint32_t* sort_by_slots(DeviceCall& call, const SlotKeys& keys, int64_t rows,
                              const SlotMap& map, uint32_t* const (&slots)[2],
                              uint32_t* const (&rows_by_slot)[2], uint32_t* bounds);

/// Of each left row where its matches begin (kNoRow: it has none), and how many rows it makes, one
/// at least if `keeps_unmatched`; `*total` is their sum.
void probe_bounds(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
                  const uint32_t* bounds, bool keeps_unmatched, uint32_t* begins, uint32_t* made,
                  int64_t* total, uint8_t* marks);

/// Pairs of rows at the places that `made` gives, which becomes where each row's begin. `total` is
/// less than 2^31.
void expand_matches(DeviceCall& call, int64_t rows, const uint32_t* begins, uint32_t* made,
                    const uint32_t* rows_by_slot, int64_t total, uint32_t* left, uint32_t* right);

/// Ends the call.
void finish(DeviceCall& call);

}  // namespace hr::cuda
