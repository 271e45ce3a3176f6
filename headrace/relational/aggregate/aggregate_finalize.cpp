// SPDX-License-Identifier: Apache-2.0
// The groups of all partitions as columns in the wanted order.
#include "headrace/algo/aggregate/moments.h"
#include "headrace/algo/keys/radix_order.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/bits.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/zeroed.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/relational/aggregate/aggregate_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace hr {

namespace {

// Whether a byte for each row and a place for each group, written all over, are much of the limit.
bool are_too_many(int64_t rows) {
  constexpr int64_t kShare = 16, kRowBytes = 9;
  return rows > memory_limit() / (kShare * kRowBytes);
}

Grouped in_order_of(const Column& first_rows, Grouped grouped) {
  std::vector<Column> columns = std::move(grouped.keys);
  const auto keys = static_cast<std::ptrdiff_t>(columns.size());
  columns.insert(columns.end(), grouped.values.begin(), grouped.values.end());
  grouped.values.clear();
  columns = sort_rows({first_rows}, {{}}, std::move(columns));
  return {{columns.begin(), columns.begin() + keys}, {columns.begin() + keys, columns.end()}};
}

Buffer places_by_first_row(const std::vector<GroupResults>& partitions,
                           const std::vector<int64_t>& bases, int64_t groups, int64_t rows) {
  // A mark for each row that is the first of a group, then ranks of the marks.
  Buffer marks = allocate_zeroed_by_workers(rows);
  Buffer ranks = Buffer::allocate(4 * rows);
  Buffer places = Buffer::allocate(4 * groups);
  auto* mark = marks.mutable_as<uint8_t>();
  auto* rank = ranks.mutable_as<uint32_t>();
  auto* place = places.mutable_as<uint32_t>();
  const auto each_group = [&](auto&& visit) {
    parallel_for(static_cast<int64_t>(partitions.size()), [&](int64_t p) {
      const GroupResults& partition = partitions[static_cast<size_t>(p)];
      const int64_t base = bases[static_cast<size_t>(p)];
      for (int64_t k = 0; k < partition.groups; ++k)
        visit(base + k, partition.first_rows.as<int64_t>()[k]);
    });
  };
  each_group([&](int64_t, int64_t row) { mark[row] = 1; });
  const std::vector<int64_t> before = compact_offsets(rows, {}, [&](Morsel morsel) {
    uint32_t count = 0;
    for (int64_t row = morsel.begin; row < morsel.end; ++row) count += mark[row];
    return int64_t{count};
  });
  parallel_morsels(rows, [&](Morsel morsel) {
    auto count = static_cast<uint32_t>(before[static_cast<size_t>(morsel.index)]);
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      rank[row] = count;
      count += mark[row];
    }
  });
  each_group([&](int64_t group, int64_t row) { place[group] = rank[row]; });
  return places;
}

// The class of the 8 bytes that an aggregate has for a group.
ValueClass result_class(const PlannedAggregate& aggregate, const AggregatePlan& plan) {
  const AggregateRow& row = aggregate_row(aggregate.request.aggregate);
  switch (row.result) {
    case AggregateResult::kMoment:
    case AggregateResult::kFloat64:
      return ValueClass::kFloating;
    case AggregateResult::kValue:
    case AggregateResult::kTotal:
      if (row.input == AggregateInput::kValues)
        return plan.inputs[static_cast<size_t>(aggregate.input)].value_class;
      break;  // a row's number
    default:
      break;
  }
  return ValueClass::kSigned;
}

// Accumulator::kSquares of a slot less what the rounding of its mean adds to them (Chan, Golub and
// LeVeque, "Algorithms for Computing the Sample Variance", 1983); 0 where no more is left than the
// rounding of the sums, as where all values are equal.
double squares_of(const double* sums, uint32_t slot, int64_t values) {
  const double squares = sums[2 * int64_t{slot}], rest = sums[2 * int64_t{slot} + 1];
  if (!std::isfinite(squares)) return squares;
  const double count = static_cast<double>(values);
  const double made = squares - rest * (rest / count);
  return made > count * std::numeric_limits<double>::epsilon() * squares ? made : 0;
}

