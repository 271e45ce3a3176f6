// SPDX-License-Identifier: Apache-2.0
// Joins against two nested loops.
#include "headrace/relational/join/join.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/spill/spill.h"
#include "headrace/relational/join/join_hash_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <unordered_map>
#include <unordered_set>

namespace hr {

namespace {

using Pair = std::pair<int64_t, int64_t>;

Column keys(const std::vector<int64_t>& values) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size()) * 8);
  if (!values.empty()) std::copy(values.begin(), values.end(), buffer.mutable_as<int64_t>());
  return Column(TypeId::kInt64, static_cast<int64_t>(values.size()), std::move(buffer));
}

std::vector<Pair> pairs_of(const JoinedRows& joined) {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < joined.rows; ++i)
    pairs.emplace_back(joined.keeps_left ? i : joined.left.as<int32_t>()[i],
                       joined.right.num_elements() > 0 ? joined.right.as<int32_t>()[i] : -2);
  return pairs;
}

std::vector<Pair> expected(const std::vector<int64_t>& left, const std::vector<int64_t>& right,
                           JoinKind kind) {
  std::unordered_map<int64_t, std::vector<int64_t>> rows;
  for (size_t i = 0; i < right.size(); ++i) rows[right[i]].push_back(static_cast<int64_t>(i));
  std::unordered_set<int64_t> matched;
  std::vector<Pair> pairs;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const auto found = rows.find(left[i]);
    const bool has = found != rows.end();
    if (kind == JoinKind::kSemi || kind == JoinKind::kAnti) {
      if (has == (kind == JoinKind::kSemi)) pairs.emplace_back(row, -2);
      continue;
    }
    matched.insert(left[i]);
    if (has)
      for (const int64_t other : found->second) pairs.emplace_back(row, other);
    else if (kind != JoinKind::kInner)
      pairs.emplace_back(row, -1);
  }
  if (kind == JoinKind::kOuter)
    for (size_t i = 0; i < right.size(); ++i)
      if (!matched.contains(right[i])) pairs.emplace_back(-1, static_cast<int64_t>(i));
  return pairs;
}

struct Limit {
  int64_t before = memory_limit();
  explicit Limit(int64_t bytes) { set_memory_limit(bytes); }
  ~Limit() { set_memory_limit(before); }
};

constexpr JoinKind kKinds[] = {JoinKind::kInner, JoinKind::kLeft, JoinKind::kOuter, JoinKind::kSemi,
                               JoinKind::kAnti};

void check(const std::vector<int64_t>& left, const std::vector<int64_t>& right) {
  const Column left_keys = keys(left), right_keys = keys(right);
  for (const JoinKind kind : kKinds) {
    const JoinedRows joined =
        join_rows({left_keys}, left_keys.num_rows(), {right_keys}, right_keys.num_rows(), kind);
    ASSERT_EQ(pairs_of(joined), expected(left, right, kind)) << static_cast<int>(kind);
  }
}

std::vector<int64_t> random_keys(size_t rows, int64_t range, int64_t step, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> result(rows);
  for (int64_t& key : result)
    key = (static_cast<int64_t>(random() % static_cast<uint64_t>(range)) - range / 2) * step;
  return result;
}

