// SPDX-License-Identifier: Apache-2.0
// Any bytes given to the CSV reader end in a table or an error, within the budget, and always the
// same one: for any size of chunks, any SIMD level, with bad rows as errors or as rejects.
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/column.h"
#include "headrace/io/csv.h"
#include "headrace/io/csv_reader_testing.h"
#include "headrace/io/fuzz_table_testing.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;
using fuzzing::kTooLarge;

constexpr int64_t kWhole = int64_t{1} << 13;  // one chunk for most inputs
constexpr size_t kOptionBytes = 4;

CsvOptions options_from(const uint8_t* bits) {
  CsvOptions options;
  options.delimiter = ",;\t|"[bits[0] & 3];
  if (bits[0] & 4) options.quote = std::nullopt;
  if (bits[0] & 8) options.comment = '#';
  options.header = static_cast<CsvHeader>((bits[0] >> 4) % 3);
  if (bits[0] & 64) options.on_bad = BadRows::kReject;
  if (bits[0] & 128) options.skip_rows = bits[1] & 3;
  if (bits[1] & 4) options.num_rows = bits[1] >> 4;
  const Dtype dtypes[] = {TypeId::kFloat64, TypeId::kFloat32,  TypeId::kInt8,
                          TypeId::kInt64,   TypeId::kUInt64,   TypeId::kBool,
                          TypeId::kString,  TypeId::kDate,     TypeId::kTimestamp,
                          TypeId::kInt16,   TypeId::kCategory, Dtype::timestamp(TimeUnit::kNano)};
  if (bits[2] & 1) options.dtype = dtypes[(bits[2] >> 1 & 15) % std::size(dtypes)];
  if (bits[2] & 32) options.compression = static_cast<Compression>(bits[2] >> 6);
  return options;
}

void append(const Table& table, std::string& text) {
  for (int64_t c = 0; c < table.num_columns(); ++c) {
    const Column& column = table.column(c);
    text.append(table.names()[static_cast<size_t>(c)]).append(column.dtype().name()).append(":");
    for (int64_t row = 0; row < column.num_rows(); ++row) {
      if (column.is_null(row)) {
        text += "null";
      } else if (column.dtype().is_string() || column.dtype().is_category()) {
        const std::string_view cell = column.string(row);
        if (column.dtype().is_category())
          text.append(std::to_string(column.values<int32_t>()[static_cast<size_t>(row)]));
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

// All that a work tells, as text.
template <class Work>
std::string outcome(const Work& work) {
  std::string text;
  try {
    work(text);
  } catch (const OutOfMemoryError&) {
    text = kTooLarge;
  } catch (const Error& error) {
    text = std::string("error: ") + error.what();
  }
  return text;
}

CsvScan scan(const uint8_t* data, size_t size, const CsvOptions& options) {
  return CsvScan(fuzzing::memory_source(data, size), options);
}

void read(const CsvScan& scan, int64_t chunk, std::string& text) {
  const CsvResult result = read_in_chunks(scan, {}, -1, chunk);
  append(result.table, text);
  append(result.rejects, text);
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < kOptionBytes) return 0;
  CsvOptions options = options_from(data);
  const uint8_t* text = data + kOptionBytes;
  const size_t length = size - kOptionBytes;
  const uint8_t other = data[3];
  set_simd_level(best_simd_level());
  const int64_t chunk = int64_t{64} << (other & 3);
  const SimdLevel level = std::min(best_simd_level(), static_cast<SimdLevel>((other >> 2 & 3) % 3));
  std::string again;
  const std::string whole = outcome([&](std::string& told) {
    const CsvScan scanned = scan(text, length, options);
    again = outcome([&](std::string& twice) {
      set_simd_level(level);
      read(scanned, chunk, twice);
    });
    set_simd_level(best_simd_level());
    read(scanned, kWhole, told);
  });
  if (!again.empty()) expect_same(whole, again, "smaller chunks, other SIMD level");
  const auto from_the_start = [&] {
    return outcome([&](std::string& told) { read(scan(text, length, options), chunk, told); });
  };
  if (other & 32) {
    set_simd_level(level);
    expect_same(whole, from_the_start(), "sniffed at another SIMD level");
  }
  if ((other & 16) && options.on_bad == BadRows::kError && !whole.starts_with("error: ")) {
    options.on_bad = BadRows::kReject;
    const std::string rejecting = from_the_start();
    if (!rejecting.starts_with(whole.substr(0, whole.rfind("lineint64"))))
      expect_same(whole, rejecting, "rejects of rows that are no errors");
  }
  fuzzing::expect_memory_kept();
  return 0;
}
