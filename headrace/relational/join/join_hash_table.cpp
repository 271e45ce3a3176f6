// SPDX-License-Identifier: Apache-2.0
// Building and asking the table of a join.
#include "headrace/relational/join/join_hash_table.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/algo/sort/radix_partition.h"
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <tuple>
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr int64_t kPartRows = int64_t{1} << 15;  // whose slots and rows stay in the L2 cache
constexpr int64_t kFewSlots = 4096;
constexpr uint64_t kMostKeysARow = 128;          // of the range: 32 bytes of map a row
constexpr int64_t kMostKeys = int64_t{1} << 21;  // of the range for few rows: half of an L2 cache
constexpr uint32_t kFewRows = 8;                 // of a slot, compared one by one
constexpr uint64_t kOne = uint64_t{1} << 16;     // row, in a hashed slot's entry

// The bits of a hashed slot's entry that stand for a key: 4 of 16, by bits of the hash that have
// no part in the slot.
uint64_t filter_of(uint64_t hash) {
  uint64_t bits = 0;
  for (int i = 0; i < 16; i += 4) bits |= uint64_t{1} << (hash >> i & 15);
  return bits;
}

// Rows of one slot in the order of their keys, those of one key as they were; false when a key
// comes twice.
bool order_slot(uint64_t* keys, uint32_t* rows, uint64_t count) {
  if (std::all_of(keys, keys + count, [&](uint64_t key) { return key == keys[0]; })) return false;
  std::vector<std::pair<uint64_t, uint32_t>> both(count);
  for (uint64_t i = 0; i < count; ++i) both[i] = {keys[i], rows[i]};
  std::sort(both.begin(), both.end());
  bool unique = true;
  for (uint64_t i = 0; i < count; ++i) {
    std::tie(keys[i], rows[i]) = both[i];
    unique &= i == 0 || keys[i] != keys[i - 1];
  }
  return unique;
}

}  // namespace

// By the range of the keys, signed or unsigned, compared with their number.
void JoinHashTable::choose_slots(const JoinKeys& keys, int64_t probes) {
  if (num_rows_ == 0) return;
  range_ = range_of(keys);
  if (range_.width < static_cast<uint64_t>(std::max(kFewSlots, 2 * num_rows_))) {
    slots_ = range_.width + 1;
  } else if (range_.width / kMostKeysARow < static_cast<uint64_t>(num_rows_) ||
             range_.width < static_cast<uint64_t>(std::min(probes, kMostKeys))) {
    kind_ = Slots::kRanks;
    const uint64_t* const data = keys.data();
    const uint64_t least = range_.least;
    const auto read = [=](int64_t row, int64_t count, uint64_t* out) {
      for (int64_t i = 0; i < count; ++i) out[i] = data[row + i] - least;
    };
    ranks_ = RankMap(num_rows_, range_.width, read, {keys.access()});
    slots_ = static_cast<uint64_t>(ranks_.size());
  } else {
    kind_ = Slots::kHashes;
    slots_ = std::bit_ceil(static_cast<uint64_t>(num_rows_));
    shift_ = 64 - std::countr_zero(slots_);
  }
}

uint64_t JoinHashTable::slot_of(uint64_t key) const {
  if (kind_ == Slots::kHashes) return hash_key(key) >> shift_;
  return kind_ == Slots::kKeys ? key - range_.least : ranks_.rank(key - range_.least);
}

// Rows of a range of slots, [begin, begin + count) in the table's order, into their slots: counted
// first, then put in their places.
struct JoinHashTable::Build {
  const JoinHashTable& table;
  void* ends;
  uint32_t* rows;
  uint64_t* keys;

  // `numbers` of the rows, or null: they are counted from 0. False when a key comes twice.
  bool part(const uint64_t* from, const uint32_t* numbers, int64_t begin, int64_t count,
            uint64_t first_slot, uint64_t slots) const {
    return table.kind_ == Slots::kHashes ? hashed(from, numbers, begin, count, first_slot, slots)
                                         : direct(from, numbers, begin, count, first_slot, slots);
  }

  static uint32_t number(const uint32_t* numbers, int64_t i) {
    return numbers ? numbers[i] : static_cast<uint32_t>(i);
  }

