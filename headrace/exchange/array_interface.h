// SPDX-License-Identifier: Apache-2.0
// The words of NumPy's array interface and of the buffer protocol for our dtypes.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/dtype.h"

#include <string_view>

namespace hr {

/// "<f8" for float64, "|b1" for bool, "<M8[us]" for timestamps. Throws ExchangeError for strings,
/// dates and categories.
HR_API const char* to_typestr(Dtype dtype);

/// The dtype of a typestr. Throws UnsupportedError for big-endian, object, text, other units of
/// time and other kinds, each with its way out.
HR_API Dtype from_typestr(std::string_view op, std::string_view typestr);

/// The struct-module format of the buffer protocol: "d", "?", "Zd". Throws ExchangeError for
/// timestamps too.
HR_API const char* to_buffer_format(Dtype dtype);

/// The dtype of a buffer format with elements of `item_bytes`; null means bytes. Throws as above.
HR_API Dtype from_buffer_format(std::string_view op, const char* format, int64_t item_bytes);

}  // namespace hr
