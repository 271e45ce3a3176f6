// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for lines of fixed width end in delimited text or an error, within the budget,
// and always in the same: from memory and from a stream in small steps.
#include "headrace/base/error.h"
#include "headrace/io/fixed_width.h"
#include "headrace/io/fuzz_testing.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;
using fuzzing::kTooLarge;

std::string outcome(const Source& source, const FixedWidthOptions& options, int64_t piece) {
  std::string text;
  try {
    const auto bytes = fixed_width_source(source, options).open("fuzz", Compression::kNone);
    for (int64_t at = 0;;) {
      const int64_t end = bytes->load(at + piece);
      const auto before = text.size();
      text.resize(before + static_cast<size_t>(end - at));
      bytes->read(at, text.data() + before, end - at);
      if (end < at + piece) return text;
      at = end;
    }
  } catch (const OutOfMemoryError&) {
    return kTooLarge;
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
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
  const std::string text(reinterpret_cast<const char*>(data + at), size - at);
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
  if (!text.empty()) std::memcpy(buffer.mutable_data(), text.data(), text.size());
  const std::string whole = outcome(Source::bytes(std::move(buffer)), options, int64_t{1} << 16);
  const auto stream = [&] {
    return Source::stream(
        [&text, from = size_t{0}](char* into, int64_t room) mutable {
          const size_t some = std::min({text.size() - from, size_t{5}, static_cast<size_t>(room)});
          std::memcpy(into, text.data() + from, some);
          from += some;
          return static_cast<int64_t>(some);
        },
        "<bytes>");
  };
  expect_same(whole, outcome(stream(), options, 64), "a stream in small steps");
  fuzzing::expect_memory_kept();
  return 0;
}
