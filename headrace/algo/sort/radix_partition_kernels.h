// SPDX-License-Identifier: Apache-2.0
// Kernels of partition: one morsel in cache.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hr::cpu {

/// Adds to `counts`, one a bucket, the rows of each.
void count_buckets(const uint16_t* buckets, int64_t rows, uint32_t* counts);

/// Place of each row in bucket order; `next` has the first place of each bucket and gets the last
/// plus one.
void bucket_places(const uint16_t* buckets, int64_t rows, uint32_t* next, uint32_t* places);

/// Value of row r to place places[r] of `staged`. `width` is 1, 2, 4, 8 or 16.
void stage_values(const std::byte* values, int64_t rows, const uint32_t* places, int64_t width,
                  std::byte* staged);

/// The same for the rows' numbers, which begin with `first`; `width` is 4 or 8.
void stage_rows(int64_t first, int64_t rows, const uint32_t* places, int64_t width,
                std::byte* staged);

/// Copies past the cache where whole lines are written; other threads may read them after
/// `finish_copies`.
void copy_out(const std::byte* from, int64_t bytes, std::byte* to);
void finish_copies();

}  // namespace hr::cpu
