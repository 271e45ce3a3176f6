// SPDX-License-Identifier: Apache-2.0
// Median, quantiles, modes and distinct values of groups whose values lie together.
#include "headrace/algo/reduce/quantile_math.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/error.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"
#include "headrace/relational/aggregate/order_statistics_kernels.h"

#include <algorithm>

namespace hr {

namespace {

// Reorders the values, but keeps all of them: others are ranked after it.
template <class T>
int64_t distinct_of(T* values, int64_t count) {
  std::sort(values, values + count);
  int64_t distinct = count > 0;
  for (int64_t k = 1; k < count; ++k) distinct += values[k] != values[k - 1];
  return distinct;
}

// The most frequent value, the least of several; reorders too.
template <class T>
T mode_of(T* values, int64_t count) {
  std::sort(values, values + count);
  T mode{};
  int64_t most = 0;
  for (int64_t begin = 0, k = 1; k <= count; ++k) {
    if (k < count && values[k] == values[begin]) continue;
    if (k - begin > most) {
      most = k - begin;
      mode = values[begin];
    }
    begin = k;
  }
  return mode;
}

}  // namespace

bool has_order_kernels(const AggregatePlan& plan) {
  return std::ranges::all_of(plan.aggregates, [&](const PlannedAggregate& each) {
    if (each.ranked < 0) return true;
    const Dtype dtype = plan.inputs[static_cast<size_t>(each.input)].values.dtype();
    const bool counts = each.request.aggregate == Aggregate::kNunique;
    if (counts) return dtype.storage().is_real() && !dtype.is_category();
    return dtype.is_real() && each.request.aggregate != Aggregate::kMode;
  });
}

std::vector<Column> order_statistics_on_device(const AggregatePlan& plan, const RankedInput& input,
                                               const Column& numbers, int64_t groups) {
  if constexpr (built_with_cuda) {
    const Column& values = plan.inputs[static_cast<size_t>(input.input)].values;
    const std::vector<Column> rows = {numbers, values};
    const std::vector<Column> sorted = sort_rows(rows, {SortOrder{}, SortOrder{}}, rows);
    std::vector<PlannedAggregate> wanted;
    for (const size_t number : input.plans) wanted.push_back(plan.aggregates[number]);
    return cuda::order_statistics(sorted[0], groups, sorted[1], wanted);
  }
  throw_error<InternalError>("groupby", "built without CUDA");
}

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
      uint64_t* const own = values + begin;
      const auto visit = [&](auto&& statistic) {
        if (value_class == ValueClass::kFloating) return statistic(reinterpret_cast<double*>(own));
        if (value_class == ValueClass::kSigned) return statistic(reinterpret_cast<int64_t*>(own));
        return statistic(own);
      };
      if (request.aggregate == Aggregate::kNunique) {
        visit([&](auto* typed) { result.mutable_as<int64_t>()[slot] = distinct_of(typed, count); });
      } else if (request.aggregate == Aggregate::kMode) {
        visit([&]<class T>(T* typed) { result.mutable_as<T>()[slot] = mode_of(typed, count); });
      } else {
        const double q = request.aggregate == Aggregate::kMedian ? 0.5 : request.quantile;
        auto* const numbers = reinterpret_cast<double*>(own);
        result.mutable_as<double>()[slot] =
            count == 0 ? 0 : quantile_of(numbers, count, q, request.interpolation) + 0.0;
      }
    }
  }
}

}  // namespace hr
