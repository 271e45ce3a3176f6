// SPDX-License-Identifier: Apache-2.0
// Group-by of many groups: the rows in partitions, each with a table of its own.
#include "headrace/algo/keys/factorize.h"
#include "headrace/algo/keys/hash.h"
#include "headrace/algo/keys/key_map.h"
#include "headrace/algo/keys/normalized_keys_kernels.h"
#include "headrace/algo/keys/range_partitioner.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"
#include "headrace/relational/aggregate/partitioned_aggregate_kernels.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>

namespace hr {

namespace {

class PartitionedAggregator {
 public:
  PartitionedAggregator(const AggregatePlan& plan, const NormalizedKeys& packed, PartitionKeys keys,
                        bool wants_first)
      : plan_(plan), packed_(packed), keys_(std::move(keys)), wants_first_(wants_first) {
    const int64_t rows = packed.num_rows();
    int64_t partitions = num_partitions(rows);
    const uint64_t domain = keys_.domain;
    if (domain > 0) {
      while (((domain - 1) >> shift_) + 1 > static_cast<uint64_t>(partitions)) ++shift_;
      partitions = static_cast<int64_t>(((domain - 1) >> shift_) + 1);
    } else {
      shift_ = 64 - std::bit_width(static_cast<uint64_t>(partitions - 1));
    }
    std::vector<PayloadStream> streams;
    if (domain == 0) {
      keys_stream_ = 0;
      streams.push_back(keys_.stream);
    } else if (shift_ > 0) {
      keys_stream_ = 0;
      streams.push_back(slot_stream());
    }
    streams_.resize(plan.inputs.size());
    bool rows_wanted = wants_first;
    for (size_t k = 0; k < plan.inputs.size(); ++k) {
      const AccumulatorInput& input = plan.inputs[k];
      const auto add = [&](int& place, PayloadStream stream) {
        place = static_cast<int>(streams.size());
        streams.push_back(std::move(stream));
      };
      const auto payload = [](const Column& column, ValueClass as) {
        return PayloadStream{8,
                             [column, as](int64_t row, int64_t count, void* out) {
                               const void* from = read_values(column, as, row, count, out);
                               if (from != out)
                                 std::memcpy(out, from, static_cast<size_t>(8 * count));
                             },
                             {}};
      };
      if (input.value_class != ValueClass::kNothing) {
        add(streams_[k].values, payload(input.values, input.value_class));
        streams.back().accesses = {reads(input.values)};
      }
      if (input.has_other) {
        add(streams_[k].other, payload(input.other, ValueClass::kFloating));
        streams.back().accesses = {reads(input.other)};
      }
      if (input.value_class != ValueClass::kFloating && input.values.null_count() > 0)
        add(streams_[k].valid, {1, [column = input.values](int64_t row, int64_t count, void* out) {
                                  read_valid(column, row, count, static_cast<uint8_t*>(out));
                                }});
      rows_wanted |= input.needs_rows();
    }
    if (rows_wanted) {
      rows_stream_ = static_cast<int>(streams.size());
      streams.push_back({8, [](int64_t row, int64_t count, void* out) {
                           std::iota(static_cast<int64_t*>(out), static_cast<int64_t*>(out) + count,
                                     row);
                         }});
    }
    if (domain == 0 && keys_.sort && partitions > 1) {
      const RangePartitioner digits(sample_keys(rows, keys_.stream.read, keys_.stream.accesses),
                                    partitions);
      split_ = partition_runs(rows, partitions, keys_.stream, streams, std::cref(digits));
      return;
    }
    split_ = partition_runs(rows, partitions, keys_.stream, streams,
                            [&](const uint64_t* key, int64_t count, uint16_t* digits) {
                              for (int64_t i = 0; i < count; ++i)
                                digits[i] = static_cast<uint16_t>(domain > 0 ? key[i] >> shift_
                                                                  : shift_ == 64
                                                                      ? 0
                                                                      : hash_key(key[i]) >> shift_);
                            });
  }

