// SPDX-License-Identifier: Apache-2.0
// Bit-packed integers, dictionaries, split bytes and strings that begin as the one before, as loops
// over memory that is there.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hr::parquet::cpu {

/// `count` integers of `width` (0 to 32) bits, packed from bit `first_bit` of `in` on. Reads
/// nothing at `end` or behind it; the caller knows that the bits are there.
void unpack_bits(const uint8_t* in, const uint8_t* end, int64_t first_bit, int width, int64_t count,
                 uint32_t* out);

/// The largest of `count` (at least 1) numbers.
uint32_t greatest(const uint32_t* numbers, int64_t count);

/// out[i] = dictionary[indices[i]] for elements of 1, 2, 4, 8 or 16 bytes. All indices are inside.
void gather(const std::byte* dictionary, int64_t element_bytes, const uint32_t* indices,
            int64_t count, std::byte* out);

/// Elements of `width` bytes whose bytes lie in `width` streams of `stride` bytes each: elements
/// [first, first + count).
void join_bytes(const uint8_t* streams, int64_t stride, int64_t width, int64_t first, int64_t count,
                std::byte* out);

/// The bytes of `count` suffixes of strings of at most 12 bytes, each of which begins with
/// prefixes[i] bytes of the one before; `last_bytes`: of the one before the first. -1 where a
/// string is longer, or a prefix is longer than the string before.
int64_t short_front_coded_bytes(const int64_t* prefixes, const int64_t* suffixes, int64_t count,
                                int64_t last_bytes);

/// Views of these strings to `out`, of their suffixes in `text`, behind which kReadBehind bytes are
/// read. `last`: the view of the one before the first, zeros behind its text.
inline constexpr int64_t kReadBehind = 16;
void put_front_coded(const int64_t* prefixes, const int64_t* suffixes, int64_t count,
                     const char* text, const std::byte* last, std::byte* out);

}  // namespace hr::parquet::cpu
