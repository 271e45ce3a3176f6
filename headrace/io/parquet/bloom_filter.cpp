// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/bloom_filter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace hr::parquet {

namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u, kPrime2 = 0xC2B2AE3D27D4EB4Fu,
                   kPrime3 = 0x165667B19E3779F9u, kPrime4 = 0x85EBCA77C2B2AE63u,
                   kPrime5 = 0x27D4EB2F165667C5u;

// One bit of each of the eight words of a block.
constexpr std::array<uint32_t, 8> kSalts = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                            0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};

constexpr double kBitsPerValue = 10.5;  // one wrong yes in a hundred
constexpr int64_t kMostBytes = int64_t{1} << 27;

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint64_t round_of(uint64_t state, uint64_t input) {
  return std::rotl(state + input * kPrime2, 31) * kPrime1;
}

uint64_t merge(uint64_t hash, uint64_t state) {
  return (hash ^ round_of(0, state)) * kPrime1 + kPrime4;
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  uint64_t hash = kPrime5;
  if (bytes.size() >= 32) {
    std::array<uint64_t, 4> states = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; end - at >= 32; at += 32)
      for (size_t i = 0; i < 4; ++i) states[i] = round_of(states[i], load<uint64_t>(at + 8 * i));
    hash = std::rotl(states[0], 1) + std::rotl(states[1], 7) + std::rotl(states[2], 12) +
           std::rotl(states[3], 18);
    for (const uint64_t state : states) hash = merge(hash, state);
  }
  hash += bytes.size();
  for (; end - at >= 8; at += 8)
    hash = std::rotl(hash ^ round_of(0, load<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ load<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < end; ++at) hash = std::rotl(hash ^ static_cast<uint8_t>(*at) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

BloomFilter::BloomFilter(int64_t values) {
  const double wanted = static_cast<double>(std::max<int64_t>(values, 1)) * kBitsPerValue / 8;
  const double most = std::min(wanted, static_cast<double>(kMostBytes));
  // Powers of two, as some readers want them.
  const uint64_t bytes = std::bit_ceil(static_cast<uint64_t>(std::ceil(most)));
  bits_ = Buffer::allocate_zeroed(std::max(static_cast<int64_t>(bytes), kBlockBytes));
}

void BloomFilter::add(uint64_t hash) {
  uint32_t* const block = bits_.mutable_as<uint32_t>() + block_of(hash) * 8;
  for (size_t i = 0; i < kSalts.size(); ++i)
    block[i] |= 1u << (static_cast<uint32_t>(hash) * kSalts[i] >> 27);
}

bool BloomFilter::may_have(uint64_t hash) const {
  const uint32_t* const block = bits_.as<uint32_t>() + block_of(hash) * 8;
  bool all = true;
  for (size_t i = 0; i < kSalts.size(); ++i)
    all &= (block[i] >> (static_cast<uint32_t>(hash) * kSalts[i] >> 27) & 1) != 0;
  return all;
}

}  // namespace hr::parquet
