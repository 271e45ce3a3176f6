// SPDX-License-Identifier: Apache-2.0
// What a join is thought to yield and to take.
#include "headrace/relational/join/join_cost.h"

#include "headrace/relational/rows/encoding_cost.h"

#include <algorithm>
#include <cmath>

namespace hr {

namespace {

constexpr double kNarrow = 32;       // keys of a range for each row
constexpr double kCached = 1 << 16;  // rows of a table that stays in the cache

/// Both sides of a join, thought to share as many keys as they can.
struct Sides {
  double left = 0, right = 0;  // rows
  double left_distinct = 0, right_distinct = 0;
  double right_domain = 0;
  bool known = false;  // the distinct ones

  Sides(const InputEstimates& inputs, const JoinPlaces& places)
      : left(static_cast<double>(inputs.rows(places.left))),
        right(static_cast<double>(inputs.rows(places.right))) {
    if (places.left_keys.empty()) return;
    const auto of_left = inputs.keys(places.left_keys), of_right = inputs.keys(places.right_keys);
    known = of_left && of_right;
    if (!known) return;
    left_distinct = std::max(of_left->distinct, 1.0);
    right_distinct = std::max(of_right->distinct, 1.0);
    right_domain = of_right->domain;
  }

  double pairs() const {
    return known ? left * right / std::max(left_distinct, right_distinct) : std::max(left, right);
  }

  /// Left rows that have a match.
  double matched() const {
    return known ? left * std::min(1.0, right_distinct / left_distinct) : left;
  }

  bool right_is_unique() const { return known && right_distinct > 0.9 * right; }
};

}  // namespace

int64_t estimate_joined_rows(const InputEstimates& inputs, const JoinPlaces& places,
                             JoinKind kind) {
  const int64_t left = inputs.rows(places.left), right = inputs.rows(places.right);
  if (left == kUnknown || right == kUnknown) return kUnknown;
  if (places.left_keys.empty()) return left * right;
  const Sides sides(inputs, places);
  const auto whole = [](double rows) { return std::llround(std::min(rows, 1e15)); };
  const double unmatched = sides.left - sides.matched();
  switch (kind) {
    case JoinKind::kSemi:
      return sides.known ? whole(sides.matched()) : (left + 1) / 2;
    case JoinKind::kAnti:
      return sides.known ? whole(unmatched) : (left + 1) / 2;
    case JoinKind::kLeft:
      return sides.known ? whole(sides.pairs() + unmatched) : left;
    default:
      return whole(sides.pairs());
  }
}

OperatorCost join_cost(const InputEstimates& inputs, const JoinPlaces& places, JoinKind kind,
                       int64_t rows, const std::vector<Dtype>& dtypes,
                       const std::vector<bool>& wanted) {
  const Sides sides(inputs, places);
  const auto made = static_cast<double>(rows);
  const bool pairs = kind != JoinKind::kSemi && kind != JoinKind::kAnti;
  // The only match of each left row, or where its matches begin and how many there are.
  const bool single = sides.right_is_unique() || !pairs;
  const bool keeps_left = single &&
                          (kind == JoinKind::kLeft || sides.matched() > 0.97 * sides.left) &&
                          kind != JoinKind::kOuter && kind != JoinKind::kAnti;
  OperatorCost work;
  double keys = 0;
  for (size_t k = 0; k < places.left_keys.size(); ++k) {
    if (!inputs.dtype(places.left_keys[k]).is_string()) continue;
    // Texts of both sides lie in one column while they get their codes.
    const double both = sides.left + sides.right;
    const auto left = inputs.keys(std::span(&places.left_keys[k], 1)),
               right = inputs.keys(std::span(&places.right_keys[k], 1));
    NdvEstimate texts = left.value_or(NdvEstimate{.distinct = std::sqrt(both), .domain = both});
    if (right) texts.distinct = std::max(texts.distinct, right->distinct);
    const EncodingCost codes = encoding_cost(texts, both, false);
    keys += 16 * both + codes.bytes;
    work.serial_nanoseconds += codes.serial_nanoseconds;
    work.nanoseconds += 20 * both;
  }
  // Slots for each key of a narrow range, else for each row.
  const bool narrow = sides.known && sides.right_domain <= kNarrow * sides.right;
  const double table = 16 * sides.right + (narrow ? 4 * sides.right_domain : 8 * sides.right);
  const double places_of_left = (single ? 4 : 8) * sides.left;
  const double numbers = keeps_left ? 0 : (pairs ? 8 : 4) * made;
  double shared = 0, result = 0;
  for (size_t c = 0; c < wanted.size() && c < dtypes.size(); ++c) {
    if (!wanted[c]) continue;
    const auto width = static_cast<double>(dtypes[c].size_bytes());
    result += width * made;
    if (keeps_left && c < places.left_columns.size() && places.left_columns[c])
      shared += width * made;
  }
  const double matching = std::max(keys, table + places_of_left + numbers);
  const double writing = (keeps_left ? places_of_left : numbers) + result - shared;
  work.bytes = std::max(matching, writing) - result;
  // Rows without a match look at a bit.
  const double matched = sides.left > 0 ? sides.matched() / sides.left : 1;
  work.nanoseconds +=
      std::max({sides.left, sides.right, made}) * (sides.right > kCached ? 6 + 22 * matched : 5);
  return work;
}

}  // namespace hr
