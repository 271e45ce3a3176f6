// SPDX-License-Identifier: Apache-2.0
// Any table that is written as Parquet, with any options, is read back as it was, within the
// budget.
#include "headrace/io/fuzz_draw_testing.h"
#include "headrace/io/fuzz_table_testing.h"
#include "headrace/io/parquet/file.h"
#include "headrace/io/parquet/write.h"

#include <cstdint>
#include <string>

namespace hr {
namespace {

using fuzzing::TableDraw;
using fuzzing::told;

constexpr const char* kCodecs[] = {"none", "snappy", "gzip", "zstd", "lz4", "brotli"};

ParquetWriteOptions options_from(TableDraw& draw) {
  const uint8_t codec = draw.byte(), rest = draw.byte();
  ParquetWriteOptions options{.compression = kCodecs[codec % std::size(kCodecs)]};
  if (rest & 1) options.row_group_rows = 1 + (rest >> 2);
  if (rest & 2) options.layout = "gpu";
  if (codec & 128) options.bloom_filter = {"a"};
  options.checksums = codec & 64;
  return options;
}

Table read(const std::string& file) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(file.data());
  const Source source = fuzzing::memory_source(bytes, file.size());
  return fuzzing::read_all(ParquetFile(
      "read_parquet", "x", [&] { return source.open("read_parquet", Compression::kNone); }));
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  try {
    TableDraw draw(data, size);
    const ParquetWriteOptions options = options_from(draw);
    const Table table = draw.table();
    std::string file;
    write_parquet(table, [&](std::string_view piece) { file += piece; }, options);
    fuzzing::expect_same(told(table), told(read(file)), "read back");
  } catch (const OutOfMemoryError&) {
  } catch (const UnsupportedError&) {  // what is nested may be refused
  }
  fuzzing::expect_memory_kept();
  return 0;
}
