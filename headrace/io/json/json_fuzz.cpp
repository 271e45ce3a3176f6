// SPDX-License-Identifier: Apache-2.0
// Any bytes given to the JSON reader end in a table with rejects or an error, within the budget,
// and always in the same: for any size of pieces, at any SIMD level, from memory and from a pipe,
// at once and by a scan. What is written of a table reads as the same text again.
#include "headrace/base/simd.h"
#include "headrace/io/fuzz_table_testing.h"
#include "headrace/io/json/json.h"
#include "headrace/io/json/json_reader.h"
#include "headrace/io/json/json_write.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;
using fuzzing::kError;
using fuzzing::memory_source;
using fuzzing::outcome_or_message;
using fuzzing::told;

constexpr size_t kOptionBytes = 2;
constexpr int64_t kWhole = int64_t{1} << 13;  // one piece for most inputs

JsonOptions options_from(const uint8_t* bits) {
  JsonOptions options;
  options.form = static_cast<JsonForm>((bits[0] & 3) % 3);
  if (bits[0] & 4) options.on_bad = BadRows::kReject;
  const Dtype dtypes[] = {TypeId::kString,  TypeId::kInt8, TypeId::kUInt64,    TypeId::kFloat64,
                          TypeId::kBool,    TypeId::kDate, TypeId::kTimestamp, TypeId::kCategory,
                          TypeId::kFloat32, TypeId::kInt64};
  if (bits[0] & 8) options.dtypes = {{"a", dtypes[(bits[0] >> 4) % std::size(dtypes)]}};
  if (bits[1] & 1) options.columns = {"a"};
  if (bits[1] & 2) options.num_rows = bits[1] >> 6;
  return options;
}

std::string told_all(const JsonResult& result) {
  return told(result.table) + told(result.rejects);
}

// In arrays that are not JSON borders of pieces may be wrong, so what is found first differs;
// elsewhere the first bad row is named.
void expect_alike(const std::string& a, const std::string& b, const char* what, bool is_lines) {
  if (!is_lines && a.starts_with(kError) && b.starts_with(kError)) return;
  expect_same(a, b, what);
}

std::string written(const Table& table) {
  std::string text;
  write_json(table, [&](std::string_view piece) { text += piece; });
  return text;
}

void expect_round_trip(const Table& table) {
  const std::string text = written(table);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  const JsonOptions lines{.form = JsonForm::kLines};
  const Table again = read_json(memory_source(bytes, text.size()), lines).table;
  expect_same(text, written(again), "what was written reads as another table");
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

// Two bytes of options come first.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < kOptionBytes) return 0;
  const JsonOptions options = options_from(data);
  const uint8_t other = data[1];
  const auto level = std::min(best_simd_level(), static_cast<SimdLevel>((other >> 2 & 3) % 3));
  data += kOptionBytes;
  size -= kOptionBytes;
  const bool is_lines = options.form == JsonForm::kLines;
  {
    set_simd_level(best_simd_level());
    bool is_plain = false;
    const std::string whole = outcome_or_message([&] {
      const JsonResult result = read_in_chunks(memory_source(data, size), options, kWhole);
      is_plain = result.rejects.num_rows() == 0 && options.dtypes.empty() &&
                 result.table.num_columns() > 0;
      return told_all(result);
    });
    set_simd_level(level);
    const std::string pieces = outcome_or_message([&] {
      const Source pipe = fuzzing::stream_source(data, size, size_t{1} << (other >> 4 & 3));
      return told_all(read_in_chunks(pipe, options, 64));
    });
    expect_alike(whole, pieces, "small pieces of a pipe at another SIMD level", is_lines);
    const std::string scanned = outcome_or_message(
        [&] { return told_all(JsonScan(memory_source(data, size), options).read()); });
    expect_alike(whole, scanned, "a scan", is_lines);
    if (is_plain) {
      try {
        expect_round_trip(read_json(memory_source(data, size), options).table);
      } catch (const OutOfMemoryError&) {
      }
    }
  }
  fuzzing::expect_memory_kept();
  return 0;
}
