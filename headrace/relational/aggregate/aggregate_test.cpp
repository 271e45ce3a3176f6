// SPDX-License-Identifier: Apache-2.0
// group_by equals a map from keys to rows, on every way through the rows.
#include "headrace/relational/aggregate/aggregate.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/spill/spill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

namespace hr {
namespace {

using testing::column_of;

Column strings_of(const std::vector<std::string>& values) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer views = Buffer::allocate_zeroed(16 * rows);
  std::string text;
  for (int64_t i = 0; i < rows; ++i) {
    const std::string& value = values[static_cast<size_t>(i)];
    StringView& view = views.mutable_as<StringView>()[i];
    view.size = static_cast<uint32_t>(value.size());
    if (value.size() <= 12) {
      std::memcpy(view.inlined, value.data(), value.size());
    } else {
      std::memcpy(view.indirect.prefix, value.data(), 4);
      view.indirect.offset = static_cast<uint32_t>(text.size());
      text += value;
    }
  }
  Buffer bytes = Buffer::allocate(std::max<int64_t>(static_cast<int64_t>(text.size()), 1));
  std::memcpy(bytes.mutable_data(), text.data(), text.size());
  return Column::strings(rows, views, {bytes});
}

bool same_bytes(const Column& a, const Column& b) {
  if (a.num_rows() != b.num_rows() || a.null_count() != b.null_count()) return false;
  for (int64_t i = 0; i < a.num_rows(); ++i)
    if (a.is_null(i) != b.is_null(i)) return false;
  if (a.dtype().is_string()) {
    for (int64_t i = 0; i < a.num_rows(); ++i)
      if (!a.is_null(i) && a.string(i) != b.string(i)) return false;
    return true;
  }
  const int64_t bytes =
      a.dtype().is_bool() ? bitmap_bytes(a.num_rows()) : a.num_rows() * a.dtype().size_bytes();
  return bytes == 0 || std::memcmp(a.values_buffer().data(), b.values_buffer().data(), bytes) == 0;
}

const std::vector<AggregateRequest> kAll{
    {Aggregate::kSize},      {Aggregate::kCount, 0},         {Aggregate::kSum, 0},
    {Aggregate::kMean, 0},   {Aggregate::kVariance, 0},      {Aggregate::kMin, 0},
    {Aggregate::kMax, 0},    {Aggregate::kFirst, 0},         {Aggregate::kLast, 0},
    {Aggregate::kArgmin, 0}, {Aggregate::kArgmax, 0},        {Aggregate::kAny, 0},
    {Aggregate::kAll, 0},    {Aggregate::kMedian, 0},        {Aggregate::kNunique, 0},
    {Aggregate::kSum, 1},    {Aggregate::kCorrelation, 0, 1}};

// Checks against a map; `keys` are int64, values double with NaN and nulls, and int64.
void check(const std::vector<int64_t>& keys, const std::vector<double>& x,
           const std::vector<bool>& valid, const std::vector<int64_t>& y,
           std::vector<AggregateRequest> requests, GroupOptions options) {
  std::map<int64_t, std::vector<int64_t>> rows_of;
  std::vector<int64_t> seen;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!rows_of.contains(keys[i])) seen.push_back(keys[i]);
    rows_of[keys[i]].push_back(static_cast<int64_t>(i));
  }
  if (options.order == GroupOrder::kSorted) std::sort(seen.begin(), seen.end());
  const Grouped grouped =
      group_by({column_of(keys)}, {column_of(x, valid), column_of(y)}, requests, options);
  ASSERT_EQ(grouped.keys[0].num_rows(), static_cast<int64_t>(seen.size()));
  for (size_t g = 0; g < seen.size(); ++g) {
    const auto at = static_cast<int64_t>(g);
    ASSERT_EQ(grouped.keys[0].values<int64_t>()[g], seen[g]);
    std::vector<double> values;
    int64_t first = -1, last = -1, whole = 0;
    for (const int64_t row : rows_of[seen[g]]) {
      const auto i = static_cast<size_t>(row);
      whole += y[i];
      if (!valid[i] || std::isnan(x[i])) continue;
      values.push_back(x[i]);
      if (first < 0) first = row;
      last = row;
    }
    double sum = 0;
    for (const double value : values) sum += value;
    const double mean = sum / static_cast<double>(values.size());
    for (size_t k = 0; k < requests.size(); ++k) {
      const Column& result = grouped.values[k];
      switch (requests[k].aggregate) {
        case Aggregate::kSize:
          ASSERT_EQ(result.values<int64_t>()[g], static_cast<int64_t>(rows_of[seen[g]].size()));
          break;
        case Aggregate::kCount:
          ASSERT_EQ(result.values<int64_t>()[g], static_cast<int64_t>(values.size()));
          break;
        case Aggregate::kSum:
          if (requests[k].column == 1)
            ASSERT_EQ(result.values<int64_t>()[g], whole);
          else
            ASSERT_NEAR(result.values<double>()[g], sum, 1e-9 * (1 + std::abs(sum)));
          break;
        case Aggregate::kMean:
          ASSERT_EQ(result.is_null(at), values.empty());
          if (!values.empty()) {
            ASSERT_NEAR(result.values<double>()[g], mean, 1e-9);
          }
          break;
        case Aggregate::kVariance: {
          ASSERT_EQ(result.is_null(at), values.size() < 2);
          double squares = 0;
          for (const double value : values) squares += (value - mean) * (value - mean);
          if (values.size() > 1) {
            ASSERT_NEAR(result.values<double>()[g], squares / double(values.size() - 1), 1e-6);
          }
          break;
        }
        case Aggregate::kFirst:
          ASSERT_EQ(result.is_null(at), first < 0);
          if (first >= 0) {
            ASSERT_EQ(result.values<double>()[g], x[static_cast<size_t>(first)]);
          }
          break;
        case Aggregate::kLast:
          if (last >= 0) {
            ASSERT_EQ(result.values<double>()[g], x[static_cast<size_t>(last)]);
          }
          break;
        case Aggregate::kMin:
          if (!values.empty()) {
            ASSERT_EQ(result.values<double>()[g], *std::min_element(values.begin(), values.end()));
          }
          break;
        case Aggregate::kArgmax:
          if (!values.empty()) {
            ASSERT_EQ(x[static_cast<size_t>(result.values<int64_t>()[g])],
                      *std::max_element(values.begin(), values.end()));
          }
          break;
        case Aggregate::kMedian:
          ASSERT_EQ(result.is_null(at), values.empty());
          if (!values.empty()) {
            std::sort(values.begin(), values.end());
            const double high = values[values.size() / 2], low = values[(values.size() - 1) / 2];
            ASSERT_NEAR(result.values<double>()[g], (low + high) / 2, 1e-9);
          }
          break;
        case Aggregate::kNunique: {
          std::sort(values.begin(), values.end());
          ASSERT_EQ(result.values<int64_t>()[g],
                    std::unique(values.begin(), values.end()) - values.begin());
          break;
        }
        default:
          break;
      }
    }
  }
}

