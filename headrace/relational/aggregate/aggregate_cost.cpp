// SPDX-License-Identifier: Apache-2.0
// What a group-by is thought to take, by the way that it will go.
#include "headrace/relational/aggregate/aggregate_cost.h"

#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hr {

namespace {

constexpr double kFewSlots = 1 << 17;
constexpr double kFewestSlots = 16384;  // where picked rows fold without being made
constexpr double kPartRows = 1 << 15;

bool is_ranked(Aggregate aggregate) {
  return aggregate == Aggregate::kMedian || aggregate == Aggregate::kQuantile ||
         aggregate == Aggregate::kNunique;
}

// What the requests read and keep.
struct Folds {
  double streams = 0;  // columns of 8 bytes a row, where rows are split
  double states = 0;   // bytes a slot
  double results = 0;  // bytes a group
  bool ranked = false;
  bool counts_values = false;  // of each group, one by one
  bool needs_rows = false;
  double unmade = 0;  // bytes of columns that the group-by makes, if it needs them
};

Folds folds_of(const InputGuesses& inputs, const std::vector<int64_t>& keys,
               const std::vector<AggregateRequest>& requests) {
  Folds folds{.streams = 0, .states = 4, .results = 8};
  std::set<int64_t> columns;
  for (const AggregateRequest& each : requests) {
    const Aggregate kind = each.aggregate;
    folds.results += 8;
    folds.ranked |= is_ranked(kind);
    folds.counts_values |= kind == Aggregate::kNunique;
    const bool argument = kind == Aggregate::kArgmin || kind == Aggregate::kArgmax;
    folds.needs_rows |= argument || kind == Aggregate::kFirst || kind == Aggregate::kLast ||
                        kind == Aggregate::kFirstRow;
    const bool spread = kind == Aggregate::kVariance || kind == Aggregate::kStd;
    const bool counted = kind == Aggregate::kCount || kind == Aggregate::kSize;
    folds.states += spread ? 32 : argument ? 24 : counted || is_ranked(kind) ? 0 : 8;
    if (kind == Aggregate::kCorrelation) folds.states += 64;
    for (const int64_t place : {each.column, each.other})
      if (place >= 0 && !(counted && !inputs.dtype(place).is_floating())) columns.insert(place);
  }
  folds.streams = static_cast<double>(columns.size());
  columns.insert(keys.begin(), keys.end());
  for (const int64_t place : columns)
    folds.unmade += static_cast<double>(inputs.unmade_bytes(place));
  return folds;
}

}  // namespace

int64_t guess_groups(const InputGuesses& inputs, const std::vector<int64_t>& keys) {
  const int64_t rows = inputs.rows(keys[0]);
  if (rows == kUnknown) return kUnknown;
  if (const std::optional<KeyGuess> guess = inputs.keys(keys))
    return std::min(rows, static_cast<int64_t>(std::llround(guess->distinct)));
  return std::min(rows, static_cast<int64_t>(10 * std::sqrt(static_cast<double>(rows))));
}

TextCodes text_codes(const KeyGuess& texts, double rows, bool sorted) {
  const double distinct = texts.distinct;
  TextCodes codes;
  codes.kept = 4 * rows + (40 + texts.text_bytes) * distinct;
  codes.bytes = 4 * rows + (96 + 2 * texts.text_bytes) * distinct;
  codes.alone = 290 * distinct + (sorted ? 40 * distinct * std::log2(distinct + 1) : 0);
  return codes;
}

Work group_work(const InputGuesses& inputs, const std::vector<int64_t>& keys,
                const std::vector<AggregateRequest>& requests, GroupOrder order, int64_t groups) {
  const auto rows = static_cast<double>(inputs.rows(keys[0])), count = static_cast<double>(groups);
  const Folds folds = folds_of(inputs, keys, requests);
  const KeyGuess all = inputs.keys(keys).value_or(KeyGuess{.distinct = count, .domain = 1e300});
  const bool sorted = order == GroupOrder::kSorted, first_seen = order == GroupOrder::kFirstSeen;
  const double wide = folds.streams + (folds.needs_rows || first_seen);
  Work work;
  double codes = 0, most = 0;
  for (const int64_t key : keys) {
    if (!inputs.dtype(key).is_string()) continue;
    const std::optional<KeyGuess> texts = inputs.keys(std::span(&key, 1));
    if (texts && !texts->has_texts) continue;
    const TextCodes own =
        text_codes(texts.value_or(KeyGuess{.distinct = count, .domain = count, .has_texts = true}),
                   rows, sorted);
    most = std::max(most, codes + own.bytes);
    codes += own.kept;
    work.alone += own.alone;
    work.nanoseconds += 20 * rows;
  }
  double held = 0;
  const bool few_packs = all.domain <= std::min(kFewSlots, std::max(4096.0, rows / 2));
  if (!folds.ranked && (few_packs || count <= kFewSlots)) {
    const double slots = few_packs ? all.domain : count;
    const double runs = std::clamp(rows / std::max(8 * slots, 131072.0), 1.0, 64.0);
    held = std::floor(runs) * slots * folds.states + (few_packs && first_seen ? 5 * rows : 0);
    work.nanoseconds += rows * (1.5 + folds.streams);
    if (!few_packs) {
      held += 4 * rows + 40 * count;
      work.nanoseconds += 5.5 * rows;
    }
  } else {
    const bool dense = few_packs || all.domain <= 4 * rows;
    const double parts =
        std::clamp(std::min(rows / kPartRows, dense ? all.domain : 1e9), 1.0, std::max(count, 1.0));
    held = rows * (8 * (1 + wide) + (first_seen ? 9 : 0)) + count * folds.results +
           static_cast<double>(threads()) * rows / parts * (folds.ranked ? 12 : 4);
    // Groups that are not in the cache are looked up, where packs are no slots.
    work.nanoseconds += rows * (count <= kFewSlots ? 8 + 4 * wide
                                : dense            ? 14 + 6 * wide
                                                   : 30 + 10 * wide);
    if (!few_packs && count <= kFewSlots) {
      held += 4 * rows;
      work.nanoseconds += 5.5 * rows;
    }
    if (folds.ranked) work.nanoseconds += 8 * rows;
    if (folds.counts_values)
      work.nanoseconds += 4 * rows * std::log2(std::max(rows / std::max(count, 1.0), 1.0));
  }
  const bool in_place = few_packs && !folds.ranked && all.domain <= kFewestSlots;
  work.bytes = std::max(most, codes + held) + (in_place ? 0 : folds.unmade);
  return work;
}

}  // namespace hr
