// SPDX-License-Identifier: Apache-2.0
// The ways of a group-by through its rows: for aggregate.cpp.
#pragma once
#include "headrace/algo/keys/partition_runs.h"
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hr {

/// Rows as slots of one table, and what that reads.
struct SlotReader {
  std::function<void(int64_t row, int64_t count, uint32_t* slots)> read;
  std::vector<BufferAccess> accesses{};
};

/// What one run reads, block after block.
class AccumulatorReader {
 public:
  AccumulatorReader() = default;
  virtual ~AccumulatorReader() = default;
  AccumulatorReader(const AccumulatorReader&) = delete;
  AccumulatorReader& operator=(const AccumulatorReader&) = delete;

  /// What `read` and `rows` touch, by row.
  virtual std::vector<BufferAccess> accesses() const = 0;
  /// Goes to rows [row, row + count), at most kBlockRows, and gives their slots.
  virtual void read(int64_t row, int64_t count, uint32_t* slots) = 0;
  /// These rows of an input of the plan.
  virtual AccumulatorRows rows(size_t input, const uint32_t* slots) = 0;
};

/// Rows with few slots, and who reads them.
struct AccumulatorSource {
  int64_t rows = 0;   ///< that are folded; others have the slot `slots`
  int64_t slots = 0;  ///< without that one
  bool has_others = false;
  /// Where the folded row morsel_rows() * morsel lies; behind the last one: the end.
  std::function<int64_t(int64_t morsel)> begin_of{};
  std::function<std::unique_ptr<AccumulatorReader>()> reader{};
};

/// Whether the rows are folded into slots, one for each key below `domain`.
bool has_few_slots(uint64_t domain, int64_t rows);
/// Rows of a run, if so.
int64_t run_rows_of(int64_t slots);

/// Few slots: each run of rows has states of its own. One partition, which has no keys yet; what
/// there is of others is no group of it.
AggregatePartition dense_aggregate(const AggregatePlan& plan, const AccumulatorSource& source);
/// The same over columns.
AggregatePartition dense_aggregate(const AggregatePlan& plan, int64_t rows, int64_t slots,
                                   const SlotReader& reader);

/// The same over columns on a CUDA device, with the keys' domain as slots, where
/// `why_no_dense_kernel` is empty; the partition is on the host. `wants_first`: with first rows.
AggregatePartition dense_aggregate_on_device(const AggregatePlan& plan,
                                             const NormalizedKeys& packed, bool wants_first);
/// The same where each slot below `groups` has rows, as columns there, a group a slot: of plans
/// that `has_device_columns`.
std::vector<Column> dense_columns_on_device(const AggregatePlan& plan, const NormalizedKeys& packed,
                                            int64_t groups);
/// Whether kernels make the columns of each aggregate: sums, products, means, extremes and counts.
bool has_device_columns(const AggregatePlan& plan);
/// Why no kernel folds this; empty: one does.
std::string why_no_dense_kernel(const AggregatePlan& plan);

/// The first row of each slot that has rows: mostly found after few rows.
std::vector<int64_t> first_rows(int64_t rows, const SlotReader& reader,
                                const AggregatePartition& partition);

/// Which partition a key belongs to, and whether its slots are the keys of a range or as they are
/// seen.
struct PartitionKeys {
  PayloadStream stream{};
  uint64_t domain = 0;  ///< keys are below it: a partition has a slot for each of a range
  const uint64_t* originals =
      nullptr;        ///< normalized keys of the keys of a domain that are none themselves
  bool sort = false;  ///< without a domain: partitions in the order of their keys
};

/// Many groups on a CUDA device: columns there, in the order of the keys, where
/// `why_no_chain_kernel` is empty: a group's rows are folded one after the other. `groups`: each
/// key below it has rows; 0: unknown.
Grouped partitioned_aggregate_on_device(const AggregatePlan& plan, const NormalizedKeys& packed,
                                        int64_t groups);
/// Why no kernel folds each group in one chain; empty: one does.
std::string why_no_chain_kernel(const AggregatePlan& plan, const NormalizedKeys& packed);
/// The same of the aggregates alone.
std::string why_no_chain_kernel(const AggregatePlan& plan);
/// The same, or why the host would not fold a group in one chain; empty: kernel and host do. May
/// read a sample of the keys.
std::string why_no_partitioned_kernel(const AggregatePlan& plan, const NormalizedKeys& packed,
                                      GroupOrder order);

/// The aggregates of an input that want the values of groups in order, where `has_order_kernels`.
/// Each of the `groups` numbers on a CUDA device (int32, null for none) has rows.
std::vector<Column> order_statistics_on_device(const AggregatePlan& plan, const RankedInput& input,
                                               const Column& numbers, int64_t groups);
/// Whether kernels make all aggregates that want values in order: medians, quantiles and numbers of
/// distinct values.
bool has_order_kernels(const AggregatePlan& plan);

/// What `has_many_keys` tells of keys on a CUDA device. Waits for a sample of them.
bool has_many_keys_on_device(const NormalizedKeys& packed);

/// Many groups: the rows in partitions, each with a table of its own.
std::vector<GroupResults> partitioned_aggregate(const AggregatePlan& plan,
                                                const NormalizedKeys& packed, PartitionKeys keys,
                                                bool wants_first);

}  // namespace hr
