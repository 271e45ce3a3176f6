// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/fixed_writer.h"

#include "headrace/io/parquet/delta_writer.h"
#include "headrace/io/parquet/distinct_guess.h"
#include "headrace/io/parquet/hybrid_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace hr::parquet {

namespace {

constexpr int64_t kDirectRange = int64_t{1} << 20;  // values between whose ends each has its code
constexpr double kWorth = 0.95;                     // a dictionary has to save this share
constexpr double kDeltaWorth = 0.75;                // the same of packed differences
constexpr int64_t kSampledBlocks = 256, kSampledRows = 128;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// The codes of values, in the order that they are seen first.
template <class Bits>
class FixedDictionary {
 public:
  int64_t size() const { return keys_.size() / static_cast<int64_t>(sizeof(Bits)); }

  std::string_view keys() const { return keys_.view(); }

  uint32_t add(Bits key) {
    if (2 * size() >= num_slots_) grow();
    for (uint64_t at = place_of(key);; at = (at + 1) & static_cast<uint64_t>(num_slots_ - 1)) {
      Slot& slot = slots_[at];
      if (slot.code == kFree) {
        slot = {key, static_cast<uint32_t>(size())};
        keys_.append({reinterpret_cast<const char*>(&key), sizeof key});
        return slot.code;
      }
      if (slot.key == key) return slot.code;
    }
  }

 private:
  static constexpr uint32_t kFree = 0xFFFFFFFF;

  struct Slot {
    Bits key;
    uint32_t code;
  };

  uint64_t place_of(Bits key) const {
    return static_cast<uint64_t>(key) * 0x9E3779B97F4A7C15u >>
           (64 - std::countr_zero(static_cast<uint64_t>(num_slots_)));
  }

  void grow() {
    num_slots_ = std::max<int64_t>(1024, 4 * num_slots_);
    Buffer slots = Buffer::allocate(num_slots_ * static_cast<int64_t>(sizeof(Slot)));
    slots_ = slots.mutable_as<Slot>();
    std::fill(slots_, slots_ + num_slots_, Slot{0, kFree});
    Bits key;
    for (int64_t code = 0; code < size(); ++code) {
      std::memcpy(&key, keys_.data() + code * static_cast<int64_t>(sizeof key), sizeof key);
      uint64_t at = place_of(key);
      while (slots_[at].code != kFree) at = (at + 1) & static_cast<uint64_t>(num_slots_ - 1);
      slots_[at] = {key, static_cast<uint32_t>(code)};
    }
    buffer_ = std::move(slots);
  }

  int64_t num_slots_ = 0;
  Slot* slots_ = nullptr;
  Buffer buffer_{};
  ByteBuffer keys_{};
};

template <class T>
class FixedWriter final : public ValueWriter {
 public:
  using Bits = BitsOf<T>;
  static constexpr bool kIsInteger = std::is_integral_v<T>;
  static constexpr int64_t kWidth = sizeof(T);

  FixedWriter(const T* values, int64_t count, Buffer kept)
      : values_(values), count_(count), kept_(std::move(kept)) {
    if (count_ > 0) choose();
  }

  Encoding encoding() const override {
    return num_entries_ > 0 ? Encoding::kRleDictionary
           : is_delta_      ? Encoding::kDeltaBinaryPacked
                            : Encoding::kPlain;
  }

  int64_t num_entries() const override { return num_entries_; }

  void append_dictionary(ByteBuffer& out) const override { out.append(entries()); }

  double bytes_per_value() const override { return bytes_per_value_; }

  void append(int64_t begin, int64_t end, ByteBuffer& out) override {
    if (num_entries_ > 0) return append_indices(begin, end, out);
    if constexpr (kIsInteger) {
      using Signed = std::make_signed_t<Bits>;
      if (is_delta_)
        return append_delta(reinterpret_cast<const Signed*>(values_) + begin, end - begin, out);
    }
    out.append({reinterpret_cast<const char*>(values_ + begin),
                static_cast<size_t>((end - begin) * kWidth)});
  }