  std::vector<GroupResults> run() {
    // Several partitions make one result: large enough to leave for the disk, small compared with a
    // budget; and some for every worker.
    constexpr int64_t kShare = 32, kEnough = 64;
    const int64_t rows = std::clamp<int64_t>(split_.rows / kEnough, 1 << 12, 1 << 18);
    const auto words = static_cast<int64_t>(2 + plan_.aggregates.size());
    const int64_t most =
        std::clamp(memory_limit() / (kShare * threads() * 8 * words), rows / 16, rows);
    const int64_t together =
        std::clamp<int64_t>(most * split_.partitions / std::max<int64_t>(split_.rows, 1), 1, 64);
    std::vector<GroupResults> results(static_cast<size_t>(divide_up(split_.partitions, together)));
    const auto count = static_cast<int64_t>(results.size());
    parallel_for(count, [&](int64_t i) {
      // From the last partition to the first: what was written last is still in memory, and a
      // budget does not take the many reads of one chunk for scans that begin again.
      const int64_t k = count - 1 - i;
      std::vector<GroupResults> partitions;
      const int64_t end = std::min((k + 1) * together, split_.partitions);
      for (int64_t p = k * together; p < end; ++p) partitions.push_back(aggregate_partition(p));
      results[static_cast<size_t>(k)] = concat_results(partitions, plan_);
    });
    return results;
  }

 private:
  struct InputStreams {
    int values = -1;
    int valid = -1;
    int other = -1;
  };

  // Keys of a range as slots of their partition, which is all that it needs of them.
  PayloadStream slot_stream() const {
    return {4,
            [read = keys_.stream.read, last = (uint64_t{1} << shift_) - 1](
                int64_t row, int64_t count, void* out) {
              uint64_t keys[kBlockRows];
              read(row, count, keys);
              for (int64_t i = 0; i < count; ++i)
                static_cast<uint32_t*>(out)[i] = static_cast<uint32_t>(keys[i] & last);
            },
            keys_.stream.accesses};
  }

  Pin pin(int64_t p, std::initializer_list<int> streams) const {
    std::vector<PinnedRange> ranges;
    for (const int stream : streams)
      if (stream >= 0)
        split_.append_ranges(p, static_cast<size_t>(stream),
                             split_.widths[static_cast<size_t>(stream)], ranges);
    return Pin(ranges);
  }

  // Values of a stream from a row on; null without the stream.
  template <class T>
  const T* at(int stream, int64_t row) const {
    return stream < 0 ? nullptr : split_.values<T>(static_cast<size_t>(stream), row);
  }

  // Pieces of a partition in blocks: `visit(row of the streams, row of the partition, count)`.
  template <class F>
  void each_block(int64_t p, std::initializer_list<int> read, F&& visit) const {
    int64_t at = 0;
    split_.visit(p, std::span(read.begin(), read.size()), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row += kBlockRows) {
        const int64_t count = std::min(kBlockRows, end - row);
        visit(row, at, count);
        at += count;
      }
    });
  }

  void number(int64_t p, uint32_t* slots, AggregatePartition& partition) {
    std::vector<int64_t>& first = partition.first_rows;
    const int first_stream = wants_first_ ? rows_stream_ : -1;
    if (keys_.domain > 0) {
      partition.first_key = static_cast<uint64_t>(p) << shift_;
      partition.slots =
          static_cast<int64_t>(std::min(keys_.domain - partition.first_key, uint64_t{1} << shift_));
      if (keys_.originals) keep_keys(keys_.originals + partition.first_key, partition);
      if (wants_first_) first.assign(static_cast<size_t>(partition.slots), -1);
      each_block(p, {keys_stream_, first_stream}, [&](int64_t row, int64_t begin, int64_t count) {
        const auto bytes = static_cast<size_t>(4 * count);
        if (const auto* own = at<uint32_t>(keys_stream_, row))
          std::memcpy(slots + begin, own, bytes);
        else  // a partition for each key
          std::memset(slots + begin, 0, bytes);
        if (!wants_first_) return;
        const auto* rows = at<int64_t>(rows_stream_, row);
        for (int64_t i = 0; i < count; ++i)
          if (first[slots[begin + i]] < 0) first[slots[begin + i]] = rows[i];
      });
      return;
    }
    KeyMap table;
    table.reserve(hint_.load(std::memory_order_relaxed));
    each_block(p, {keys_stream_, first_stream}, [&](int64_t row, int64_t begin, int64_t count) {
      table.add(at<uint64_t>(keys_stream_, row), count, slots + begin);
      if (!wants_first_) return;
      const auto* rows = at<int64_t>(rows_stream_, row);
      for (int64_t i = 0; i < count; ++i)
        if (slots[begin + i] == first.size()) first.push_back(rows[i]);
    });
    hint_.store(table.size(), std::memory_order_relaxed);
    partition.slots = table.size();
    keep_keys(table.keys(), partition);
  }

