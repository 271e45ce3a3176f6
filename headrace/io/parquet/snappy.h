// SPDX-License-Identifier: Apache-2.0
// Snappy's block format: packed, and unpacked from untrusted bytes.
#pragma once
#include <cstdint>
#include <string_view>

namespace hr::parquet {

/// Bytes behind the end of what is unpacked that a decoder may write as well.
inline constexpr int64_t kUnpackSlack = 64;

/// Unpacks a block to exactly `size` bytes at `out`, behind which kUnpackSlack more are writable.
/// False when the block is damaged or holds another number of bytes.
bool unpack_snappy(std::string_view block, char* out, int64_t size);

/// A block and where it is unpacked to, as above.
struct SnappyBlock {
  std::string_view packed;
  char* out;
  int64_t size;
};

/// Unpacks two blocks in turn: each waits for its next tag most of the time, so that both take two
/// thirds of the time of one after the other. False when one of them is damaged.
bool unpack_snappy(const SnappyBlock& a, const SnappyBlock& b);

/// The most bytes that `size` bytes become.
constexpr int64_t most_snappy(int64_t size) {
  return size + size / 6 + 32;
}

/// Packs less than 4 GiB into a block at `out`, which has room for the most; gives its size.
int64_t pack_snappy(std::string_view bytes, char* out);

}  // namespace hr::parquet
