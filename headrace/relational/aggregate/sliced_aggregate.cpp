// SPDX-License-Identifier: Apache-2.0
// Group-by in slices.
#include "headrace/relational/aggregate/sliced_aggregate.h"

#include "headrace/algo/keys/factorize.h"
#include "headrace/algo/keys/key_slices.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/relational/aggregate/aggregate_strategies.h"
#include "headrace/relational/aggregate/determined_keys.h"
#include "headrace/relational/aggregate/merged_aggregates.h"
#include "headrace/relational/order/rank.h"

#include <algorithm>
#include <span>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kOp = "groupby";

/// Rows [begin, begin + count) of all, or those in `numbers`.
struct Slice {
  int64_t begin = 0;
  int64_t count = 0;
  Column keys{};
  std::optional<Tensor> numbers{};

  Column of(const Column& column) const {
    return numbers ? gather(column, *numbers) : column.slice(begin, count);
  }
};

/// One group-by. A slice is grouped by words: the normalized key, of folds in runs behind the
/// number of the run.
class SlicedGroups {
 public:
  SlicedGroups(const NormalizedKeys& packed, const std::vector<Column>& values,
               const std::vector<AggregateRequest>& requests, GroupOptions options, Place place)
      : packed_(packed),
        values_(values),
        requests_(requests),
        options_(options),
        place_(place),
        rows_(packed.num_rows()) {}

  std::optional<Grouped> run(int64_t slice_bytes) {
    if (rows_ == 0 || !choose_way()) return {};
    if (options_.order == GroupOrder::kFirstSeen) add_first_rows();
    const int64_t slice_rows = std::max<int64_t>(slice_bytes / row_bytes(), 1);
    // Whole runs of rows, where these fit.
    const bool is_by_rows = merges_ && run_rows_ <= slice_rows;
    if (is_by_rows)
      fold_rows(slice_rows / run_rows_ * run_rows_);
    else
      fold_ranges(slice_rows);
    merge();
    return finished();
  }

 private:
  // Rows of a run, if the host folds rows so; all rows where a group is one chain; none where only
  // numbers of the keys tell.
  std::optional<int64_t> run_rows() const {
    const uint64_t domain = packed_.domain();
    const bool is_ranked = std::ranges::any_of(requests_, [](const AggregateRequest& each) {
      return aggregate_row(each.aggregate).ranked;
    });
    if (has_few_slots(domain, rows_))
      return is_ranked ? rows_ : std::min(run_rows_of(static_cast<int64_t>(domain)), rows_);
    if (domain > 0 && domain <= static_cast<uint64_t>(rows_ / 2)) return rows_;
    const ReadKeys read = [&](int64_t row, int64_t count, uint64_t* keys) {
      packed_.read(row, count, keys);
    };
    if (has_many_keys(rows_, read, packed_.accesses())) return rows_;
    return {};
  }

  // How rows are folded: in which runs, and what of them; false where there is no way.
  bool choose_way() {
    bool in_runs = false, tells = true;
    for (const AggregateRequest& request : requests_) {
      const Dtype dtype =
          request.column < 0 ? Dtype() : values_[static_cast<size_t>(request.column)].dtype();
      const std::optional<Merging> way = merging(request, dtype);
      tells &= way.has_value();
      in_runs |= !way || way->in_runs;
      if (way) ways_.push_back(*way);
    }
    const std::optional<int64_t> run = run_rows();
    const bool is_chain = run == rows_ || !in_runs;
    if (!is_chain && (!run || !tells)) return false;
    run_rows_ = is_chain ? rows_ : *run;
    // Few groups are merged; of others a slice has all rows.
    merges_ = tells && (in_runs ? !is_chain : has_few_slots(packed_.domain(), rows_));
    if (merges_ && !in_runs) run_rows_ = 1;
    runs_in_keys_ = merges_ && in_runs;
    if (!merges_) {
      parts_ = requests_;
      return true;
    }
    for (Merging& way : ways_)
      for (Merging::Part& part : way.parts) {
        if (way.as_floats) part.request.column = as_floats(part.request.column);
        parts_.push_back(part.request);
      }
    return true;
  }

  // The place of the values as float64.
  int64_t as_floats(int64_t column) {
    const NodePtr floats = cast(lazy_value(values_[static_cast<size_t>(column)]), TypeId::kFloat64);
    values_.push_back(std::get<Column>(execute_nested(floats)));
    return static_cast<int64_t>(values_.size()) - 1;
  }

  // The first row of each group is the last part.
  void add_first_rows() {
    values_.push_back(row_numbers(rows_));
    AggregateRequest& request = parts_.emplace_back();
    request.aggregate = Aggregate::kMin;
    request.column = static_cast<int64_t>(values_.size()) - 1;
  }

