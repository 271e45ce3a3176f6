// SPDX-License-Identifier: Apache-2.0
// Any bytes taken for a page packed by one of Parquet's codecs end in a page of the given size,
// always the same, or in a refusal; what was packed is unpacked as it was. Two blocks of Snappy
// that are unpacked in turn are what they are one by one.
#include "headrace/base/error.h"
#include "headrace/io/fuzz_testing.h"
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/snappy.h"
#include "headrace/memory/buffer/buffer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

// A block of Snappy: a literal so long that the two lanes then take turns, and the parts behind it.
struct Lane {
  static constexpr int64_t kHead = int64_t{1} << 16;

  Lane(std::string_view parts, int64_t wanted) {
    size = kHead + (wanted >= 0 ? wanted : written_by(parts));
    for (uint64_t left = static_cast<uint64_t>(size);; left >>= 7) {
      packed += static_cast<char>((left & 127) | (left > 127 ? 128 : 0));
      if (left <= 127) break;
    }
    static const std::string literal = [] {
      std::string made = "\xF4\xFF\xFF";
      for (int64_t i = 0; i < kHead; ++i) made += static_cast<char>(i * 40503 >> 8);
      return made;
    }();
    packed += literal;
    packed += parts;
  }

  // How many bytes the parts stand for if none of them is damaged.
  static int64_t written_by(std::string_view parts) {
    int64_t bytes = 0;
    for (size_t at = 0; at < parts.size();) {
      const auto tag = static_cast<uint8_t>(parts[at]);
      const int64_t length = (tag & 3) == 1 ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1;
      bytes += length;
      constexpr size_t kDistance[] = {0, 1, 2, 4};
      at += 1 + ((tag & 3) == 0 ? static_cast<size_t>(length) : kDistance[tag & 3]);
    }
    return bytes;
  }

  // Room in which a byte too far is seen by the address sanitizer.
  std::vector<char> room() const {
    return std::vector<char>(static_cast<size_t>(size + kUnpackSlack), '\x55');
  }

  std::string packed{};
  int64_t size = 0;
};

void expect_pair_as_single(const std::array<Lane, 2>& lanes) {
  std::array one{lanes[0].room(), lanes[1].room()}, pair{lanes[0].room(), lanes[1].room()};
  bool is_good = true;
  for (size_t k = 0; k < 2; ++k)
    is_good = unpack_snappy(lanes[k].packed, one[k].data(), lanes[k].size) && is_good;
  if (unpack_snappy({lanes[0].packed, pair[0].data(), lanes[0].size},
                    {lanes[1].packed, pair[1].data(), lanes[1].size}) != is_good)
    throw std::logic_error("two blocks are refused as none of them is, or the other way round");
  for (size_t k = 0; is_good && k < 2; ++k)
    if (std::memcmp(one[k].data(), pair[k].data(), static_cast<size_t>(lanes[k].size)) != 0)
      throw std::logic_error("two blocks are unpacked as something else than one by one");
}

}  // namespace
}  // namespace hr::parquet

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  return hr::fuzzing::begin();
}

// The first byte says which codec, or two blocks of Snappy; the next two the size of the page.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hr::parquet;
  if (size < kOptionBytes) return 0;
  const size_t choice = data[0] % (std::size(kCodecs) + 1);
  const int64_t wanted = data[1] | (data[2] & 31) << 8;
  const std::string packed(reinterpret_cast<const char*>(data + kOptionBytes), size - kOptionBytes);
  if (choice == std::size(kCodecs)) {
    const std::string_view parts = packed;
    const size_t half = parts.size() / 2;
    // Mostly of the size that the parts add up to, so that most of them are unpacked to the end.
    const int64_t first = data[2] & 64 ? wanted : -1, second = data[2] & 128 ? wanted : -1;
    expect_pair_as_single({Lane(parts.substr(0, half), first), Lane(parts.substr(half), second)});
    return 0;
  }
  const Codec codec = kCodecs[choice];
  const std::string once = unpacked(codec, packed, wanted, '\x00');
  if (once != unpacked(codec, packed, wanted, '\xFF'))
    throw std::logic_error("bytes are left unwritten");
  if (data[2] & 128) expect_round_trip(codec, packed, data[2] >> 5 & 3);
  hr::fuzzing::expect_memory_kept();
  return 0;
}
