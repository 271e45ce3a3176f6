// SPDX-License-Identifier: Apache-2.0
// What fuzzers of tables share: bytes as sources, tables as text, outcomes.
#pragma once
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/data/column.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/struct_fields.h"
#include "headrace/data/table.h"
#include "headrace/io/fuzz_testing.h"
#include "headrace/io/source.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace hr::fuzzing {

inline const std::string kError = "error";

inline Source memory_source(const uint8_t* data, size_t size) {
  Buffer bytes = Buffer::allocate(static_cast<int64_t>(size));
  if (size > 0) std::memcpy(bytes.mutable_data(), data, size);
  return Source::bytes(std::move(bytes));
}

/// The same bytes, `step` at a time; they outlive the source.
inline Source stream_source(const uint8_t* data, size_t size, size_t step) {
  return Source::stream(
      [data, size, step, at = size_t{0}](char* into, int64_t room) mutable {
        const size_t some = std::min({size - at, step, static_cast<size_t>(room)});
        if (some > 0) std::memcpy(into, data + at, some);
        at += some;
        return static_cast<int64_t>(some);
      },
      "<bytes>");
}

/// Each value, so that all of them are read.
inline void append_values(const Column& column, int64_t rows, std::string& told) {
  for (int64_t row = 0; row < rows; ++row) {
    if (column.is_null(row)) {
      told += "null";
    } else if (column.dtype().has_items()) {
      const Column items = column.list(row);
      told += '[';
      append_values(items, items.num_rows(), told);
    } else if (column.dtype().is_struct()) {
      told += '{';
      for (const Column& field : struct_fields("fuzz", column.slice(row, 1)))
        append_values(field, 1, told);
    } else if (column.dtype().has_text()) {
      const std::string_view cell = column.string(row);
      if (!is_valid_utf8(cell)) throw std::logic_error("a string is not UTF-8");
      told.append(std::to_string(cell.size())).append(cell);
    } else if (column.dtype().is_bool()) {
      told += column.bit(row) ? '1' : '0';
    } else if (column.dtype().is_category()) {
      const auto code = column.values<int32_t>()[static_cast<size_t>(row)];
      append_values(column.dictionary()->values().slice(code, 1), 1, told);
    } else {
      const auto size = static_cast<size_t>(column.dtype().size_bytes());
      const auto at = static_cast<size_t>(column.offset() + row) * size;
      told.append(reinterpret_cast<const char*>(column.values_buffer().data()) + at, size);
    }
    told += '\n';
  }
}

/// Names, dtypes and values.
inline std::string told(const Table& table) {
  std::string text;
  for (int64_t c = 0; c < table.num_columns(); ++c) {
    const Column& column = table.column(c);
    text.append(table.names()[static_cast<size_t>(c)]).append(":").append(column.dtype().name());
    text += '\n';
    append_values(column, column.num_rows(), text);
  }
  return text;
}

/// All that a source holds, in pieces that end at multiples of `piece`.
inline std::string all_bytes(ByteSource& source, int64_t piece) {
  std::string text;
  for (int64_t at = 0;;) {
    const int64_t end = source.load(at + piece);
    const auto before = text.size();
    text.resize(before + static_cast<size_t>(end - at));
    source.read(at, text.data() + before, end - at);
    if (end < at + piece) return text;
    at = end;
  }
}

/// All columns of a file.
template <class File>
Table read_all(const File& file) {
  std::vector<int64_t> all(file.names().size());
  std::iota(all.begin(), all.end(), 0);
  return file.read(all);
}

/// What `work` gives, or the message of its error.
template <class Work>
std::string outcome_or_message(const Work& work) {
  try {
    return work();
  } catch (const OutOfMemoryError&) {
    return kTooLarge;
  } catch (const Error& error) {
    return kError + ": " + error.what();
  }
}

/// What `work` gives, or that it failed: which of several errors comes first may differ.
template <class Work>
std::string outcome(const Work& work) {
  try {
    return work();
  } catch (const OutOfMemoryError&) {
    return kTooLarge;
  } catch (const Error&) {
    return kError;
  }
}

}  // namespace hr::fuzzing