  int64_t row_bytes() const {
    int64_t bytes = 8 + 8 * static_cast<int64_t>(parts_.size());  // of key and results
    std::vector<bool> read(values_.size());
    for (const AggregateRequest& request : parts_)
      for (const int64_t place : {request.column, request.other})
        if (place >= 0) read[static_cast<size_t>(place)] = true;
    for (size_t k = 0; k < read.size(); ++k)
      if (read[k]) bytes += std::max<int64_t>(values_[k].dtype().size_bytes(), 1);
    return bytes;
  }

  void fold_rows(int64_t slice_rows) {
    for (int64_t begin = 0; begin < rows_; begin += slice_rows) {
      const int64_t count = std::min(slice_rows, rows_ - begin);
      Slice slice{
          begin, count, Column(TypeId::kUInt64, count, packed_.to_buffer(begin, count)), {}};
      fold(std::move(slice));
    }
  }

  void fold_ranges(int64_t slice_rows) {
    const Column keys(TypeId::kUInt64, rows_, packed_.to_buffer(0, rows_));
    std::vector<uint64_t> borders =
        range_borders(std::span(&keys, 1), divide_up(3 * rows_, 2 * slice_rows));
    const bool drops = options_.drop_missing && packed_.has_missing();
    if (drops) {  // a range of their own
      borders.push_back(packed_.missing());
      if (packed_.missing() < UINT64_MAX) borders.push_back(packed_.missing() + 1);
      std::ranges::sort(borders);
      borders.erase(std::ranges::unique(borders).begin(), borders.end());
    }
    const KeySlices slices(keys, borders);
    for (int64_t k = 0; k < slices.count(); ++k) {
      if (slices.num_rows(k) == 0) continue;
      const Column own = slices.keys(k);
      if (drops && own.values<uint64_t>()[0] == packed_.missing()) continue;
      fold({0, slices.num_rows(k), own, slices.rows(k)});
    }
  }

