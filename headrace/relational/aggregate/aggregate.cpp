// SPDX-License-Identifier: Apache-2.0
// Group-by: the way through the rows, chosen by the keys alone.
#include "headrace/relational/aggregate/aggregate.h"

#include "headrace/algo/bits/validity.h"
#include "headrace/algo/keys/factorize.h"
#include "headrace/algo/keys/radix_order.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/string_codes.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"
#include "headrace/relational/aggregate/decimal_aggregate.h"
#include "headrace/relational/aggregate/determined_keys.h"
#include "headrace/relational/aggregate/distinct_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <span>

namespace hr {

bool has_few_slots(uint64_t domain, int64_t rows) {
  return domain > 0 && domain <= static_cast<uint64_t>(kFewKeys) &&
         domain <= static_cast<uint64_t>(std::max<int64_t>(4096, rows / 2));
}

namespace {

struct Found {
  std::vector<GroupResults> results{};  ///< sorted where that is asked for
  bool first_seen = false;
};

bool has_few_slots(const NormalizedKeys& packed) {
  return hr::has_few_slots(packed.domain(), packed.num_rows());
}

PayloadStream key_stream(const NormalizedKeys& packed) {
  return {8,
          [&packed](int64_t row, int64_t count, void* out) {
            packed.read(row, count, static_cast<uint64_t*>(out));
          },
          packed.accesses()};
}

// Few groups whose keys have numbers already, in the order of their first rows.
Found aggregate_factorized(const NormalizedKeys& packed, const AggregatePlan& plan,
                           const FactorizedKeys& numbered, bool sort) {
  const int64_t rows = packed.num_rows(), slots = numbered.table.size();
  const auto* numbers = numbered.numbers.as<uint32_t>();
  const BufferAccess access{&numbered.numbers, 0, 32, 32, rows};
  Found found{{}, true};
  if (plan.ranked.empty()) {
    const SlotReader reader{[&](int64_t row, int64_t count, uint32_t* out) {
                              std::memcpy(out, numbers + row, static_cast<size_t>(4 * count));
                            },
                            {access}};
    AggregatePartition partition = dense_aggregate(plan, rows, slots, reader);
    partition.keys = Buffer::allocate(8 * slots);
    std::memcpy(partition.keys.mutable_data(), numbered.table.keys(),
                static_cast<size_t>(8 * slots));
    found.results.push_back(
        finalize_partition(packed, plan, partition, sort ? SlotOrder::kKeys : SlotOrder::kSlots));
    return found;
  }
  std::vector<uint32_t> order(static_cast<size_t>(slots)), place(order.size());
  std::iota(order.begin(), order.end(), uint32_t{0});
  const uint64_t* keys = numbered.table.keys();
  if (sort) radix_order(keys, order.data(), slots);
  std::vector<uint64_t> originals;
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<uint32_t>(i);
    originals.push_back(keys[order[i]]);
  }
  PartitionKeys partition_keys{{8,
                                [&](int64_t row, int64_t count, void* out) {
                                  for (int64_t i = 0; i < count; ++i)
                                    static_cast<uint64_t*>(out)[i] = place[numbers[row + i]];
                                },
                                {access}},
                               static_cast<uint64_t>(slots),
                               originals.data()};
  found.results = partitioned_aggregate(plan, packed, std::move(partition_keys), false);
  return found;
}

Found find_groups(const NormalizedKeys& packed, const AggregatePlan& plan, GroupOptions options) {
  const int64_t rows = packed.num_rows();
  const uint64_t domain = packed.domain();
  const bool wants_first = options.order == GroupOrder::kFirstSeen;
  const bool sort = options.order == GroupOrder::kSorted;
  if (rows == 0) return {};
  const auto in_partitions = [&](uint64_t slots) {
    return partitioned_aggregate(plan, packed, {key_stream(packed), slots, nullptr, sort},
                                 wants_first);
  };
  if (has_few_slots(packed)) {
    if (!plan.ranked.empty() || options.in_chains) return {in_partitions(domain)};
    const SlotReader reader{
        [&](int64_t row, int64_t count, uint32_t* slots) { packed.read(row, count, slots); },
        packed.accesses()};
    AggregatePartition partition =
        dense_aggregate(plan, rows, static_cast<int64_t>(domain), reader);
    if (wants_first) partition.first_rows = first_rows(rows, reader, partition);
    return {{finalize_partition(packed, plan, partition,
                                wants_first ? SlotOrder::kFirstRows : SlotOrder::kSlots)},
            wants_first};
  }
  const ReadKeys read = [&](int64_t row, int64_t count, uint64_t* keys) {
    packed.read(row, count, keys);
  };
  // Slots cost less than numbers for keys that most likely come several times each.
  if (domain > 0 && domain <= static_cast<uint64_t>(rows / 2)) return {in_partitions(domain)};
  // Ranges of keys where most of their slots will be used.
  const bool dense = domain > 0 && domain <= static_cast<uint64_t>(4 * rows);
  if (options.in_chains || has_many_keys(rows, read, packed.accesses()))
    return {in_partitions(dense ? domain : 0)};
  const FactorizedKeys numbered = factorize(rows, read, packed.accesses(), kFewKeys);
  if (numbered.numbers) return aggregate_factorized(packed, plan, numbered, sort);
  return {in_partitions(dense ? domain : 0)};
}

// Columns on a CUDA device: what has no kernel goes through the host.
class DeviceGroups {
 public:
  DeviceGroups(const std::vector<Column>& keys, const std::vector<Column>& values,
               const std::vector<AggregateRequest>& requests, GroupOptions options)
      : keys_(keys),
        values_(values),
        requests_(requests),
        options_(options),
        place_(keys[0].place()) {}

