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

/// `num_rows` rows of columns; `chunks`: those of all row groups, of columns that are not nested.
/// What kernels do not read, or refuse, is made by `read_here`, whose errors are those of damaged
/// files; `fallbacks` tells. Nested columns stay on the host. Throws what sources throw,
/// DeviceError and OutOfMemoryError.
std::vector<Column> read_columns_at(Place place, const std::string& op,
                                    const std::vector<ColumnSchema>& columns,
                                    const std::vector<ChunkSource>& chunks, size_t num_groups,
                                    int64_t num_rows,
                                    const std::function<Column(size_t column)>& read_here);

}  // namespace hr::parquet
