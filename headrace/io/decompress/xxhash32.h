// SPDX-License-Identifier: Apache-2.0
// XXH32, the checksum of LZ4's frames (seed 0).
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hr {

/// Of bytes that come in pieces.
class Xxhash32 {
 public:
  void add(std::string_view bytes) {
    total_ += bytes.size();
    if (held_ > 0) {
      const size_t some = std::min(bytes.size(), kStripe - held_);
      std::memcpy(stripe_.data() + held_, bytes.data(), some);
      held_ += some;
      bytes.remove_prefix(some);
      if (held_ < kStripe) return;
      mix(stripe_.data());
      held_ = 0;
    }
    for (; bytes.size() >= kStripe; bytes.remove_prefix(kStripe)) mix(bytes.data());
    if (!bytes.empty()) std::memcpy(stripe_.data(), bytes.data(), bytes.size());
    held_ = bytes.size();
  }

  uint32_t value() const {
    uint32_t hash = total_ < kStripe ? kFive
                                     : std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) +
                                           std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    hash += static_cast<uint32_t>(total_);
    size_t at = 0;
    for (; at + 4 <= held_; at += 4)
      hash = std::rotl(hash + word(stripe_.data() + at) * kThree, 17) * kFour;
    for (; at < held_; ++at)
      hash = std::rotl(hash + static_cast<uint8_t>(stripe_[at]) * kFive, 11) * kOne;
    hash = (hash ^ hash >> 15) * kTwo;
    hash = (hash ^ hash >> 13) * kThree;
    return hash ^ hash >> 16;
  }

 private:
  static constexpr size_t kStripe = 16;
  static constexpr uint32_t kOne = 2654435761, kTwo = 2246822519, kThree = 3266489917,
                            kFour = 668265263, kFive = 374761393;

  static uint32_t word(const char* bytes) {
    uint32_t value;
    std::memcpy(&value, bytes, sizeof value);
    return std::endian::native == std::endian::big ? __builtin_bswap32(value) : value;
  }

  void mix(const char* stripe) {
    for (size_t k = 0; k < lanes_.size(); ++k)
      lanes_[k] = std::rotl(lanes_[k] + word(stripe + 4 * k) * kTwo, 13) * kOne;
  }

  std::array<uint32_t, 4> lanes_{kOne + kTwo, kTwo, 0, 0 - kOne};
  std::array<char, kStripe> stripe_{};
  size_t held_ = 0;
  uint64_t total_ = 0;
};

inline uint32_t xxhash32(std::string_view bytes) {
  Xxhash32 hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace hr
