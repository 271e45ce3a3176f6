// SPDX-License-Identifier: Apache-2.0
// ISO text of dates and times: every day of the four-digit years, every byte wrong, round trips.
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/data/timezone_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace hr {

namespace {

// With the readable bytes behind it that the parser wants.
IsoTime parsed(const std::string& text) {
  static std::string held;
  held = text + std::string(64, '\n');
  IsoTime time = parse_iso_time(held.data(), held.data() + text.size());
  if (time.end != held.data() + text.size()) time.end = nullptr;
  return time;
}

std::string date_text(int64_t days) {
  char text[kMaxIsoTime];
  return {text, write_iso_date(days, text)};
}

std::string time_text(int64_t value, TimeUnit unit) {
  char text[kMaxIsoTime];
  return {text, write_iso_time(value, unit, text)};
}

TEST(IsoTime, EveryDayOfFourDigitYears) {
  const int64_t first = days_from_civil({0, 1, 1}), last = days_from_civil({9999, 12, 31});
  for (int64_t days = first; days <= last; ++days) {
    int64_t back = 0;
    char text[kMaxIsoTime];
    ASSERT_EQ(write_iso_date(days, text), text + 10);
    ASSERT_TRUE(parse_iso_date(text, &back)) << std::string(text, 10);
    ASSERT_EQ(back, days);
  }
}

TEST(IsoTime, DaysThatNoCalendarHas) {
  for (const char* text : {"2023-02-29", "2023-02-30", "1900-02-29", "2023-00-10", "2023-13-01",
                           "2023-01-00", "2023-01-32", "2023-04-31", "2023-99-99", "2023-1-01"})
    EXPECT_EQ(parsed(text).end, nullptr) << text;
  EXPECT_NE(parsed("2000-02-29").end, nullptr);
}

TEST(IsoTime, EachByteMatters) {
  const std::string good = "2023-11-28 13:45:07.25";
  ASSERT_NE(parsed(good).end, nullptr);
  for (size_t i = 0; i < good.size(); ++i)
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = good;
      text[i] = static_cast<char>(byte);
      const bool digit = byte >= '0' && byte <= '9';
      const bool was_digit = good[i] >= '0' && good[i] <= '9';
      const bool may = was_digit ? digit : byte == good[i] || (i == 10 && byte == 'T');
      if (!may) {
        EXPECT_EQ(parsed(text).end, nullptr) << text;
      } else if (i < 4 || i > 19 || i == 9) {
        EXPECT_NE(parsed(text).end, nullptr) << text;
      }
    }
}

TEST(IsoTime, EndsWithTheText) {
  const std::string text = "2023-11-28 13:45:07.25" + std::string(64, '\n');
  for (const int64_t size : {10, 16, 19, 21, 22})
    EXPECT_EQ(parse_iso_time(text.data(), text.data() + size).end, text.data() + size) << size;
  const std::string zoned = "2023-11-28 13:45:07.000001+0530" + std::string(64, '\n');
  EXPECT_EQ(parse_iso_time(zoned.data(), zoned.data() + 31).end, zoned.data() + 26);
  for (const int64_t size : {0, 9, 12, 15, 18, 20})
    EXPECT_NE(parse_iso_time(text.data(), text.data() + size).end, text.data() + size) << size;
}

TEST(IsoTime, Shapes) {
  EXPECT_FALSE(parsed("2023-11-28").has_time);
  const std::string blank = "2023-11-28  " + std::string(64, '\n');
  EXPECT_EQ(parse_iso_time(blank.data(), blank.data() + 12).end, blank.data() + 10);
  EXPECT_EQ(parsed("2023-11-28T13:45").seconds, 13 * 3600 + 45 * 60);
  EXPECT_EQ(parsed("2023-11-28 23:59:59.000000001").nanos, 1);
  EXPECT_EQ(parsed("2023-11-28 23:59:59.5").nanos, 500'000'000);
  for (const char* text :
       {"2023-11-28 ", "2023-11-28 13", "2023-11-28 13:4", "2023-11-28 24:00", "2023-11-28 13:60",
        "2023-11-28 13:45:60", "2023-11-28 13:45:", "2023-11-28 13:45:07.",
        "2023-11-28 13:45:07.1234567890", "2023-11-28 13:45:07Z", "2023-11-28 13:45:07+01:00", ""})
    EXPECT_EQ(parsed(text).end, nullptr) << text;
}

TEST(IsoTime, UnitsRefuseWhatIsFinerOrTooFar) {
  int64_t value = 0;
  const IsoTime time = parsed("1969-12-31 23:59:59.25");
  EXPECT_FALSE(fit_time(time, TimeUnit::kSecond, &value));
  ASSERT_TRUE(fit_time(time, TimeUnit::kMilli, &value));
  EXPECT_EQ(value, -750);
  ASSERT_TRUE(fit_time(time, TimeUnit::kNano, &value));
  EXPECT_EQ(value, -750'000'000);
  EXPECT_TRUE(fit_time(parsed("2262-04-11 23:47:16.854775807"), TimeUnit::kNano, &value));
  EXPECT_EQ(value, std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(fit_time(parsed("2262-04-11 23:47:16.854775808"), TimeUnit::kNano, &value));
  EXPECT_FALSE(fit_time(parsed("9999-01-01"), TimeUnit::kNano, &value));
}

TEST(IsoTime, TextGoesBothWays) {
  EXPECT_EQ(date_text(0), "1970-01-01");
  EXPECT_EQ(date_text(-719'529), "-0001-12-31");
  EXPECT_EQ(date_text(days_from_civil({12'345, 6, 7})), "12345-06-07");
  EXPECT_EQ(time_text(-1, TimeUnit::kSecond), "1969-12-31 23:59:59");
  EXPECT_EQ(time_text(-1, TimeUnit::kNano), "1969-12-31 23:59:59.999999999");
  EXPECT_EQ(time_text(1'500, TimeUnit::kMilli), "1970-01-01 00:00:01.500");
  for (const TimeUnit unit :
       {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano}) {
    for (int64_t seconds = -2'000'000'000; seconds < 2'000'000'000; seconds += 12'345'678) {
      const int64_t value = seconds * units_per_second(unit) + (units_per_second(unit) > 1);
      int64_t back = 0;
      ASSERT_TRUE(fit_time(parsed(time_text(value, unit)), unit, &back));
      ASSERT_EQ(back, value);
    }
    char text[kMaxIsoTime];
    for (const int64_t value :
         {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})
      EXPECT_LE(write_iso_time(value, unit, text) - text, kMaxIsoTime);
  }
}

TEST(IsoOffset, GoesBothWays) {
  for (const int64_t seconds : {0, 3600, -12600, 20700, 3208, -86'399, 86'399}) {
    char text[16] = {};
    *write_iso_offset(seconds, text) = '|';
    int64_t back = -1;
    EXPECT_EQ(*parse_iso_offset(text, &back), '|') << text;
    EXPECT_EQ(back, seconds);
  }
  const auto read = [](std::string text) {
    text.resize(16);
    int64_t seconds = -1;
    return parse_iso_offset(text.data(), &seconds) ? seconds : -1;
  };
  EXPECT_EQ(read("Z"), 0);
  EXPECT_EQ(read(" +0530"), 19'800);
  EXPECT_EQ(read("-03"), -10'800);
  for (const char* wrong : {"", "x", "+", "+1", "+24:00", "+01:60", "  Z"})
    EXPECT_EQ(read(wrong), -1) << wrong;
}

}  // namespace

}  // namespace hr
