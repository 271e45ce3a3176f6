// SPDX-License-Identifier: Apache-2.0
// As-of joins against a loop over all pairs of rows.
#include "headrace/relational/join/asof.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace hr {

namespace {

class AsofJoin : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, AsofJoin, ::testing::Values(1, 2, 4));

struct Side {
  std::vector<int64_t> keys{}, by{};
  std::vector<bool> by_known{};

  Side(int64_t rows, int64_t range, std::mt19937_64& random) {
    for (int64_t i = 0; i < rows; ++i) {
      keys.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(range)));
      by.push_back(static_cast<int64_t>(random() % 3));
      by_known.push_back(random() % 5 > 0);
    }
    std::sort(keys.begin(), keys.end());
  }

  int64_t group(size_t row) const { return by_known[row] ? by[row] : -1; }

  int64_t rows() const { return static_cast<int64_t>(keys.size()); }
};

int64_t expected_row(const Side& left, size_t row, const Side& right, bool with_by,
                     const AsofOptions& options) {
  int64_t backward = -1, forward = -1;
  const auto distance = [&](int64_t at) {
    return std::abs(right.keys[static_cast<size_t>(at)] - left.keys[row]);
  };
  for (size_t i = 0; i < right.keys.size(); ++i) {
    if (with_by && right.group(i) != left.group(row)) continue;
    const auto at = static_cast<int64_t>(i);
    if (!options.allow_exact && distance(at) == 0) continue;
    if (options.has_tolerance && static_cast<double>(distance(at)) > options.tolerance) continue;
    if (right.keys[i] <= left.keys[row]) backward = at;
    if (right.keys[i] >= left.keys[row] && forward < 0) forward = at;
  }
  if (options.direction == AsofDirection::kBackward || forward < 0)
    return options.direction == AsofDirection::kForward ? forward : backward;
  if (options.direction == AsofDirection::kForward || backward < 0) return forward;
  return distance(forward) < distance(backward) ? forward : backward;
}

TEST_P(AsofJoin, MatchesALoopForEachOption) {
  std::mt19937_64 random(1);
  for (const auto& [left_rows, right_rows] :
       {std::pair<int64_t, int64_t>{0, 5}, {5, 0}, {1, 1}, {63, 64}, {65, 300}, {1025, 200}}) {
    for (const int64_t range : {20, 100'000}) {
      const Side left(left_rows, range, random), right(right_rows, range, random);
      const auto node = [](const auto& values, uint64_t domain) {
        return lazy_value(testing::column_of(values), "", domain);
      };
      const NodePtr left_by = lazy_value(testing::column_of(left.by, left.by_known), "", 7),
                    right_by = lazy_value(testing::column_of(right.by, right.by_known), "", 8);
      for (int options_bits = 0; options_bits < 24; ++options_bits) {
        const bool with_by = options_bits & 1;
        const AsofOptions options{.direction = static_cast<AsofDirection>(options_bits / 8),
                                  .allow_exact = (options_bits & 2) != 0,
                                  .has_tolerance = (options_bits & 4) != 0,
                                  .tolerance = 3};
        const std::vector<NodePtr> left_keys =
                                       with_by ? std::vector{left_by} : std::vector<NodePtr>{},
                                   right_keys =
                                       with_by ? std::vector{right_by} : std::vector<NodePtr>{};
        const NodePtr made =
            asof_rows(node(left.keys, 7), node(right.keys, 8), left_keys, right_keys, options);
        const Value value = force(made);
        const Column got = std::holds_alternative<Column>(value)
                               ? std::get<Column>(value)
                               : as_column(std::get<Tensor>(value));
        ASSERT_EQ(got.num_rows(), left.rows());
        for (size_t row = 0; row < left.keys.size(); ++row)
          ASSERT_EQ(got.values<int64_t>()[row], expected_row(left, row, right, with_by, options))
              << row << " of " << left_rows << " x " << right_rows << ", options " << options_bits;
      }
    }
  }
}

TEST_P(AsofJoin, KeysOutOfOrderOrMissingAreRefused) {
  const NodePtr rising = lazy_value(testing::column_of<int64_t>({1, 2, 3})),
                falling = lazy_value(testing::column_of<int64_t>({1, 3, 2})),
                missing = lazy_value(testing::column_of<int64_t>({1, 2, 3}, {true, false, true}));
  for (const NodePtr& bad : {falling, missing}) {
    EXPECT_THROW(force(asof_rows(bad, rising, {}, {}, {})), InvalidArgumentError);
    EXPECT_THROW(force(asof_rows(rising, bad, {}, {}, {})), InvalidArgumentError);
  }
  EXPECT_THROW(asof_direction_from_name("sideways"), InvalidArgumentError);
}

}  // namespace

}  // namespace hr