TEST(Aggregate, EqualsAMapOnEveryWay) {
  std::mt19937_64 random(5);
  for (const int64_t rows :
       {0L, 1L, 63L, 64L, 65L, 5000L, kMorselRows - 1, kMorselRows + 1, 400000L})
    for (const int64_t groups : {1L, 3000L, 100000L, int64_t{1} << 22})
      for (const int64_t stride : {1L, 1L << 40}) {  // dense keys, and keys for a table
        if (groups > 2 * rows && groups > 7) continue;
        if (rows > 2 * kMorselRows && groups != 3000 && stride > 1) continue;  // takes long
        std::vector<int64_t> keys, y;
        std::vector<double> x;
        std::vector<bool> valid;
        for (int64_t i = 0; i < rows; ++i) {
          keys.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(groups)) * stride -
                         5);
          const auto number = static_cast<double>(random() % 1000) / 4;
          x.push_back(random() % 50 == 0 ? std::numeric_limits<double>::quiet_NaN() : number);
          valid.push_back(random() % 20 != 0);
          y.push_back(static_cast<int64_t>(random() % 100) - 50);
        }
        std::vector<AggregateRequest> some;
        for (const AggregateRequest& each : kAll)
          if (each.aggregate != Aggregate::kMedian && each.aggregate != Aggregate::kNunique)
            some.push_back(each);
        for (const GroupOrder order : {GroupOrder::kSorted, GroupOrder::kFirstSeen}) {
          SCOPED_TRACE(::testing::Message()
                       << rows << " rows, " << groups << " groups, " << stride);
          check(keys, x, valid, y, kAll, {.order = order});
          check(keys, x, valid, y, some, {.order = order});
          if (HasFatalFailure()) return;
        }
      }
}

