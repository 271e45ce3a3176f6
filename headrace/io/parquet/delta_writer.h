// SPDX-License-Identifier: Apache-2.0
// DELTA_BINARY_PACKED, written: integers as packed differences.
#pragma once
#include "headrace/io/byte_buffer.h"

#include <cstdint>

namespace hr::parquet {

/// Appends `count` integers in blocks of 128. Differences wrap, as readers add them up again.
void append_delta(const int32_t* values, int64_t count, ByteBuffer& out);
void append_delta(const int64_t* values, int64_t count, ByteBuffer& out);

/// About how many bytes that takes, of some blocks all over the values.
int64_t guess_delta_bytes(const int32_t* values, int64_t count);
int64_t guess_delta_bytes(const int64_t* values, int64_t count);

}  // namespace hr::parquet
