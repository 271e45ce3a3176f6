// SPDX-License-Identifier: Apache-2.0
// What the statistics of a file tell of a column, by row group.
#pragma once
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/schema.h"
#include "headrace/plan/optimize/zone_map.h"

namespace hr::parquet {

/// Those of groups of rows, of each by its statistics; of a column in no list.
ColumnBounds column_bounds(const ColumnSchema& column, const std::vector<Statistics>& groups);

/// Minimum, maximum and number of nulls in each row group, null where the file does not
/// say it or says what means nothing: NaN, bytes of a wrong size, an order that is not ours.
ColumnBounds column_bounds(const FileMetadata& file, const ColumnSchema& column);

}  // namespace hr::parquet