  static void keep_keys(const uint64_t* keys, AggregatePartition& partition) {
    partition.keys = Buffer::allocate(8 * partition.slots);
    if (partition.slots > 0)
      std::memcpy(partition.keys.mutable_data(), keys, static_cast<size_t>(8 * partition.slots));
  }

  GroupResults aggregate_partition(int64_t p) {
    AggregatePartition partition;
    const int64_t rows = split_.rows_of(p);
    if (rows == 0) return {};
    Buffer buffer = Buffer::allocate(4 * rows);
    auto* slots = buffer.mutable_as<uint32_t>();
    {
      const Pin pinned = pin(p, {keys_stream_, wants_first_ ? rows_stream_ : -1});
      number(p, slots, partition);
    }
    partition.sizes = Buffer::allocate_zeroed(4 * partition.slots);
    auto* sizes = partition.sizes.mutable_as<uint32_t>();
    for (int64_t i = 0; i < rows; ++i) ++sizes[slots[i]];
    partition.states.resize(plan_.inputs.size());
    for (size_t k = 0; k < plan_.inputs.size(); ++k) accumulate_input(p, k, slots, partition);
    partition.ranked.resize(plan_.aggregates.size());
    partition.ranked_counts.resize(plan_.ranked.size());
    for (size_t k = 0; k < plan_.ranked.size(); ++k) rank_input(p, k, slots, partition);
    const bool sort = keys_.domain == 0 && keys_.sort;
    return finalize_partition(packed_, plan_, partition,
                              sort ? SlotOrder::kKeys : SlotOrder::kSlots);
  }

  void accumulate_input(int64_t p, size_t k, const uint32_t* slots, AggregatePartition& partition) {
    const AccumulatorInput& input = plan_.inputs[k];
    const InputStreams& from = streams_[k];
    const int rows_stream = input.needs_rows() ? rows_stream_ : -1;
    const auto read = {from.values, from.valid, from.other, rows_stream};
    const Pin pinned = pin(p, read);
    const auto walk = [&](bool second) {
      start_accumulators(input, partition.slots, second, partition.states[k]);
      each_block(p, read, [&](int64_t row, int64_t begin, int64_t count) {
        const AccumulatorRows block{slots + begin,
                                    at<uint64_t>(from.values, row),
                                    at<uint8_t>(from.valid, row),
                                    at<double>(from.other, row),
                                    at<int64_t>(rows_stream, row),
                                    0,
                                    count};
        accumulate_rows(input, partition.slots, second, block, partition.states[k]);
      });
    };
    walk(false);
    if (!input.needs_second()) return;
    make_means(input, partition.slots, partition.sizes.as<uint32_t>(), partition.states[k]);
    walk(true);
  }

  // The values of each slot in one place, in row order.
  void rank_input(int64_t p, size_t ranked, const uint32_t* slots, AggregatePartition& partition) {
    const auto k = static_cast<size_t>(plan_.ranked[ranked].input);
    const InputStreams& from = streams_[k];
    const auto* missing =
        partition.states[k].missing ? partition.states[k].missing.as<uint32_t>() : nullptr;
    const auto* sizes = partition.sizes.as<uint32_t>();
    partition.ranked_counts[ranked] = Buffer::allocate(4 * partition.slots);
    Buffer places = Buffer::allocate(4 * partition.slots);
    auto* next = places.mutable_as<uint32_t>();
    uint32_t total = 0;
    for (int64_t slot = 0; slot < partition.slots; ++slot) {
      next[slot] = total;
      total += sizes[slot] - (missing ? missing[slot] : 0);
    }
    Buffer gathered = Buffer::allocate(int64_t{8} * std::max(total, 1u));
    auto* out = gathered.mutable_as<uint64_t>();
    {
      const Pin pinned = pin(p, {from.values, from.valid});
      const bool floating = plan_.inputs[k].value_class == ValueClass::kFloating;
      each_block(p, {from.values, from.valid}, [&](int64_t row, int64_t begin, int64_t count) {
        const auto* values = at<uint64_t>(from.values, row);
        const auto* valid = at<uint8_t>(from.valid, row);
        for (int64_t i = 0; i < count; ++i) {
          const auto number = std::bit_cast<double>(values[i]);
          if ((floating && number != number) || (valid && !valid[i])) continue;
          out[next[slots[begin + i]]++] = values[i];
        }
      });
    }
    rank_partition(plan_, ranked, out, next, partition);
  }

