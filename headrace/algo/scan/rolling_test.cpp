// SPDX-License-Identifier: Apache-2.0
// Rolling aggregates against a plain loop over each window.
#include "headrace/algo/scan/rolling.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace hr {

namespace {

struct Rows {
  Column column;
  std::vector<std::optional<double>> values;  // none for null and NaN
  Segments segments{0};
  std::vector<int64_t> begins;  // first row of each row's segment
};

// `offset` rows of the buffers stand before the first one.
Rows rows_of(int64_t count, int64_t segment_rows, bool missing, int64_t offset, uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffer buffer = Buffer::allocate(8 * (count + offset));
  Buffer bits = Buffer::allocate_zeroed((count + offset + 7) / 8);
  Buffer keys = Buffer::allocate(8 * count);
  Rows made;
  int64_t begin = 0;
  for (int64_t row = 0; row < count; ++row) {
    const double value = static_cast<double>(static_cast<int64_t>(random() % 2000) - 1000) / 8;
    const bool null = missing && random() % 5 == 0, nan = missing && random() % 7 == 0;
    buffer.mutable_as<double>()[offset + row] =
        nan ? std::numeric_limits<double>::quiet_NaN() : value;
    if (!null) bits.mutable_as<uint8_t>()[(offset + row) / 8] |= uint8_t(1 << (offset + row) % 8);
    made.values.push_back(null || nan ? std::nullopt : std::optional(value));
    if (segment_rows > 0 && row > 0 && random() % static_cast<uint64_t>(segment_rows) == 0)
      begin = row;
    keys.mutable_as<uint64_t>()[row] = static_cast<uint64_t>(begin);
    made.begins.push_back(begin);
  }
  made.column = Column(TypeId::kFloat64, count, std::move(buffer),
                       missing ? std::move(bits) : Buffer(), missing ? -1 : 0, offset);
  made.segments = segment_rows > 0 ? Segments::of_keys(keys, count) : Segments(count);
  return made;
}

std::optional<double> wanted(Aggregate aggregate, const RollingOptions& options,
                             std::vector<double> seen) {
  const auto count = static_cast<int64_t>(seen.size());
  if (count < options.min_periods) return {};
  double sum = 0, squares = 0;
  for (const double value : seen) sum += value;
  if (aggregate == Aggregate::kSum) return sum;
  if (count == 0) return {};
  std::sort(seen.begin(), seen.end());
  const double mean = sum / static_cast<double>(count);
  for (const double value : seen) squares += (value - mean) * (value - mean);
  const double variance = squares / static_cast<double>(count - options.ddof);
  switch (aggregate) {
    case Aggregate::kMean:
      return mean;
    case Aggregate::kMin:
      return seen.front();
    case Aggregate::kMax:
      return seen.back();
    case Aggregate::kMedian:
      return (seen[static_cast<size_t>((count - 1) / 2)] + seen[static_cast<size_t>(count / 2)]) /
             2;
    default:
      if (count <= options.ddof) return {};
      return aggregate == Aggregate::kStd ? std::sqrt(variance) : variance;
  }
}

constexpr Aggregate kAll[] = {Aggregate::kSum,   Aggregate::kMean,     Aggregate::kMin,
                              Aggregate::kMax,   Aggregate::kVariance, Aggregate::kStd,
                              Aggregate::kMedian};

double value_at(const Column& column, int64_t row) {
  if (column.dtype().is_floating()) return column.values<double>()[static_cast<size_t>(row)];
  return static_cast<double>(column.values<int64_t>()[static_cast<size_t>(row)]);
}

void compare(const Rows& rows, Aggregate aggregate, const RollingOptions& options) {
  const Column got = rolling(rows.column, aggregate, options, rows.segments);
  const auto count = static_cast<int64_t>(rows.values.size());
  ASSERT_EQ(got.num_rows(), count);
  const int64_t ahead = options.center ? (options.window - 1) / 2 : 0;
  for (int64_t row = 0; row < count; ++row) {
    std::vector<double> seen;
    const int64_t begin = rows.begins[static_cast<size_t>(row)];
    for (int64_t at = std::max(begin, row + ahead - options.window + 1);
         at <= std::min(row + ahead, count - 1) && rows.begins[static_cast<size_t>(at)] == begin;
         ++at)
      if (const auto value = rows.values[static_cast<size_t>(at)]) seen.push_back(*value);
    const auto expected = wanted(aggregate, options, std::move(seen));
    ASSERT_EQ(got.is_null(row), !expected)
        << aggregate_name(aggregate, AggregateForm::kRolling) << " row " << row;
    if (expected)
      ASSERT_NEAR(value_at(got, row), *expected, 1e-9 * (1 + std::abs(*expected)))
          << aggregate_name(aggregate, AggregateForm::kRolling) << " row " << row << " window "
          << options.window;
    else
      ASSERT_EQ(value_at(got, row), 0);
  }
}

// Bounds by a loop over all rows of the segment.
TEST(WindowBounds, MatchALoopOverAllRows) {
  std::mt19937_64 random(7);
  for (const int64_t count : {0, 1, 2, 65, 300})
    for (const bool falls : {false, true})
      for (const bool center : {false, true})
        for (const Closed closed : {Closed::kRight, Closed::kLeft, Closed::kBoth, Closed::kNeither})
          for (const int64_t span : {1, 4, 7, 1000}) {
            Buffer buffer = Buffer::allocate(8 * count), keys = Buffer::allocate(8 * count);
            auto* const at = buffer.mutable_as<int64_t>();
            for (int64_t row = 0; row < count; ++row) {
              const auto step = static_cast<int64_t>(random() % 4);
              const bool begins = row % 40 == 0;
              at[row] = begins ? 50 : at[row - 1] + (falls ? -step : step);
              keys.mutable_as<uint64_t>()[row] = static_cast<uint64_t>(row / 40);
            }
            const Column times(TypeId::kInt64, count, std::move(buffer));
            const WindowBounds got =
                windows_of_spans(times, span, center, closed, Segments::of_keys(keys, count));
            const bool odd = center && span % 2 != 0;
            const bool left = odd || closed == Closed::kLeft || closed == Closed::kBoth;
            const bool right = odd || closed == Closed::kRight || closed == Closed::kBoth;
            const int64_t reach = center ? span / 2 : span, past = center ? span / 2 : 0;
            for (int64_t row = 0; row < count; ++row) {
              int64_t rows = 0, first = -1;
              const int64_t begin = row / 40 * 40;
              const int64_t end = center ? std::min(count, begin + 40) : row + 1;
              for (int64_t other = begin; other < end; ++other) {
                const int64_t since = falls ? at[row] - at[other] : at[other] - at[row];
                if (since < -reach || (since == -reach && !left && other != row)) continue;
                if (since > past || (since == past && !right)) continue;
                if (first < 0) first = other;
                ++rows;
              }
              const int64_t from = got.begins.as<int64_t>()[row], to = got.ends.as<int64_t>()[row];
              ASSERT_EQ(to - from, rows) << "row " << row << " span " << span;
              if (rows > 0) {
                ASSERT_EQ(from, first);
              }
            }
          }
}

TEST(Rolling, BoundsGiveWhatRowsGive) {
  for (const int64_t window : {1, 3, 64, 700})
    for (const bool center : {false, true}) {
      const Rows rows = rows_of(700, 50, true, 3, 11);
      for (const Aggregate aggregate : kAll) {
        RollingOptions options{window, 1, center};
        const Column direct = rolling(rows.column, aggregate, options, rows.segments);
        const Column bounded =
            rolling_between(rows.column, aggregate, options,
                            windows_of_rows(window, center, Closed::kRight, rows.segments));
        for (int64_t row = 0; row < 700; ++row) {
          ASSERT_EQ(bounded.is_null(row), direct.is_null(row));
          ASSERT_NEAR(value_at(bounded, row), value_at(direct, row), 1e-9);
        }
      }
    }
}

TEST(Rolling, MatchesALoopOverEachWindow) {
  uint64_t seed = 1;
  for (const int64_t count : {0, 1, 2, 63, 64, 65, 700})
    for (const int64_t window : {1, 2, 3, 10, 64, 100, 699, 700, 5000})
      for (const int64_t segment_rows : {0, 4, 50})
        for (const bool missing : {false, true}) {
          ++seed;
          const Rows rows =
              rows_of(count, segment_rows, missing, static_cast<int64_t>(seed % 3), seed);
          for (const Aggregate aggregate : kAll)
            for (const bool center : {false, true})
              compare(rows, aggregate,
                      {window, 1 + static_cast<int64_t>(seed % 2) * (window / 2), center});
        }
}

TEST(Rolling, WindowsReachOverMorsels) {
  for (const int64_t window : {7, 1000})
    for (const int64_t segment_rows : {0, 100'000}) {
      const Rows rows = rows_of(2 * kMorselRows + 77, segment_rows, false, 0, 5);
      // Sums of these values are exact, so what is subtracted does no harm here.
      const Column got = rolling(rows.column, Aggregate::kSum, {window, 1, false}, rows.segments);
      double sum = 0;
      int64_t low = 0;
      for (int64_t row = 0; row < rows.column.num_rows(); ++row) {
        const int64_t begin = rows.begins[static_cast<size_t>(row)];
        sum += *rows.values[static_cast<size_t>(row)];
        for (; low < std::max(begin, row - window + 1); ++low)
          sum -= *rows.values[static_cast<size_t>(low)];
        ASSERT_EQ(got.values<double>()[static_cast<size_t>(row)], sum) << row;
      }
    }
}

TEST(Rolling, LongWindowsAndAllThreadsGiveTheSameBits) {
  std::mt19937_64 random(3);
  const int64_t count = 5 * kMorselRows + 3;
  Buffer buffer = Buffer::allocate(8 * count);
  for (int64_t row = 0; row < count; ++row)
    buffer.mutable_as<double>()[row] =
        std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 40));
  const Column column(TypeId::kFloat64, count, std::move(buffer));
  const int before = threads();
  for (const int64_t window : {int64_t{5}, kMorselRows + 5, int64_t{1} << 60})
    for (const Aggregate aggregate : {Aggregate::kMean, Aggregate::kStd}) {
      std::vector<double> first;
      for (const int workers : {1, 2, 4}) {
        set_threads(workers);
        const Column got = rolling(column, aggregate, {window, 1, false}, Segments(count));
        const auto values = got.values<double>();
        if (first.empty()) first.assign(values.begin(), values.end());
        ASSERT_EQ(std::memcmp(first.data(), values.data(), first.size() * 8), 0) << window;
      }
    }
  set_threads(before);
}