TEST(Aggregate, SameBitsForAnyThreadsAndLimit) {
  constexpr int64_t kRows = 300'000;
  std::mt19937_64 random(6);
  for (const int64_t groups : {50L, 60000L, int64_t{1} << 40}) {
    std::vector<int64_t> keys, y;
    std::vector<double> x;
    for (int64_t i = 0; i < kRows; ++i) {
      keys.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(groups)));
      x.push_back(std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 100)));
      y.push_back(static_cast<int64_t>(random() % 5));
    }
    const std::vector<Column> key{column_of(keys)}, values{column_of(x), column_of(y)};
    for (const Column* each : {&key[0], &values[0], &values[1]}) each->values_buffer().seal();
    const int before = threads();
    set_threads(1);
    const Grouped one = group_by(key, values, kAll);
    for (const int count : {2, 4}) {
      set_threads(count);
      const Grouped other = group_by(key, values, kAll);
      ASSERT_TRUE(same_bytes(one.keys[0], other.keys[0]));
      for (size_t k = 0; k < kAll.size(); ++k)
        ASSERT_TRUE(same_bytes(one.values[k], other.values[k])) << groups << " aggregate " << k;
    }
    set_threads(before);
  }
}

TEST(Aggregate, KeysOfAllKinds) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Column x = column_of<double>({1, 2, 3, 4, 5, 6});
  const std::vector<AggregateRequest> sum{{Aggregate::kSum, 0}};
  const Column floats =
      column_of<double>({nan, -0.0, 0.0, nan, 7, 7}, {true, true, true, true, true, false});
  Grouped grouped = group_by({floats}, {x}, sum);
  ASSERT_EQ(grouped.keys[0].num_rows(), 2);
  EXPECT_EQ(grouped.values[0].values<double>()[0], 5);
  EXPECT_FALSE(std::signbit(grouped.keys[0].values<double>()[0]));
  grouped = group_by({floats}, {x}, sum, {.drop_missing = false});
  ASSERT_EQ(grouped.keys[0].num_rows(), 4);
  EXPECT_TRUE(std::isnan(grouped.keys[0].values<double>()[2]));
  EXPECT_TRUE(grouped.keys[0].is_null(3));
  EXPECT_EQ(grouped.values[0].values<double>()[2], 5);
  EXPECT_EQ(grouped.values[0].values<double>()[3], 6);

  const Column names = strings_of({"b", "a", "a long string, not inside", "b", "", "a"});
  grouped = group_by({names}, {x}, sum);
  ASSERT_EQ(grouped.keys[0].num_rows(), 4);
  EXPECT_EQ(grouped.keys[0].string(0), "");
  EXPECT_EQ(grouped.keys[0].string(1), "a");
  EXPECT_EQ(grouped.keys[0].string(2), "a long string, not inside");
  EXPECT_EQ(grouped.values[0].values<double>()[1], 8);
  grouped = group_by({names}, {x}, sum, {.order = GroupOrder::kFirstSeen});
  EXPECT_EQ(grouped.keys[0].string(0), "b");
  EXPECT_EQ(grouped.values[0].values<double>()[0], 5);

  // More than 64 bits together: 2^64 integers, floats and strings.
  const Column wide = column_of<int64_t>({INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN, 0, 0},
                                         {true, true, true, true, true, false});
  for (const bool drop : {true, false}) {
    grouped = group_by({wide, floats, names, wide}, {x}, sum, {.drop_missing = drop});
    ASSERT_EQ(grouped.keys[0].num_rows(), drop ? 3 : 5);
    EXPECT_EQ(grouped.keys[3].values<int64_t>()[0], INT64_MIN);
    EXPECT_EQ(grouped.values[0].values<double>()[0], 3);
  }
}

