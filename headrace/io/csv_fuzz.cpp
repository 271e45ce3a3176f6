// SPDX-License-Identifier: Apache-2.0
// Any bytes given to the CSV reader end in a table or an error, and always the same one: for any
// size of chunks, any SIMD level, with bad rows as errors or as rejects.
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/column.h"
#include "headrace/data/dictionary.h"
#include "headrace/io/csv.h"
#include "headrace/io/csv_read.h"
#include "headrace/memory/budget.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace hr {
namespace {

constexpr int64_t kLimit = int64_t{1} << 28;

CsvOptions options_from(const uint8_t* bits) {
  CsvOptions options;
  options.delimiter = ",;\t|"[bits[0] & 3];
  if (bits[0] & 4) options.quote = std::nullopt;
  if (bits[0] & 8) options.comment = '#';
  options.header = static_cast<CsvHeader>((bits[0] >> 4) % 3);
  if (bits[0] & 64) options.on_bad = BadRows::kReject;
  if (bits[0] & 128) options.skip_rows = bits[1] & 3;
  if (bits[1] & 4) options.num_rows = bits[1] >> 4;
  constexpr TypeId kDtypes[] = {
      TypeId::kFloat64, TypeId::kFloat32, TypeId::kInt8, TypeId::kInt64,     TypeId::kUInt64,
      TypeId::kBool,    TypeId::kString,  TypeId::kDate, TypeId::kTimestamp, TypeId::kCategory};
  if (bits[2] & 1) options.dtype = kDtypes[(bits[2] >> 1) % 10];
  if (bits[2] & 16) options.compression = static_cast<Compression>((bits[2] >> 5) & 3);
  return options;
}

void append(const Table& table, std::string& text) {
  for (int64_t c = 0; c < table.num_columns(); ++c) {
    const Column& column = table.column(c);
    if (column.dictionary())  // its strings have to stand in one order too
      for (int64_t row = 0; row < column.dictionary()->size(); ++row)
        text.append(column.dictionary()->values().string(row)).append("|");
    text.append(table.names()[static_cast<size_t>(c)]).append(column.dtype().name()).append(":");
    for (int64_t row = 0; row < column.num_rows(); ++row) {
      if (column.is_null(row)) {
        text += "null";
      } else if (column.dtype().is_string() || column.dtype().is_category()) {
        const std::string_view cell = column.string(row);
        text.append(std::to_string(cell.size())).append(cell);
      } else if (column.dtype().is_bool()) {
        text += column.bit(row) ? '1' : '0';
      } else {
        const auto size = static_cast<size_t>(column.dtype().size_bytes());
        const auto at = static_cast<size_t>(column.offset() + row) * size;
        text.append(reinterpret_cast<const char*>(column.values_buffer().data()) + at, size);
      }
      text += '\n';
    }
  }
}

// All that a reader tells, as text.
std::string outcome(const uint8_t* data, size_t size, const CsvOptions& options, int64_t chunk) {
  std::string text;
  try {
    Buffer buffer = Buffer::allocate(static_cast<int64_t>(size));
    if (size > 0) std::memcpy(buffer.mutable_data(), data, size);
    const CsvScan scan(Source::bytes(std::move(buffer)), options);
    const CsvResult result = read_in_chunks(scan, {}, -1, chunk);
    append(result.table, text);
    append(result.rejects, text);
  } catch (const Error& error) {
    text = std::string("error: ") + error.what();
  }
  return text;
}

void expect_same(const std::string& a, const std::string& b, const char* what) {
  if (a == b) return;
  std::fprintf(stderr, "differs: %s\n--- one\n%.2000s\n--- other\n%.2000s\n", what, a.c_str(),
               b.c_str());
  std::abort();
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < 3) return 0;
  set_memory_limit(kLimit);
  CsvOptions options = options_from(data);
  const uint8_t* text = data + 3;
  const size_t length = size - 3;
  set_simd_level(best_simd_level());
  const std::string whole = outcome(text, length, options, kCsvChunkBytes);
  expect_same(whole, outcome(text, length, options, 64), "chunks of 64 bytes");
  set_simd_level(SimdLevel::kBase);
  expect_same(whole, outcome(text, length, options, 200), "base SIMD level, chunks of 200 bytes");
  if (options.on_bad == BadRows::kError && !whole.starts_with("error: ")) {
    options.on_bad = BadRows::kReject;
    const std::string rejecting = outcome(text, length, options, kCsvChunkBytes);
    if (!rejecting.starts_with(whole.substr(0, whole.rfind("lineint64"))))
      expect_same(whole, rejecting, "rejects of rows that are no errors");
  }
  return 0;
}
