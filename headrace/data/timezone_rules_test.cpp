// SPDX-License-Identifier: Apache-2.0
// Offsets and instants around changes, far away, and rules that are none.
#include "headrace/data/timezone_rules.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <limits>

namespace hr {
namespace {

constexpr int64_t kHour = 3600, kDay = 24 * kHour, kCycle = 146'097 * kDay;

// Ahead by one hour, by two from day 100 to day 200, then behind by one from day 300 on.
TimezoneRules rules() {
  return {{100 * kDay, 200 * kDay, 300 * kDay}, {3600, 7200, 3600, -3600}};
}

TEST(ZoneClock, OffsetsChangeAtTheirSecond) {
  const TimezoneRules some = rules();
  ZoneClock clock(some);
  for (const auto& [instant, offset] : {std::pair<int64_t, int32_t>{0, 3600},
                                        {100 * kDay - 1, 3600},
                                        {100 * kDay, 7200},
                                        {200 * kDay - 1, 7200},
                                        {200 * kDay, 3600},
                                        {300 * kDay, -3600},
                                        {50 * kDay, 3600},
                                        {std::numeric_limits<int64_t>::min(), 3600},
                                        {std::numeric_limits<int64_t>::max(), -3600}})
    EXPECT_EQ(clock.offset_at(instant), offset) << instant;
}

TEST(ZoneClock, LocalTimesAreThereOnceTwiceOrNever) {
  const TimezoneRules some = rules();
  const ZoneClock clock(some);
  const int64_t jump = 100 * kDay + kHour, back = 200 * kDay + kHour, west = 300 * kDay - kHour;
  const auto only = [&](int64_t local, int64_t offset) {
    const auto [first, last] = clock.instants_of(local);
    EXPECT_EQ(first, last);
    EXPECT_EQ(first, local - offset) << local;
  };
  only(0, 3600);
  only(jump - 1, 3600);
  for (const int64_t local : {jump, jump + kHour - 1}) {
    const auto [first, last] = clock.instants_of(local);
    EXPECT_GT(first, last);
    EXPECT_EQ(first, 100 * kDay);
  }
  only(jump + kHour, 7200);
  only(back - 1, 7200);
  for (const int64_t local : {back, back + kHour - 1}) {
    const auto [first, last] = clock.instants_of(local);
    EXPECT_EQ(first, local - 7200);
    EXPECT_EQ(last, local - 3600);
  }
  only(back + kHour, 3600);
  only(west - 1, 3600);
  EXPECT_EQ(clock.instants_of(west).last, west + 3600);
  only(west + 2 * kHour, -3600);
}

TEST(ZoneClock, FarYearsAreAsThoseOfTheLastCycle) {
  const int64_t end = int64_t{193'579} * kDay;  // the year 2500
  const TimezoneRules some{{end - 200 * kDay, end - 100 * kDay}, {0, 3600, 0}};
  ZoneClock clock(some);
  for (const int64_t cycles : {0, 1, 20'000'000})
    for (const int64_t days : {-250, -150, -50}) {
      const int64_t instant = end + days * kDay + cycles * kCycle;
      EXPECT_EQ(clock.offset_at(instant), days == -150 ? 3600 : 0) << cycles << " " << days;
      EXPECT_EQ(clock.instants_of(instant).first, instant - (days == -150 ? 3600 : 0));
    }
  const int64_t jump = end - 200 * kDay + 3 * kCycle;
  EXPECT_EQ(clock.instants_of(jump + 5).first, jump);
  EXPECT_EQ(clock.instants_of(jump + 5).last, jump - 1);
}

TEST(TimezoneRules, AreCheckedAndStay) {
  const Dtype here = Dtype::timestamp(TimeUnit::kNano, "Test/Here");
  EXPECT_THROW(timezone_rules("test", here), UnsupportedError);
  EXPECT_THROW(timezone_rules("test", Dtype::timestamp(TimeUnit::kNano)), TypeMismatchError);
  for (const TimezoneRules& wrong :
       {TimezoneRules{{}, {}}, TimezoneRules{{5}, {0}}, TimezoneRules{{5, 5}, {0, 1, 2}},
        TimezoneRules{{5, 5 + kDay}, {0, 1, 2}}, TimezoneRules{{}, {86'400}},
        TimezoneRules{{std::numeric_limits<int64_t>::max()}, {0, 1}}})
    EXPECT_THROW(set_timezone_rules(here, wrong), InvalidArgumentError);
  set_timezone_rules(here, rules());
  const auto kept = timezone_rules("test", Dtype::timestamp(TimeUnit::kSecond, "Test/Here"));
  EXPECT_EQ(kept->offsets, rules().offsets);
  set_timezone_rules(here, {{}, {0}});
  EXPECT_EQ(timezone_rules("test", here), kept);
}

}  // namespace
}  // namespace hr
