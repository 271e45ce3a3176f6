// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for a log end in a table with rejects or an error, within the budget, and always
// in the same: from memory and from a stream, whole and a few rows at a time.
#include "headrace/base/error.h"
#include "headrace/data/column.h"
#include "headrace/io/fuzz_testing.h"
#include "headrace/io/log/log.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;
using fuzzing::kTooLarge;

void append(const Table& table, std::string& text) {
  for (int64_t c = 0; c < table.num_columns(); ++c) {
    const Column& column = table.column(c);
    text.append(table.names()[static_cast<size_t>(c)]).append(":");
    for (int64_t row = 0; row < column.num_rows(); ++row) {
      if (column.is_null(row)) {
        text += "null";
      } else if (column.dtype().is_string()) {
        text.append(column.string(row));
      } else {
        text.append(reinterpret_cast<const char*>(column.values_buffer().data()) +
                        (column.offset() + row) * column.dtype().size_bytes(),
                    static_cast<size_t>(column.dtype().size_bytes()));
      }
      text += '\n';
    }
  }
}

std::string outcome(const Source& source, const LogOptions& options) {
  std::string text;
  try {
    const CsvResult result = read_log(source, options);
    append(result.table, text);
    append(result.rejects, text);
  } catch (const OutOfMemoryError&) {
    return kTooLarge;
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
  return text;
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

// The first byte says what is read, a pattern ends with a zero.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < 1) return 0;
  const uint8_t option = *data++;
  --size;
  LogOptions options;
  options.format = log_formats()[(option & 15) % log_formats().size()];
  if (option & 16) options.on_bad = BadRows::kError;
  if (option & 32) options.num_rows = 3;
  if (option & 64) {
    const uint8_t* const zero = std::find(data, data + size, uint8_t{0});
    options.pattern.assign(data, zero);
    size -= std::min<size_t>(size, options.pattern.size() + 1);
    data = zero + (size > 0);
  }
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto memory = [&] {
    Buffer buffer = Buffer::allocate(static_cast<int64_t>(size));
    if (size > 0) std::memcpy(buffer.mutable_data(), text.data(), size);
    return Source::bytes(std::move(buffer));
  };
  const auto stream = [&] {
    return Source::stream(
        [&text, at = size_t{0}](char* into, int64_t room) mutable {
          const size_t some = std::min({text.size() - at, size_t{7}, static_cast<size_t>(room)});
          std::memcpy(into, text.data() + at, some);
          at += some;
          return static_cast<int64_t>(some);
        },
        "<bytes>");
  };
  const std::string whole = outcome(memory(), options);
  expect_same(whole, outcome(stream(), options), "a stream");
  if (options.num_rows < 0 && !whole.starts_with("error: ")) {
    options.num_rows = static_cast<int64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    expect_same(whole, outcome(memory(), options), "as many rows as there may be");
  }
  fuzzing::expect_memory_kept();
  return 0;
}