  const AggregatePlan& plan_;
  const NormalizedKeys& packed_;
  PartitionKeys keys_;
  bool wants_first_;
  int shift_ = 0;
  std::vector<InputStreams> streams_{};
  int keys_stream_ = -1;
  int rows_stream_ = -1;
  PartitionedRuns split_{};
  std::atomic<int64_t> hint_{0};
};

}  // namespace

std::vector<GroupResults> partitioned_aggregate(const AggregatePlan& plan,
                                                const NormalizedKeys& packed, PartitionKeys keys,
                                                bool wants_first) {
  return PartitionedAggregator(plan, packed, std::move(keys), wants_first).run();
}

namespace {

bool has_device_fold(Aggregate aggregate) {
  using enum Aggregate;
  return aggregate == kSum || aggregate == kProduct || aggregate == kMean || aggregate == kMin ||
         aggregate == kMax || aggregate == kCount || aggregate == kSize;
}

std::vector<uint64_t> sample_of(const NormalizedKeys& packed) {
  const auto [count, step] = many_keys_sample(packed.num_rows());
  if constexpr (built_with_cuda) return cuda::sampled_keys(packed, count, step);
  return {};
}

// The host makes a chain of each group, in partitions, if these are many.
std::string why_no_chains(const NormalizedKeys& packed) {
  const int64_t rows = packed.num_rows();
  const bool is_dense = packed.domain() <= static_cast<uint64_t>(rows / 2);
  if (!is_dense && rows < KeySample::kManyRows) return "few groups of keys far apart";
  const int64_t step = many_keys_sample(rows).step;
  const std::vector<uint64_t> keys = sample_of(packed);
  if (!is_dense && !are_many_keys(rows, keys)) return "few groups of keys far apart";
  // A thread adds up the rows of a key one after the other.
  constexpr int64_t kMostRows = 1 << 17;
  const int64_t most = most_times(keys);
  constexpr int64_t kChance = 16;  // so often keys come that have fewer rows
  return most > kChance && most * step > kMostRows ? "many groups of which one holds most rows"
                                                   : "";
}

}  // namespace

std::string why_no_chain_kernel(const AggregatePlan& plan) {
  for (const PlannedAggregate& aggregate : plan.aggregates)
    if (!has_device_fold(aggregate.request.aggregate))
      return "aggregates of many groups other than sum, prod, mean, min, max, count and size";
  for (const AccumulatorInput& input : plan.inputs) {
    if (input.value_class != ValueClass::kNothing && input.values.dtype().is_bool())
      return "bools of many groups";
    if (input.value_class != ValueClass::kFloating && input.can_miss())
      return "nulls among integers of many groups";
  }
  return {};
}

std::string why_no_chain_kernel(const AggregatePlan& plan, const NormalizedKeys& packed) {
  const uint64_t domain = packed.domain();
  if (domain == 0 || domain > std::min(uint64_t{1} << 32, uint64_t{4} * packed.num_rows()))
    return "keys far apart";
  for (const KeyField& field : packed.key_fields())
    if (field.column.dtype().is_bool() || field.column.dtype().is_floating() || field.turn ||
        (field.can_miss && !packed.has_missing()))
      return "many groups by bools, floats, nulls or categories that are not in order";
  return why_no_chain_kernel(plan);
}

std::string why_no_partitioned_kernel(const AggregatePlan& plan, const NormalizedKeys& packed,
                                      GroupOrder order) {
  if (order == GroupOrder::kFirstSeen) return "many groups in the order of their first rows";
  const std::string why = why_no_chain_kernel(plan, packed);
  return why.empty() ? why_no_chains(packed) : why;
}

bool has_many_keys_on_device(const NormalizedKeys& packed) {
  const int64_t rows = packed.num_rows();
  return rows >= KeySample::kManyRows && are_many_keys(rows, sample_of(packed));
}

bool has_device_columns(const AggregatePlan& plan) {
  return std::ranges::all_of(plan.aggregates, [](const PlannedAggregate& each) {
    return has_device_fold(each.request.aggregate) && !each.dtype.is_bool();
  });
}

Grouped partitioned_aggregate_on_device(const AggregatePlan& plan, const NormalizedKeys& packed,
                                        int64_t groups) {
  if constexpr (built_with_cuda) return cuda::partitioned_aggregate(plan, packed, groups);
  throw_error<InternalError>("groupby", "built without CUDA");
}

}  // namespace hr
