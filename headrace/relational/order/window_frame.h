// SPDX-License-Identifier: Apache-2.0
// Aggregates of window frames: of each row the rows from a first one up to a last one.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <string_view>

namespace hr {

enum class FrameFunction : uint8_t { kSum, kMin, kMax };

/// "sum", "min", "max"; throws InvalidArgumentError for another word.
HR_API FrameFunction frame_function_from_name(std::string_view name);

/// The sum, minimum or maximum of `values` in rows [begins, ends) for each row of these: int64 or
/// float64 as `values` are. Null values take no part; of no value the result is null. Sums of
/// integers wrap; NaN is greater than all numbers, as in SQL. Bounds beyond the rows are cut.
/// Floats add within blocks of 64 rows, then blocks: the same bits for any number of threads.
/// A tree of blocks is made of `values` in one pass; a row then costs about 128 additions for each
/// power of 64 in the size of its frame at most. Throws TypeMismatchError for other dtypes,
/// InvalidArgumentError when begins and ends have different lengths.
HR_API Column window_frame(FrameFunction function, const Column& begins, const Column& ends,
                           const Column& values);
HR_API NodePtr window_frame(FrameFunction function, const NodePtr& begins, const NodePtr& ends,
                            const NodePtr& values);

}  // namespace hr