  std::optional<ValueBounds> bounds(int64_t begin, int64_t end) override {
    T least, most;
    if (!find_bounds(begin, end, least, most)) return std::nullopt;
    if constexpr (!kIsInteger) {
      // Both zeros are equal, and other readers may order them.
      if (least == 0) least = T{-0.0};
      if (most == 0) most = T{0.0};
    }
    return ValueBounds{bytes_of(least), bytes_of(most), true};
  }

  bool is_less(std::string_view a, std::string_view b) const override {
    T x, y;
    std::memcpy(&x, a.data(), sizeof x);
    std::memcpy(&y, b.data(), sizeof y);
    return x < y;
  }

  int64_t num_hashes() const override { return num_entries_ > 0 ? num_entries_ : count_; }

  void add_to(BloomFilter& filter) const override {
    const char* const at =
        num_entries_ > 0 ? entries().data() : reinterpret_cast<const char*>(values_);
    for (int64_t i = 0; i < num_hashes(); ++i)
      filter.add(hash_bytes({at + i * kWidth, static_cast<size_t>(kWidth)}));
  }

 private:
  static std::string bytes_of(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }

  std::string_view entries() const { return range_ > 0 ? sorted_.view() : dictionary_.keys(); }

  // False if all values are NaN.
  bool find_bounds(int64_t begin, int64_t end, T& least, T& most) const {
    if constexpr (kIsInteger) {
      least = std::numeric_limits<T>::max();
      most = std::numeric_limits<T>::min();
    } else {
      least = std::numeric_limits<T>::infinity();
      most = -least;
    }
    for (int64_t i = begin; i < end; ++i) {
      const T value = values_[i];
      least = value < least ? value : least;
      most = value > most ? value : most;
    }
    return !(most < least);
  }

  // How many values are others than the one before, by some blocks.
  double guess_changes() const {
    const int64_t blocks = count_ / kSampledRows;
    if (blocks == 0) return static_cast<double>(count_);
    const int64_t sampled = std::min(blocks, kSampledBlocks);
    int64_t changes = 0;
    for (int64_t b = 0; b < sampled; ++b) {
      const T* const block = values_ + b * blocks / sampled * kSampledRows;
      for (int64_t i = 1; i < kSampledRows; ++i)
        changes += std::bit_cast<Bits>(block[i]) != std::bit_cast<Bits>(block[i - 1]);
    }
    const double share =
        static_cast<double>(changes) / static_cast<double>(sampled * (kSampledRows - 1));
    return share * static_cast<double>(count_);
  }

  void choose() {
    const double plain = static_cast<double>(count_ * kWidth);
    double best = plain;
    if constexpr (kIsInteger) {
      using Signed = std::make_signed_t<Bits>;
      const auto delta =
          static_cast<double>(guess_delta_bytes(reinterpret_cast<const Signed*>(values_), count_));
      if (delta < kDeltaWorth * plain) {
        is_delta_ = true;
        best = delta;
      }
    }
    const double changes = guess_changes();
    const auto is_worth = [&](double distinct) {
      return distinct * kWidth + guess_index_bytes(distinct, count_, changes) < kWorth * best;
    };
    bytes_per_value_ = best / static_cast<double>(count_);
    const bool chosen = mark_range(is_worth) || find_codes(is_worth);
    if (!chosen) return;
    bytes_per_value_ = index_bits(num_entries_) / 8.0;
    is_delta_ = false;
  }

