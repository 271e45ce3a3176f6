// SPDX-License-Identifier: Apache-2.0
// Numbered terms: each distinct string once, 0, 1, 2, ... as they are seen first.
#pragma once
#include "headrace/algo/keys/hash.h"
#include "headrace/memory/buffer/buffer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hr {

/// Values in counted memory that grow at the end. `T` is trivial.
template <class T>
class GrowingBuffer {
 public:
  int64_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  void clear() { size_ = 0; }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }

  /// Room for `count` more, which are then taken by `append`.
  T* reserve(int64_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    return data_ + size_;
  }

  void append(int64_t count) { size_ += count; }

  void resize(int64_t count, T value) {
    if (count > capacity_) grow(count);
    std::fill(data_ + std::min(size_, count), data_ + count, value);
    size_ = count;
  }

 private:
  void grow(int64_t least) {
    const int64_t capacity = std::max({least, 2 * capacity_, int64_t{64}});
    Buffer fresh = Buffer::allocate(capacity * static_cast<int64_t>(sizeof(T)));
    T* data = fresh.mutable_as<T>();
    if (size_ > 0) std::memcpy(data, data_, static_cast<size_t>(size_) * sizeof(T));
    buffer_ = std::move(fresh);
    data_ = data;
    capacity_ = capacity;
  }

  Buffer buffer_{};
  T* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

/// The same on every machine and in every run.
inline uint64_t hash_term(std::string_view term) {
  const char* p = term.data();
  size_t left = term.size();
  uint64_t hash = left * 0x9E3779B97F4A7C15u, word = 0;
  for (; left > 8; p += 8, left -= 8) {
    std::memcpy(&word, p, 8);
    hash = hash_key(hash ^ word);
  }
  word = 0;
  if (left >= 4) {
    uint32_t first = 0, last = 0;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + left - 4, 4);
    word = first | uint64_t{last} << 32;
  } else if (left > 0) {
    word = static_cast<uint8_t>(p[0]) | uint64_t{static_cast<uint8_t>(p[left / 2])} << 8 |
           uint64_t{static_cast<uint8_t>(p[left - 1])} << 16;
  }
  return hash_key(hash ^ word);
}

/// Open addressing over counted memory, at most half full. For one writer; any number of threads
/// may call `find` while no thread adds.
class TermMap {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  uint32_t size() const { return static_cast<uint32_t>(terms_.size()); }

  std::string_view term(uint32_t number) const {
    const Term& term = terms_[number];
    return {text_.data() + term.begin, term.size};
  }

  uint64_t hash(uint32_t number) const { return terms_[number].hash; }

  uint32_t find(std::string_view term, uint64_t hash) const {
    return num_slots_ == 0 ? kAbsent : slots_[slot_of(term, hash)].number;
  }

  uint32_t add(std::string_view term, uint64_t hash) {
    if (2 * (terms_.size() + 1) > num_slots_) rehash();
    Slot& slot = slots_[slot_of(term, hash)];
    if (slot.number == kAbsent) {
      slot = {static_cast<uint32_t>(hash >> 32), size()};
      terms_.push_back({hash, text_.size(), static_cast<uint32_t>(term.size())});
      char* text = text_.reserve(static_cast<int64_t>(term.size()));
      if (!term.empty()) std::memcpy(text, term.data(), term.size());
      text_.append(static_cast<int64_t>(term.size()));
    }
    return slot.number;
  }

 private:
  struct Slot {
    uint32_t high;  ///< half of the hash: most other terms are told by it
    uint32_t number;
  };

  struct Term {
    uint64_t hash;
    int64_t begin;
    uint32_t size;
  };

  /// Of the term, or free.
  int64_t slot_of(std::string_view wanted, uint64_t hash) const {
    const auto high = static_cast<uint32_t>(hash >> 32);
    auto at = static_cast<int64_t>(hash) & (num_slots_ - 1);
    while (slots_[at].number != kAbsent &&
           (slots_[at].high != high || term(slots_[at].number) != wanted))
      at = (at + 1) & (num_slots_ - 1);
    return at;
  }

  void rehash() {
    num_slots_ = std::max<int64_t>(256, 2 * num_slots_);
    slots_.clear();
    slots_.resize(num_slots_, {0, kAbsent});
    for (uint32_t number = 0; number < size(); ++number) {
      const uint64_t hash = terms_[number].hash;
      auto at = static_cast<int64_t>(hash) & (num_slots_ - 1);
      while (slots_[at].number != kAbsent) at = (at + 1) & (num_slots_ - 1);
      slots_[at] = {static_cast<uint32_t>(hash >> 32), number};
    }
  }

  GrowingBuffer<Slot> slots_{};
  GrowingBuffer<Term> terms_{};
  GrowingBuffer<char> text_{};
  int64_t num_slots_ = 0;
};

}  // namespace hr
