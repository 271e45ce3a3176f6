// SPDX-License-Identifier: Apache-2.0
// Aggregates of frames against a loop over the rows of each.
#include "headrace/relational/order/window_frame.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace hr {

namespace {

class WindowFrameOf : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, WindowFrameOf, ::testing::Values(1, 2, 4));

struct Frames {
  std::vector<int64_t> begins, ends;
};

// Short ones, growing ones and some beyond the rows.
Frames frames_of(int64_t rows, std::mt19937_64& random) {
  Frames made;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t kind = rows > 5000 ? 0 : static_cast<int64_t>(random() % 3);
    const auto size = static_cast<int64_t>(random() % 300);
    made.begins.push_back(kind == 1 ? 0 : row - size);
    made.ends.push_back(kind == 2 ? rows + 5 : row + 1 - static_cast<int64_t>(random() % 4));
  }
  return made;
}

template <class T>
std::optional<T> expected(FrameFunction function, const std::vector<T>& values,
                          const std::vector<bool>& valid, int64_t begin, int64_t end) {
  std::optional<T> made;
  const auto rows = static_cast<int64_t>(values.size());
  const auto greater = [](T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    return a > b;
  };
  for (int64_t row = std::max<int64_t>(begin, 0); row < std::min(end, rows); ++row) {
    const auto i = static_cast<size_t>(row);
    if (!valid[i]) continue;
    if (!made)
      made = values[i];
    else if (function == FrameFunction::kSum)
      *made += values[i];
    else if (greater(values[i], *made) == (function == FrameFunction::kMax) && values[i] != *made)
      made = values[i];
  }
  return made;
}

template <class T>
void check(const std::vector<T>& values, const std::vector<bool>& valid, const Frames& frames) {
  const Column begins = testing::column_of(frames.begins), ends = testing::column_of(frames.ends);
  const Column column = testing::column_of(values, valid);
  for (const auto function : {FrameFunction::kSum, FrameFunction::kMin, FrameFunction::kMax}) {
    const Column got = window_frame(function, begins, ends, column);
    ASSERT_EQ(got.num_rows(), begins.num_rows());
    for (size_t i = 0; i < frames.begins.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const auto want = expected(function, values, valid, frames.begins[i], frames.ends[i]);
      ASSERT_EQ(got.is_null(row), !want.has_value()) << "row " << row;
      if (!want) continue;
      const T value = got.values<T>()[i];
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(*want)) {
          ASSERT_TRUE(std::isnan(value)) << "row " << row;
          continue;
        }
      }
      ASSERT_EQ(value, *want) << "row " << row;
    }
  }
}

TEST_P(WindowFrameOf, IntegersOfAllSizesMatchALoop) {
  std::mt19937_64 random(1);
  for (const int64_t rows : {0, 1, 63, 64, 65, 4097, 131'073, 300'000}) {
    std::vector<int64_t> values;
    std::vector<bool> valid;
    for (int64_t row = 0; row < rows; ++row) {
      values.push_back(static_cast<int64_t>(random() % 2001) - 1000);
      valid.push_back(random() % 5 > 0);
    }
    check(values, valid, frames_of(rows, random));
  }
}

// Multiples of 1/4, whose sums are exact in any order.
TEST_P(WindowFrameOf, FloatsWithNanMatchALoop) {
  std::mt19937_64 random(2);
  for (const int64_t rows : {0, 1, 63, 64, 65, 4097, 131'073}) {
    std::vector<double> values;
    std::vector<bool> valid;
    for (int64_t row = 0; row < rows; ++row) {
      const bool is_nan = random() % 97 == 0;
      values.push_back(is_nan ? std::numeric_limits<double>::quiet_NaN()
                              : static_cast<double>(random() % 4001) / 4 - 500);
      valid.push_back(random() % 5 > 0);
    }
    check(values, valid, frames_of(rows, random));
  }
}

TEST(WindowFrame, ASliceOfValuesIsReadFromItsFirstRow) {
  const Column values = testing::column_of(std::vector<int64_t>{9, 1, 2, 3}).slice(1, 3);
  const Column begins = testing::column_of(std::vector<int64_t>{0, 0, 1});
  const Column ends = testing::column_of(std::vector<int64_t>{1, 3, 3});
  const Column got = window_frame(FrameFunction::kSum, begins, ends, values);
  EXPECT_EQ(got.values<int64_t>()[0], 1);
  EXPECT_EQ(got.values<int64_t>()[1], 6);
  EXPECT_EQ(got.values<int64_t>()[2], 5);
}

TEST(WindowFrame, BadInputIsAnError) {
  const Column whole = testing::column_of(std::vector<int64_t>{0, 1});
  const Column one = testing::column_of(std::vector<int64_t>{0});
  const Column small = testing::column_of(std::vector<int32_t>{0, 1});
  EXPECT_THROW(window_frame(FrameFunction::kSum, whole, one, whole), InvalidArgumentError);
  EXPECT_THROW(window_frame(FrameFunction::kSum, whole, whole, small), TypeMismatchError);
  EXPECT_THROW(window_frame(FrameFunction::kSum, small, whole, whole), TypeMismatchError);
  EXPECT_THROW(frame_function_from_name("median"), InvalidArgumentError);
}

}  // namespace

}  // namespace hr
