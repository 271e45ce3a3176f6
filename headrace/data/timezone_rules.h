// SPDX-License-Identifier: Apache-2.0
// When the clocks of a time zone change. The rules come from outside (Python reads the system's tz
// database); here they are kept, by the zones that timestamps name.
#pragma once
#include "headrace/base/dtype.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace hr {

/// What the clocks of a zone are ahead of UTC, from one change to the next. Behind the year 2499
/// each 400 years are as the last ones, as they are in the calendar and in the rules of zones.
struct TimezoneRules {
  std::vector<int64_t> changes;  ///< seconds since 1970 in UTC, ascending, two days apart or more
  /// Seconds ahead of UTC, less than a day: [i] is for what is before changes[i] and not before
  /// the one before it; one more than there are changes.
  std::vector<int32_t> offsets;
};

/// Checks the rules and keeps them for all timestamps of this zone. Those that are there stay.
/// Throws InvalidArgumentError for rules that are none.
HR_API void set_timezone_rules(Dtype dtype, TimezoneRules rules);

/// The rules of a timestamp's zone. Throws TypeMismatchError for a dtype without a zone, and
/// UnsupportedError when the rules were not set.
HR_API std::shared_ptr<const TimezoneRules> timezone_rules(std::string_view op, Dtype dtype);

/// A reader of rules that remembers where it was: neighbours are mostly between the same changes.
class ZoneClock {
 public:
  explicit ZoneClock(const TimezoneRules& rules) : rules_(rules) {}

  /// Seconds that the clocks are ahead at this second of UTC.
  int32_t offset_at(int64_t instant) {
    instant = folded(instant);
    if (instant < begin_ || instant >= end_) find(instant);
    return offset_;
  }

  /// The seconds of UTC at which clocks show `local`: one (`first` = `last`), two where clocks go
  /// back (`first` < `last`), or none where they jump over it (`first` > `last`; then `first` is
  /// the second of the jump).
  struct Instants {
    int64_t first;
    int64_t last;
  };

  HR_API Instants instants_of(int64_t local) const;

 private:
  static constexpr int64_t kCycle = int64_t{146'097} * 86'400;     // 400 years
  static constexpr int64_t kCycleEnd = int64_t{193'579} * 86'400;  // the year 2500

  static int64_t folded(int64_t second) {
    return second < kCycleEnd ? second : second - ((second - kCycleEnd) / kCycle + 1) * kCycle;
  }

  HR_API void find(int64_t instant);

  const TimezoneRules& rules_;
  int64_t begin_ = 0, end_ = 0;
  int32_t offset_ = 0;
};

/// Writes "+HH:MM", with ":SS" where the offset has seconds.
inline char* write_iso_offset(int64_t seconds, char* out) {
  const int64_t size = seconds < 0 ? -seconds : seconds;
  const auto pair = [&](char before, int64_t part) {
    *out++ = before;
    *out++ = static_cast<char>('0' + part / 10);
    *out++ = static_cast<char>('0' + part % 10);
  };
  pair(seconds < 0 ? '-' : '+', size / 3600);
  pair(':', size / 60 % 60);
  if (size % 60 != 0) pair(':', size % 60);
  return out;
}

}  // namespace hr