  bool direct(const uint64_t* from, const uint32_t* numbers, int64_t begin, int64_t count,
              uint64_t first_slot, uint64_t slots) const {
    uint32_t* const end = static_cast<uint32_t*>(ends) + first_slot;
    std::fill(end, end + slots, 0);
    for (int64_t i = 0; i < count; ++i) ++end[table.slot_of(from[i]) - first_slot];
    bool unique = true;
    auto at = static_cast<uint32_t>(begin);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      unique &= end[slot] <= 1;
      at += std::exchange(end[slot], at);
    }
    for (int64_t i = 0; i < count; ++i)
      rows[end[table.slot_of(from[i]) - first_slot]++] = number(numbers, i);
    return unique;
  }

  bool hashed(const uint64_t* from, const uint32_t* numbers, int64_t begin, int64_t count,
              uint64_t first_slot, uint64_t slots) const {
    uint64_t* const end = static_cast<uint64_t*>(ends) + first_slot;
    std::fill(end, end + slots, 0);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t hash = hash_key(from[i]);
      uint64_t& entry = end[(hash >> table.shift_) - first_slot];
      entry = (entry + kOne) | filter_of(hash);
    }
    auto at = static_cast<uint64_t>(begin);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      const uint64_t size = end[slot] / kOne;
      end[slot] = at * kOne | end[slot] % kOne;
      at += size;
    }
    for (int64_t i = 0; i < count; ++i) {
      uint64_t& entry = end[(hash_key(from[i]) >> table.shift_) - first_slot];
      rows[entry / kOne] = number(numbers, i);
      keys[entry / kOne] = from[i];
      entry += kOne;
    }
    bool unique = true;
    auto low = static_cast<uint64_t>(begin);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      const uint64_t high = end[slot] / kOne;
      if (high - low > 1) unique &= order_slot(keys + low, rows + low, high - low);
      low = high;
    }
    return unique;
  }
};

JoinHashTable::JoinHashTable(const JoinKeys& keys, int64_t probes) : num_rows_(keys.rows) {
  choose_slots(keys, probes);
  if (num_rows_ == 0) return;
  const bool is_hashed = kind_ == Slots::kHashes;
  const int64_t end_bytes = is_hashed ? 8 : 4;
  ends_ = Buffer::allocate_temporary(static_cast<int64_t>(slots_) * end_bytes);
  rows_ = Buffer::allocate_temporary(4 * num_rows_);
  if (is_hashed) keys_ = Buffer::allocate_temporary(8 * num_rows_);
  const Build build{*this, ends_.mutable_data(), rows_.mutable_as<uint32_t>(),
                    is_hashed ? keys_.mutable_as<uint64_t>() : nullptr};
  std::atomic<bool> unique{true};
  const auto run = [&](const Buffer& from, int64_t first_byte, const Buffer& numbers, int64_t begin,
                       int64_t count, int64_t first_slot, int64_t slots) {
    const auto range = [](const Buffer& buffer, int64_t first, int64_t items, int64_t bytes,
                          bool write) {
      return PinnedRange{&buffer, first * bytes, (first + items) * bytes, write};
    };
    std::vector<PinnedRange> held{range(ends_, first_slot, slots, end_bytes, true)};
    if (count > 0) {
      held.push_back({&from, first_byte, first_byte + 8 * count});
      held.push_back(range(rows_, begin, count, 4, true));
      if (numbers) held.push_back(range(numbers, begin, count, 4, false));
      if (is_hashed) held.push_back(range(keys_, begin, count, 8, true));
    }
    const Pin pin(held);
    if (!build.part(reinterpret_cast<const uint64_t*>(from.data() + first_byte),
                    numbers ? numbers.as<uint32_t>() + begin : nullptr, begin, count,
                    static_cast<uint64_t>(first_slot), static_cast<uint64_t>(slots)))
      unique = false;
  };
  // Few rows are cut into shorter parts, so every worker gets some.
  constexpr int64_t kEnough = 64, kLeastRows = 1 << 12;
  const auto wanted = static_cast<uint64_t>(
      std::max(divide_up(num_rows_, kPartRows), std::min(num_rows_ / kLeastRows, kEnough)));
  const auto most = static_cast<uint64_t>(kMostBuckets);
  const uint64_t part_slots =
      std::bit_ceil((slots_ + std::min(wanted, most) - 1) / std::min(wanted, most));
  const auto parts = static_cast<int64_t>((slots_ + part_slots - 1) / part_slots);
  if (parts == 1) {
    run(keys.buffer, keys.first_byte, keys.numbers, 0, num_rows_, 0, static_cast<int64_t>(slots_));
  } else {
    const int part_shift = std::countr_zero(part_slots);
    const RadixPartition partition(
        num_rows_, parts,
        [&](int64_t begin, int64_t end, uint16_t* buckets) {
          for (int64_t row = begin; row < end; ++row)
            buckets[row - begin] = static_cast<uint16_t>(slot_of(keys.data()[row]) >> part_shift);
        },
        {keys.access()});
    const Buffer moved_keys = partition.moved(keys.buffer, keys.first_byte, 8);
    const Buffer moved_rows =
        keys.numbers ? partition.moved(keys.numbers, 0, 4) : partition.moved_rows(4);
    parallel_for(parts, [&](int64_t part) {
      const int64_t begin = partition.begins()[static_cast<size_t>(part)];
      const uint64_t first_slot = static_cast<uint64_t>(part) * part_slots;
      run(moved_keys, 8 * begin, moved_rows, begin, partition.size(part),
          static_cast<int64_t>(first_slot),
          static_cast<int64_t>(std::min(part_slots, slots_ - first_slot)));
    });
  }
  unique_ = unique;
  for (const Buffer* each : {&ends_, &rows_, &keys_}) each->seal();
}