// What an aggregate has for some slots: bits of its result's class, and whether it is there.
class SlotResults {
 public:
  SlotResults(const PlannedAggregate& aggregate, const AggregatePlan& plan,
              const AggregatePartition& partition, std::span<const uint32_t> slots, uint64_t* bits,
              uint8_t* valid)
      : aggregate_(aggregate),
        kind_(aggregate.request.aggregate),
        partition_(partition),
        slots_(slots),
        bits_(bits),
        valid_(valid),
        sizes_(partition.sizes.as<uint32_t>()),
        fewest_(aggregate_row(kind_).fewest_values(
            aggregate.request.min_count, aggregate.request.ddof, aggregate.request.rank)) {
    if (aggregate.input < 0) return;
    input_ = &plan.inputs[static_cast<size_t>(aggregate.input)];
    states_ = &partition.states[static_cast<size_t>(aggregate.input)];
    if (states_->missing) missing_ = states_->missing.as<uint32_t>();
    nan_is_value_ =
        aggregate.request.nan_is_value && result_class(aggregate, plan) == ValueClass::kFloating;
  }

  // `number` is the aggregate's place in the plan.
  void write(size_t number) const {
    const AggregateRow& row = aggregate_row(kind_);
    if (row.ranked) {
      const auto* ranked = partition_.ranked[number].as<uint64_t>();
      return put([&](uint32_t slot) { return ranked[slot]; });
    }
    if (row.accumulators.empty()) return put([&](uint32_t slot) { return values(slot); });
    if (row.has(Accumulator::kCross)) return write_correlation();
    if (row.result == AggregateResult::kMoment) return write_moment();
    if (row.rows != RowUse::kNone) return write_row();
    write_fold();
  }

 private:
  int64_t values(uint32_t slot) const {
    return int64_t{sizes_[slot]} - (missing_ ? missing_[slot] : 0);
  }

  bool has_enough(uint32_t slot) const {
    return (nan_is_value_ ? int64_t{sizes_[slot]} : values(slot)) >= fewest_;
  }

  // Whether the result is NaN because values are, where these are values.
  bool is_nan(uint32_t slot) const {
    return missing_[slot] > 0 && (kind_ != Aggregate::kMin || values(slot) == 0);
  }

  template <class T>
  const T* state(size_t k) const {
    return states_->values[aggregate_.accumulators[k]].as<T>();
  }

  template <class F>
  void put(F&& value) const {
    for (size_t i = 0; i < slots_.size(); ++i) {
      bits_[i] = std::bit_cast<uint64_t>(value(slots_[i]));
      valid_[i] = has_enough(slots_[i]);
    }
    if (!nan_is_value_ || !missing_) return;
    for (size_t i = 0; i < slots_.size(); ++i)
      if (is_nan(slots_[i]))
        bits_[i] = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
  }

  // 0 where there are too few values.
  template <class F>
  void put_number(F&& number) const {
    put([&](uint32_t slot) { return has_enough(slot) ? number(slot) : 0.0; });
  }

  void write_fold() const {
    const auto* folded = state<uint64_t>(0);
    const auto* nonzero = state<int64_t>(0);
    switch (kind_) {
      case Aggregate::kAny:
        return put([&](uint32_t slot) { return int64_t{nonzero[slot] > 0}; });
      case Aggregate::kAll:
        return put([&](uint32_t slot) { return int64_t{nonzero[slot] == values(slot)}; });
      case Aggregate::kSum:
      case Aggregate::kProduct:
        return put([&](uint32_t slot) { return folded[slot]; });
      default: {  // extremes, of which some keep several
        const bool top = kind_ == Aggregate::kLargest || kind_ == Aggregate::kSmallest;
        const int64_t width = top ? input_->top : 1, rank = aggregate_.request.rank;
        return put([&](uint32_t slot) {
          return has_enough(slot) ? folded[slot * width + (top ? rank : 0)] : 0;
        });
      }
    }
  }

