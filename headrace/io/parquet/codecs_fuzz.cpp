// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for a page packed by one of Parquet's codecs end in a page of the given size,
// always the same, or in a refusal; what was packed is unpacked as it was.
#include "headrace/base/error.h"
#include "headrace/io/fuzz_testing.h"
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/snappy.h"
#include "headrace/memory/buffer/buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hr::parquet {
namespace {

constexpr size_t kOptionBytes = 3;
constexpr Codec kCodecs[] = {Codec::kSnappy, Codec::kGzip, Codec::kBrotli,
                             Codec::kLz4,    Codec::kZstd, Codec::kLz4Raw};

// Into room that was filled with `before`: bytes that are not written differ.
std::string unpacked(Codec codec, std::string_view packed, int64_t size, char before) {
  if (size > most_unpacked(codec, std::ssize(packed))) return fuzzing::kTooLarge;
  Buffer out = Buffer::allocate(size + kUnpackSlack);
  std::memset(out.mutable_data(), before, static_cast<size_t>(out.size_bytes()));
  std::string made;
  try {
    PageUnpacker(codec).unpack(packed, out.mutable_as<char>(), size);
    made.assign(out.as<char>(), static_cast<size_t>(size));
  } catch (const Refusal& refusal) {
    made = std::string("refused: ") + refusal.what();
  }
  const auto* const behind = out.as<char>() + size;
  if (codec != Codec::kSnappy && std::count(behind, behind + kUnpackSlack, before) != kUnpackSlack)
    throw std::logic_error("bytes behind the end are written");
  return made;
}

void expect_round_trip(Codec codec, std::string_view bytes, uint8_t level) {
  if (!can_pack(codec)) return;
  const CodecLevels levels = levels_of(codec);
  const int some = std::min(levels.most, levels.least + 8);  // the highest take long
  PagePacker packer(codec, levels.least + level % (some - levels.least + 1));
  Buffer packed = Buffer::allocate(packer.most(std::ssize(bytes)));
  const auto size = static_cast<size_t>(packer.pack(bytes, packed.mutable_as<char>()));
  const std::string again = unpacked(codec, {packed.as<char>(), size}, std::ssize(bytes), '\x55');
  if (again != bytes) throw std::logic_error("what was packed is unpacked as something else");
}

}  // namespace
}  // namespace hr::parquet

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

// The first byte says which codec, the next two the size of the page.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr::parquet;
  if (size < kOptionBytes) return 0;
  const Codec codec = kCodecs[data[0] % std::size(kCodecs)];
  const int64_t wanted = data[1] | (data[2] & 31) << 8;
  const std::string packed(reinterpret_cast<const char*>(data + kOptionBytes), size - kOptionBytes);
  const std::string once = unpacked(codec, packed, wanted, '\x00');
  if (once != unpacked(codec, packed, wanted, '\xFF'))
    throw std::logic_error("bytes are left unwritten");
  if (data[2] & 128) expect_round_trip(codec, packed, data[2] >> 5 & 3);
  hr::fuzzing::expect_memory_kept();
  return 0;
}
