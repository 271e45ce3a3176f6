// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for compressed ones end in bytes or an error, within the budget, and always in
// the same: from memory and from a stream in small steps.
#include "headrace/io/fuzz_table_testing.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;

constexpr Compression kCodecs[] = {Compression::kInfer, Compression::kGzip, Compression::kZstd,
                                   Compression::kBzip2, Compression::kXz,   Compression::kLz4};

std::string outcome(const Source& source, Compression codec, int64_t piece) {
  return fuzzing::outcome_or_message(
      [&] { return fuzzing::all_bytes(*source.open("fuzz", codec), piece); });
}

}  // namespace
}  // namespace hr

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < 1) return 0;
  const Compression codec = kCodecs[(data[0] >> 4) % std::size(kCodecs)];
  const size_t step = size_t{1} << (data[0] & 15);
  const std::string whole =
      outcome(fuzzing::memory_source(data + 1, size - 1), codec, int64_t{1} << 16);
  const std::string steps =
      outcome(fuzzing::stream_source(data + 1, size - 1, step), codec, int64_t{1} << 12);
  expect_same(whole, steps, "a stream in small steps");
  fuzzing::expect_memory_kept();
  return 0;
}
