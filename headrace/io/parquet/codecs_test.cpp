// SPDX-License-Identifier: Apache-2.0
// Blocks packed by hand: literals, matches that overlap, and every kind of damage.
#include "headrace/io/parquet/codecs.h"

#include "headrace/io/gzip_testing.h"
#include "headrace/io/parquet/lz4.h"
#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/snappy.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#ifdef HR_WITH_ZSTD
#include <zstd.h>
#endif

namespace hr::parquet {
namespace {

using testing::varint;

// What a sequence of literals and matches stands for, and how both formats write it.
struct Packed {
  std::string text{};
  std::string snappy{};
  std::string lz4{};

  void add(const std::string& literal, size_t distance, size_t length) {
    text += literal;
    for (size_t i = 0; i < length; ++i) text += text[text.size() - distance];
    add_snappy(literal, distance, length);
    add_lz4(literal, distance, length);
  }

  void add_snappy(const std::string& literal, size_t distance, size_t length) {
    if (const size_t n = literal.size(); n > 0) {
      if (n <= 60)
        snappy += static_cast<char>((n - 1) << 2);
      else
        snappy += std::string{static_cast<char>(61 << 2), static_cast<char>((n - 1) & 255),
                              static_cast<char>((n - 1) >> 8)};
      snappy += literal;
    }
    for (; length > 0;) {
      const size_t some = std::min<size_t>(length, 64);
      if (some >= 4 && some <= 11 && distance < 2048)
        snappy += std::string{static_cast<char>(distance >> 8 << 5 | (some - 4) << 2 | 1),
                              static_cast<char>(distance & 255)};
      else
        snappy += std::string{static_cast<char>((some - 1) << 2 | 2),
                              static_cast<char>(distance & 255), static_cast<char>(distance >> 8)};
      length -= some;
    }
  }

  static std::string more(size_t length) {
    if (length < 15) return {};
    std::string out((length - 15) / 255, '\xff');
    return out + static_cast<char>((length - 15) % 255);
  }

  void add_lz4(const std::string& literal, size_t distance, size_t length) {
    const size_t n = literal.size(), m = length > 0 ? length - 4 : 0;
    lz4 += static_cast<char>(std::min<size_t>(n, 15) << 4 | std::min<size_t>(m, 15));
    lz4 += more(n) + literal;
    if (length > 0)
      lz4 += std::string{static_cast<char>(distance & 255), static_cast<char>(distance >> 8)} +
             more(m);
  }

