// SPDX-License-Identifier: Apache-2.0
// Parquet's Bloom filter in blocks of 256 bits, by xxHash.
#pragma once
#include "headrace/io/byte_buffer.h"

#include <cstdint>
#include <string_view>

namespace hr::parquet {

/// xxHash of 64 bits with the seed 0.
uint64_t hash_bytes(std::string_view bytes);

/// Answers whether a value was added: a no is certain, a yes is wrong about once in a hundred times
/// when no more were added than it was made for.
class BloomFilter {
 public:
  static constexpr int64_t kBlockBytes = 32;

  /// An empty one.
  explicit BloomFilter(int64_t values);

  /// One that was read, or one block of it; `bits` are whole blocks, at least one.
  explicit BloomFilter(Buffer bits) : bits_(std::move(bits)) {}

  /// The block of a hash in a filter of `blocks`: the only one that it needs.
  static int64_t block_of(uint64_t hash, int64_t blocks) {
    return static_cast<int64_t>((hash >> 32) * static_cast<uint64_t>(blocks) >> 32);
  }

  void add(uint64_t hash);
  bool may_have(uint64_t hash) const;

  std::string_view bytes() const {
    return {bits_.as<char>(), static_cast<size_t>(bits_.size_bytes())};
  }

 private:
  int64_t block_of(uint64_t hash) const { return block_of(hash, bits_.size_bytes() / kBlockBytes); }

  Buffer bits_;
};

}  // namespace hr::parquet
