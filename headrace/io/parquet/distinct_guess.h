// SPDX-License-Identifier: Apache-2.0
// Whether a dictionary is worth its place, told from the first values.
#pragma once
#include <cstdint>

namespace hr::parquet {

/// Values read before deciding whether the dictionary goes on; each power of two after that
/// decides again.
inline constexpr int64_t kFirstLook = int64_t{1} << 16;

/// How many distinct values `rows` values may have of which the first `seen` had `found`, if all
/// are drawn at random from as many as that makes likely.
double guess_distinct(int64_t found, int64_t seen, int64_t rows);

/// Bits of an index into a dictionary of this size, at least 1.
int index_bits(int64_t distinct);

/// About how many bytes the indices of `count` values take, of which `changes` are others than the
/// value before.
double guess_index_bytes(double distinct, int64_t count, double changes);

}  // namespace hr::parquet
