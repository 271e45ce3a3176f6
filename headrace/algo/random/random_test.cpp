// SPDX-License-Identifier: Apache-2.0
// Philox gives its authors' words; draws follow their definition at every SIMD level and thread
// count. python/tests/test_random.py tests their distributions.
#include "headrace/algo/random/random.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace hr {
namespace {

using namespace testing;

using RandomTest = SimdAndThreadsTest;

std::vector<uint32_t> words_of(const PhiloxBlock& block) {
  return {block.word[0], block.word[1], block.word[2], block.word[3]};
}

// The known answers that the authors publish with the paper's code (Random123, kat_vectors).
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(words_of(philox4x32({{0, 0, 0, 0}}, 0, 0)),
            (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(words_of(philox4x32({{kOnes, kOnes, kOnes, kOnes}}, kOnes, kOnes)),
            (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words_of(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822,
                                0x299f31d0)),
            (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_F(RandomTest, WordsAreTheBlocksAtEverySimdLevel) {
  const RandomKey key{0x0123456789abcdef, 7};
  const uint64_t first = (uint64_t{1} << 32) - 9;  // the carry into the second word
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > best_simd_level()) continue;
    set_simd_level(level);
    for (const int64_t count : {0, 1, 7, 8, 9, 31, 100}) {
      std::vector<uint64_t> words(static_cast<size_t>(2 * count) + 1, 5);
      cpu::philox_words(key, first, count, words.data());
      for (int64_t i = 0; i < 2 * count; ++i)
        EXPECT_EQ(words[static_cast<size_t>(i)],
                  philox_word(philox_block(key, first + static_cast<uint64_t>(i / 2)), i % 2));
      EXPECT_EQ(words.back(), 5u);
    }
  }
}

TEST_F(RandomTest, SameBitsForAnyThreadsAndAnyCount) {
  constexpr int64_t kCount = (1 << 15) + 77;
  const RandomKey key{3, 1};
  const Dtype f64 = dtype_of<double>(), f32 = dtype_of<float>(), u64 = dtype_of<uint64_t>();
  const auto draws = std::vector<Tensor (*)(int64_t, RandomKey)>{
      [](int64_t n, RandomKey k) { return random_uniform(n, dtype_of<double>(), k); },
      [](int64_t n, RandomKey k) { return random_normal(n, dtype_of<float>(), k); },
      [](int64_t n, RandomKey k) { return random_exponential(n, dtype_of<double>(), k); },
      [](int64_t n, RandomKey k) { return random_integers(n, dtype_of<int64_t>(), 5, 3, k); },
      [](int64_t n, RandomKey k) { return random_poisson(n, 40.0, k); },
  };
  for (const auto draw : draws) {
    EXPECT_TRUE(same_for_any_threads([&] { return draw(kCount, key); }));
    const Tensor all = draw(kCount, key), some = draw(100, key), other = draw(100, {3, 2});
    const auto bytes = static_cast<size_t>(100 * all.dtype().size_bytes());
    EXPECT_EQ(std::memcmp(all.data(), some.data(), bytes), 0);
    EXPECT_FALSE(same_bits(some, other));
  }
  EXPECT_EQ(random_uniform(0, f32, key).num_elements(), 0);
  EXPECT_EQ(random_uniform(9, f64, key).dtype(), f64);
  EXPECT_EQ(random_integers(9, u64, 0, 0, key).dtype(), u64);
}

TEST(Random, SampleIsTheSmallestKeysInTheirOrder) {
  for (const int64_t rows : {1, 64, 1000, 200'000})
    for (const int64_t count : {int64_t{0}, int64_t{1}, rows / 3, rows}) {
      const RandomKey key{11, 4};
      const auto keys = values_of<uint64_t>(random_integers(rows, dtype_of<uint64_t>(), 0, 0, key));
      std::vector<int64_t> expected(static_cast<size_t>(rows));
      std::iota(expected.begin(), expected.end(), 0);
      std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
        return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
      });
      expected.resize(static_cast<size_t>(count));
      EXPECT_EQ(values_of<int64_t>(random_sample(rows, count, key)), expected);
    }
  EXPECT_THROW(random_sample(3, 4, {}), InvalidArgumentError);
}

TEST(Random, RejectsDrawsWithBias) {
  // Of a range of 3 * 2^62 a quarter of the words is drawn again.
  const uint64_t range = uint64_t{3} << 62;
  const auto made = values_of<uint64_t>(random_integers(3000, dtype_of<uint64_t>(), 0, range, {}));
  int64_t thirds[3] = {};
  for (const uint64_t value : made) {
    ASSERT_LT(value, range);
    ++thirds[value >> 62];
  }
  for (const int64_t third : thirds) EXPECT_NEAR(static_cast<double>(third), 1000, 100);
}

TEST(Random, RefusesWhatIsNoDistribution) {
  EXPECT_THROW(random_poisson(3, -1.0, {}), InvalidArgumentError);
  EXPECT_THROW(random_uniform(-1, dtype_of<double>(), {}), InvalidArgumentError);
  EXPECT_THROW(random_uniform(1, dtype_of<int64_t>(), {}), TypeMismatchError);
  EXPECT_THROW(random_integers(1, dtype_of<double>(), 0, 5, {}), TypeMismatchError);
}

}  // namespace
}  // namespace hr
