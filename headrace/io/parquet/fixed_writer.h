// SPDX-License-Identifier: Apache-2.0
// Integers and floats of 4 and 8 bytes to the pages of a chunk.
#pragma once
#include "headrace/io/parquet/value_writer.h"

namespace hr::parquet {

/// Writes `count` values; T is int32_t, int64_t, uint32_t, uint64_t, float or double. `values` lie
/// in `kept`, or in a column that outlives the writer.
template <class T>
std::unique_ptr<ValueWriter> write_fixed(const T* values, int64_t count, Buffer kept = {});

}  // namespace hr::parquet
