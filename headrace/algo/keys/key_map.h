// SPDX-License-Identifier: Apache-2.0
// KeyMap: gives 64-bit keys their numbers, 0, 1, 2, ... as they are seen first.
#pragma once
#include "headrace/algo/keys/hash.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>

namespace hr {

/// Open addressing over counted memory, at most half full. For one writer; any number of threads
/// may call `find` while no thread adds. `find` and `add` of a block fetch the slots of later keys
/// ahead.
class KeyMap {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  uint32_t size() const { return size_; }

  /// The keys in the order of their numbers.
  const uint64_t* keys() const { return key_data_; }

  /// Room for `count` keys without growing.
  void reserve(int64_t count) {
    uint64_t slots = 1024;
    while (slots < static_cast<uint64_t>(count) * 2) slots *= 2;
    if (slots > num_slots_) resize(slots);
  }

  uint32_t add(uint64_t key) {
    if (2 * uint64_t{size_} >= num_slots_) resize(num_slots_ == 0 ? 1024 : 2 * num_slots_);
    return add_hashed(key, hash_key(key));
  }

  /// Numbers of `count` keys, kAbsent where there is none; returns how many are absent.
  int64_t find(const uint64_t* keys, int64_t count, uint32_t* numbers) const {
    if (num_slots_ == 0) {
      for (int64_t i = 0; i < count; ++i) numbers[i] = kAbsent;
      return count;
    }
    int64_t absent = 0;
    visit_ahead(keys, count, [&](int64_t i, uint64_t hash) {
      const uint64_t key = keys[i];
      uint64_t at = hash & (num_slots_ - 1);
      while (slot_data_[at].number != kAbsent && slot_data_[at].key != key)
        at = (at + 1) & (num_slots_ - 1);
      numbers[i] = slot_data_[at].number;
      absent += numbers[i] == kAbsent;
    });
    return absent;
  }

  /// Numbers of `count` keys, new ones where need be.
  void add(const uint64_t* keys, int64_t count, uint32_t* numbers) {
    while (2 * (uint64_t{size_} + static_cast<uint64_t>(count)) > num_slots_)
      resize(num_slots_ == 0 ? 1024 : 2 * num_slots_);
    visit_ahead(keys, count,
                [&](int64_t i, uint64_t hash) { numbers[i] = add_hashed(keys[i], hash); });
  }

 private:
  struct Slot {
    uint64_t key;
    uint32_t number;  ///< kAbsent: free
  };

  static constexpr int64_t kAhead = 24;

  template <class F>
  void visit_ahead(const uint64_t* keys, int64_t count, F&& visit) const {
    uint64_t hashes[32];
    const int64_t first = count < kAhead ? count : kAhead;
    for (int64_t i = 0; i < first; ++i) hashes[i] = fetch(keys[i]);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t hash = hashes[i % 32];
      if (i + kAhead < count) hashes[(i + kAhead) % 32] = fetch(keys[i + kAhead]);
      visit(i, hash);
    }
  }

  uint64_t fetch(uint64_t key) const {
    const uint64_t hash = hash_key(key);
    __builtin_prefetch(slot_data_ + (hash & (num_slots_ - 1)));
    return hash;
  }

  uint32_t add_hashed(uint64_t key, uint64_t hash) {
    uint64_t at = hash & (num_slots_ - 1);
    while (slot_data_[at].number != kAbsent) {
      if (slot_data_[at].key == key) return slot_data_[at].number;
      at = (at + 1) & (num_slots_ - 1);
    }
    slot_data_[at] = {key, size_};
    key_data_[size_] = key;
    return size_++;
  }

  void resize(uint64_t slots) {
    Buffer table = Buffer::allocate(static_cast<int64_t>(slots * sizeof(Slot)));
    Buffer list = Buffer::allocate(static_cast<int64_t>(slots / 2 * sizeof(uint64_t)));
    auto* data = table.mutable_as<Slot>();
    auto* listed = list.mutable_as<uint64_t>();
    for (uint64_t i = 0; i < slots; ++i) data[i] = {0, kAbsent};
    for (uint32_t number = 0; number < size_; ++number) {
      const uint64_t key = key_data_[number];
      uint64_t at = hash_key(key) & (slots - 1);
      while (data[at].number != kAbsent) at = (at + 1) & (slots - 1);
      data[at] = {key, number};
      listed[number] = key;
    }
    slots_ = std::move(table);
    list_ = std::move(list);
    slot_data_ = data;
    key_data_ = listed;
    num_slots_ = slots;
  }

  uint32_t size_ = 0;
  uint64_t num_slots_ = 0;
  Buffer slots_{};
  Buffer list_{};
  Slot* slot_data_ = nullptr;
  uint64_t* key_data_ = nullptr;
};

}  // namespace hr
