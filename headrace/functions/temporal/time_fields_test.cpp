// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/temporal/time_fields.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/functions/temporal/round_times.h"
#include "headrace/plan/graph/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int64_t kDaySeconds = 86'400;
const Dtype kSeconds = Dtype::timestamp(TimeUnit::kSecond);

NodePtr times(const std::vector<int64_t>& counts, Dtype dtype,
              const std::vector<bool>& valid = {}) {
  return retype(lazy_value(testing::column_of(counts, valid)), dtype);
}

template <class T>
std::vector<T> values_of(const NodePtr& node) {
  const Column column = std::get<Column>(force(node));
  return {column.values<T>().begin(), column.values<T>().end()};
}

std::vector<bool> bits_of(const NodePtr& node) {
  const Column column = std::get<Column>(force(node));
  std::vector<bool> bits;
  for (int64_t row = 0; row < column.num_rows(); ++row) bits.push_back(column.bit(row));
  return bits;
}

// Clocks one hour ahead, and two from 1970-04-01 to 1970-10-01.
Dtype summer_zone() {
  const Dtype dtype = Dtype::timestamp(TimeUnit::kSecond, "Test/Summer");
  set_timezone_rules(dtype, {{90 * kDaySeconds, 273 * kDaySeconds}, {3600, 7200, 3600}});
  return dtype;
}

TEST(TimeFields, AreThoseOfTheClock) {
  const int64_t late = kDaySeconds - 1;
  const NodePtr column = times({0, late, -1, 59 * 60}, kSeconds);
  EXPECT_THAT(values_of<int32_t>(time_field(column, TimeField::kHour)), ElementsAre(0, 23, 23, 0));
  EXPECT_THAT(values_of<int32_t>(time_field(column, TimeField::kMinute)),
              ElementsAre(0, 59, 59, 59));
  EXPECT_THAT(values_of<int32_t>(time_field(column, TimeField::kDayOfWeek)),
              ElementsAre(3, 3, 2, 3));
  EXPECT_EQ(time_field(column, TimeField::kDate)->signature().dtype, Dtype(TypeId::kDate));
}

TEST(TimeFields, FinerThanTheUnitAreZeroForAllTimes) {
  const NodePtr far = times({int64_t{1} << 40, -(int64_t{1} << 40)}, kSeconds);
  EXPECT_THAT(values_of<int32_t>(time_field(far, TimeField::kNanosecond)), ElementsAre(0, 0));
  EXPECT_THAT(values_of<int32_t>(time_field(far, TimeField::kMicrosecond)), ElementsAre(0, 0));
}

TEST(TimeFields, TellPeriodsOfTheCalendar) {
  // 1972-02-29, 1972-03-31, 1971-12-31, 1972-01-01
  const NodePtr days =
      times({789 * kDaySeconds, 820 * kDaySeconds, 729 * kDaySeconds, 730 * kDaySeconds}, kSeconds);
  EXPECT_THAT(values_of<int32_t>(time_field(days, TimeField::kQuarter)), ElementsAre(1, 1, 4, 1));
  EXPECT_THAT(bits_of(time_field(days, TimeField::kIsMonthEnd)),
              ElementsAre(true, true, true, false));
  EXPECT_THAT(bits_of(time_field(days, TimeField::kIsQuarterEnd)),
              ElementsAre(false, true, true, false));
  EXPECT_THAT(bits_of(time_field(days, TimeField::kIsYearStart)),
              ElementsAre(false, false, false, true));
  EXPECT_THAT(bits_of(time_field(days, TimeField::kIsLeapYear)),
              ElementsAre(true, true, false, true));
}