  Grouped run() const {
    std::string why = why_host();
    if (!why.empty()) return run_there(why);
    if (keys_[0].num_rows() == 0) return run_there("no rows");
    if (std::ranges::any_of(requests_, [&](const auto& each) { return wants_ranks(each); }))
      return by_ranks_of_strings();
    const AggregatePlan plan = plan_aggregates(values_, requests_);
    if (!plan.ranked.empty() && has_order_kernels(plan))
      if (auto grouped = with_order_statistics(plan)) return *std::move(grouped);
    why = why_no_dense_kernel(plan);
    if (!why.empty()) return run_there(why);
    const std::optional<NormalizedKeys> packed = NormalizedKeys::of_device(
        keys_,
        {.ordered = options_.order == GroupOrder::kSorted, .drop_missing = options_.drop_missing});
    if (!packed) return run_there("keys of more than 64 bits, or of 2^30 strings and more");
    if (may_have_other_runs(*packed)) return run_there("strings next to a key that may tell them");
    const bool keeps_order = packed->are_in_order_of_rows();
    const Column strings = keeps_order ? packed->numbered_strings() : Column();
    const int64_t groups = strings.num_rows();  // 0: not all slots may have rows
    if (has_few_slots(*packed) && !options_.in_chains) {
      if (groups > 0 && has_device_columns(plan))
        return {{strings}, dense_columns_on_device(plan, *packed, groups)};
      return restored(*packed, in_slots(plan, *packed));
    }
    why = why_no_chains(plan, *packed, keeps_order ? GroupOrder::kSorted : options_.order);
    if (why.empty()) {
      Grouped grouped = partitioned_aggregate_on_device(plan, *packed, groups);
      if (groups > 0) return {{strings}, std::move(grouped.values)};
      return restored(*packed, std::move(grouped));
    }
    if (auto grouped = by_codes(plan, *packed)) return *std::move(grouped);
    return run_there(why);
  }