  Column with_runs(const Slice& slice) const {
    Buffer made = Buffer::allocate(8 * slice.count);
    auto* const out = made.mutable_as<uint64_t>();
    const auto keys = slice.keys.values<uint64_t>();
    const auto* const numbers = slice.numbers ? slice.numbers->as<int64_t>() : nullptr;
    parallel_morsels(slice.count, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        const int64_t run = (numbers ? numbers[row] : slice.begin + row) / run_rows_;
        out[row] = static_cast<uint64_t>(run) * packed_.domain() + keys[static_cast<size_t>(row)];
      }
    });
    return Column(TypeId::kUInt64, slice.count, std::move(made));
  }

  // Groups a slice at the place, and takes what that gives.
  void fold(const Slice& slice) {
    std::vector<Value> inputs{runs_in_keys_ ? with_runs(slice) : slice.keys};
    std::vector<AggregateRequest> requests = parts_;
    std::vector<int64_t> at(values_.size(), -1);  // of values among the inputs
    for (AggregateRequest& request : requests)
      for (int64_t* const place : {&request.column, &request.other}) {
        if (*place < 0) continue;
        int64_t& known = at[static_cast<size_t>(*place)];
        if (known < 0) {
          known = static_cast<int64_t>(inputs.size()) - 1;
          inputs.emplace_back(slice.of(values_[static_cast<size_t>(*place)]));
        }
        *place = known;
      }
    const std::vector<Value> made =
        run_slice(kOp, place_, inputs, [&](std::span<const Value> there) {
          std::vector<Column> columns;
          for (const Value& value : there.subspan(1)) columns.push_back(std::get<Column>(value));
          const Grouped grouped = group_by({std::get<Column>(there[0])}, columns, requests,
                                           {.order = GroupOrder::kSorted, .in_chains = true});
          std::vector<Value> results{grouped.keys[0]};
          results.insert(results.end(), grouped.values.begin(), grouped.values.end());
          return results;
        });
    made_.resize(made.size());
    for (size_t c = 0; c < made.size(); ++c) made_[c].push_back(std::get<Column>(made[c]));
  }

  // Groups of all slices as columns: the keys' normalized ones, then the parts or results.
  void merge() {
    for (const std::vector<Column>& pieces : made_)
      columns_.push_back(pieces.size() == 1 ? pieces[0]
                                            : concatenate(kOp, pieces[0].dtype(), pieces));
    made_.clear();
    if (!merges_) return;
    if (runs_in_keys_) columns_[0] = without_runs(columns_[0]);
    std::vector<AggregateRequest> again;
    for (const Merging& way : ways_)
      for (const Merging::Part& part : way.parts)
        again.push_back(way.request_again(part, static_cast<int64_t>(again.size())));
    if (options_.order == GroupOrder::kFirstSeen) {
      AggregateRequest& first = again.emplace_back();
      first.aggregate = Aggregate::kMin;
      first.column = static_cast<int64_t>(again.size()) - 1;
    }
    Grouped grouped = group_by({columns_[0]}, {columns_.begin() + 1, columns_.end()}, again,
                               {.order = GroupOrder::kSorted, .in_chains = true});
    columns_ = {grouped.keys[0]};
    size_t next = 0;
    for (const Merging& way : ways_) {
      Column result = grouped.values[next++];
      if (way.parts.size() > 1) {
        const NodePtr mean = mean_of(lazy_value(result), lazy_value(grouped.values[next++]));
        result = std::get<Column>(execute_nested(mean));
      }
      columns_.push_back(std::move(result));
    }
    if (next < grouped.values.size()) columns_.push_back(grouped.values[next]);
  }

  Column without_runs(const Column& words) const {
    const int64_t rows = words.num_rows();
    Buffer made = Buffer::allocate(8 * rows);
    if (rows > 0) {
      auto* const out = made.mutable_as<uint64_t>();
      const auto from = words.values<uint64_t>();
      parallel_morsels(rows, [&](Morsel morsel) {
        for (int64_t row = morsel.begin; row < morsel.end; ++row)
          out[row] = from[static_cast<size_t>(row)] % packed_.domain();
      });
    }
    return Column(TypeId::kUInt64, rows, std::move(made));
  }

  // In the order that is asked for, without the group of rows that miss a key.
  Grouped finished() {
    Column first_rows;
    if (options_.order == GroupOrder::kFirstSeen) {
      first_rows = columns_.back();
      columns_.pop_back();
    }
    if (options_.drop_missing && packed_.has_missing()) {
      const auto keys = columns_[0].values<uint64_t>();
      std::vector<int64_t> kept;
      for (size_t group = 0; group < keys.size(); ++group)
        if (keys[group] != packed_.missing()) kept.push_back(static_cast<int64_t>(group));
      if (kept.size() < keys.size()) {
        Buffer rows = Buffer::allocate(8 * static_cast<int64_t>(kept.size()));
        if (!kept.empty()) std::ranges::copy(kept, rows.mutable_as<int64_t>());
        pick(Tensor(TypeId::kInt64, {static_cast<int64_t>(kept.size())}, std::move(rows)),
             first_rows);
      }
    }
    if (options_.order == GroupOrder::kFirstSeen) {
      const Tensor order = argsort({first_rows}, {SortOrder{}});
      pick(order, first_rows);
    }
    Grouped grouped;
    const Column& keys = columns_[0];
    for (int64_t k = 0; k < packed_.num_keys(); ++k)
      grouped.keys.push_back(packed_.decode(k, keys.values_buffer(), keys.num_rows()));
    grouped.values.assign(columns_.begin() + 1, columns_.end());
    return grouped;
  }

  void pick(const Tensor& rows, Column& first_rows) {
    for (Column& column : columns_) column = gather(column, rows);
    if (first_rows.num_rows() > 0) first_rows = gather(first_rows, rows);
  }

  const NormalizedKeys& packed_;
  std::vector<Column> values_;
  const std::vector<AggregateRequest>& requests_;
  GroupOptions options_;
  Place place_;
  int64_t rows_;
  int64_t run_rows_ = 0;
  bool merges_ = false;        // groups of several slices are one
  bool runs_in_keys_ = false;  // and each run has its own before
  std::vector<Merging> ways_{};
  std::vector<AggregateRequest> parts_{};    // what a slice is asked for
  std::vector<std::vector<Column>> made_{};  // by column and slice
  std::vector<Column> columns_{};
};

}  // namespace

std::optional<Grouped> group_in_slices(const std::vector<Column>& keys,
                                       const std::vector<Column>& values,
                                       const std::vector<AggregateRequest>& requests,
                                       GroupOptions options, Place place, int64_t slice_bytes) {
  for (const AggregateRequest& request : requests) {
    if (aggregate_row(request.aggregate).rows == RowUse::kNumbers) return {};
    if (request.column < 0) continue;
    // A slice of strings takes the text of all, and nested values are on the host only.
    const Dtype dtype = values[static_cast<size_t>(request.column)].dtype();
    if (dtype.is_string() || dtype.is_nested()) return {};
  }
  if (const auto known = find_determining_key(keys, options)) {
    std::optional<Grouped> grouped =
        group_in_slices({keys[known->key]}, values, requests, options, place, slice_bytes);
    if (!grouped) return {};
    return with_determined_keys(*std::move(grouped), keys, *known);
  }
  const NormalizedKeys packed = NormalizedKeys::of(
      kOp, keys,
      {.ordered = options.order == GroupOrder::kSorted, .drop_missing = options.drop_missing});
  return SlicedGroups(packed, values, requests, options, place).run(slice_bytes);
}

}  // namespace hr
