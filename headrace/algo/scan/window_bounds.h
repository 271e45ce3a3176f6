// SPDX-License-Identifier: Apache-2.0
// Which rows the window of each row holds: a number of rows, or those within a span of time.
#pragma once
#include "headrace/algo/scan/segments.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>

namespace hr {

/// Which ends of a window belong to it.
enum class Closed : uint8_t { kRight, kLeft, kBoth, kNeither };

/// "right", "left", "both", "neither"; throws InvalidArgumentError for another word.
HR_API Closed closed_from_name(std::string_view name);

/// The window of row r are rows [begins[r], ends[r]) of its segment; neither falls from a row to
/// the next one.
struct WindowBounds {
  Buffer begins{};  ///< int64
  Buffer ends{};
  int64_t rows = 0;
  int64_t widest = 0;  ///< rows of the widest window
};

/// `window` rows up to each one, as pandas' `closed` moves both ends; with `center` the row stands
/// in the middle.
HR_API WindowBounds windows_of_rows(int64_t window, bool center, Closed closed,
                                    const Segments& segments);

/// The rows whose int64 time is less than `span` before that of the row and that do not come after
/// it, or, with `center`, half of the span on both sides. Ends that are `closed` belong to it.
/// Times rise or fall within each segment. Throws InvalidArgumentError for a time that is null or
/// out of order. Two reads of the times, about 3 ns a row and core.
HR_API WindowBounds windows_of_spans(const Column& times, int64_t span, bool center, Closed closed,
                                     const Segments& segments);

}  // namespace hr