  void write_moment() const {
    const double* sums = state<double>(0);
    if (kind_ == Aggregate::kMean)
      return put_number(
          [&](uint32_t slot) { return sums[slot] / static_cast<double>(values(slot)); });
    const double* squares = state<double>(1);
    if (kind_ == Aggregate::kSkew || kind_ == Aggregate::kKurtosis)
      return put_number([&](uint32_t slot) {
        const Moments moments =
            Moments::of(static_cast<double>(values(slot)), 0,
                        {squares[2 * int64_t{slot} + 1], squares[2 * int64_t{slot}],
                         state<double>(2)[slot], state<double>(3)[slot]});
        return kind_ == Aggregate::kSkew ? moments.skewness() : moments.kurtosis();
      });
    const int64_t ddof = aggregate_.request.ddof;
    put_number([&](uint32_t slot) {
      const int64_t count = values(slot);
      const double variance = squares_of(squares, slot, count) / static_cast<double>(count - ddof);
      if (kind_ == Aggregate::kVariance) return variance;
      const double deviation = std::sqrt(variance);
      return kind_ == Aggregate::kStd ? deviation
                                      : deviation / std::sqrt(static_cast<double>(count));
    });
  }

  void write_correlation() const {
    const double *x = state<double>(2), *y = state<double>(3), *cross = state<double>(4);
    for (size_t i = 0; i < slots_.size(); ++i) {
      const uint32_t slot = slots_[i];
      const int64_t rows = values(slot), sum = 2 * int64_t{slot} + 1;
      const double of_x = has_enough(slot) ? squares_of(x, slot, rows) : 0,
                   of_y = has_enough(slot) ? squares_of(y, slot, rows) : 0;
      valid_[i] = of_x > 0 && of_y > 0;
      if (!valid_[i]) {
        bits_[i] = 0;
        continue;
      }
      const double product = cross[slot] - x[sum] * (y[sum] / static_cast<double>(rows));
      bits_[i] = std::bit_cast<uint64_t>(
          std::clamp(product / (std::sqrt(of_x) * std::sqrt(of_y)), -1.0, 1.0));
    }
  }

  void write_row() const {
    const Buffer& kept = states_->rows[aggregate_.accumulators[0]];
    const int64_t* rows = kept ? kept.as<int64_t>() : state<int64_t>(0);
    put([&](uint32_t slot) { return std::max<int64_t>(rows[slot], 0); });
  }

  const PlannedAggregate& aggregate_;
  const Aggregate kind_;
  const AggregatePartition& partition_;
  const std::span<const uint32_t> slots_;
  uint64_t* const bits_;
  uint8_t* const valid_;
  const uint32_t* const sizes_;
  const int64_t fewest_;
  const AccumulatorInput* input_ = nullptr;
  const AccumulatorStates* states_ = nullptr;
  const uint32_t* missing_ = nullptr;
  bool nan_is_value_ = false;
};

class Collector {
 public:
  Collector(const AggregatePlan& plan, std::vector<GroupResults>& partitions,
            const std::vector<int64_t>& bases, int64_t groups, const Buffer& places)
      : plan_(plan), partitions_(partitions), bases_(bases), groups_(groups), places_(places) {}

  // Normalized keys of the keys of the groups, or their first rows.
  Buffer words(Buffer GroupResults::* which) {
    Buffer words = make(8);
    auto* out = words.mutable_as<uint64_t>();
    each_partition(
        words, 8, [&](const GroupResults& partition) { return whole(partition.*which); },
        [&](const GroupResults& partition, const std::byte* from, const auto& place) {
          const auto* bits = reinterpret_cast<const uint64_t*>(from);
          for (int64_t i = 0; i < partition.groups; ++i) out[place(i)] = bits[i];
        });
    for (GroupResults& partition : partitions_) partition.*which = {};
    words.seal();
    return words;
  }