  std::string snappy_block() const { return varint(text.size()) + snappy; }
};

Packed some_text(int parts = 200, uint32_t seed = 3) {
  std::mt19937 random(seed);
  Packed made;
  for (int i = 0; i < parts; ++i) {
    std::string literal(1 + random() % (i % 20 == 0 ? 300 : 20), '\0');
    for (char& c : literal) c = static_cast<char>(random());
    const size_t reach = made.text.size() + literal.size();
    const size_t distance = 1 + random() % std::min<size_t>(reach, i % 3 == 0 ? 20 : 60'000);
    made.add(literal, distance, 4 + random() % (i % 7 == 0 ? 700 : 20));
  }
  made.add("end", 1, 0);
  return made;
}

template <class Unpack>
std::string unpacked(const Unpack& unpack, const std::string& block, size_t size) {
  std::string out(size + kUnpackSlack, '#');
  if (!unpack(block, out.data(), static_cast<int64_t>(size))) return "damaged";
  return out.substr(0, size);
}

bool unpack_one(std::string_view block, char* out, int64_t size) {
  return unpack_snappy(block, out, size);
}

TEST(Codecs, SnappyAndLz4UnpackWhatWasPacked) {
  const Packed made = some_text();
  EXPECT_EQ(unpacked(unpack_one, made.snappy_block(), made.text.size()), made.text);
  EXPECT_EQ(unpacked(unpack_lz4, made.lz4, made.text.size()), made.text);
  const auto big = [](size_t value) {
    return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16),
                       static_cast<char>(value >> 8), static_cast<char>(value)};
  };
  const std::string frame = big(made.text.size()) + big(made.lz4.size()) + made.lz4;
  EXPECT_EQ(unpacked(unpack_lz4_hadoop, frame + frame, 2 * made.text.size()),
            made.text + made.text);
  EXPECT_EQ(unpacked(unpack_lz4_hadoop, made.lz4, made.text.size()), made.text);
}

// Of any two sizes, below and above what a distance reaches.
TEST(Codecs, TwoSnappyBlocksAreUnpackedTogether) {
  std::vector<Packed> made;
  for (const int parts : {0, 1, 30, 200, 1000, 3000})
    made.push_back(some_text(parts, static_cast<uint32_t>(parts)));
  for (const Packed& a : made)
    for (const Packed& b : made) {
      const std::string first = a.snappy_block(), second = b.snappy_block();
      std::string x(a.text.size() + kUnpackSlack, '#'), y(b.text.size() + kUnpackSlack, '#');
      ASSERT_TRUE(unpack_snappy({first, x.data(), std::ssize(a.text)},
                                {second, y.data(), std::ssize(b.text)}));
      EXPECT_EQ(x.substr(0, a.text.size()), a.text);
      EXPECT_EQ(y.substr(0, b.text.size()), b.text);
    }
}

TEST(Codecs, OfTwoSnappyBlocksADamagedOneIsFound) {
  const Packed made = some_text(1500);
  const std::string block = made.snappy_block();
  std::mt19937 random(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string damaged = block.substr(0, i % 2 == 0 ? block.size() : random() % block.size());
    for (int k = 0; k < 3 && !damaged.empty(); ++k)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::vector<char> exact(damaged.begin(), damaged.end());
    const std::string_view bytes(exact.data(), exact.size());
    std::vector<char> x(made.text.size() + kUnpackSlack), y(x.size()), alone(x.size());
    const auto size = std::ssize(made.text);
    const bool good = unpack_snappy(bytes, alone.data(), size);
    const SnappyBlock whole{block, x.data(), size}, other{bytes, y.data(), size};
    EXPECT_EQ(i % 3 == 0 ? unpack_snappy(whole, other) : unpack_snappy(other, whole), good);
    if (good) {
      EXPECT_TRUE(std::equal(y.begin(), y.begin() + size, alone.begin()));
    }
  }
}

TEST(Codecs, Lz4WritesNothingBehindItsEnd) {
  const Packed made = some_text();
  const size_t size = made.text.size();
  const std::string guard(kUnpackSlack, '#');
  std::string out = std::string(size, '#') + guard;
  EXPECT_EQ(unpack_lz4_behind(made.lz4, out.data(), out.data(), static_cast<int64_t>(size)),
            static_cast<int64_t>(size));
  EXPECT_EQ(out, made.text + guard);
}

// Exact buffers, so that a sanitizer sees each byte that is read or written outside of them.
TEST(Codecs, DamagedBlocksAreRefusedOrOfTheRightSize) {
  const Packed made = some_text();
  std::mt19937 random(5);
  for (const std::string& block : {made.snappy_block(), made.lz4}) {
    const bool snappy = block != made.lz4;
    for (int i = 0; i < 20'000; ++i) {
      std::string damaged = block.substr(0, 1 + random() % block.size());
      for (int k = static_cast<int>(random() % 3); k >= 0; --k)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      const std::vector<char> exact(damaged.begin(), damaged.end());
      std::vector<char> out(made.text.size() + (snappy ? kUnpackSlack : 0));
      const std::string_view bytes(exact.data(), exact.size());
      const auto size = static_cast<int64_t>(made.text.size());
      snappy ? unpack_snappy(bytes, out.data(), size) : unpack_lz4(bytes, out.data(), size);
    }
    for (size_t size = 0; size < block.size(); size += 7)
      EXPECT_EQ(unpacked(snappy ? unpack_one : unpack_lz4, block.substr(0, size), made.text.size()),
                "damaged");
    EXPECT_EQ(unpacked(snappy ? unpack_one : unpack_lz4, block, made.text.size() - 1), "damaged");
    EXPECT_EQ(unpacked(snappy ? unpack_one : unpack_lz4, block, made.text.size() + 1), "damaged");
  }
}

std::string by(Codec codec, const std::string& packed, size_t size) {
  PageUnpacker unpacker(codec);
  std::string out(size + kUnpackSlack, '#');
  unpacker.unpack(packed, out.data(), static_cast<int64_t>(size));
  return out.substr(0, size);
}

TEST(Codecs, SizesHaveToBeTrue) {
  EXPECT_EQ(by(Codec::kNone, "abc", 3), "abc");
  EXPECT_THROW(by(Codec::kNone, "abc", 4), Refusal);
  EXPECT_EQ(by(Codec::kSnappy, "", 0), "");
  EXPECT_THROW(by(Codec::kSnappy, "", 1), Refusal);
  EXPECT_THROW(PageUnpacker(Codec::kLzo), Refusal);
}

#ifdef HR_WITH_ZLIB
TEST(Codecs, GzipMembersFollowEachOther) {
  const std::string text(10'000, 'x');
  EXPECT_EQ(by(Codec::kGzip, gzip(text), text.size()), text);
  EXPECT_EQ(by(Codec::kGzip, gzip(text) + gzip("y"), text.size() + 1), text + "y");
  EXPECT_THROW(by(Codec::kGzip, gzip(text), text.size() + 1), Refusal);
  EXPECT_THROW(by(Codec::kGzip, gzip(text), text.size() - 1), Refusal);
  EXPECT_THROW(by(Codec::kGzip, gzip(text).substr(0, 20), text.size()), Refusal);
}
#endif

#ifdef HR_WITH_ZSTD
TEST(Codecs, ZstdHoldsWhatItSays) {
  const std::string text(10'000, 'x');
  std::string packed(200, '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  EXPECT_EQ(by(Codec::kZstd, packed, text.size()), text);
  EXPECT_THROW(by(Codec::kZstd, packed, text.size() + 1), Refusal);
  EXPECT_THROW(by(Codec::kZstd, packed, text.size() - 1), Refusal);
  EXPECT_GE(most_unpacked(Codec::kZstd, static_cast<int64_t>(packed.size())), 10'000);
}
#endif

std::vector<std::string> texts_to_pack() {
  std::mt19937 random(7);
  std::vector<std::string> made{"", "a", "abcd", std::string(13, 'x'), std::string(100'000, 'x')};
  for (const size_t size : {12, 13, 16, 17, 59, 60, 61, 255, 256, 257, 65'535, 65'536, 300'000})
    for (const unsigned range : {1, 2, 4, 256}) {
      std::string text(size, '\0');
      for (char& c : text) c = static_cast<char>(random() % range);
      made.push_back(text);
    }
  std::string words;  // far repetitions of all lengths
  while (words.size() < 500'000) {
    const size_t size = 1 + random() % 200;
    if (words.size() > 300 && random() % 2 == 0)
      words += words.substr(random() % (words.size() - size), size);
    else
      for (size_t i = 0; i < size; ++i) words += static_cast<char>(random());
  }
  made.push_back(words);
  return made;
}

TEST(Codecs, EachUnpacksWhatItPacked) {
  for (const Codec codec :
       {Codec::kNone, Codec::kSnappy, Codec::kGzip, Codec::kBrotli, Codec::kLz4Raw, Codec::kZstd}) {
    if (!can_pack(codec)) continue;
    const CodecLevels levels = levels_of(codec);
    PagePacker packer(codec, levels.usual);
    for (const std::string& text : texts_to_pack()) {
      const int64_t most = packer.most(std::ssize(text));
      std::vector<char> exact(static_cast<size_t>(most));  // so that a sanitizer sees its end
      const int64_t size = packer.pack(text, exact.data());
      ASSERT_LE(size, most);
      ASSERT_EQ(by(codec, {exact.data(), static_cast<size_t>(size)}, text.size()), text)
          << static_cast<int>(codec) << " " << text.size();
      if (codec != Codec::kNone && text.size() == 100'000) {
        EXPECT_LT(size, 10'000);
      }
      EXPECT_GE(most_unpacked(codec, size), std::ssize(text)) << static_cast<int>(codec);
    }
  }
  EXPECT_FALSE(can_pack(Codec::kLzo));
}

}  // namespace
}  // namespace hr::parquet
