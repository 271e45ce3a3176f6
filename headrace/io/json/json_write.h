// SPDX-License-Identifier: Apache-2.0
// A table to JSON text, formatted by all workers, put in place whole or not at all.
#pragma once
#include "headrace/data/table.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hr {

struct JsonWriteOptions {
  /// An object a line, else one array of objects.
  bool lines = true;
  /// Waits until the bytes are on the disk before the new file takes the old one's place.
  bool durable = true;
};

/// Writes `table` to `path` as `write_csv` does. Floats have the fewest digits that read back to
/// the same value; NaN and infinities are null, as JSON has no word for them. Dates and times are
/// ISO 8601 strings, zoned ones with their offset; durations are strings, decimals numbers, lists
/// arrays, structs objects, maps arrays of objects with "key" and "value". Strings are UTF-8. The
/// same bytes for any number of threads. Throws InputError with path and errno when the system
/// refuses, TypeMismatchError for complex numbers.
HR_API void write_json(const Table& table, const std::string& path,
                       const JsonWriteOptions& options = {});

/// The same text handed to `write` piece by piece, in order, on the calling thread.
HR_API void write_json(const Table& table, const std::function<void(std::string_view)>& write,
                       const JsonWriteOptions& options = {});

}  // namespace hr
