// SPDX-License-Identifier: Apache-2.0
// Reading with chosen sizes of chunks, which tests make tiny; users have csv.h.
#pragma once
#include "headrace/io/csv.h"

namespace hr {

inline constexpr int64_t kCsvChunkBytes = int64_t{1} << 20;

/// CsvScan::read, or read_where with a filter, over chunks of `chunk_bytes`; on a CUDA device these
/// are the blocks of text. The sizes decide where string text lies and nothing else.
HR_API CsvResult read_in_chunks(const CsvScan& scan, const std::vector<bool>& wanted,
                                int64_t max_rows, int64_t chunk_bytes, Place place = host,
                                const CsvFilter* filter = nullptr);

}  // namespace hr
