// SPDX-License-Identifier: Apache-2.0
// Parquet's hybrid of run lengths and bit packing, written: indices into dictionaries, levels.
#pragma once
#include "headrace/io/byte_buffer.h"

#include <cstdint>

namespace hr::parquet {

/// Appends `count` values of `width` (1 to 32) bits: runs of equal values where they are long
/// enough, packed groups of eight for the others.
void append_hybrid(const uint32_t* values, int64_t count, int width, ByteBuffer& out);

/// The same of `count` bits of a bitmap, from bit `first` on.
void append_hybrid_bits(const uint8_t* bitmap, int64_t first, int64_t count, ByteBuffer& out);

/// A run of one value.
void append_run(uint32_t value, int64_t count, int width, ByteBuffer& out);

/// Appends `count` values of `width` (0 to 64) bits, the lowest bits first; the last byte is filled
/// up with zeros.
void append_packed(const uint64_t* values, int64_t count, int width, ByteBuffer& out);

}  // namespace hr::parquet
