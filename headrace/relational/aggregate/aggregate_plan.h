// SPDX-License-Identifier: Apache-2.0
// What a group-by folds for its aggregates, and what it has of the groups: for aggregate.cpp.
#pragma once
#include "headrace/algo/aggregate/accumulators.h"
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <vector>

namespace hr {

/// Where an aggregate finds what it needs: accumulators of an input, or the values of each group in
/// one place.
struct PlannedAggregate {
  AggregateRequest request{};
  Dtype dtype{};                       ///< of the result
  int64_t input = -1;                  ///< of AggregatePlan::inputs; -1: only the rows are counted
  std::vector<size_t> accumulators{};  ///< of the input, in the order that the aggregate wants
  int64_t ranked = -1;                 ///< of AggregatePlan::ranked
};

/// Aggregates that want all values of a group together.
struct RankedInput {
  int64_t input;  ///< whose values
  std::vector<size_t> plans{};
};

struct AggregatePlan {
  std::vector<AccumulatorInput> inputs{};
  std::vector<PlannedAggregate> aggregates{};
  std::vector<RankedInput> ranked{};
  bool needs_sizes = false;
  bool needs_second = false;
};

AggregatePlan plan_aggregates(const std::vector<Column>& values,
                              const std::vector<AggregateRequest>& requests);

/// Some slots and what was folded into them; a slot without rows is no group.
struct AggregatePartition {
  int64_t slots = 0;
  uint64_t first_key =
      0;           ///< normalized key of slot 0 where the slots are normalized keys in order
  Buffer keys{};   ///< else the normalized key of each slot
  Buffer sizes{};  ///< uint32 a slot
  std::vector<int64_t> first_rows{};  ///< of the slots, if the order is that of first appearance
  std::vector<AccumulatorStates> states{};  ///< one an input
  std::vector<Buffer> ranked{};             ///< 8 bytes a slot, one an aggregate of that kind
  std::vector<Buffer> ranked_counts{};      ///< uint32 values a slot, one an input of that kind

  uint64_t key(uint32_t slot) const { return keys ? keys.as<uint64_t>()[slot] : first_key + slot; }
};

/// Finished groups: 8 bytes a group for the normalized key of the key, for the first row if it
/// is needed, and for each aggregate (of the class of its result); one byte per group where some
/// are null.
struct GroupResults {
  int64_t groups = 0;
  Buffer normalized_keys{};
  Buffer first_rows{};
  std::vector<Buffer> values{};
  /// One byte per aggregate and group, one aggregate after the other: together they are enough to
  /// leave memory.
  Buffer valid{};
  std::vector<int64_t> valid_at{};  ///< where those of an aggregate begin; -1: all are there
};

/// In which order the groups of a partition are.
enum class SlotOrder : uint8_t { kSlots, kKeys, kFirstRows };

GroupResults finalize_partition(const NormalizedKeys& packed, const AggregatePlan& plan,
                                const AggregatePartition& partition, SlotOrder order);

/// Results of several partitions one after the other, sealed.
GroupResults concat_results(const std::vector<GroupResults>& partitions, const AggregatePlan& plan);

/// All groups as columns in the wanted order. Lets go of the partitions on the way.
Grouped finalize_groups(const NormalizedKeys& packed, int64_t num_keys, const AggregatePlan& plan,
                        const std::vector<Column>& values, std::vector<GroupResults> partitions,
                        bool partitions_are_first_seen, GroupOptions options);

/// Median, quantiles and distinct values of the groups of a partition. `values` are 8 bytes each
/// (class of the input), group after group; `ends[slot]` is where a slot's end.
void rank_partition(const AggregatePlan& plan, size_t ranked, uint64_t* values,
                    const uint32_t* ends, AggregatePartition& partition);

}  // namespace hr
