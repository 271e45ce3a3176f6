// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps as Python's datetime values, and back.
#pragma once
#include "python/bind/bind.h"

#include <optional>

/// `value` of a date or timestamp dtype: datetime.date, datetime.datetime; numpy.datetime64 for
/// nanoseconds and for years that Python does not have.
nb::object python_time(hr::Dtype dtype, int64_t value);

/// What Python's classes say of a value.
enum class TimeKind { kNone, kDate, kDatetime };
TimeKind time_kind(nb::handle value);

/// A datetime.date or datetime.datetime as `dtype` counts it; none when it does not fit (a part
/// finer than the unit, a zone, a time of day for a date).
std::optional<int64_t> time_from_python(nb::handle value, hr::Dtype dtype);
