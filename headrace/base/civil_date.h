// SPDX-License-Identifier: Apache-2.0
// Days since 1970-01-01 as year, month and day of the proleptic Gregorian calendar, and back.
#pragma once
#include <cstdint>
#include <type_traits>

namespace hr {

struct CivilDate {
  int64_t year;
  int32_t month;  ///< 1 to 12
  int32_t day;    ///< 1 to 31

  friend constexpr bool operator==(const CivilDate&, const CivilDate&) = default;
};

constexpr bool is_leap_year(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/// Days of a month from 1 to 12.
constexpr int32_t days_in_month(int64_t year, int32_t month) {
  if (month == 2) return is_leap_year(year) ? 29 : 28;
  return 30 + ((month ^ (month >> 3)) & 1);
}

/// Division of signed integers, of 64 or 128 bits, that rounds down, for divisors above 0.
template <class T>
constexpr T floor_divide(T a, std::type_identity_t<T> b) {
  return a / b - (a % b < 0);
}

/// What that division leaves, from 0 to b - 1.
template <class T>
constexpr T floor_modulo(T a, std::type_identity_t<T> b) {
  return a % b + (a % b < 0 ? b : 0);
}

/// Days since 1970-01-01 of a valid date. Years are counted from March, so that the leap day is the
/// last of its year; the months of such a year begin at (153 m + 2) / 5.
constexpr int64_t days_from_civil(CivilDate date) {
  const int64_t year = date.year - (date.month <= 2);
  const int64_t era = floor_divide(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * ((date.month + 9) % 12) + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

/// The date of a number of days since 1970-01-01; for years to about 10^13.
constexpr CivilDate civil_from_days(int64_t days) {
  days += 719'468;
  const int64_t era = floor_divide(days, 146'097);
  const int64_t day_of_era = days - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t from_march = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int32_t>(day_of_year - (153 * from_march + 2) / 5 + 1);
  const auto month = static_cast<int32_t>(from_march < 10 ? from_march + 3 : from_march - 9);
  return {year_of_era + era * 400 + (month <= 2), month, day};
}

}  // namespace hr
