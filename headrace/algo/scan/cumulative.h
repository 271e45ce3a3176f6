// SPDX-License-Identifier: Apache-2.0
// Running sums, products, minima and maxima.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/scan/segments.h"
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/memory/buffer/pin.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hr {

/// What the rows up to and with each one give. Null stays null and NaN stays NaN; both take no
/// part. Integers wrap; decimals are exact, and a sum of more than 38 digits throws
/// InvalidArgumentError with its row. Floats add row by row within a morsel of 2^17 rows, and what
/// the morsels before gave is added to each: the same bits for any number of threads, and on a CUDA
/// device, where a morsel of floats takes as long as all of them together. Two walks, 2 ns a row.
HR_API Column cumulative(Aggregate aggregate, const Column& column);

/// Writes the groups of rows [row, row + count), count at most kBlockRows.
using ReadGroups = std::function<void(int64_t row, int64_t count, uint32_t* groups)>;

/// The same within groups of rows that may lie anywhere, numbered below `count`: a total per group
/// and morsel, of 2^17 rows or as many times more as keep all totals below 2^20 and a quarter of
/// the rows. One group gives the bits of none. Rows of the group `missing` are null. `accesses`:
/// what `read` reads.
HR_API Column cumulative(Aggregate aggregate, const Column& column, const ReadGroups& read,
                         int64_t count, int64_t missing, const std::vector<BufferAccess>& accesses);

/// The same within segments, each of which begins anew. Throws UnsupportedError on a device.
HR_API Column cumulative(Aggregate aggregate, const Column& column, const Segments& segments);

}  // namespace hr
