// SPDX-License-Identifier: Apache-2.0
// Snappy's block format, unpacked from untrusted bytes.
#pragma once
#include <cstdint>
#include <string_view>

namespace hr::parquet {

/// Bytes behind the end of what is unpacked that a decoder may write as well.
inline constexpr int64_t kUnpackSlack = 64;

/// Unpacks a block to exactly `size` bytes at `out`, behind which kUnpackSlack more are writable.
/// False when the block is damaged or holds another number of bytes.
bool unpack_snappy(std::string_view block, char* out, int64_t size);

}  // namespace hr::parquet
