// SPDX-License-Identifier: Apache-2.0
// What a group-by is thought to take, by the way that it will go.
#include "headrace/relational/aggregate/aggregate_cost.h"

#include "headrace/exec/workers.h"
#include "headrace/relational/rows/encoding_cost.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hr {

namespace {

constexpr double kFewSlots = 1 << 17;
constexpr double kFewestSlots = 16384;  // where picked rows fold without being made
constexpr double kPartitionRows = 1 << 15;

// Bytes that a slot has of an accumulator; those of the second pass keep means too.
double state_bytes(Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::kSquares:
    case Accumulator::kOtherSquares:
    case Accumulator::kArgmin:
    case Accumulator::kArgmax:
      return 24;
    default:
      return 8;
  }
}

// What the requests read and keep.
struct AccumulatorCosts {
  double streams = 0;  // columns of 8 bytes a row, where rows are split
  double states = 0;   // bytes a slot
  double results = 0;  // bytes a group
  bool ranked = false;
  bool counts_values = false;  // of each group, one by one
  bool needs_rows = false;
  double unmade = 0;  // bytes of columns that the group-by makes, if it needs them
};

AccumulatorCosts accumulator_costs(const InputEstimates& inputs, const std::vector<int64_t>& keys,
                                   const std::vector<AggregateRequest>& requests) {
  AccumulatorCosts accumulators{.streams = 0, .states = 4, .results = 8};
  std::set<int64_t> columns;
  for (const AggregateRequest& each : requests) {
    const AggregateRow& row = aggregate_row(each.aggregate);
    accumulators.results += 8;
    accumulators.ranked |= row.ranked;
    accumulators.counts_values |=
        each.aggregate == Aggregate::kNunique || each.aggregate == Aggregate::kMode;
    accumulators.needs_rows |= row.rows != RowUse::kNone;
    for (const Accumulator kept : row.accumulators) accumulators.states += state_bytes(kept);
    const bool counted = row.input != AggregateInput::kValues &&
                         row.input != AggregateInput::kFloats && row.accumulators.empty();
    for (const int64_t place : {each.column, each.other})
      if (place >= 0 && !(counted && !inputs.dtype(place).is_floating())) columns.insert(place);
  }
  accumulators.streams = static_cast<double>(columns.size());
  columns.insert(keys.begin(), keys.end());
  for (const int64_t place : columns)
    accumulators.unmade += static_cast<double>(inputs.unmade_bytes(place));
  return accumulators;
}

}  // namespace

int64_t estimate_groups(const InputEstimates& inputs, const std::vector<int64_t>& keys) {
  const int64_t rows = inputs.rows(keys[0]);
  if (rows == kUnknown) return kUnknown;
  if (const std::optional<NdvEstimate> guess = inputs.keys(keys))
    return std::min(rows, static_cast<int64_t>(std::llround(guess->distinct)));
  return std::min(rows, static_cast<int64_t>(10 * std::sqrt(static_cast<double>(rows))));
}

OperatorCost aggregate_cost(const InputEstimates& inputs, const std::vector<int64_t>& keys,
                            const std::vector<AggregateRequest>& requests, GroupOrder order,
                            int64_t groups, bool distinct) {
  const auto rows = static_cast<double>(inputs.rows(keys[0])), count = static_cast<double>(groups);
  const AccumulatorCosts accumulators = accumulator_costs(inputs, keys, requests);
  const NdvEstimate all =
      inputs.keys(keys).value_or(NdvEstimate{.distinct = count, .domain = 1e300});
  const bool sorted = order == GroupOrder::kSorted, first_seen = order == GroupOrder::kFirstSeen;
  const double wide = accumulators.streams + (accumulators.needs_rows || first_seen);
  OperatorCost work;
  double codes = 0, most = 0;
  for (const int64_t key : keys) {
    if (!inputs.dtype(key).is_string()) continue;
    const std::optional<NdvEstimate> texts = inputs.keys(std::span(&key, 1));
    if (texts && !texts->has_texts) continue;
    const EncodingCost own = encoding_cost(
        texts.value_or(NdvEstimate{.distinct = count, .domain = count, .has_texts = true}), rows,
        sorted);
    most = std::max(most, codes + own.bytes);
    codes += own.kept;
    work.serial_nanoseconds += own.serial_nanoseconds;
    work.nanoseconds += 20 * rows;
  }
  double held = 0;
  const bool few_keys = all.domain <= std::min(kFewSlots, std::max(4096.0, rows / 2));
  if (distinct) {
    held = count <= kFewSlots ? 100 * count : 14 * rows;
    work.nanoseconds += rows * (count <= kFewSlots ? 1.5 : 10);
  } else if (!accumulators.ranked && (few_keys || count <= kFewSlots)) {
    const double slots = few_keys ? all.domain : count;
    const double runs = std::clamp(rows / std::max(8 * slots, 131072.0), 1.0, 64.0);
    held = std::floor(runs) * slots * accumulators.states + (few_keys && first_seen ? 5 * rows : 0);
    work.nanoseconds += rows * (1.5 + accumulators.streams);
    if (!few_keys) {
      held += 4 * rows + 40 * count;
      work.nanoseconds += 5.5 * rows;
    }
  } else {
    const bool dense = few_keys || all.domain <= 4 * rows;
    const double partitions = std::clamp(std::min(rows / kPartitionRows, dense ? all.domain : 1e9),
                                         1.0, std::max(count, 1.0));
    held = rows * (8 * (1 + wide) + (first_seen ? 9 : 0)) + count * accumulators.results +
           static_cast<double>(threads()) * rows / partitions * (accumulators.ranked ? 12 : 4);
    // Groups that are not in the cache are looked up, where normalized keys are no slots.
    work.nanoseconds += rows * (count <= kFewSlots ? 8 + 4 * wide
                                : dense            ? 14 + 6 * wide
                                                   : 30 + 10 * wide);
    if (!few_keys && count <= kFewSlots) {
      held += 4 * rows;
      work.nanoseconds += 5.5 * rows;
    }
    if (accumulators.ranked) work.nanoseconds += 8 * rows;
    if (accumulators.counts_values)
      work.nanoseconds += 4 * rows * std::log2(std::max(rows / std::max(count, 1.0), 1.0));
  }
  const bool in_place = few_keys && !accumulators.ranked && all.domain <= kFewestSlots;
  work.bytes = std::max(most, codes + held) + (in_place ? 0 : accumulators.unmade);
  return work;
}

}  // namespace hr
