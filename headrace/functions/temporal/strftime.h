// SPDX-License-Identifier: Apache-2.0
// Dates and times as text by patterns of strftime. For this room only.
#pragma once
#include "headrace/base/dtype.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// A day and what of it has passed.
struct CivilTime {
  int64_t days = 0;     ///< since 1970-01-01
  int64_t seconds = 0;  ///< of the day
  int64_t nanos = 0;    ///< of the second
  bool is_utc = false;  ///< by an offset that was read, else by some clock
};

/// The moment of a date (days) or of a timestamp of a unit.
CivilTime civil_time_from_days(int64_t days);
CivilTime civil_time_from_timestamp(int64_t value, TimeUnit unit);

/// A parsed pattern of `strftime`; see format_values.h for the letters.
class TimePattern {
 public:
  /// Throws InvalidArgumentError for an unknown directive, or one that cannot be parsed.
  TimePattern(std::string_view op, const std::string& pattern, bool reads);

  /// The most bytes of a formatted string.
  size_t most_bytes() const { return most_bytes_; }

  /// Writes a moment and gives the end.
  char* write(const CivilTime& civil_time, char* out) const;

  /// Parses a whole string; false if it does not match, or is not a time of the calendar.
  bool read(std::string_view text, CivilTime& civil_time) const;

 private:
  struct Item {
    char letter = 0;  // 0: the literal text
    std::string literal{};
  };

  void add(std::string_view op, char letter, const std::string& pattern, bool reads);

  std::vector<Item> items_{};
  size_t most_bytes_ = 0;
};

}  // namespace hr
