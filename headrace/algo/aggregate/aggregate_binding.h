// SPDX-License-Identifier: Apache-2.0
// What an aggregate means for a dtype that its kernels do not take: the numbers that stand for the
// values, and the dtype of the result.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"

namespace hr {

struct BoundAggregate {
  enum class Input : uint8_t {
    kValues,    ///< as they are; kernels refuse what they do not take
    kFloats,    ///< decimals as float64
    kDecimals,  ///< exact
    kStrings,   ///< by their order
    kCounts,    ///< times and durations as integers of the unit of `counted`
    kOffsets,   ///< the same from about the least one on, which floats hold more exactly
  };

  Input input = Input::kValues;
  Dtype counted{};
  Dtype result{};  ///< of times and durations
};

/// Binds an aggregate of whole columns or groups to the dtype of its values, by the kinds that its
/// row lists. The mean and quantiles of times are times, their standard deviation is a duration (of
/// dates in seconds).
HR_API BoundAggregate bind_aggregate(Aggregate aggregate, Dtype dtype, AggregateForm form);

}  // namespace hr
