// SPDX-License-Identifier: Apache-2.0
// A table to a Parquet file: column chunks encoded by all workers, put in place whole or not at
// all.
#pragma once
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <functional>
#include <string>

namespace hr {

/// Some rows of some columns as a Parquet file in memory, with at most one row group. Called on
/// any thread, several at a time.
using EncodeParquet =
    std::function<Buffer(int64_t first_row, int64_t rows, int64_t first_column, int64_t columns)>;

/// Writes `path` as `write_csv` does, in row groups of 2^20 rows, each chunk while later ones are
/// encoded; two a thread may wait. The same bytes for any number of threads: those of the row
/// groups as `encode` would write them into one file. Throws what `encode` throws and InputError
/// with path and errno when the system refuses.
HR_API void write_parquet(const std::string& path, int64_t rows, int64_t columns,
                          const EncodeParquet& encode);

}  // namespace hr
