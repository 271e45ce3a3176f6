// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for lines of fixed width end in delimited text or an error, within the budget,
// and always in the same: from memory and from a stream in small steps.
#include "headrace/io/fixed_width.h"
#include "headrace/io/fuzz_table_testing.h"

#include <cstdint>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;

std::string outcome(const Source& source, const FixedWidthOptions& options, int64_t piece) {
  return fuzzing::outcome_or_message([&] {
    const auto bytes = fixed_width_source(source, options).open("fuzz", Compression::kNone);
    return fuzzing::all_bytes(*bytes, piece);
  });
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

// The first byte says which options there are, each column takes two.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < 1) return 0;
  const uint8_t option = *data;
  FixedWidthOptions options{.infer_rows = 1 + (option >> 2 & 3)};
  size_t at = 1;
  for (int k = option & 3; k > 0 && at + 2 <= size; --k, at += 2)
    options.columns.emplace_back(data[at] % 40, data[at + 1] == 0 ? -1 : data[at + 1] % 80);
  if (option & 16) options.comment = '#';
  if (option & 32) options.skip_rows = 2;
  if (option & 64) options.blanks = " .";
  const std::string whole =
      outcome(fuzzing::memory_source(data + at, size - at), options, int64_t{1} << 16);
  const std::string pieces = outcome(fuzzing::stream_source(data + at, size - at, 5), options, 64);
  // What libzstd finds first in a damaged frame depends on how much of it is there.
  const auto is_damage = [](const std::string& told) {
    return told.find(": the zstd data ") != std::string::npos;
  };
  if (!is_damage(whole) || !is_damage(pieces))
    expect_same(whole, pieces, "a stream in small steps");
  fuzzing::expect_memory_kept();
  return 0;
}
