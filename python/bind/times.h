// SPDX-License-Identifier: Apache-2.0
// Dates, timestamps and durations as Python's datetime values, and back.
#pragma once
#include "python/bind/bind.h"

#include <optional>

/// `value` of a date, timestamp or duration: datetime.date, datetime.datetime, datetime.timedelta;
/// NumPy's datetime64 and timedelta64 for nanoseconds and for what Python does not have. With a
/// zone always datetime.datetime; throws UnsupportedError for what that does not hold.
nb::object python_time(hr::Dtype dtype, int64_t value);

/// What Python's classes say of a value.
enum class TimeKind { kNone, kDate, kDatetime, kInstant, kTimedelta };
TimeKind time_kind(nb::handle value);

/// The name of the zone of a datetime that has one.
std::string zone_from_python(nb::handle value);

/// A date, datetime or timedelta of Python as `dtype` counts it; none when it does not fit (a part
/// finer than the unit, a zone too many or too few, a time of day for a date).
std::optional<int64_t> time_from_python(nb::handle value, hr::Dtype dtype);