 private:
  // Groups of few slots.
  Grouped in_slots(const AggregatePlan& plan, const NormalizedKeys& packed) const {
    const bool wants_first =
        options_.order == GroupOrder::kFirstSeen && !packed.are_in_order_of_rows();
    const AggregatePartition partition = dense_aggregate_on_device(plan, packed, wants_first);
    std::vector<GroupResults> results{finalize_partition(
        packed, plan, partition, wants_first ? SlotOrder::kFirstRows : SlotOrder::kSlots)};
    const bool are_first_seen = options_.order == GroupOrder::kFirstSeen;
    Grouped grouped = finalize_groups(packed, packed.num_keys(), plan, values_, std::move(results),
                                      are_first_seen, options_);
    for (std::vector<Column>* columns : {&grouped.keys, &grouped.values})
      for (Column& column : *columns) column = sent(column);
    return grouped;
  }

  static Grouped restored(const NormalizedKeys& packed, Grouped grouped) {
    for (size_t k = 0; k < grouped.keys.size(); ++k)
      grouped.keys[k] = packed.restored(static_cast<int64_t>(k), grouped.keys[k]);
    return grouped;
  }

  // Why no kernel folds each group in one chain, which the host would do or is asked for.
  std::string why_no_chains(const AggregatePlan& plan, const NormalizedKeys& packed,
                            GroupOrder order) const {
    return options_.in_chains && order != GroupOrder::kFirstSeen
               ? why_no_chain_kernel(plan, packed)
               : why_no_partitioned_kernel(plan, packed, order);
  }

  // Keys far apart, and groups in the order of their rows, by numbers of the keys. The host folds
  // some of them in slots and some as chains; nothing where it cannot be told which.
  std::optional<Grouped> by_codes(const AggregatePlan& plan, const NormalizedKeys& packed) const {
    if (packed.num_rows() >= kTooManyRows) return {};
    const bool sort = options_.order == GroupOrder::kSorted;
    const RowCodes coded = packed.to_codes(sort);
    const int64_t groups = coded.first_rows.num_elements();
    const std::optional<bool> chains = options_.in_chains ? true : makes_chains(packed, groups);
    const std::optional<NormalizedKeys> numbers =
        NormalizedKeys::of_device({coded.codes}, {.ordered = true, .drop_missing = true});
    if (!chains || groups == 0 || !numbers) return {};
    if (*chains && !why_no_chains(plan, *numbers, GroupOrder::kSorted).empty()) return {};
    Grouped grouped;
    if (*chains)
      grouped = partitioned_aggregate_on_device(plan, *numbers, groups);
    else if (has_device_columns(plan))
      grouped.values = dense_columns_on_device(plan, *numbers, groups);
    else
      grouped = in_slots(plan, *numbers);
    grouped.keys = keys_of(coded);
    return grouped;
  }

  // Medians, quantiles and numbers of distinct values, next to other aggregates.
  std::optional<Grouped> with_order_statistics(const AggregatePlan& plan) const {
    std::array<std::vector<AggregateRequest>, 2> others;  // by whether the order of rows matters
    std::array<std::vector<size_t>, 2> places;
    for (size_t k = 0; k < plan.aggregates.size(); ++k) {
      const PlannedAggregate& each = plan.aggregates[k];
      if (each.ranked >= 0) continue;
      const bool in_chains = !is_order_free(each.request);
      others[in_chains].push_back(each.request);
      places[in_chains].push_back(k);
    }
    // Next to values in order the host folds each group in one chain.
    const AggregatePlan chains = plan_aggregates(values_, others[true]);
    if (!why_no_chain_kernel(chains).empty()) return {};
    const bool sort = options_.order == GroupOrder::kSorted;
    const std::optional<RowCodes> coded = codes_of_keys(sort);
    if (!coded || coded->first_rows.num_elements() == 0) return {};
    const int64_t groups = coded->first_rows.num_elements();
    Grouped grouped{{}, std::vector<Column>(plan.aggregates.size())};
    const auto put = [&](bool in_chains, const std::vector<Column>& made) {
      for (size_t k = 0; k < made.size(); ++k) grouped.values[places[in_chains][k]] = made[k];
    };
    if (!others[true].empty()) {
      const std::optional<NormalizedKeys> numbers =
          NormalizedKeys::of_device({coded->codes}, {.ordered = true, .drop_missing = true});
      if (!numbers || !why_no_chain_kernel(chains, *numbers).empty()) return {};
      put(true, partitioned_aggregate_on_device(chains, *numbers, groups).values);
    }
    if (!others[false].empty()) {
      GroupOptions options = options_;
      if (!sort) options.order = GroupOrder::kFirstSeen;
      put(false, DeviceGroups(keys_, values_, others[false], options).run().values);
    }
    grouped.keys = keys_of(*coded);
    for (const RankedInput& input : plan.ranked) {
      const std::vector<Column> made =
          order_statistics_on_device(plan, input, coded->codes, groups);
      for (size_t k = 0; k < made.size(); ++k) grouped.values[input.plans[k]] = made[k];
    }
    return grouped;
  }