  Column column(size_t number, const std::vector<Column>& values) {
    const PlannedAggregate& aggregate = plan_.aggregates[number];
    const bool picks = aggregate_row(aggregate.request.aggregate).rows == RowUse::kOrder;
    const Dtype dtype = picks ? Dtype(TypeId::kInt64) : aggregate.dtype;
    const int64_t width = dtype.size_bytes();
    const ValueClass value_class = result_class(aggregate, plan_);
    Buffer out = make(width);
    std::byte* to = out.mutable_data();
    each_partition(
        out, width, [&](const GroupResults& partition) { return whole(partition.values[number]); },
        [&](const GroupResults& partition, const std::byte* from, const auto& place) {
          const auto* bits = reinterpret_cast<const uint64_t*>(from);
          const auto store = [&]<class T>(std::type_identity<T>) {
            T* typed = reinterpret_cast<T*>(to);
            if (value_class == ValueClass::kFloating)
              for (int64_t i = 0; i < partition.groups; ++i)
                typed[place(i)] = static_cast<T>(std::bit_cast<double>(bits[i]));
            else
              for (int64_t i = 0; i < partition.groups; ++i)
                typed[place(i)] = static_cast<T>(bits[i]);
          };
          if (dtype.is_bool())
            store(std::type_identity<uint8_t>{});
          else
            visit_real(dtype.storage(), store);
        });
    const Buffer validity = make_validity(number);
    for (GroupResults& partition : partitions_)
      if (partition.groups > 0) partition.values[number] = {};
    const int64_t unknown = validity ? -1 : 0;
    const size_t from = static_cast<size_t>(std::max<int64_t>(aggregate.request.column, 0));
    if (picks) {
      const Column& source = values[from];
      const Tensor rows(TypeId::kInt64, {groups_}, out);
      const Column taken = gather(source, output_at("groupby", rows, source.place()));
      return taken.with_rows(groups_, taken.values_buffer(), validity, unknown);
    }
    if (dtype.is_bool())
      return Column(dtype, groups_, bits_of_bytes(out, groups_), validity, unknown);
    out.seal();
    if (dtype.is_category())
      return Column::categories(groups_, out, values[from].dictionary(), validity, unknown);
    return Column(dtype, groups_, out, validity, unknown);
  }

 private:
  // Scattered over the whole result, or partition by partition.
  Buffer make(int64_t width) const {
    return places_ ? Buffer::allocate(groups_ * width)
                   : Buffer::allocate_spillable(groups_ * width);
  }

  Buffer make_validity(size_t number) const {
    if (std::all_of(partitions_.begin(), partitions_.end(), [&](const GroupResults& partition) {
          return partition.groups == 0 || partition.valid_at[number] < 0;
        }))
      return {};
    Buffer present = Buffer::allocate(groups_);
    auto* to = present.mutable_as<uint8_t>();
    each_partition(
        present, 1,
        [&](const GroupResults& partition) {
          const int64_t at = partition.valid_at[number];
          return at < 0 ? PinnedRange{} : PinnedRange{&partition.valid, at, at + partition.groups};
        },
        [&](const GroupResults& partition, const std::byte* valid, const auto& place) {
          const auto* has = reinterpret_cast<const uint8_t*>(valid);
          for (int64_t i = 0; i < partition.groups; ++i) to[place(i)] = has ? has[i] : 1;
        });
    return bits_of_bytes(present, groups_);
  }

  static PinnedRange whole(const Buffer& buffer) { return {&buffer, 0, buffer.size_bytes()}; }

  // `from(partition)` is what `visit` gets of the partition, null where that is empty.
  template <class From, class F>
  void each_partition(const Buffer& out, int64_t width, From&& from, F&& visit) const {
    parallel_for(static_cast<int64_t>(partitions_.size()), [&](int64_t p) {
      const GroupResults& partition = partitions_[static_cast<size_t>(p)];
      const int64_t base = bases_[static_cast<size_t>(p)];
      if (partition.groups == 0) return;
      const PinnedRange source = from(partition);
      const bool some = source.begin < source.end;
      std::vector<PinnedRange> ranges;
      if (some) ranges.push_back(source);
      if (!places_) ranges.push_back({&out, base * width, (base + partition.groups) * width, true});
      const Pin pin(ranges);
      const std::byte* const bytes = some ? source.buffer->data() + source.begin : nullptr;
      const auto* places = places_ ? places_.as<uint32_t>() + base : nullptr;
      if (places)
        visit(partition, bytes, [&](int64_t i) { return int64_t{places[i]}; });
      else
        visit(partition, bytes, [&](int64_t i) { return base + i; });
    });
  }

