// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for compressed ones end in bytes or an error, within the budget, and always in
// the same: from memory and from a stream in small steps.
#include "headrace/base/error.h"
#include "headrace/io/fuzz_testing.h"
#include "headrace/io/source.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace hr {
namespace {

using fuzzing::expect_same;
using fuzzing::kTooLarge;

constexpr Compression kCodecs[] = {Compression::kInfer, Compression::kGzip, Compression::kZstd,
                                   Compression::kBzip2, Compression::kXz,   Compression::kLz4};

Source memory(const uint8_t* data, size_t size) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(size));
  if (size > 0) std::memcpy(buffer.mutable_data(), data, size);
  return Source::bytes(std::move(buffer));
}

Source stream(const uint8_t* data, size_t size, size_t step) {
  return Source::stream(
      [data, size, step, at = size_t{0}](char* into, int64_t room) mutable {
        const size_t some = std::min({size - at, step, static_cast<size_t>(room)});
        if (some > 0) std::memcpy(into, data + at, some);
        at += some;
        return static_cast<int64_t>(some);
      },
      "<bytes>");
}

// All that it holds, in pieces that end at multiples of `piece`.
std::string outcome(const Source& source, Compression codec, int64_t piece) {
  std::string text;
  try {
    const auto bytes = source.open("fuzz", codec);
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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr;
  if (size < 1) return 0;
  const Compression codec = kCodecs[(data[0] >> 4) % std::size(kCodecs)];
  const size_t step = size_t{1} << (data[0] & 15);
  const std::string whole = outcome(memory(data + 1, size - 1), codec, int64_t{1} << 16);
  const std::string steps = outcome(stream(data + 1, size - 1, step), codec, int64_t{1} << 12);
  expect_same(whole, steps, "a stream in small steps");
  fuzzing::expect_memory_kept();
  return 0;
}
