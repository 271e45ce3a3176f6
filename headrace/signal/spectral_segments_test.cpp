// SPDX-License-Identifier: Apache-2.0
// Spectra of segments equal the transforms of segments cut and windowed by hand.
#include "headrace/signal/spectral_segments.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/fft.h"
#include "headrace/signal/spectral_synthesis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>

namespace hr {
namespace {

using namespace testing;
using Values = std::vector<double>;
using Terms = std::vector<std::complex<double>>;

Values noise(int64_t count) {
  Values values;
  uint64_t state = 17;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<double>(state >> 11) * 0x1p-53);
  }
  return values;
}

/// The terms of segment k, without its mean.
Terms terms_by_hand(const Values& x, const Values& window, const SpectralSegments& options,
                    int64_t k) {
  Values segment;
  for (int64_t i = 0; i < std::ssize(window); ++i) {
    const int64_t at = options.first + k * options.step + i;
    segment.push_back(at >= 0 && at < std::ssize(x) ? x[static_cast<size_t>(at)] : 0);
  }
  double mean = 0;
  for (const double each : segment) mean += each / static_cast<double>(segment.size());
  for (size_t i = 0; i < segment.size(); ++i)
    segment[i] = (segment[i] - (options.detrend == Detrend::kNone ? 0 : mean)) * window[i];
  const auto all = values_of<std::complex<double>>(fft(tensor_of(segment), options.n));
  return {all.begin(), all.begin() + num_terms(options)};
}

TEST(SpectralSegments, TermsAndPowersOfEachSegment) {
  const Values x = noise(5000);
  for (const int64_t length : {1, 2, 7, 64, 65, 100, 513, 1100})
    for (const int64_t n : {length, 2 * length + 1, int64_t{2048}})
      for (const bool one_sided : {true, false}) {
        if (n < length) continue;
        SpectralSegments options{.detrend = Detrend::kConstant,
                                 .first = -length / 2,
                                 .step = length / 2 + 1,
                                 .segments = 11,
                                 .n = n,
                                 .one_sided = one_sided,
                                 .scale = 0.5};
        const Values window = noise(length);
        const auto found = values_of<std::complex<double>>(
            spectral_segments(tensor_of(x), nullptr, tensor_of(window), options));
        options.spectrum = Spectrum::kPower;
        const auto powers =
            values_of<double>(spectral_segments(tensor_of(x), nullptr, tensor_of(window), options));
        size_t at = 0;
        for (int64_t k = 0; k < options.segments; ++k) {
          int64_t number = 0;
          for (const auto& term : terms_by_hand(x, window, options, k)) {
            ASSERT_NEAR(std::abs(found[at] - 0.5 * term), 0, 1e-10) << length << ' ' << n;
            const bool twice = one_sided && number > 0 && 2 * number != n;
            ASSERT_NEAR(powers[at], (twice ? 1 : 0.5) * std::norm(term), 1e-9);
            ++at;
            ++number;
          }
        }
        ASSERT_EQ(at, found.size());
      }
}

TEST(SpectralSegments, MeansHaveTheSameBitsForAnyThreads) {
  const Tensor x = tensor_of(noise(int64_t{1} << 18));
  const Tensor window = tensor_of(noise(256));
  SpectralSegments options{
      .spectrum = Spectrum::kCross, .step = 100, .segments = 2600, .n = 256, .mean = true};
  const int before = threads();
  std::vector<Terms> results;
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    results.push_back(values_of<std::complex<double>>(spectral_segments(x, &x, window, options)));
  }
  set_threads(before);
  for (const Terms& each : results)
    EXPECT_EQ(std::memcmp(each.data(), results[0].data(), each.size() * sizeof(each[0])), 0);
}

TEST(SpectralSynthesis, GivesTheSignalBack) {
  for (const int64_t size : {1, 64, 1000, 70'000})
    for (const int64_t length : {2, 65, 256, 1100}) {
      const Values x = noise(size);
      Values window = noise(length);
      for (double& each : window) each += 0.5;
      const int64_t half = length / 2;
      const int64_t step = half;
      const int64_t segments = (size + 2 * half - length + step - 1) / step + 1;
      const SpectralSegments there{.first = -half, .step = step, .segments = segments, .n = length};
      const SpectralSynthesis back{.step = step, .n = length, .first = half, .count = size};
      const Tensor terms = spectral_segments(tensor_of(x), nullptr, tensor_of(window), there);
      const auto found = values_of<double>(spectral_synthesis(terms, tensor_of(window), back));
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(found[i], x[i], 1e-10) << size << ' ' << length << ' ' << i;
    }
}

TEST(SpectralSegments, RefusesWhatDoesNotFit) {
  const Tensor x = tensor_of(noise(100));
  const Tensor window = tensor_of(noise(10));
  EXPECT_THROW(spectral_segments(x, nullptr, window, {.segments = 1, .n = 9}),
               InvalidArgumentError);
  EXPECT_THROW(spectral_segments(x, nullptr, window, {.step = 0, .segments = 1, .n = 10}),
               InvalidArgumentError);
  EXPECT_THROW(spectral_segments(x, nullptr, window, {.n = 10, .mean = true}),
               InvalidArgumentError);
  EXPECT_THROW(spectral_segments(x, &x, window, {.segments = 1, .n = 10}), InvalidArgumentError);
  EXPECT_THROW(spectral_synthesis(x, window, {.n = 10}), Error);
  EXPECT_EQ(spectral_segments(x, nullptr, window, {.segments = 0, .n = 10}).num_elements(), 0);
}

}  // namespace
}  // namespace hr