  // Whether the result has the same bits in whatever order and pieces rows are folded.
  bool is_order_free(const AggregateRequest& request) const {
    using enum Aggregate;
    switch (request.aggregate) {
      case kSum:
      case kProduct:
        return !values_[static_cast<size_t>(request.column)].dtype().is_floating();
      case kMin:
      case kMax:
      case kArgmin:
      case kArgmax:
      case kAny:
      case kAll:
      case kCount:
      case kSize:
      case kFirst:
      case kLast:
      case kFirstRow:
        return true;
      default:
        return false;
    }
  }

  std::optional<RowCodes> codes_of_keys(bool sort) const {
    if (keys_[0].num_rows() >= kTooManyRows) return {};
    const std::optional<NormalizedKeys> packed =
        NormalizedKeys::of_device(keys_, {.ordered = sort, .drop_missing = options_.drop_missing});
    if (!packed) return {};
    return packed->to_codes(sort);
  }

  // The key of each number.
  std::vector<Column> keys_of(const RowCodes& coded) const {
    std::vector<Column> keys;
    for (const Column& key : keys_) keys.push_back(canonical_keys(gather(key, coded.first_rows)));
    return keys;
  }

  bool wants_ranks(const AggregateRequest& request) const {
    return request.column >= 0 &&
           values_[static_cast<size_t>(request.column)].dtype().is_string() &&
           (aggregate_row(request.aggregate).compares() ||
            request.aggregate == Aggregate::kNunique);
  }

  // Strings compare as their numbers in order.
  Grouped by_ranks_of_strings() const {
    if (keys_[0].num_rows() >= kTooManyRows)
      return run_there("comparisons of 2^30 strings and more");
    std::vector<Column> values = values_;
    std::vector<AggregateRequest> requests = requests_;
    std::map<int64_t, std::pair<int64_t, Tensor>> ranked;  // place and first rows, by column
    for (AggregateRequest& request : requests) {
      if (!wants_ranks(request)) continue;
      const auto [found, is_new] = ranked.try_emplace(request.column, values.size(), Tensor());
      if (is_new) {
        const RowCodes codes = encode_strings(values_[static_cast<size_t>(request.column)], true);
        values.push_back(codes.codes);
        found->second.second = codes.first_rows;
      }
      request.column = found->second.first;
    }
    Grouped grouped = DeviceGroups(keys_, values, requests, options_).run();
    for (size_t k = 0; k < requests_.size(); ++k) {
      if (!wants_ranks(requests_[k]) ||
          aggregate_row(requests_[k].aggregate).result != AggregateResult::kValue)
        continue;
      const Column& source = values_[static_cast<size_t>(requests_[k].column)];
      const Tensor& first_rows = ranked.at(requests_[k].column).second;
      Column& result = grouped.values[k];
      const int64_t groups = result.num_rows();
      if (first_rows.num_elements() == 0) {
        result = null_rows("groupby", source, groups);
        continue;
      }
      const Tensor rank(TypeId::kUInt32, {groups}, result.values_buffer());
      const Column strings = gather(gather(source, first_rows), rank);
      result = strings.with_rows(groups, strings.values_buffer(), result.validity_buffer(),
                                 result.null_count());
    }
    return grouped;
  }

