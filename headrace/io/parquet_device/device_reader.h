// SPDX-License-Identifier: Apache-2.0
// Flat columns of Parquet files, decoded on a CUDA device: packed pages are copied there, batch by
// batch, while those before are unpacked.
#pragma once
#include "headrace/data/column.h"
#include "headrace/io/parquet_device/page_plan.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hr::parquet {

/// Reads some columns on the host, all row groups of each.
using ReadHere = std::function<std::vector<Column>(const std::vector<size_t>& columns)>;

/// `num_rows` rows of columns; `chunks`: those of all row groups, of columns that are not nested.
/// What kernels do not read, or refuse, is made by `read_here`, whose errors are those of damaged
/// files; `fallbacks` tells. Nested columns stay on the host. Throws what sources throw,
/// DeviceError and OutOfMemoryError.
std::vector<Column> read_columns_at(Place place, const std::string& op,
                                    const std::vector<ColumnSchema>& columns,
                                    const std::vector<ChunkSource>& chunks, size_t num_groups,
                                    int64_t num_rows, const ReadHere& read_here);

}  // namespace hr::parquet