TEST(Aggregate, StringsAndBoolsAsValues) {
  const Column key = column_of<int32_t>({1, 2, 1, 2});
  const Column names = strings_of({"pear", "fig", "apple", "fig"});
  const Grouped grouped = group_by({key}, {names},
                                   {{Aggregate::kMin, 0},
                                    {Aggregate::kMax, 0},
                                    {Aggregate::kFirst, 0},
                                    {Aggregate::kNunique, 0},
                                    {Aggregate::kCount, 0}});
  EXPECT_EQ(grouped.values[0].string(0), "apple");
  EXPECT_EQ(grouped.values[1].string(0), "pear");
  EXPECT_EQ(grouped.values[2].string(0), "pear");
  EXPECT_EQ(grouped.values[3].values<int64_t>()[1], 1);
  EXPECT_EQ(grouped.values[4].values<int64_t>()[0], 2);
  EXPECT_THROW(group_by({key}, {names}, {{Aggregate::kSum, 0}}), TypeMismatchError);
}

TEST(Aggregate, NanMayBeTheGreatestValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const int64_t rows = 300000;
  for (const int64_t groups : {int64_t{3}, int64_t{100000}}) {
    std::vector<int64_t> keys;
    std::vector<double> x;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t key = i % groups;
      keys.push_back(key * 7);
      // NaN alone in the first group, one NaN in the second one, none in the others.
      x.push_back(key == 0 || i == 1 ? nan : static_cast<double>(i % 5));
    }
    std::vector<AggregateRequest> requests;
    for (const Aggregate each : {Aggregate::kSum, Aggregate::kMean, Aggregate::kMin,
                                 Aggregate::kMax, Aggregate::kVariance}) {
      AggregateRequest& request = requests.emplace_back();
      request.aggregate = each;
      request.column = 0;
      request.min_count = 1;
    }
    const std::vector<AggregateRequest> plain = requests;
    for (AggregateRequest& request : requests) request.nan_is_value = true;
    const Column key = column_of<int64_t>(keys), values = column_of<double>(x);
    const Grouped found = group_by({key}, {values}, requests);
    const Grouped without = group_by({key}, {values}, plain);
    for (size_t k = 0; k < requests.size(); ++k) {
      const bool is_min = requests[k].aggregate == Aggregate::kMin;
      const auto made = found.values[k].values<double>();
      const auto usual = without.values[k].values<double>();
      EXPECT_EQ(found.values[k].null_count(), 0);
      EXPECT_TRUE(std::isnan(made[0]));
      EXPECT_EQ(std::isnan(made[1]), !is_min);
      EXPECT_TRUE(without.values[k].is_null(0));
      for (size_t group = is_min ? 1 : 2; group < static_cast<size_t>(groups); ++group)
        ASSERT_EQ(made[group], usual[group]) << group;
    }
  }
}

TEST(Aggregate, RefusesBadInput) {
  const Column key = column_of<int32_t>({1, 2});
  EXPECT_THROW(group_by({}, {}, {}), InvalidArgumentError);
  EXPECT_THROW(group_by({key}, {column_of<double>({1})}, {}), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
