// SPDX-License-Identifier: Apache-2.0
// Each encoding against values that were encoded the plain way, in pieces of any size.
#include "headrace/io/parquet/values.h"

#include "headrace/base/simd.h"
#include "headrace/data/column.h"
#include "headrace/io/parquet/delta.h"
#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/io/parquet/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace hr::parquet {
namespace {

using testing::delta_packed;
using testing::plain;
using testing::plain_texts;

Leaf leaf_of(PhysicalType type, int64_t bytes) {
  return {.physical = type, .stored_bytes = bytes};
}

std::vector<int64_t> numbers(size_t count, int bits, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> values(count);
  for (int64_t& each : values) each = bits == 0 ? 7 : static_cast<int64_t>(random()) >> (64 - bits);
  return values;
}

TEST(Delta, AnyWidthAndCount) {
  std::mt19937 random(1);
  for (const size_t count : {0u, 1u, 2u, 32u, 33u, 128u, 129u, 130u, 1000u})
    for (const int bits : {0, 1, 2, 7, 8, 16, 31, 32, 33, 40, 63, 64}) {
      const std::vector<int64_t> values = numbers(count, bits, count + static_cast<size_t>(bits));
      const std::string bytes = delta_packed(values) + "rest";
      DeltaReader in(bytes);
      ASSERT_EQ(in.count(), static_cast<int64_t>(count));
      std::vector<int64_t> out(count);
      for (size_t at = 0; at < count;) {
        const size_t some = std::min<size_t>(1 + random() % 70, count - at);
        in.read(static_cast<int64_t>(some), out.data() + at);
        at += some;
      }
      EXPECT_EQ(out, values);
      EXPECT_EQ(in.rest(), "rest") << count << " " << bits;
      EXPECT_EQ(DeltaReader(bytes).behind(), "rest") << count << " " << bits;
      EXPECT_THROW(in.read(1, out.data()), Refusal);
    }
}

TEST(Delta, CutsAreRefused) {
  const std::string bytes = delta_packed(numbers(300, 20, 1));
  std::vector<int64_t> out(300);
  for (size_t size = 0; size + 60 < bytes.size(); ++size)
    EXPECT_THROW(
        {
          DeltaReader in(std::string_view(bytes).substr(0, size));
          in.read(300, out.data());
        },
        Refusal)
        << size;
}

template <class T>
std::vector<T> fixed(PhysicalType type, Encoding encoding, const std::string& bytes, size_t count) {
  const Leaf leaf = leaf_of(type, sizeof(T));
  const auto in = read_values(leaf, encoding, bytes, static_cast<int64_t>(count));
  std::vector<T> out(count);
  for (size_t at = 0; at < count;) {
    const size_t some = std::min<size_t>(77, count - at);
    in->fixed(static_cast<int64_t>(some), reinterpret_cast<std::byte*>(out.data() + at));
    at += some;
  }
  T more;
  EXPECT_THROW(in->fixed(1, reinterpret_cast<std::byte*>(&more)), Refusal);
  return out;
}

template <class T>
std::string split(const std::vector<T>& values) {
  const std::string rows = plain(values);
  std::string out;
  for (size_t b = 0; b < sizeof(T); ++b)
    for (size_t i = 0; i < values.size(); ++i) out += rows[i * sizeof(T) + b];
  return out;
}

TEST(Values, OfAFixedWidth) {
  const std::vector<int64_t> wide = numbers(500, 50, 3);
  EXPECT_EQ(fixed<int64_t>(PhysicalType::kInt64, Encoding::kPlain, plain(wide), 500), wide);
  EXPECT_EQ(
      fixed<int64_t>(PhysicalType::kInt64, Encoding::kDeltaBinaryPacked, delta_packed(wide), 500),
      wide);
  EXPECT_EQ(fixed<int64_t>(PhysicalType::kInt64, Encoding::kByteStreamSplit, split(wide), 500),
            wide);
  const std::vector<int64_t> some = numbers(300, 31, 4);
  const std::vector<int32_t> narrow(some.begin(), some.end());
  EXPECT_EQ(
      fixed<int32_t>(PhysicalType::kInt32, Encoding::kDeltaBinaryPacked, delta_packed(some), 300),
      narrow);
  EXPECT_EQ(fixed<int32_t>(PhysicalType::kInt32, Encoding::kByteStreamSplit, split(narrow), 300),
            narrow);
}

std::vector<std::string> texts(Encoding encoding, const std::string& bytes, size_t count) {
  const Leaf leaf = leaf_of(PhysicalType::kByteArray, 0);
  const auto in = read_values(leaf, encoding, bytes, static_cast<int64_t>(count));
  std::vector<std::string> out;
  std::vector<std::string_view> block(count + 1);
  while (out.size() < count) {
    const size_t some = std::min<size_t>(13, count - out.size());
    in->texts(static_cast<int64_t>(some), block.data());
    out.insert(out.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(some));
  }
  EXPECT_THROW(in->texts(1, block.data()), Refusal);
  return out;
}

TEST(Values, Texts) {
  std::vector<std::string> values;
  for (int i = 0; i < 400; ++i)
    values.push_back(std::string(static_cast<size_t>(i % 30), 'a') + std::to_string(i * 7));
  std::vector<int64_t> sizes, prefixes, suffixes;
  std::string joined, ends;
  for (size_t i = 0; i < values.size(); ++i) {
    size_t same = 0;
    if (i > 0)
      while (same < values[i].size() && same < values[i - 1].size() &&
             values[i][same] == values[i - 1][same])
        ++same;
    sizes.push_back(static_cast<int64_t>(values[i].size()));
    prefixes.push_back(static_cast<int64_t>(same));
    suffixes.push_back(static_cast<int64_t>(values[i].size() - same));
    joined += values[i];
    ends += values[i].substr(same);
  }
  EXPECT_EQ(texts(Encoding::kPlain, plain_texts(values), 400), values);
  EXPECT_EQ(texts(Encoding::kDeltaLengthByteArray, delta_packed(sizes) + joined, 400), values);
  EXPECT_EQ(
      texts(Encoding::kDeltaByteArray, delta_packed(prefixes) + delta_packed(suffixes) + ends, 400),
      values);
  const auto too_much = [&](Encoding encoding, const std::string& bytes) {
    EXPECT_THROW(texts(encoding, bytes, 2), Refusal);
  };
  too_much(Encoding::kPlain, plain<uint32_t>({5}) + "abcd");
  too_much(Encoding::kDeltaLengthByteArray, delta_packed({-1, 2}) + "abcd");
  too_much(Encoding::kDeltaLengthByteArray, delta_packed({1, 9}) + "abcd");
  too_much(Encoding::kDeltaLengthByteArray, delta_packed({1, 1, 1}) + "abcd");
  too_much(Encoding::kDeltaByteArray, delta_packed({0, 3}) + delta_packed({2, 2}) + "abcd");
}

// Short ones as views, and others as before, in any order.
TEST(Values, ShortTextsWithoutWhatTheyRepeat) {
  std::mt19937 random(3);
  const std::string units[] = {"", "a", "ab", "0123456789", "\xC3\xBC", std::string("\0", 1)};
  for (const SimdLevel level : {SimdLevel::kBase, best_simd_level()})
    for (const size_t kinds : {4, 6})
      for (const size_t count : {1, 2, 63, 1024, 1025, 3000}) {
        set_simd_level(level);
        std::vector<std::string> values(count);
        std::vector<int64_t> prefixes, suffixes;
        std::string ends;
        for (size_t i = 0; i < count; ++i) {
          std::string& text = values[i];
          size_t same = i > 0 ? random() % (values[i - 1].size() + 1) : 0;
          if (same > 0) text = values[i - 1].substr(0, same);
          while (random() % 3 && (random() % 64 == 0 || text.size() < 9))
            text += units[random() % kinds];
          if (kinds == 4 && text.size() > 12) text.resize(12);
          same = std::min(same, text.size());
          prefixes.push_back(static_cast<int64_t>(same));
          suffixes.push_back(static_cast<int64_t>(text.size() - same));
          ends += text.substr(same);
        }
        const std::string bytes = delta_packed(prefixes) + delta_packed(suffixes) + ends;
        const auto in = read_values(leaf_of(PhysicalType::kByteArray, 0), Encoding::kDeltaByteArray,
                                    bytes, static_cast<int64_t>(count));
        std::vector<StringView> views(count);
        std::vector<std::string_view> block(count);
        int64_t put = 0;
        for (size_t at = 0; at < count;) {
          const auto most = static_cast<int64_t>(std::min<size_t>(1 + random() % 2000, count - at));
          const int64_t some =
              random() % 8 == 0 ? 0
                                : in->short_views(most, reinterpret_cast<std::byte*>(&views[at]));
          put += some;
          for (int64_t i = 0; i < some; ++i, ++at) {
            const StringView& view = views[at];
            ASSERT_EQ(std::string(view.inlined, view.size), values[at]) << at;
            for (size_t b = view.size; b < sizeof view.inlined; ++b) ASSERT_EQ(view.inlined[b], 0);
          }
          if (some > 0) continue;
          const size_t few = std::min<size_t>(static_cast<size_t>(most), 20);
          in->texts(static_cast<int64_t>(few), block.data());
          for (size_t i = 0; i < few; ++i, ++at) ASSERT_EQ(block[i], values[at]) << at;
        }
        if (kinds == 4 && count > 1000) {
          EXPECT_GT(put, 500);
        }
      }
  set_simd_level(best_simd_level());
}

// Equal lengths: numbers with leading zeros.
TEST(Values, ShortTextsThatRepeatEquallyMany) {
  const Leaf leaf = leaf_of(PhysicalType::kByteArray, 0);
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  for (const SimdLevel level : {SimdLevel::kBase, best_simd_level()})
    for (int64_t prefix = 0; prefix <= 13; ++prefix)
      for (int64_t suffix = 0; prefix + suffix <= 13; ++suffix) {
        set_simd_level(level);
        constexpr int64_t kCount = 200;
        std::vector<int64_t> prefixes(kCount, prefix), suffixes(kCount, suffix);
        prefixes[0] = 0;
        suffixes[0] = prefix + suffix;
        std::vector<std::string> values(kCount);
        std::string ends;
        for (size_t i = 0; i < values.size(); ++i) {
          values[i] = letters.substr(0, static_cast<size_t>(prefix)) +
                      letters.substr(i % 13, static_cast<size_t>(suffix));
          ends += values[i].substr(static_cast<size_t>(prefixes[i]));
        }
        const std::string bytes = delta_packed(prefixes) + delta_packed(suffixes) + ends;
        const auto in = read_values(leaf, Encoding::kDeltaByteArray, bytes, kCount);
        std::vector<StringView> views(kCount);
        int64_t put = 0, some = 0;
        do {
          some = in->short_views(kCount - put, reinterpret_cast<std::byte*>(views.data() + put));
          put += some;
        } while (some > 0 && put < kCount);
        EXPECT_EQ(put, prefix + suffix <= 12 ? kCount : 0) << prefix << ' ' << suffix;
        for (size_t i = 0; i < static_cast<size_t>(put); ++i) {
          ASSERT_EQ(std::string(views[i].inlined, views[i].size), values[i]) << i;
          for (size_t b = views[i].size; b < sizeof views[i].inlined; ++b)
            ASSERT_EQ(views[i].inlined[b], 0);
        }
      }
  set_simd_level(best_simd_level());
}

TEST(Values, ShortTextsThatRepeatTooMuchAreRefused) {
  const Leaf leaf = leaf_of(PhysicalType::kByteArray, 0);
  StringView views[3];
  std::string_view block[3];
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max(), kLeast = -kHuge - 1;
  for (const int64_t wrong : {int64_t{-1}, int64_t{3}, int64_t{13}, kHuge, kLeast})
    for (const size_t at : {0, 1, 2}) {
      std::vector<int64_t> prefixes{0, 1, 1}, suffixes{2, 1, 1};
      prefixes[at] = wrong;
      for (int k = 0; k < 2; ++k, std::swap(prefixes, suffixes)) {
        const std::string bytes = delta_packed(prefixes) + delta_packed(suffixes) + "abcd";
        const auto in = read_values(leaf, Encoding::kDeltaByteArray, bytes, 3);
        EXPECT_EQ(in->short_views(3, reinterpret_cast<std::byte*>(views)), 0);
        EXPECT_THROW(in->texts(3, block), Refusal) << wrong << at;
      }
    }
}

TEST(Values, ShortTextsThatAllRepeatTooMuchAreRefused) {
  const Leaf leaf = leaf_of(PhysicalType::kByteArray, 0);
  StringView views[3];
  std::string_view block[3];
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const std::pair<int64_t, int64_t> wrong[] = {{1, 1}, {kHuge, 0}, {-1, 2}};
  for (const auto& [prefix, suffix] : wrong) {
    const std::string bytes =
        delta_packed({prefix, prefix, prefix}) + delta_packed({suffix, suffix, suffix}) + "abcdef";
    const auto in = read_values(leaf, Encoding::kDeltaByteArray, bytes, 3);
    EXPECT_EQ(in->short_views(3, reinterpret_cast<std::byte*>(views)), 0);
    EXPECT_THROW(in->texts(3, block), Refusal) << prefix;
  }
}

TEST(Values, Bools) {
  const Leaf leaf = leaf_of(PhysicalType::kBoolean, 0);
  const std::string runs = testing::repeated_run(5, 1, 1) + testing::packed_run({0, 1, 1}, 1);
  const std::string encoded[] = {testing::packed({1, 1, 1, 1, 1, 0, 1, 1}, 1),
                                 testing::levels(runs)};
  const Encoding encodings[] = {Encoding::kPlain, Encoding::kRle};
  for (int i = 0; i < 2; ++i) {
    const auto in = read_values(leaf, encodings[i], encoded[i], 8);
    uint64_t first = 0, second = 0;
    in->bits(3, &first);
    in->bits(5, &second);
    EXPECT_EQ(first, 0b111u);
    EXPECT_EQ(second, 0b11011u);
  }
}

TEST(Values, AnEncodingOfAnotherTypeIsRefused) {
  const Leaf number = leaf_of(PhysicalType::kDouble, 8),
             text = leaf_of(PhysicalType::kByteArray, 0);
  EXPECT_THROW(read_values(number, Encoding::kDeltaBinaryPacked, "", 1), Refusal);
  EXPECT_THROW(read_values(number, Encoding::kRle, "", 1), Refusal);
  EXPECT_THROW(read_values(text, Encoding::kByteStreamSplit, "", 1), Refusal);
  std::string_view out;
  EXPECT_THROW(read_values(number, Encoding::kPlain, "12345678", 1)->texts(1, &out), Refusal);
}

}  // namespace
}  // namespace hr::parquet