TEST(Rolling, WhatLeftTheWindowLeavesNothingBehind) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {1e300, 1, 2, infinity, 3, 4, 5, 1e-300, 1e-300};
  Buffer buffer = Buffer::allocate(sizeof values);
  std::memcpy(buffer.mutable_data(), values, sizeof values);
  const Column column(TypeId::kFloat64, 9, std::move(buffer));
  const Column sums = rolling(column, Aggregate::kSum, {2, 2, false}, Segments(9));
  const double expected[] = {0, 1e300, 3, infinity, infinity, 7, 9, 5, 2e-300};
  for (size_t i = 1; i < 9; ++i) EXPECT_EQ(sums.values<double>()[i], expected[i]) << i;
  EXPECT_TRUE(sums.is_null(0));
}

TEST(Rolling, IntegersStayIntegersAndWrap) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t values[] = {most, most, -3};
  Buffer buffer = Buffer::allocate(sizeof values);
  std::memcpy(buffer.mutable_data(), values, sizeof values);
  const Column column(TypeId::kInt64, 3, std::move(buffer));
  const Column sums = rolling(column, Aggregate::kSum, {2, 1, false}, Segments(3));
  EXPECT_EQ(sums.values<int64_t>()[1], -2);
  EXPECT_EQ(sums.values<int64_t>()[2], most - 3);
  EXPECT_EQ(rolling(column, Aggregate::kMin, {2, 1, false}, Segments(3)).dtype(),
            Dtype(TypeId::kInt64));
}

TEST(Rolling, RefusesWhatMakesNoWindow) {
  EXPECT_THROW(check_rolling({0, 0, false}), InvalidArgumentError);
  EXPECT_THROW(check_rolling({3, 4, false}), InvalidArgumentError);
  EXPECT_THROW(check_rolling({3, 1, false, -1}), InvalidArgumentError);
  EXPECT_THROW(aggregate_from_name("mode", AggregateForm::kRolling), InvalidArgumentError);
  EXPECT_THROW(aggregate_dtype(Aggregate::kSum, TypeId::kString, AggregateForm::kRolling),
               TypeMismatchError);
}

}  // namespace

}  // namespace hr