  // Whether the host adds up each group's rows one after the other, not in runs.
  static std::optional<bool> makes_chains(const NormalizedKeys& packed, int64_t groups) {
    const int64_t rows = packed.num_rows();
    if (packed.domain() > 0 && packed.domain() <= static_cast<uint64_t>(rows / 2)) return true;
    if (has_many_keys_on_device(packed)) return true;
    const int64_t numbers = groups + packed.has_missing();
    if (numbers > kFewKeys) return true;
    // More may be given up after some of the rows.
    if (numbers > kFewKeys * 3 / 4) return {};
    return false;
  }

  // The host groups by the key alone that tells the others: its runs may be other ones.
  bool may_have_other_runs(const NormalizedKeys& packed) const {
    constexpr uint64_t kOneRun = 1 << 14;  // slots of which each run is a morsel
    return packed.domain() - 1 >= kOneRun && may_be_determined(keys_, options_);
  }

  std::string why_host() const {
    for (const AggregateRequest& request : requests_) {
      if (request.column < 0) continue;
      const Dtype dtype = values_[static_cast<size_t>(request.column)].dtype();
      if (dtype.is_decimal()) return "decimals";
      if (dtype.is_category() && aggregate_row(request.aggregate).compares())
        return "comparisons of categories";
    }
    return {};
  }

  Grouped run_there(const std::string& what) const {
    std::vector<Value> columns(keys_.begin(), keys_.end());
    columns.insert(columns.end(), values_.begin(), values_.end());
    const auto split = [&](std::span<const Value> all) {
      std::array<std::vector<Column>, 2> parts;
      for (size_t k = 0; k < all.size(); ++k)
        parts[k >= keys_.size()].push_back(std::get<Column>(all[k]));
      return parts;
    };
    const std::vector<Value> made =
        run_on_host("groupby", what + " have no kernel for CUDA", place_, columns,
                    [&](std::span<const Value> here) {
                      const auto [keys, values] = split(here);
                      const Grouped grouped = group_by(keys, values, requests_, options_);
                      std::vector<Value> results(grouped.keys.begin(), grouped.keys.end());
                      results.insert(results.end(), grouped.values.begin(), grouped.values.end());
                      return results;
                    });
    auto [keys, values] = split(made);
    return {std::move(keys), std::move(values)};
  }

  // A small result of the host, on the device.
  Column sent(const Column& column) const {
    const auto send = [&](const Buffer& buffer, int64_t bytes) {
      if (!buffer || !buffer.place().is_host()) return buffer;
      return output_at("groupby", Tensor(TypeId::kUInt8, {bytes}, buffer), place_).buffer();
    };
    const int64_t rows = column.num_rows(), bits = bitmap_bytes(rows);
    const Dtype dtype = column.dtype();
    return column.with_rows(
        rows, send(column.values_buffer(), dtype.is_bool() ? bits : rows * dtype.size_bytes()),
        column.null_count() > 0 ? send(column.validity_buffer(), bits) : Buffer(),
        column.null_count());
  }

  const std::vector<Column>& keys_;
  const std::vector<Column>& values_;
  const std::vector<AggregateRequest>& requests_;
  const GroupOptions options_;
  const Place place_;
};

// Strings and decimals compare as their places in the order of all.
struct OrderedStrings {
  int64_t column;
  NormalizedKeys packed;
  Column normalized_keys;
  int64_t at = 0;  // place of the normalized keys among the values
};

OrderedStrings order_strings(int64_t column, const Column& strings) {
  OrderedStrings made{column, NormalizedKeys::of("groupby", {strings}, {}), {}, 0};
  const int64_t rows = strings.num_rows();
  made.normalized_keys = Column(TypeId::kUInt64, rows, made.packed.to_buffer(0, rows),
                                realigned_validity(strings), strings.null_count());
  return made;
}

}  // namespace