void JoinHashTable::probe(const uint64_t* keys, int64_t count, Matches& matches) const {
  matches.size = 0;
  if (num_rows_ == 0) return;
  if (kind_ == Slots::kHashes) return probe_hashed(keys, count, matches);
  // What may be there is brought together first, so that misses cost no guess.
  int64_t inside = 0, found = 0;
  for (int64_t i = 0; i < count; ++i) {
    matches.keys[inside] = static_cast<uint32_t>(i);
    inside += range_.has(keys[i]);
  }
  const uint32_t* const ends = ends_.as<uint32_t>();
  uint64_t slots[kBlock];
  if (kind_ == Slots::kKeys) {
    for (int64_t k = 0; k < inside; ++k) {
      slots[k] = keys[matches.keys[k]] - range_.least;
      __builtin_prefetch(ends + slots[k]);
    }
  } else {
    for (int64_t k = 0; k < inside; ++k) {
      slots[k] = keys[matches.keys[k]] - range_.least;
      ranks_.prefetch(slots[k]);
    }
    for (int64_t k = 0; k < inside; ++k) {
      const uint64_t offset = slots[found] = slots[k];
      matches.keys[found] = matches.keys[k];
      found += ranks_.has(offset);
    }
    inside = std::exchange(found, 0);
    for (int64_t k = 0; k < inside; ++k) {
      slots[k] = ranks_.rank(slots[k]);
      if (!unique_) __builtin_prefetch(ends + slots[k]);
    }
    if (unique_) {  // a slot a row
      matches.size = inside;
      for (int64_t k = 0; k < inside; ++k) {
        matches.begins[k] = static_cast<uint32_t>(slots[k]);
        matches.counts[k] = 1;
      }
      return;
    }
  }
  for (int64_t k = 0; k < inside; ++k) {
    const uint32_t begin = slots[k] > 0 ? ends[slots[k] - 1] : 0;
    matches.keys[found] = matches.keys[k];
    matches.begins[found] = begin;
    matches.counts[found] = ends[slots[k]] - begin;
    found += matches.counts[found] > 0;
  }
  matches.size = found;
}

void JoinHashTable::probe_hashed(const uint64_t* keys, int64_t count, Matches& matches) const {
  const uint64_t* const ends = ends_.as<uint64_t>();
  const uint64_t* const there = keys_.as<uint64_t>();
  uint64_t hashes[kBlock];
  for (int64_t i = 0; i < count; ++i) {
    hashes[i] = hash_key(keys[i]);
    __builtin_prefetch(ends + (hashes[i] >> shift_));
  }
  int64_t maybe = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t slot = hashes[i] >> shift_, entry = ends[slot], bits = filter_of(hashes[i]);
    const uint64_t begin = slot > 0 ? ends[slot - 1] / kOne : 0;
    matches.keys[maybe] = static_cast<uint32_t>(i);
    matches.begins[maybe] = static_cast<uint32_t>(begin);
    matches.counts[maybe] = static_cast<uint32_t>(entry / kOne - begin);
    __builtin_prefetch(there + begin);
    maybe += (entry & bits) == bits;
  }
  for (int64_t k = 0; k < maybe; ++k) {
    const uint64_t key = keys[matches.keys[k]];
    const uint64_t* first = there + matches.begins[k];
    const uint64_t* last = first + matches.counts[k];
    if (matches.counts[k] > kFewRows) {
      std::tie(first, last) = std::equal_range(first, last, key);
    } else {
      while (first < last && *first != key) ++first;
      const uint64_t* end = first;
      while (end < last && *end == key) ++end;
      last = end;
    }
    matches.keys[matches.size] = matches.keys[k];
    matches.begins[matches.size] = static_cast<uint32_t>(first - there);
    matches.counts[matches.size] = static_cast<uint32_t>(last - first);
    matches.size += first < last;
  }
}

}  // namespace hr
