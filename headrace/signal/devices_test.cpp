// SPDX-License-Identifier: Apache-2.0
// The operators of this room have the host's bits on every device.
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/signal/fft_convolve.h"
#include "headrace/signal/non_max_suppression.h"
#include "headrace/signal/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

namespace hr {

namespace {

using testing::tensor_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class SignalDevices : public testing::OnDevices {};

INSTANTIATE_TEST_SUITE_P(Device, SignalDevices, ::testing::ValuesIn(testing::device_places()),
                         SignalDevices::name);

// Beats on a noisy line, with plateaus: of few values, so that many are equal.
template <class T>
std::vector<T> beats(int64_t count, double noise) {
  std::mt19937 random(1);
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const double beat = 80 * std::exp(-std::pow(static_cast<double>(i % 211) / 9 - 5, 2));
    values[static_cast<size_t>(i)] = static_cast<T>(
        std::floor(beat + noise * std::uniform_real_distribution<double>(0, 30)(random)));
  }
  return values;
}

}  // namespace

TEST_P(SignalDevices, NonMaxSuppression) {
  for (const int64_t window : {1, 3, 7, 9, 11, 65, 301, 5001, 999'999})
    for (const int64_t size : testing::edge_sizes()) {
      if (size > 2000 && window > 301 && !GetParam().is_gpu()) continue;
      for (const double threshold : {-kInf, 40.0, 1e300})
        expect_same({tensor_of(beats<double>(size, 1))}, [=](std::span<const Tensor> in) {
          return non_max_suppression(in[0], window, threshold);
        });
    }
  const auto work = [](std::span<const Tensor> in) { return non_max_suppression(in[0], 31, 20.5); };
  expect_same({tensor_of(beats<float>(20'000, 1))}, work);
  expect_same({tensor_of(beats<uint8_t>(20'000, 1))}, work);
  expect_same({tensor_of(beats<int64_t>(20'000, 0), -2)}, work);
  std::vector<double> odd = beats<double>(5000, 1);
  for (size_t i = 0; i < odd.size(); i += 37) odd[i] = i % 2 != 0 ? kNan : -kInf;
  std::fill(odd.begin() + 1000, odd.begin() + 1200, kNan);
  odd[1100] = -kInf;
  odd[2000] = kInf;
  for (const double threshold : {-kInf, 0.0})
    expect_same({tensor_of(odd)}, [=](std::span<const Tensor> in) {
      return non_max_suppression(in[0], 31, threshold);
    });
}

TEST_P(SignalDevices, ConvolutionWithFewTaps) {
  for (const ConvolveMode mode : {ConvolveMode::kFull, ConvolveMode::kSame, ConvolveMode::kValid})
    for (const int64_t taps : {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 75}) {
      const auto work = [=](std::span<const Tensor> in) {
        return fft_convolve(in[0], in[1], mode);
      };
      for (const int64_t size : {75, 76, 2047, 2048, 2049, 50'000}) {
        std::vector<double> signal = beats<double>(size, 0.7);
        std::vector<double> h(static_cast<size_t>(taps));
        for (size_t k = 0; k < h.size(); ++k) h[k] = 1.0 / static_cast<double>(3 * k + 7);
        expect_same({tensor_of(signal), tensor_of(h)}, work);
        expect_same({tensor_of(signal, -3), tensor_of(h, 2)}, work);
        expect_same({tensor_of(std::vector<float>(signal.begin(), signal.end())),
                     tensor_of(std::vector<float>(h.begin(), h.end()))},
                    work);
        signal[40] = kInf;
        expect_same({tensor_of(signal), tensor_of(h)}, work);
      }
    }
}

// By blocks no order of sums is promised, but a bound, and the same bits in every run.
TEST_P(SignalDevices, ConvolutionByBlocks) {
  const auto check = [&]<class T>(T, int64_t size, int64_t taps, ConvolveMode mode,
                                  int64_t stride) {
    const auto work = [=](std::span<const Tensor> in) { return fft_convolve(in[0], in[1], mode); };
    std::mt19937 random(3);
    std::normal_distribution<double> normal(0, 1);
    std::vector<T> x(static_cast<size_t>(size));
    std::vector<T> h(static_cast<size_t>(taps));
    for (T& value : x) value = static_cast<T>(normal(random));
    for (T& value : h) value = static_cast<T>(normal(random));
    if (size > 30'000) {
      x[1000] = static_cast<T>(kNan);
      x[30'000] = static_cast<T>(kInf);
    }
    const std::vector<Tensor> inputs{tensor_of(x, stride), tensor_of(h, stride)};
    const Tensor like = work(inputs);
    const Tensor made = testing::made_at(GetParam(), inputs, like, work);
    EXPECT_TRUE(testing::same_bits(made, testing::made_at(GetParam(), inputs, like, work)));
    ASSERT_EQ(made.shape(), like.shape());
    double squares = 0;
    for (const T tap : h) squares += static_cast<double>(tap) * static_cast<double>(tap);
    // The headers' bound for each of the two, of samples that are 4 at most.
    const double parts = static_cast<double>((taps + 4095) / 4096);
    const double allowed = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * 16 *
                           std::sqrt(squares) * std::sqrt(2 * 65536.0) * 4 * (1 + parts) / 2;
    double worst = 0;
    for (int64_t i = 0; i < like.num_elements(); ++i) {
      const auto a = static_cast<double>(made.as<T>()[i]);
      const auto b = static_cast<double>(like.as<T>()[i]);
      ASSERT_EQ(a != a, b != b) << "output " << i << " of " << size << ", taps " << taps;
      if (a == a) worst = std::max(worst, std::fabs(a - b));
    }
    EXPECT_LE(worst, allowed) << "size " << size << ", taps " << taps;
  };
  const auto each = [&]<class T>(T type) {
    for (const int64_t taps : {129, 1000, 4095, 4096, 4097, 9000})
      for (const int64_t size : {1, 129, 4097, 8192, 20'000, 70'001})
        for (const ConvolveMode mode :
             {ConvolveMode::kFull, ConvolveMode::kSame, ConvolveMode::kValid})
          if (taps <= size || mode == ConvolveMode::kFull) check(type, size, taps, mode, 1);
    check(type, 50'000, 700, ConvolveMode::kSame, -2);
  };
  each(float{});
  each(double{});
}

TEST_P(SignalDevices, ConvolutionWithTapsThatAreNotFinite) {
  std::vector<double> h(500, 1.0);
  h[250] = kInf;
  const std::vector<Tensor> inputs{tensor_of(beats<double>(30'000, 1)), tensor_of(h)};
  const auto work = [](std::span<const Tensor> in) { return fft_convolve(in[0], in[1]); };
  const Tensor made = testing::made_at(GetParam(), inputs, work(inputs), work);
  for (int64_t i = 0; i < made.num_elements(); ++i)
    ASSERT_TRUE(std::isnan(made.as<double>()[i])) << i;
}

TEST_P(SignalDevices, Windows) {
  std::mt19937_64 random(2);
  for (const Normalize normalize :
       {Normalize::kNone, Normalize::kZscore, Normalize::kMinMax, Normalize::kMax})
    for (const int64_t width : {1, 31, 32, 33, 64, 187, 1000}) {
      std::vector<int64_t> begins(500), lengths(500);
      for (int64_t& begin : begins) begin = static_cast<int64_t>(random() % 12'000) - 1000;
      for (int64_t& length : lengths) length = static_cast<int64_t>(random() % 300);
      begins[0] = std::numeric_limits<int64_t>::min();
      begins[1] = std::numeric_limits<int64_t>::max();
      const auto each = [&](auto x) {
        x[5000] = static_cast<typename decltype(x)::value_type>(kNan);
        x[7000] = static_cast<typename decltype(x)::value_type>(kInf);
        std::fill(x.begin() + 8000, x.begin() + 8500, 1e6f + 3);
        for (size_t i = 9000; i < 10'000; ++i) x[i] += 1e7f;
        for (const int64_t stride : {1, -2}) {
          expect_same({tensor_of(x, stride), tensor_of(begins), tensor_of(lengths)},
                      [=](std::span<const Tensor> in) {
                        return segments(in[0], in[1], in[2], width, normalize);
                      });
          expect_same({tensor_of(x, stride), tensor_of(begins)}, [=](std::span<const Tensor> in) {
            return segments(in[0], in[1], width, normalize);
          });
        }
      };
      each(beats<double>(11'000, 0.7));
      each(beats<float>(11'000, 0.7));
    }
}

}  // namespace hr