  // A dictionary in order, where the values lie near each other; true when it is to be used.
  template <class IsWorth>
  bool mark_range(const IsWorth& is_worth) {
    if constexpr (!kIsInteger) return false;
    T most;
    find_bounds(0, count_, first_, most);
    const auto distance = static_cast<Bits>(static_cast<Bits>(most) - static_cast<Bits>(first_));
    if (distance >= static_cast<Bits>(std::min(kDirectRange, 4 * count_))) return false;
    range_ = static_cast<int64_t>(distance) + 1;
    Buffer codes = Buffer::allocate_zeroed(range_ * static_cast<int64_t>(sizeof(uint32_t)));
    auto* const code = codes.mutable_as<uint32_t>();
    for (int64_t i = 0; i < count_; ++i) code[offset_of(values_[i])] = 1;
    int64_t distinct = 0;
    for (int64_t v = 0; v < range_; ++v) distinct += code[v];
    if (!is_worth(static_cast<double>(distinct))) {
      range_ = 0;
      no_dictionary_ = true;
      return false;
    }
    uint32_t next = 0;
    for (int64_t v = 0; v < range_; ++v) {
      if (code[v] == 0) continue;
      code[v] = next++;
      const auto value = static_cast<Bits>(static_cast<Bits>(first_) + static_cast<Bits>(v));
      sorted_.append({reinterpret_cast<const char*>(&value), sizeof value});
    }
    codes_ = std::move(codes);
    num_entries_ = distinct;
    return true;
  }

  size_t offset_of(T value) const {
    return static_cast<size_t>(
        static_cast<Bits>(std::bit_cast<Bits>(value) - std::bit_cast<Bits>(first_)));
  }

  template <class IsWorth>
  bool find_codes(const IsWorth& is_worth) {
    if (no_dictionary_) return false;
    Buffer codes = Buffer::allocate(count_ * static_cast<int64_t>(sizeof(uint32_t)));
    auto* const code = codes.mutable_as<uint32_t>();
    int64_t look = kFirstLook;
    for (int64_t begin = 0; begin < count_; look *= 2) {
      const int64_t end = std::min(look, count_);
      for (int64_t i = begin; i < end; ++i)
        code[i] = dictionary_.add(std::bit_cast<Bits>(values_[i]));
      if (!is_worth(guess_distinct(dictionary_.size(), end, count_))) {
        dictionary_ = {};
        return false;
      }
      begin = end;
    }
    if (!is_worth(static_cast<double>(dictionary_.size()))) {
      dictionary_ = {};
      return false;
    }
    codes_ = std::move(codes);
    num_entries_ = dictionary_.size();
    return true;
  }

  void append_indices(int64_t begin, int64_t end, ByteBuffer& out) {
    const int width = index_bits(num_entries_);
    out.append(static_cast<char>(width));
    const auto* const code = codes_.template as<uint32_t>();
    if (range_ == 0) return append_hybrid(code + begin, end - begin, width, out);
    if (!indices_ || indices_.size_bytes() < 4 * (end - begin))
      indices_ = Buffer::allocate(4 * (end - begin));
    auto* const indices = indices_.mutable_as<uint32_t>();
    for (int64_t i = begin; i < end; ++i) indices[i - begin] = code[offset_of(values_[i])];
    append_hybrid(indices, end - begin, width, out);
  }

  const T* values_;
  int64_t count_;
  Buffer kept_;
  bool is_delta_ = false;
  bool no_dictionary_ = false;
  double bytes_per_value_ = kWidth;
  int64_t num_entries_ = 0;
  int64_t range_ = 0;  // of values from `first_` on with codes of their own; else codes are by row
  T first_{};
  Buffer codes_{};
  ByteBuffer sorted_{};
  FixedDictionary<Bits> dictionary_{};
  Buffer indices_{};  // of a page
};

}  // namespace

template <class T>
std::unique_ptr<ValueWriter> write_fixed(const T* values, int64_t count, Buffer kept) {
  return std::make_unique<FixedWriter<T>>(values, count, std::move(kept));
}

template std::unique_ptr<ValueWriter> write_fixed(const int32_t*, int64_t, Buffer);
template std::unique_ptr<ValueWriter> write_fixed(const int64_t*, int64_t, Buffer);
template std::unique_ptr<ValueWriter> write_fixed(const uint32_t*, int64_t, Buffer);
template std::unique_ptr<ValueWriter> write_fixed(const uint64_t*, int64_t, Buffer);
template std::unique_ptr<ValueWriter> write_fixed(const float*, int64_t, Buffer);
template std::unique_ptr<ValueWriter> write_fixed(const double*, int64_t, Buffer);

}  // namespace hr::parquet
