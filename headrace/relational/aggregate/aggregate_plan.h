// SPDX-License-Identifier: Apache-2.0
// What a group-by folds for its aggregates, and what it has of the groups: for aggregate.cpp.
#pragma once
#include "headrace/algo/aggregate/accumulators.h"
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/relational/aggregate/aggregate.h"

#include <vector>

namespace hr {

/// Where an aggregate finds what it needs: folds of an input, or the values of each group in one
/// place.
struct AggregatePlan {
  AggregateRequest request{};
  Dtype dtype{};                ///< of the result
  int64_t input = -1;           ///< of FoldPlan::inputs; -1: only the rows are counted
  std::vector<size_t> folds{};  ///< of the input, in the order that the aggregate wants
  int64_t ranked = -1;          ///< of FoldPlan::ranked
};

/// Aggregates that want all values of a group together.
struct RankedInput {
  int64_t input;  ///< whose values
  std::vector<size_t> plans{};
};

struct FoldPlan {
  std::vector<FoldInput> inputs{};
  std::vector<AggregatePlan> aggregates{};
  std::vector<RankedInput> ranked{};
  bool needs_sizes = false;
  bool needs_second = false;
};

/// Whether decimals are folded as float64.
bool goes_to_float(Aggregate aggregate);

FoldPlan plan_folds(const std::vector<Column>& values,
                    const std::vector<AggregateRequest>& requests);

/// Some slots and what was folded into them; a slot without rows is no group.
struct GroupPart {
  int64_t slots = 0;
  uint64_t first_key = 0;               ///< pack of slot 0 where the slots are packs in order
  Buffer keys{};                        ///< else the pack of each slot
  Buffer sizes{};                       ///< uint32 a slot
  std::vector<int64_t> first_rows{};    ///< of the slots, where first-seen order is wanted
  std::vector<FoldStates> states{};     ///< one an input
  std::vector<Buffer> ranked{};         ///< 8 bytes a slot, one an aggregate of that kind
  std::vector<Buffer> ranked_counts{};  ///< uint32 values a slot, one an input of that kind

  uint64_t key(uint32_t slot) const { return keys ? keys.as<uint64_t>()[slot] : first_key + slot; }
};

/// Finished groups: 8 bytes a group for the pack of the key, for the first row where that is
/// wanted, and for each aggregate (of the lane of its result); a byte a group where some are not
/// there.
struct GroupResults {
  int64_t groups = 0;
  Buffer packs{};
  Buffer first_rows{};
  std::vector<Buffer> values{};
  /// Of each aggregate a byte a group, one aggregate behind the other: together they are enough to
  /// leave memory.
  Buffer there{};
  std::vector<int64_t> there_at{};  ///< where those of an aggregate begin; -1: all are there
};

/// The groups of a part, in the order of their slots or of their keys.
GroupResults finish_part(const PackedKeys& packed, const FoldPlan& plan, const GroupPart& part,
                         bool sort);

/// Results of several parts one after the other, published.
GroupResults join_results(const std::vector<GroupResults>& parts, const FoldPlan& plan);

/// All groups as columns in the wanted order. Lets go of the parts on the way.
Grouped collect_groups(const PackedKeys& packed, int64_t num_keys, const FoldPlan& plan,
                       const std::vector<Column>& values, std::vector<GroupResults> parts,
                       bool parts_are_first_seen, GroupOptions options);

/// Median, quantiles and distinct values of the groups of a part. `values` are 8 bytes each (lane
/// of the input), group after group; `ends[slot]` is where a slot's end.
void rank_part(const FoldPlan& plan, size_t ranked, uint64_t* values, const uint32_t* ends,
               GroupPart& part);

}  // namespace hr