  const AggregatePlan& plan_;
  std::vector<GroupResults>& partitions_;
  const std::vector<int64_t>& bases_;
  int64_t groups_;
  const Buffer& places_;
};

// Slots in the order of their keys.
void sort_by_key(const AggregatePartition& partition, uint32_t* slots, int64_t count) {
  Buffer keys = Buffer::allocate(8 * std::max<int64_t>(count, 1));
  auto* const key = keys.mutable_as<uint64_t>();
  for (int64_t i = 0; i < count; ++i) key[i] = partition.key(slots[i]);
  radix_order(key, slots, count);
}

}  // namespace

GroupResults finalize_partition(const NormalizedKeys& packed, const AggregatePlan& plan,
                                const AggregatePartition& partition, SlotOrder order) {
  Buffer kept = Buffer::allocate(4 * std::max<int64_t>(partition.slots, 1));
  auto* slots = kept.mutable_as<uint32_t>();
  int64_t groups = 0;
  if (partition.slots > 0) {
    const auto* sizes = partition.sizes.as<uint32_t>();
    const bool drops = packed.has_missing();
    for (uint32_t slot = 0; slot < static_cast<uint64_t>(partition.slots); ++slot)
      if (sizes[slot] > 0 && !(drops && partition.key(slot) == packed.missing()))
        slots[groups++] = slot;
  }
  if (order == SlotOrder::kKeys) sort_by_key(partition, slots, groups);
  if (order == SlotOrder::kFirstRows)
    std::sort(slots, slots + groups, [&](uint32_t a, uint32_t b) {
      return partition.first_rows[a] < partition.first_rows[b];
    });
  GroupResults results;
  results.groups = groups;
  if (groups == 0) return results;
  results.normalized_keys = Buffer::allocate(8 * groups);
  auto* normalized_keys = results.normalized_keys.mutable_as<uint64_t>();
  for (int64_t i = 0; i < groups; ++i) normalized_keys[i] = partition.key(slots[i]);
  if (!partition.first_rows.empty()) {
    results.first_rows = Buffer::allocate(8 * groups);
    auto* rows = results.first_rows.mutable_as<int64_t>();
    for (int64_t i = 0; i < groups; ++i) rows[i] = partition.first_rows[slots[i]];
  }
  const auto aggregates = static_cast<int64_t>(plan.aggregates.size());
  Buffer valid = Buffer::allocate(aggregates * groups);
  auto* const marks = aggregates > 0 ? valid.mutable_as<uint8_t>() : nullptr;
  int64_t used = 0;
  for (size_t k = 0; k < plan.aggregates.size(); ++k) {
    Buffer values = Buffer::allocate(8 * groups);
    auto* has = marks + used;
    SlotResults(plan.aggregates[k], plan, partition, {slots, static_cast<size_t>(groups)},
                values.mutable_as<uint64_t>(), has)
        .write(k);
    const bool all = std::memchr(has, 0, static_cast<size_t>(groups)) == nullptr;
    results.values.push_back(std::move(values));
    results.valid_at.push_back(all ? -1 : used);
    used += all ? 0 : groups;
  }
  if (used > 0) results.valid = std::move(valid);
  return results;
}