Grouped group_by(const std::vector<Column>& keys, const std::vector<Column>& given,
                 const std::vector<AggregateRequest>& given_requests, GroupOptions options) {
  if (keys.empty())
    throw_error<InvalidArgumentError>("groupby", "expected at least one key", {}, "name a column");
  for (const std::vector<Column>* columns : {&keys, &given})
    for (const Column& column : *columns)
      if (column.num_rows() != keys[0].num_rows())
        throw_error<InvalidArgumentError>(
            "groupby", "the columns have different lengths",
            {{"rows", column.num_rows()}, {"key_rows", keys[0].num_rows()}});
  if (keys[0].place().is_gpu()) return DeviceGroups(keys, given, given_requests, options).run();
  if (const auto known = find_determining_key(keys, options))
    return with_determined_keys(group_by({keys[known->key]}, given, given_requests, options), keys,
                                *known);
  std::vector<Column> values = given;
  std::vector<AggregateRequest> requests = given_requests;
  std::vector<OrderedStrings> ordered;
  DecimalRequests decimals;
  std::vector<size_t> sums;                        // of decimals
  std::vector<std::pair<size_t, size_t>> strings;  // request and its place in `ordered`
  for (size_t k = 0; k < requests.size(); ++k) {
    AggregateRequest& request = requests[k];
    const AggregateRow& row = aggregate_row(request.aggregate);
    if (request.column < 0) continue;
    const Column& column = given[static_cast<size_t>(request.column)];
    const bool decimal = column.dtype().is_decimal();
    if (row.decimals_as_floats) {
      request.column = decimals.float_place(request.column, values);
      if (request.other >= 0) request.other = decimals.float_place(request.other, values);
      continue;
    }
    if (decimal && request.aggregate == Aggregate::kSum) {
      sums.push_back(k);
      continue;
    }
    const bool text = column.dtype().is_string() || decimal;
    const bool counts = request.aggregate == Aggregate::kNunique;
    if (!(row.compares() && (text || column.dtype().is_category())) && !(text && counts)) continue;
    size_t place = 0;
    while (place < ordered.size() && ordered[place].column != request.column) ++place;
    if (place == ordered.size()) {
      ordered.push_back(order_strings(request.column, column));
      ordered.back().at = static_cast<int64_t>(values.size());
      values.push_back(ordered.back().normalized_keys);
    }
    request.column = ordered[place].at;
    if (row.result == AggregateResult::kValue) strings.emplace_back(k, place);
  }
  for (const size_t sum : sums) decimals.add_sum(sum, values, requests);
  const NormalizedKeys packed = NormalizedKeys::of(
      "groupby", keys,
      {.ordered = options.order == GroupOrder::kSorted, .drop_missing = options.drop_missing});
  const AggregatePlan plan = plan_aggregates(values, requests);
  Found found = find_groups(packed, plan, options);
  Grouped grouped = finalize_groups(packed, static_cast<int64_t>(keys.size()), plan, values,
                                    std::move(found.results), found.first_seen, options);
  decimals.finish(grouped, given_requests.size());
  for (const auto& [request, place] : strings) {
    Column& result = grouped.values[request];
    const int64_t rows = result.num_rows();
    if (rows > 0 && result.null_count() == rows) {
      const Column& source = given[static_cast<size_t>(ordered[place].column)];
      result = source.with_rows(rows, Buffer::allocate_zeroed(rows * source.dtype().size_bytes()),
                                Buffer::allocate_zeroed((rows + 7) / 8), rows);
      continue;
    }
    const Column texts = ordered[place].packed.decode(0, result.values_buffer(), result.num_rows());
    result = texts.with_rows(result.num_rows(), texts.values_buffer(), result.validity_buffer(),
                             result.null_count());
  }
  return grouped;
}

}  // namespace hr