TEST(Join, AgreesWithLoopsOnEdgeSizes) {
  for (const size_t left : {0, 1, 63, 64, 65, 257, 1000})
    for (const size_t right : {0, 1, 64, 300})
      for (const int64_t range : {1, 40, 100'000})
        for (const int64_t step : {int64_t{1}, int64_t{1} << 40})
          check(random_keys(left, range, step, left + 1), random_keys(right, range, step, right));
}

TEST(Join, AgreesWithLoopsOverSeveralMorselsAndParts) {
  for (const int64_t step : {int64_t{1}, int64_t{1} << 33}) {
    check(random_keys(150'000, 200'000, step, 1), random_keys(140'000, 200'000, step, 2));
    check(random_keys(140'000, 50, step, 3), random_keys(20, 50, step, 4));
  }
  check(random_keys(150'000, 5'000'000, 1, 10), random_keys(140'000, 5'000'000, 1, 11));
  std::vector<int64_t> distinct(140'000);
  for (size_t i = 0; i < distinct.size(); ++i)
    distinct[i] = static_cast<int64_t>(i * 7919 % distinct.size());
  check(random_keys(150'000, 300'000, 1, 5), distinct);
  for (int64_t& key : distinct) key *= int64_t{1} << 30;
  check(distinct, distinct);
}

TEST(Join, AgreesWithLoopsWhereTheLeftSideIsSmall) {
  for (const int64_t step : {int64_t{1}, int64_t{1} << 33}) {
    check(random_keys(3000, 400'000, step, 12), random_keys(300'000, 400'000, step, 13));
    check(random_keys(70'000, 40'000, step, 14), random_keys(150'000, 50'000, step, 15));
    check({}, random_keys(150'000, 50'000, step, 16));
    check({step}, random_keys(150'000, 50'000, step, 17));
  }
}

TEST(Join, ValuesAreFoundInASet) {
  for (const int64_t step : {int64_t{1}, int64_t{1} << 33})
    for (const auto& [rows, of] : {std::pair{300'000, 200}, {200, 300'000}, {65, 0}, {0, 65}}) {
      const auto values = random_keys(static_cast<size_t>(rows), 100'000, step, 18);
      const auto set = random_keys(static_cast<size_t>(of), 100'000, step, 19);
      const std::unordered_set<int64_t> known(set.begin(), set.end());
      const Column found = is_in(keys(values), keys(set));
      ASSERT_EQ(found.num_rows(), rows);
      for (int64_t row = 0; row < rows; ++row)
        ASSERT_EQ(found.bit(row), known.contains(values[static_cast<size_t>(row)])) << row;
    }
}

TEST(Join, OneHeavyKeyAmongOthersIsFound) {
  std::vector<int64_t> right = random_keys(100'000, 1000, int64_t{1} << 40, 6);
  for (size_t i = 0; i < right.size(); i += 2) right[i] = 5;
  check(random_keys(2000, 1000, int64_t{1} << 40, 7), right);
}

TEST(Join, ExtremeKeysAreKeys) {
  const int64_t least = std::numeric_limits<int64_t>::min(), most = -(least + 1);
  check({least, most, 0, -1, least}, {most, least, 1, -1});
  check({most, most - 1}, {most, most - 2, most - 1});
}

TEST(Join, SeveralKeysWithNullsAndStrings) {
  const auto nullable = [](std::vector<int64_t> values, uint8_t valid) {
    Buffer bits = Buffer::allocate(1);
    bits.mutable_as<uint8_t>()[0] = valid;
    const Column plain = keys(values);
    return Column(TypeId::kInt64, plain.num_rows(), plain.values_buffer(), bits, -1);
  };
  const Column a = nullable({1, 2, 9, 1}, 0b1011), b = nullable({1, 7, 2}, 0b101);
  const JoinedRows joined =
      join_rows({a, keys({0, 0, 0, 5})}, 4, {b, keys({0, 0, 1})}, 3, JoinKind::kLeft);
  EXPECT_EQ(pairs_of(joined), (std::vector<Pair>{{0, 0}, {1, -1}, {2, 1}, {3, -1}}));
}

TEST(Join, WithoutKeysEveryRowMeetsEveryOther) {
  const JoinedRows joined = join_rows({}, 3, {}, 2, JoinKind::kInner);
  EXPECT_EQ(pairs_of(joined), (std::vector<Pair>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
}

TEST(Join, RowsOfAUniqueSideAreNotCopied) {
  const JoinedRows joined =
      join_rows({keys({3, 1, 2, 3})}, 4, {keys({1, 2, 3})}, 3, JoinKind::kInner);
  EXPECT_TRUE(joined.keeps_left);
  EXPECT_EQ(pairs_of(joined), (std::vector<Pair>{{0, 2}, {1, 0}, {2, 1}, {3, 2}}));
}

TEST(Join, RefusalsNameTheRows) {
  try {
    join_rows({keys({1, 2})}, 2, {keys({4, 2, 1, 2})}, 4, JoinKind::kInner, {.right = true});
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("side='right', row=1, same_key_at=3"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(join_rows({}, 60'000, {}, 60'000, JoinKind::kInner), InvalidArgumentError);
  EXPECT_EQ(join_rows({}, 60, {}, 60, JoinKind::kInner).rows, 3600);
}

TEST(Join, SameRowsForAnyThreadsAndUnderALimit) {
  const std::vector<int64_t> left = random_keys(1'500'000, 1'000'000, int64_t{1} << 20, 8);
  const std::vector<int64_t> right = random_keys(1'000'000, 1'000'000, int64_t{1} << 20, 9);
  const Column a = keys(left), b = keys(right);
  a.values_buffer().seal();
  b.values_buffer().seal();
  const int before = threads();
  const auto run = [&] {
    return join_rows({a}, a.num_rows(), {b}, b.num_rows(), JoinKind::kOuter);
  };
  set_threads(1);
  const std::vector<Pair> one = pairs_of(run());
  set_threads(4);
  EXPECT_EQ(pairs_of(run()), one);
  set_threads(before);
  const int64_t written = spill_statistics().written_bytes;
  {
    const Limit limit(memory_statistics().used_bytes + (int64_t{16} << 20));
    const JoinedRows joined = run();
    EXPECT_EQ(pairs_of(joined), one);
  }
  EXPECT_GT(spill_statistics().written_bytes, written);
}

}  // namespace

}  // namespace hr