namespace {

// The buffers that `pick` finds in the partitions, one after the other; nothing where all are
// empty.
template <class Pick>
Buffer join_buffers(const std::vector<GroupResults>& partitions, int64_t width, Pick&& pick) {
  int64_t groups = 0;
  bool some = false;
  for (const GroupResults& partition : partitions) {
    groups += partition.groups;
    some |= partition.groups > 0 && pick(partition);
  }
  if (!some) return {};
  Buffer joined = Buffer::allocate_temporary(groups * width);
  std::byte* out = joined.mutable_data();
  {
    const Pin pin({{&joined, 0, groups * width, true}});
    for (const GroupResults& partition : partitions) {
      if (partition.groups == 0) continue;
      const auto bytes = static_cast<size_t>(partition.groups * width);
      std::memcpy(out, pick(partition).data(), bytes);
      out += bytes;
    }
  }
  joined.seal();
  return joined;
}

void join_there(const std::vector<GroupResults>& partitions, size_t aggregates,
                GroupResults& joined) {
  int64_t used = 0;
  for (size_t k = 0; k < aggregates; ++k) {
    const bool all =
        std::all_of(partitions.begin(), partitions.end(), [&](const GroupResults& partition) {
          return partition.groups == 0 || partition.valid_at[k] < 0;
        });
    joined.valid_at.push_back(all ? -1 : used);
    used += all ? 0 : joined.groups;
  }
  if (used == 0) return;
  joined.valid = Buffer::allocate_temporary(used);
  auto* out = joined.valid.mutable_as<uint8_t>();
  {
    const Pin pin({{&joined.valid, 0, used, true}});
    for (size_t k = 0; k < aggregates; ++k) {
      if (joined.valid_at[k] < 0) continue;
      for (const GroupResults& partition : partitions) {
        if (partition.groups == 0) continue;
        const auto count = static_cast<size_t>(partition.groups);
        if (const int64_t at = partition.valid_at[k]; at >= 0)
          std::memcpy(out, partition.valid.as<uint8_t>() + at, count);
        else
          std::memset(out, 1, count);
        out += count;
      }
    }
  }
  joined.valid.seal();
}

}  // namespace

GroupResults concat_results(const std::vector<GroupResults>& partitions,
                            const AggregatePlan& plan) {
  GroupResults joined;
  for (const GroupResults& partition : partitions) joined.groups += partition.groups;
  if (joined.groups == 0) return joined;
  joined.normalized_keys = join_buffers(
      partitions, 8, [](const GroupResults& partition) { return partition.normalized_keys; });
  joined.first_rows = join_buffers(
      partitions, 8, [](const GroupResults& partition) { return partition.first_rows; });
  for (size_t k = 0; k < plan.aggregates.size(); ++k) {
    joined.values.push_back(join_buffers(
        partitions, 8, [&](const GroupResults& partition) { return partition.values[k]; }));
  }
  join_there(partitions, plan.aggregates.size(), joined);
  return joined;
}

Grouped finalize_groups(const NormalizedKeys& packed, int64_t num_keys, const AggregatePlan& plan,
                        const std::vector<Column>& values, std::vector<GroupResults> partitions,
                        bool partitions_are_first_seen, GroupOptions options) {
  std::vector<int64_t> bases;
  int64_t groups = 0;
  for (const GroupResults& partition : partitions) {
    bases.push_back(groups);
    groups += partition.groups;
  }
  const bool turns =
      groups > 1 && options.order == GroupOrder::kFirstSeen && !partitions_are_first_seen;
  const bool sorts = turns && are_too_many(packed.num_rows());
  Buffer places;
  if (turns && !sorts) places = places_by_first_row(partitions, bases, groups, packed.num_rows());
  Collector collector(plan, partitions, bases, groups, places);
  Column first_rows;
  if (sorts)
    first_rows = Column(TypeId::kInt64, groups, collector.words(&GroupResults::first_rows));
  for (GroupResults& partition : partitions) partition.first_rows = {};
  Grouped grouped;
  {
    const Buffer normalized_keys = collector.words(&GroupResults::normalized_keys);
    for (int64_t k = 0; k < num_keys; ++k)
      grouped.keys.push_back(packed.decode(k, normalized_keys, groups));
  }
  for (const Column& key : grouped.keys) key.values_buffer().seal();
  for (size_t k = 0; k < plan.aggregates.size(); ++k)
    grouped.values.push_back(collector.column(k, values));
  return sorts ? in_order_of(first_rows, std::move(grouped)) : grouped;
}

}  // namespace hr
