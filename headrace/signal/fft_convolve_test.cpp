// SPDX-License-Identifier: Apache-2.0
// fft_convolve equals the definition of convolution, for few and many taps, in every mode.
#include "headrace/signal/fft_convolve.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/signal/fft_convolve_plan.h"
#include "headrace/signal/ricker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace hr {
namespace {

using namespace testing;

constexpr ConvolveMode kModes[] = {ConvolveMode::kFull, ConvolveMode::kSame, ConvolveMode::kValid};

template <class T>
std::vector<T> noise(int64_t count, uint64_t seed) {
  std::vector<T> values;
  uint64_t state = seed;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<T>(static_cast<double>(state >> 11) * 0x1p-52 - 1));
  }
  return values;
}

int64_t outputs_of(int64_t n, int64_t m, ConvolveMode mode) {
  return mode == ConvolveMode::kFull ? n + m - 1 : mode == ConvolveMode::kSame ? n : n - m + 1;
}

/// Output `i` by definition, in long double.
template <class T>
long double definition(const std::vector<T>& x, const std::vector<T>& taps, ConvolveMode mode,
                       int64_t i) {
  const auto n = static_cast<int64_t>(x.size());
  const auto m = static_cast<int64_t>(taps.size());
  const int64_t at = i + (mode == ConvolveMode::kFull   ? 0
                          : mode == ConvolveMode::kSame ? (m - 1) / 2
                                                        : m - 1);
  long double sum = 0;
  for (int64_t k = std::max<int64_t>(0, at - n + 1); k <= std::min(at, m - 1); ++k)
    sum += static_cast<long double>(taps[static_cast<size_t>(k)]) *
           static_cast<long double>(x[static_cast<size_t>(at - k)]);
  return sum;
}

/// The bound of the header: 2-norms of the taps and of what two blocks of `x` hold at most.
template <class T>
double bound(const std::vector<T>& x, const std::vector<T>& taps, int64_t outputs) {
  const auto m = static_cast<int64_t>(taps.size());
  double squares = 0;
  for (const T tap : taps) squares += static_cast<double>(tap) * static_cast<double>(tap);
  double top = 0;
  for (const T value : x) top = std::max(top, std::fabs(static_cast<double>(value)));
  const int64_t length = convolve_block<T>(m, outputs);
  const double block = static_cast<double>(length == 0 ? m : length);
  return 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::log2(block + 1) *
         std::sqrt(squares) * std::sqrt(2 * block) * top;
}

template <class T>
void expect_definition(const std::vector<T>& x, const std::vector<T>& taps, ConvolveMode mode,
                       int64_t stride = 1) {
  const auto n = static_cast<int64_t>(x.size());
  const auto m = static_cast<int64_t>(taps.size());
  const Tensor result = fft_convolve(tensor_of(x, stride), tensor_of(taps, stride), mode);
  const int64_t outputs = outputs_of(n, m, mode);
  ASSERT_EQ(result.num_elements(), outputs);
  const auto values = values_of<T>(result);
  // All outputs of short results, of long ones those at the ends and every 97th.
  const double allowed = bound(x, taps, outputs);
  double worst = 0;
  for (int64_t i = 0; i < outputs; ++i) {
    if (i > 300 && outputs - i > 300 && outputs * m > 3'000'000 && i % 997 != 0) continue;
    const auto wanted = static_cast<double>(definition(x, taps, mode, i));
    worst =
        std::max(worst, std::fabs(static_cast<double>(values[static_cast<size_t>(i)]) - wanted));
  }
  EXPECT_LE(worst, allowed) << "signal " << n << " taps " << m;
}

template <class T>
class FftConvolve : public ::testing::Test {};

using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FftConvolve, FloatTypes);

