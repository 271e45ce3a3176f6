// SPDX-License-Identifier: Apache-2.0
// LZ4's block format: packed, and unpacked from untrusted bytes.
#pragma once
#include <cstdint>
#include <string_view>

namespace hr::parquet {

/// Unpacks a block to exactly `size` bytes at `out`. False when the block is damaged or holds
/// another number of bytes.
bool unpack_lz4(std::string_view block, char* out, int64_t size);

/// Unpacks a block of at most `most` bytes to `out`; its matches may reach back to `begin`. The
/// number of bytes; -1 when it is damaged or longer. What of `most` is behind them may be written
/// too.
int64_t unpack_lz4_behind(std::string_view block, const char* begin, char* out, int64_t most);

/// `unpack_lz4` of blocks as Hadoop's codec frames them, each behind its two sizes; of a bare block
/// where there are no frames, which other writers mean by the same name.
bool unpack_lz4_hadoop(std::string_view frames, char* out, int64_t size);

/// The most bytes that `size` bytes become.
constexpr int64_t most_lz4(int64_t size) {
  return size + size / 255 + 16;
}

/// Packs less than 4 GiB into a block at `out`, which has room for the most; gives its size.
int64_t pack_lz4(std::string_view bytes, char* out);

/// The most bytes of a frame, the room for a block that does not get smaller among them.
constexpr int64_t most_lz4_frame(int64_t size) {
  return most_lz4(size) + 4 * (size >> 22) + 16;
}

/// Packs into a frame of blocks of at most 4 MiB, as Arrow's files have it: without checksums, as
/// other writers leave them out too. `out` has room for the most; gives its size.
int64_t pack_lz4_frame(std::string_view bytes, char* out);

}  // namespace hr::parquet
