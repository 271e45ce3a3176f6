// SPDX-License-Identifier: Apache-2.0
// Every row comes once, any part is that of the whole, and positions are spread evenly.
#include "headrace/algo/random/keyed_permutation.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

namespace hr {
namespace {

using namespace testing;

std::vector<int64_t> rows_of(int64_t rows, RandomKey key, int64_t first, int64_t step,
                             int64_t count) {
  return values_of<int64_t>(permuted_rows(rows, key, first, step, count));
}

std::vector<int64_t> whole(int64_t rows, RandomKey key) {
  return rows_of(rows, key, 0, 1, rows);
}

TEST(KeyedPermutation, HasEachRowOnceAndItsInverse) {
  std::vector<int64_t> sizes(70);
  std::iota(sizes.begin(), sizes.end(), 1);
  for (const int64_t rows : {65'535, 65'536, 65'537, 131'072, 131'073, 1'000'000, 5'000'011})
    sizes.push_back(rows);
  for (const int64_t rows : sizes)
    for (const RandomKey key : {RandomKey{0, 0}, RandomKey{7, 3}}) {
      const std::vector<int64_t> made = whole(rows, key);
      std::vector<int64_t> expected(static_cast<size_t>(rows));
      for (int64_t place = 0; place < rows; ++place) {
        ASSERT_TRUE(made[static_cast<size_t>(place)] >= 0 &&
                    made[static_cast<size_t>(place)] < rows);
        expected[static_cast<size_t>(made[static_cast<size_t>(place)])] = place;
      }
      EXPECT_EQ(values_of<int64_t>(permuted_places(rows, key, 0, rows)), expected) << rows;
      EXPECT_EQ(std::ranges::count(expected, 0), 1);  // a row that is missing would be 0, too
    }
}

TEST(KeyedPermutation, GivesAnyPartOfTheWhole) {
  for (const int64_t rows : {1, 9, 65'537, 300'000}) {
    const RandomKey key{5, 1};
    const std::vector<int64_t> made = whole(rows, key);
    const auto places = values_of<int64_t>(permuted_places(rows, key, 0, rows));
    for (const auto& [first, step, count] :
         std::vector<std::array<int64_t, 3>>{{0, 0, 3}, {0, 4, 70}, {3, 4, rows}, {rows, 1, 5}}) {
      std::vector<int64_t> expected;
      for (int64_t i = 0; i < count; ++i)
        expected.push_back(made[static_cast<size_t>((first + i * step) % rows)]);
      EXPECT_EQ(rows_of(rows, key, first, step, count), expected) << rows;
    }
    const int64_t begin = rows / 3, count = rows - begin - rows / 5;
    EXPECT_EQ(values_of<int64_t>(permuted_places(rows, key, begin, count)),
              std::vector(places.begin() + begin, places.begin() + begin + count));
  }
  EXPECT_TRUE(rows_of(0, {}, 0, 1, 0).empty());
}

class KeyedPermutationThreads : public ThreadsTest {};

TEST_P(KeyedPermutationThreads, GiveTheSame) {
  const std::vector<int64_t> made = whole(400'000, {3, 3});
  set_threads(1);
  EXPECT_EQ(made, whole(400'000, {3, 3}));
  EXPECT_NE(made, whole(400'000, {3, 4}));
  EXPECT_NE(made, whole(400'000, {4, 3}));
}
INSTANTIATE_TEST_SUITE_P(, KeyedPermutationThreads, ::testing::Values(2, 4));

// Chi-squared, with a chance of about one in a million to fail for a good source.
TEST(KeyedPermutation, AllOrdersOfFewRowsAreEquallyLikely) {
  constexpr int kDraws = 24'000;
  std::map<std::vector<int64_t>, int> found;
  for (uint64_t seed = 0; seed < kDraws; ++seed) ++found[whole(4, {seed, 0})];
  double chi = 0;
  for (const auto& [order, count] : found) chi += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_EQ(found.size(), 24);
  EXPECT_LT(chi, 71.0);  // 23 degrees of freedom
}

TEST(KeyedPermutation, PlacesOfManyRowsAreEven) {
  constexpr int64_t kRows = 100'000, kCells = 20;
  std::vector<double> cells(kCells * kCells);
  for (uint32_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<int64_t> made = whole(kRows, {1, epoch});
    for (int64_t place = 0; place < kRows; ++place)
      ++cells[static_cast<size_t>(place * kCells / kRows * kCells +
                                  made[static_cast<size_t>(place)] * kCells / kRows)];
  }
  constexpr double kExpected = 20.0 * kRows / (kCells * kCells);
  double chi = 0;
  for (const double count : cells) chi += (count - kExpected) * (count - kExpected) / kExpected;
  EXPECT_LT(chi, 361 + 5 * 27);  // 19 * 19 degrees of freedom
  EXPECT_GT(chi, 361 - 5 * 27);
}

TEST(KeyedPermutation, RefusesWhatIsNotThere) {
  EXPECT_THROW(permuted_rows(0, {}, 0, 1, 1), InvalidArgumentError);
  EXPECT_THROW(permuted_rows(-1, {}, 0, 1, 1), InvalidArgumentError);
  EXPECT_THROW(permuted_rows(5, {}, 0, int64_t{1} << 62, 4), InvalidArgumentError);
  EXPECT_THROW(permuted_places(5, {}, 3, 3), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
