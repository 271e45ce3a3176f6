// SPDX-License-Identifier: Apache-2.0
// Median, quantiles and distinct values of groups whose values lie together.
#include "headrace/algo/reduce/quantile_math.h"
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <algorithm>

namespace hr {

namespace {

// As `quantile` of a column; reorders the values.
double quantile_of(double* values, int64_t count, double q) {
  if (count == 0) return 0;
  const double at = q * static_cast<double>(count - 1);
  const auto below = static_cast<int64_t>(at);
  std::nth_element(values, values + below, values + count);
  const double low = values[below], part = at - static_cast<double>(below);
  if (part == 0) return low;
  return interpolate(low, *std::min_element(values + below + 1, values + count), part);
}

// Reorders the values, but keeps all of them: others are ranked after it.
template <class T>
int64_t distinct_of(T* values, int64_t count) {
  std::sort(values, values + count);
  int64_t distinct = count > 0;
  for (int64_t k = 1; k < count; ++k) distinct += values[k] != values[k - 1];
  return distinct;
}

}  // namespace

void rank_partition(const AggregatePlan& plan, size_t ranked, uint64_t* values,
                    const uint32_t* ends, AggregatePartition& part) {
  const RankedInput& input = plan.ranked[ranked];
  const ValueClass value_class = plan.inputs[static_cast<size_t>(input.input)].value_class;
  auto* counts = part.ranked_counts[ranked].mutable_as<uint32_t>();
  for (const size_t number : input.plans) {
    const AggregateRequest& request = plan.aggregates[number].request;
    Buffer& result = part.ranked[number] = Buffer::allocate(8 * part.slots);
    for (int64_t slot = 0; slot < part.slots; ++slot) {
      const int64_t begin = slot == 0 ? 0 : ends[slot - 1], count = ends[slot] - begin;
      counts[slot] = static_cast<uint32_t>(count);
      if (request.aggregate == Aggregate::kNunique) {
        auto* own = values + begin;
        result.mutable_as<int64_t>()[slot] =
            value_class == ValueClass::kFloating
                ? distinct_of(reinterpret_cast<double*>(own), count)
                : distinct_of(own, count);
      } else {
        const double q = request.aggregate == Aggregate::kMedian ? 0.5 : request.quantile;
        result.mutable_as<double>()[slot] =
            quantile_of(reinterpret_cast<double*>(values + begin), count, q);
      }
    }
  }
}

}  // namespace hr
