// SPDX-License-Identifier: Apache-2.0
// Words to numbers, block by block in cache.
#include "headrace/algo/math/vmath.h"
#include "headrace/algo/random/random_kernels.h"
#include "headrace/algo/random/random_math.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace hr::cpu {
namespace {

constexpr int64_t kMorsel = int64_t{1} << 14;  // draws
constexpr int64_t kTogether = 512;             // draws whose words lie in the first-level cache

/// `make(first, count)` for short runs of draws; runs begin at a multiple of kTogether.
template <class Make>
void for_runs(int64_t count, const Make& make) {
  parallel_morsels(count, kMorsel, {}, [&](const Morsel& morsel) {
    for (int64_t at = morsel.begin; at < morsel.end; at += kTogether)
      make(at, std::min(kTogether, morsel.end - at));
  });
}

void normal_run(const uint64_t* words, double* out) {
  constexpr int64_t kPairs = kTogether / 2;
  double radius[kPairs], angle[kPairs], sine[kPairs], cosine[kPairs];
  for (int64_t i = 0; i < kPairs; ++i) {
    radius[i] = positive_unit(words[2 * i]);
    angle[i] = unit(words[2 * i + 1]) * (2.0 * std::numbers::pi);
  }
  unary_function64(VectorFunction::kLog)(radius, radius, kPairs);
  vector_sin_cos(angle, sine, cosine, kPairs);
  for (int64_t i = 0; i < kPairs; ++i) {
    const double length = std::sqrt(-2.0 * radius[i]);
    out[2 * i] = length * cosine[i];
    out[2 * i + 1] = length * sine[i];
  }
}

void exponential_run(const uint64_t* words, double* out) {
  for (int64_t i = 0; i < kTogether; ++i) out[i] = positive_unit(words[i]);
  unary_function64(VectorFunction::kLog)(out, out, kTogether);
  for (int64_t i = 0; i < kTogether; ++i) out[i] = 0.0 - out[i];
}

void words_of_run(RandomKey key, int64_t first, uint64_t* words) {
  philox_words(key, static_cast<uint64_t>(first) / 2, kTogether / 2, words);
}

template <class T>
void fill_floats(FloatDraw draw, RandomKey key, int64_t count, T* out) {
  for_runs(count, [&](int64_t first, int64_t run) {
    uint64_t words[kTogether];
    double made[kTogether];
    words_of_run(key, first, words);
    if (draw == FloatDraw::kNormal) normal_run(words, made);
    if (draw == FloatDraw::kExponential) exponential_run(words, made);
    if (draw != FloatDraw::kUniform)
      for (int64_t i = 0; i < run; ++i) out[first + i] = static_cast<T>(made[i]);
    else if constexpr (std::is_same_v<T, float>)
      for (int64_t i = 0; i < run; ++i) out[first + i] = unit_of_float(words[i]);
    else
      for (int64_t i = 0; i < run; ++i) out[first + i] = unit(words[i]);
  });
}

/// ln(k!), by Stirling's series from 10 on: an error below 1e-14.
double log_factorial(double k) {
  if (k < 10.0) {
    double product = 1.0;
    for (double factor = 2.0; factor <= k; ++factor) product *= factor;
    return std::log(product);
  }
  const double inverse = 1.0 / (k + 1.0), square = inverse * inverse;
  const double series =
      inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return (k + 0.5) * std::log(k + 1.0) - (k + 1.0) + 0.5 * std::log(2.0 * std::numbers::pi) +
         series;
}

int64_t poisson_by_inversion(double mean, uint64_t word) {
  double below = unit(word), chance = std::exp(-mean);
  int64_t count = 0;
  for (; below >= chance && chance > 0.0; ++count) {
    below -= chance;
    chance *= mean / static_cast<double>(count + 1);
  }
  return count;
}

int64_t poisson_by_rejection(double mean, RandomKey key, uint64_t place) {
  const double root = std::sqrt(mean), log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), inside = 0.9277 - 3.6224 / (b - 2.0);
  for (uint32_t attempt = 0;; ++attempt) {
    const PhiloxBlock block = philox_block(key, place, attempt);
    const double u = unit(philox_word(block, 0)) - 0.5, v = positive_unit(philox_word(block, 1));
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= inside) return static_cast<int64_t>(k);
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    const double log_chance = k * log_mean - mean - log_factorial(k);
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <= log_chance)
      return static_cast<int64_t>(k);
  }
}

}  // namespace

void random_floats(FloatDraw draw, RandomKey key, int64_t count, double* out) {
  fill_floats(draw, key, count, out);
}

void random_floats(FloatDraw draw, RandomKey key, int64_t count, float* out) {
  fill_floats(draw, key, count, out);
}

void random_integers(uint64_t low, uint64_t range, RandomKey key, int64_t count, uint64_t* out) {
  const uint64_t bias = range == 0 ? 0 : (0 - range) % range;
  for_runs(count, [&](int64_t first, int64_t run) {
    uint64_t words[kTogether];
    words_of_run(key, first, words);
    for (int64_t i = 0; i < run; ++i)
      out[first + i] =
          low + (range == 0 ? words[i] : bounded(key, first + i, words[i], range, bias));
  });
}

void random_poisson(double mean, RandomKey key, int64_t count, int64_t* out) {
  constexpr double kInversionBelow = 10.0;
  for_runs(count, [&](int64_t first, int64_t run) {
    uint64_t words[kTogether];
    if (mean < kInversionBelow) words_of_run(key, first, words);
    for (int64_t i = 0; i < run; ++i)
      out[first + i] = mean < kInversionBelow
                           ? poisson_by_inversion(mean, words[i])
                           : poisson_by_rejection(mean, key, static_cast<uint64_t>(first + i));
  });
}

}  // namespace hr::cpu