TYPED_TEST(FftConvolve, OfFewTapsEqualsTheDefinition) {
  for (const int64_t n : {1, 2, 3, 63, 64, 65, 1000, 8191, 8192, 8193, 20'000})
    for (const int64_t m : {1, 2, 8, 9, 31, 32, 33, 47, 57, 64, 72, 75, 89})
      for (const ConvolveMode mode : kModes)
        for (const int64_t stride : {1, -2})
          if (m <= n || mode == ConvolveMode::kFull)
            expect_definition(noise<TypeParam>(n, 1), noise<TypeParam>(m, 2), mode, stride);
}

TYPED_TEST(FftConvolve, OfManyTapsEqualsTheDefinition) {
  for (const int64_t n : {1, 97, 2047, 2048, 2049, 10'000, 70'001})
    for (const int64_t m : {97, 128, 255, 257, 701, 1500, 5000})
      for (const ConvolveMode mode : kModes)
        for (const int64_t stride : {1, -2})
          if (m <= n || mode == ConvolveMode::kFull)
            expect_definition(noise<TypeParam>(n, 1), noise<TypeParam>(m, 2), mode, stride);
}

TYPED_TEST(FftConvolve, OfVeryManyTapsEqualsTheDefinition) {
  expect_definition(noise<TypeParam>(200'000, 1), noise<TypeParam>(30'000, 2), ConvolveMode::kSame);
  expect_definition(noise<TypeParam>(3000, 1), noise<TypeParam>(150'001, 2), ConvolveMode::kFull);
}

TYPED_TEST(FftConvolve, LeavesOutTapsThatCannotMatter) {
  const std::vector<TypeParam> x = noise<TypeParam>(50'000, 3);
  const Tensor wavelet = ricker(4096, 8, dtype_of<TypeParam>());
  const auto taps = values_of<TypeParam>(wavelet);
  for (const ConvolveMode mode : kModes) expect_definition(x, taps, mode);
  std::vector<TypeParam> padded(5000, 0);  // the same taps between zeros
  const std::vector<TypeParam> few = noise<TypeParam>(40, 5);
  std::copy(few.begin(), few.end(), padded.begin() + 1234);
  const auto plain =
      values_of<TypeParam>(fft_convolve(tensor_of(x), tensor_of(few), ConvolveMode::kFull));
  const auto shifted =
      values_of<TypeParam>(fft_convolve(tensor_of(x), tensor_of(padded), ConvolveMode::kFull));
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), shifted.begin() + 1234));
  EXPECT_EQ(shifted[1233], 0);
}

TYPED_TEST(FftConvolve, OfNoTapButZeroIsZero) {
  const std::vector<TypeParam> x = noise<TypeParam>(100, 3);
  EXPECT_EQ(values_of<TypeParam>(fft_convolve(tensor_of(x), tensor_of<TypeParam>({0, 0, 0}))),
            std::vector<TypeParam>(100, 0));
}

TYPED_TEST(FftConvolve, OfFewTapsIsTheSameWhereverTheSignalIsCut) {
  const std::vector<TypeParam> x = noise<TypeParam>(20'000, 1);
  const Tensor taps = tensor_of(noise<TypeParam>(57, 2));
  const auto all = values_of<TypeParam>(fft_convolve(tensor_of(x), taps, ConvolveMode::kValid));
  for (const int64_t cut : {1, 7, 8193}) {
    const auto part = values_of<TypeParam>(fft_convolve(
        tensor_of(std::vector<TypeParam>(x.begin() + cut, x.end())), taps, ConvolveMode::kValid));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + cut)) << cut;
  }
}

TYPED_TEST(FftConvolve, ChoosesByTheTapsThatCount) {
  const bool single = sizeof(TypeParam) == 4;
  const int64_t most = single ? 90 : 75;
  EXPECT_EQ(choose_method<TypeParam>(most).block, 0);
  EXPECT_EQ(choose_method<TypeParam>(most + 1).block, 8192);
  double before = 0;
  for (int64_t m = 1; m < 13'000; m += 1 + m / 7) {
    const ConvolveMethod method = choose_method<TypeParam>(m);
    EXPECT_GE(method.nanoseconds, before) << m;
    EXPECT_TRUE(method.block == 0 || 2 * method.block >= 5 * m) << m;
    before = method.nanoseconds;
  }
  std::vector<TypeParam> taps(100, 0);
  taps[50] = 1;
  EXPECT_EQ(fft_convolve_method(tensor_of(taps)),
            std::string("direct, 1 of 100 taps used, about ") + (single ? "0.30" : "0.50") +
                " ns per sample and core");
}

TYPED_TEST(FftConvolve, IsTheSameForAnyThreadsAndLevel) {
  const Tensor x = tensor_of(noise<TypeParam>(3 * kMorselRows + 5, 1));
  const SimdLevel best = simd_level();
  for (const int64_t m : {1, 20, 40, 57, 64, 75, 500, 3000}) {
    const Tensor taps = tensor_of(noise<TypeParam>(m, 2));
    const Tensor result = fft_convolve(x, taps);
    EXPECT_TRUE(same_for_any_threads([&] { return fft_convolve(x, taps); }));
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2})
      if (level < best) {
        set_simd_level(level);
        EXPECT_TRUE(same_bits(result, fft_convolve(x, taps))) << simd_level_name(level) << ' ' << m;
        set_simd_level(best);
      }
  }
}

