// SPDX-License-Identifier: Apache-2.0
// Runs and packed groups of each width against bits read one by one, at each SIMD level.
#include "headrace/io/parquet/hybrid.h"

#include "headrace/base/bits.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/io/parquet/bit_packing_kernels.h"
#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/io/parquet/refusal.h"

#include <gtest/gtest.h>

#include <random>

namespace hr::parquet {
namespace {

using testing::packed;
using testing::packed_run;
using testing::repeated_run;

class Hybrid : public hr::testing::SimdAndThreadsTest {
 protected:
  template <class F>
  static void at_each_level(const F& f) {
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
      if (level > best_simd_level()) continue;
      set_simd_level(level);
      f();
    }
  }
};

TEST_F(Hybrid, EachWidthInPiecesOfAnySize) {
  std::mt19937_64 random(1);
  for (int width = 0; width <= 32; ++width) {
    const uint64_t mask = (uint64_t{1} << width) - 1;
    std::vector<uint64_t> values;
    std::string bytes;
    for (int run = 0; run < 12; ++run) {
      if (run % 3 == 0) {
        const auto value = static_cast<uint32_t>(random() & mask);
        const size_t count = 1 + random() % 50;
        values.insert(values.end(), count, value);
        bytes += repeated_run(count, value, width);
      } else {
        std::vector<uint64_t> part(8 * (1 + random() % 20));
        for (uint64_t& each : part) each = random() & mask;
        values.insert(values.end(), part.begin(), part.end());
        bytes += packed_run(part, width);
      }
    }
    at_each_level([&] {
      HybridReader in(bytes, width);
      std::vector<uint32_t> out(values.size());
      for (size_t at = 0; at < out.size();) {
        const size_t some = std::min<size_t>(1 + random() % 100, out.size() - at);
        in.read(static_cast<int64_t>(some), out.data() + at);
        at += some;
      }
      EXPECT_TRUE(std::equal(out.begin(), out.end(), values.begin())) << width;
      EXPECT_THROW(in.read(1, out.data()), Refusal);
      HybridReader again(bytes, width);
      for (size_t at = 0; at < values.size();) {
        const size_t some = std::min<size_t>(1 + random() % 300, values.size() - at);
        std::vector<uint32_t> picks;
        for (size_t i = random() % 40; i < some; i += 1 + random() % 40)
          picks.push_back(static_cast<uint32_t>(i));
        again.pick(static_cast<int64_t>(some), picks.data(), std::ssize(picks), out.data());
        for (size_t i = 0; i < picks.size(); ++i) ASSERT_EQ(out[i], values[at + picks[i]]) << width;
        at += some;
      }
      EXPECT_THROW(again.pick(1, nullptr, 0, out.data()), Refusal);
    });
  }
}

TEST_F(Hybrid, BitsGoToAnyPlaceOfABitmap) {
  std::mt19937_64 random(2);
  std::vector<uint64_t> values(1000);
  for (uint64_t& each : values) each = random() & 1;
  const std::string bytes = packed_run(values, 1) + repeated_run(700, 1, 1) + repeated_run(9, 0, 1);
  values.insert(values.end(), 700, 1);
  values.insert(values.end(), 9, 0);
  for (const int64_t first : {0, 1, 63, 64, 100}) {
    std::vector<uint64_t> bitmap(40);
    HybridReader in(bytes, 1);
    int64_t at = first, ones = 0;
    for (size_t left = values.size(); left > 0;) {
      const size_t some = std::min<size_t>(1 + random() % 200, left);
      ones += in.read_bits(static_cast<int64_t>(some), bitmap.data(), at);
      at += static_cast<int64_t>(some);
      left -= some;
    }
    const auto* const bits = reinterpret_cast<const uint8_t*>(bitmap.data());
    int64_t expected = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      expected += static_cast<int64_t>(values[i]);
      ASSERT_EQ(get_bit(bits, first + static_cast<int64_t>(i)), values[i] == 1) << i;
    }
    EXPECT_EQ(ones, expected);
    EXPECT_EQ(count_bits(bits, 0, 64 * 40), expected);
  }
}

TEST_F(Hybrid, TheLastGroupMayBeCut) {
  const std::vector<uint64_t> values{1, 2, 3, 4, 5};
  const std::string bytes = packed_run(values, 10).substr(0, 1 + 7);  // 50 of 80 bits
  HybridReader in(bytes, 10);
  uint32_t out[6];
  in.read(5, out);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), out));
  EXPECT_THROW(in.read(1, out), Refusal);
}

TEST_F(Hybrid, DamageIsRefused) {
  uint32_t out[64];
  EXPECT_THROW(HybridReader("", 33), Refusal);
  for (const std::string& bytes :
       {std::string(), std::string("\x80"), std::string("\x10"),
        std::string("\xff\xff\xff\xff\xff\xff"), std::string(5, '\0'), repeated_run(9, 7, 2)}) {
    HybridReader in(bytes, 2);
    EXPECT_THROW(in.read(1, out), Refusal);
  }
}

TEST_F(Hybrid, GatherAndSplitBytes) {
  std::mt19937_64 random(4);
  for (const int64_t width : {1, 2, 4, 8, 16}) {
    std::vector<std::byte> dictionary(static_cast<size_t>(100 * width)),
        out(static_cast<size_t>(333 * width));
    for (std::byte& each : dictionary) each = static_cast<std::byte>(random());
    std::vector<uint32_t> indices(333);
    for (uint32_t& each : indices) each = static_cast<uint32_t>(random() % 100);
    at_each_level([&] {
      EXPECT_EQ(cpu::greatest(indices.data(), 333),
                *std::max_element(indices.begin(), indices.end()));
      cpu::gather(dictionary.data(), width, indices.data(), 333, out.data());
      for (size_t i = 0; i < 333; ++i)
        ASSERT_EQ(std::memcmp(out.data() + i * static_cast<size_t>(width),
                              dictionary.data() + indices[i] * static_cast<size_t>(width),
                              static_cast<size_t>(width)),
                  0);
    });
  }
  for (const int64_t width : {2, 3, 4, 8, 16}) {
    std::vector<uint8_t> streams(static_cast<size_t>(width * 101));
    for (uint8_t& each : streams) each = static_cast<uint8_t>(random());
    at_each_level([&] {
      for (const int64_t first : {0, 1, 30}) {
        const int64_t count = 101 - first;
        std::vector<std::byte> out(static_cast<size_t>(width * count));
        cpu::join_bytes(streams.data(), 101, width, first, count, out.data());
        for (int64_t i = 0; i < count; ++i)
          for (int64_t b = 0; b < width; ++b)
            ASSERT_EQ(static_cast<uint8_t>(out[static_cast<size_t>(i * width + b)]),
                      streams[static_cast<size_t>(b * 101 + first + i)]);
      }
    });
  }
}

}  // namespace
}  // namespace hr::parquet
