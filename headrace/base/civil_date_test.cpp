// SPDX-License-Identifier: Apache-2.0
// The calendar, day by day, against counting.
#include "headrace/base/civil_date.h"

#include <gtest/gtest.h>

namespace hr {

namespace {

TEST(CivilDate, CountsEachDayOfEightCenturies) {
  CivilDate date{1599, 12, 31};
  int64_t days = days_from_civil(date);
  EXPECT_EQ(days, -135'141);
  for (; date.year < 2401; ++days) {
    ASSERT_EQ(days_from_civil(date), days) << date.year << '-' << date.month << '-' << date.day;
    ASSERT_EQ(civil_from_days(days), date) << days;
    if (++date.day <= days_in_month(date.year, date.month)) continue;
    date.day = 1;
    if (++date.month <= 12) continue;
    date.month = 1;
    ++date.year;
  }
}

TEST(CivilDate, KnownDays) {
  EXPECT_EQ(days_from_civil({1970, 1, 1}), 0);
  EXPECT_EQ(days_from_civil({2000, 3, 1}), 11'017);
  EXPECT_EQ(days_from_civil({0, 3, 1}), -719'468);
  for (const int64_t days : {int64_t{INT32_MIN}, int64_t{INT32_MAX}, int64_t{-719'469}})
    EXPECT_EQ(days_from_civil(civil_from_days(days)), days);
}

TEST(CivilDate, LeapYears) {
  EXPECT_TRUE(is_leap_year(2000) && is_leap_year(2024) && is_leap_year(-4));
  EXPECT_FALSE(is_leap_year(1900) || is_leap_year(2023));
  EXPECT_EQ(days_in_month(2023, 2), 28);
  const int32_t lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int32_t month = 1; month <= 12; ++month)
    EXPECT_EQ(days_in_month(2024, month), lengths[month - 1]);
}

}  // namespace

}  // namespace hr