// By each method just the outputs that a sample which is not finite reaches are not finite.
TYPED_TEST(FftConvolve, OfNanOrInfSpoilsTheOutputsOfItsTaps) {
  constexpr TypeParam inf = std::numeric_limits<TypeParam>::infinity();
  constexpr TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const std::vector<TypeParam> clean = noise<TypeParam>(100'000, 1);
  for (const int64_t m : {1, 50, 75, 500, 5000})
    for (const TypeParam bad : {nan, inf, -inf})
      for (const ConvolveMode mode : kModes) {
        std::vector<TypeParam> x = clean, zeros = clean;
        std::vector<bool> is_bad(x.size());
        for (const int64_t at : {0, 1, 50'000, 50'001, 50'200, 60'000, 99'999}) {
          x[static_cast<size_t>(at)] = bad;
          zeros[static_cast<size_t>(at)] = 0;
          is_bad[static_cast<size_t>(at)] = true;
        }
        const Tensor taps = tensor_of(noise<TypeParam>(m, 2));
        const Tensor result = fft_convolve(tensor_of(x), taps, mode);
        const auto found = values_of<TypeParam>(result);
        const auto wanted = values_of<TypeParam>(fft_convolve(tensor_of(zeros), taps, mode));
        const int64_t skipped = mode == ConvolveMode::kFull   ? 0
                                : mode == ConvolveMode::kSame ? (m - 1) / 2
                                                              : m - 1;
        int64_t since = m;  // samples since the last bad one
        int64_t sample = 0;
        int64_t wrong = 0;
        for (int64_t i = 0; i < static_cast<int64_t>(found.size()); ++i) {
          for (; sample <= i + skipped; ++sample)
            since = sample < 100'000 && is_bad[static_cast<size_t>(sample)] ? 0 : since + 1;
          const auto at = static_cast<size_t>(i);
          wrong += since < m ? std::isfinite(found[at]) : found[at] != wanted[at];
        }
        EXPECT_EQ(wrong, 0) << m << ' ' << static_cast<int>(mode) << ' ' << bad;
        if (mode == ConvolveMode::kSame) {
          EXPECT_TRUE(same_for_any_threads([&] { return fft_convolve(tensor_of(x), taps, mode); }));
        }
      }
  const std::vector<TypeParam> all(50'000, nan);
  for (const TypeParam value :
       values_of<TypeParam>(fft_convolve(tensor_of(all), tensor_of(noise<TypeParam>(300, 2)))))
    ASSERT_TRUE(std::isnan(value));
}

TEST(FftConvolveOfOthers, IsRefused) {
  const Tensor x = tensor_of<double>({1, 2, 3});
  const Tensor none = tensor_of<double>({});
  const Tensor taps = tensor_of<double>({1, 2, 3, 4});
  EXPECT_EQ(fft_convolve(none, taps).num_elements(), 0);
  EXPECT_THROW(fft_convolve(x, none), InvalidArgumentError);
  EXPECT_THROW(fft_convolve(x, taps), InvalidArgumentError);
  EXPECT_THROW(fft_convolve(x, taps, ConvolveMode::kValid), InvalidArgumentError);
  EXPECT_EQ(fft_convolve(x, taps, ConvolveMode::kFull).num_elements(), 6);
  EXPECT_THROW(fft_convolve(x, tensor_of<float>({1})), TypeMismatchError);
  EXPECT_THROW(fft_convolve(tensor_of<int64_t>({1}), tensor_of<int64_t>({1})), TypeMismatchError);
  EXPECT_THROW(fft_convolve(Tensor(TypeId::kFloat64, {1, 3}, x.buffer()), x), TypeMismatchError);
  try {
    fft_convolve(x, taps);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "fft_convolve: taps are longer than the signal: taps=4, signal=3; shorten the taps or "
        "pass mode='full'");
  }
}

}  // namespace
}  // namespace hr
