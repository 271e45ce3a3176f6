// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for a log end in a table with rejects or an error, within the budget, and always
// in the same: from memory and from a stream, whole and a few rows at a time.
#include "headrace/data/column.h"
#include "headrace/io/fuzz_table_testing.h"
#include "headrace/io/log/log.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;

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
  return fuzzing::outcome_or_message([&] {
    const CsvResult result = read_log(source, options);
    std::string text;
    append(result.table, text);
    append(result.rejects, text);
    return text;
  });
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
  const std::string whole = outcome(fuzzing::memory_source(data, size), options);
  expect_same(whole, outcome(fuzzing::stream_source(data, size, 7), options), "a stream");
  if (options.num_rows < 0 && !whole.starts_with("error: ")) {
    options.num_rows = static_cast<int64_t>(std::count(data, data + size, uint8_t{'\n'})) + 1;
    expect_same(whole, outcome(fuzzing::memory_source(data, size), options),
                "as many rows as there may be");
  }
  fuzzing::expect_memory_kept();
  return 0;
}
