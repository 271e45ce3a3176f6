// SPDX-License-Identifier: Apache-2.0
// Any bytes given to the Parquet reader end in a table or an error, within the budget, and always
// the same one: whole or in batches, at any SIMD level. Each value of a table can be read.
#include "headrace/base/simd.h"
#include "headrace/io/fuzz_table_testing.h"
#include "headrace/io/parquet/file.h"
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace hr {
namespace {

using fuzzing::expect_same;
using fuzzing::kError;
using fuzzing::outcome;
using fuzzing::told;

constexpr size_t kOptionBytes = 1;

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < kOptionBytes) return 0;
  const uint8_t option = data[0];
  set_simd_level(best_simd_level());
  {
    const Source source = fuzzing::memory_source(data + kOptionBytes, size - kOptionBytes);
    std::string other = kError;
    const std::string whole = outcome([&] {
      const ParquetFile file("read_parquet", "x",
                             [&] { return source.open("read_parquet", Compression::kNone); });
      std::vector<int64_t> columns;
      for (size_t c = 0; c < file.names().size(); ++c) {
        const auto place = static_cast<int64_t>(c);
        try {
          file.scan({place});  // leaves out what cannot be read
        } catch (const UnsupportedError&) {
          continue;
        }
        columns.push_back(place);
      }
      other = outcome([&] {
        set_simd_level(std::min(best_simd_level(), static_cast<SimdLevel>(option % 3)));
        const NodePtr scan = file.scan(columns);
        // More rows than there are, in batches.
        const NodePtr batches = scan->fields().table().limited({}, INT64_MAX);
        return told(std::get<Table>(force(batches)));
      });
      set_simd_level(best_simd_level());
      return told(file.read(columns));
    });
    // Page indexes, which may be all that is damaged, are read for batches alone.
    if (other != kError) expect_same(whole, other, "batches at another SIMD level");
  }
  fuzzing::expect_memory_kept();
  return 0;
}