TEST(TimeFields, OfDurationsRoundDown) {
  const NodePtr spans = times({-1, 90'000'000'001}, Dtype::duration(TimeUnit::kMicro));
  EXPECT_THAT(values_of<int64_t>(time_field(spans, TimeField::kDays)), ElementsAre(-1, 1));
  EXPECT_THAT(values_of<int64_t>(time_field(spans, TimeField::kSeconds)),
              ElementsAre(kDaySeconds - 1, 3600));
  EXPECT_THAT(values_of<double>(time_field(spans, TimeField::kTotalSeconds)),
              ElementsAre(-1e-6, 90'000.000001));
}

TEST(TimeFields, RefuseColumnsWithoutThem) {
  const NodePtr spans = times({1}, Dtype::duration(TimeUnit::kMicro));
  EXPECT_THAT([&] { time_field(spans, TimeField::kYear); },
              ThrowsMessage<TypeMismatchError>(HasSubstr("expected a column of dates")));
  EXPECT_THAT([&] { time_field(times({1}, kSeconds), TimeField::kDays); },
              ThrowsMessage<TypeMismatchError>(HasSubstr("field='days', dtype='datetime64[s]'")));
  EXPECT_THROW(time_field_from_name("fortnight"), InvalidArgumentError);
}

TEST(TimeFields, UseTheClocksOfTheZone) {
  const NodePtr column = times({0, 100 * kDaySeconds}, summer_zone());
  EXPECT_THAT(values_of<int32_t>(time_field(column, TimeField::kHour)), ElementsAre(1, 2));
}

TEST(RoundTimes, GoesToMultiples) {
  const NodePtr column = times({-1, 0, 29, 30, 31, 90, 150}, kSeconds);
  EXPECT_THAT(values_of<int64_t>(round_times(Rounding::kFloor, column, "min")),
              ElementsAre(-60, 0, 0, 0, 0, 60, 120));
  EXPECT_THAT(values_of<int64_t>(round_times(Rounding::kCeil, column, "1min")),
              ElementsAre(0, 0, 60, 60, 60, 120, 180));
  EXPECT_THAT(values_of<int64_t>(round_times(Rounding::kRound, column, "1min")),
              ElementsAre(0, 0, 0, 0, 60, 120, 120));  // halves to even
  EXPECT_EQ(round_times(Rounding::kRound, column, "s"), column);
}

TEST(RoundTimes, ReadsPeriods) {
  EXPECT_EQ(period_from_text("1h30min"), Int128{5400} * 1'000'000'000);
  EXPECT_EQ(period_from_text(" 2 D"), Int128{2} * kDaySeconds * 1'000'000'000);
  for (const char* text : {"", "0s", "5", "hour", "1x", "h "})
    EXPECT_EQ(period_from_text(text), std::nullopt) << text;
  const NodePtr column = times({1}, kSeconds);
  EXPECT_THAT([&] { round_times(Rounding::kFloor, column, "1x"); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("freq='1x'; expected a timedelta")));
  EXPECT_THAT([&] { round_times(Rounding::kFloor, column, "1500ms"); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("not a multiple of the dtype's unit")));
  EXPECT_EQ(round_times(Rounding::kFloor, column, "MS")->signature().dtype, Dtype(TypeId::kDate));
}

TEST(Localize, ShiftsAndInfers) {
  const Dtype zone = summer_zone();
  // clocks skip the hour that starts at 01:00 of day 90, and show that at 01:00 of day 273 twice
  const int64_t skipped = 90 * kDaySeconds + 5400, twice = 273 * kDaySeconds + 5400;
  const NodePtr local = times({skipped, twice, twice}, kSeconds);
  const NodePtr moved = localize(
      local, zone, {.ambiguous = Ambiguous::kInfer, .shift = Int128{3600} * 1'000'000'000});
  EXPECT_THAT(values_of<int64_t>(moved), ElementsAre(skipped - 3600, twice - 7200, twice - 3600));
  const NodePtr summer = lazy_value(testing::column_of<int64_t>({1, 0, 1}));
  const NodePtr chosen = localize(
      local, zone,
      {.nonexistent = Nonexistent::kForward, .is_summer_time = cast(summer, TypeId::kBool)});
  EXPECT_THAT(values_of<int64_t>(chosen),
              ElementsAre(90 * kDaySeconds, twice - 3600, twice - 7200));
  EXPECT_THAT(
      [&] {
        force(
            localize(times({twice, twice + 1}, kSeconds), zone, {.ambiguous = Ambiguous::kInfer}));
      },
      ThrowsMessage<InvalidArgumentError>(HasSubstr("row=0, rows=2, steps_back=0")));
}

TEST(Localize, ByNameAndBack) {
  const Dtype zone = summer_zone();
  const NodePtr local = times({0}, kSeconds);
  const NodePtr zoned = localize(local, zone.zone());
  EXPECT_EQ(zoned->signature().dtype, zone);
  EXPECT_THAT(values_of<int64_t>(zoned), ElementsAre(-3600));
  EXPECT_THAT(values_of<int64_t>(localize(zoned, "")), ElementsAre(0));
  EXPECT_THAT(values_of<int64_t>(convert_zone(zoned, "")), ElementsAre(-3600));
  EXPECT_THROW(localize(zoned, zone.zone()), TypeMismatchError);
  EXPECT_THROW(convert_zone(local, zone.zone()), TypeMismatchError);
}

}  // namespace
}  // namespace hr
