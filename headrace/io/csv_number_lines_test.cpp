// SPDX-License-Identifier: Apache-2.0
// Number lines against strtod and strtof, at every SIMD level of this machine.
#include "headrace/base/simd.h"
#include "headrace/io/csv_number_lines_kernels.h"
#include "headrace/io/csv_syntax.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace hr {
namespace {

class NumberLines : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > best_simd_level()) GTEST_SKIP() << "not on this machine";
    set_simd_level(GetParam());
  }
  void TearDown() override { set_simd_level(best_simd_level()); }
};

std::string line_of(double value, const char* end = "\n") {
  char text[64];
  const int size = std::snprintf(text, sizeof text, "%.18e%s", value, end);
  return {text, static_cast<size_t>(size)};
}

template <class T>
T expected(const std::string& line) {
  if constexpr (sizeof(T) == 8) return std::strtod(line.c_str(), nullptr);
  return std::strtof(line.c_str(), nullptr);
}

// The values of the lines that were parsed; the rest of the text goes to *rest.
template <class T>
std::vector<T> parse(std::string text, int64_t most, std::string* rest = nullptr) {
  const auto size = static_cast<int64_t>(text.size());
  text.append("\n").append(kCsvPadding, '\0');
  std::vector<T> values(static_cast<size_t>(most) + 1, T{-77});
  int64_t count = -1;
  const char* stop =
      cpu::parse_number_lines(text.data(), text.data() + size, most, values.data(), &count);
  EXPECT_LE(count, most);
  EXPECT_EQ(values[static_cast<size_t>(most)], T{-77});  // nothing behind what was asked for
  const char* const end = text.data() + size;
  if (rest) *rest = std::string(stop, static_cast<size_t>(stop < end ? end - stop : 0));
  values.resize(static_cast<size_t>(count));
  return values;
}

template <class T>
void expect_exact(const std::vector<double>& numbers, const char* end) {
  std::vector<std::string> lines;
  std::string text;
  for (const double x : numbers) {
    lines.push_back(line_of(x, end));
    text += lines.back();
  }
  std::string rest;
  const std::vector<T> values = parse<T>(text, static_cast<int64_t>(lines.size()), &rest);
  ASSERT_EQ(values.size(), lines.size());
  EXPECT_EQ(rest, "");
  for (size_t i = 0; i < lines.size(); ++i) {
    const T want = expected<T>(lines[i]);
    ASSERT_TRUE(values[i] == want && std::signbit(values[i]) == std::signbit(want)) << lines[i];
  }
}

TEST_P(NumberLines, RandomBits) {
  std::mt19937_64 random(1);
  std::vector<double> numbers;
  while (numbers.size() < 200'000) {
    const auto x = std::bit_cast<double>(random());
    if (std::isfinite(x) && std::abs(x) < 1e99 && std::abs(x) > 1e-98) numbers.push_back(x);
  }
  expect_exact<double>(numbers, "\n");
  expect_exact<float>(numbers, "\r\n");
}

TEST_P(NumberLines, ExactAndTied) {
  std::mt19937_64 random(2);
  std::vector<double> numbers = {0.0, -0.0, 1.0, -0.5, 9.5, 1e15, 1e18, 1e22, 1e23, 9e98, 1e-98};
  for (int i = 0; i < 100'000; ++i) {
    // Halfway between two floats, and near to it.
    const auto odd = static_cast<double>((random() >> 40) * 2 + (i % 3 != 0));
    numbers.push_back(std::ldexp(odd, static_cast<int>(random() % 160) - 100));
  }
  for (int e = -149; e <= 127; ++e) numbers.push_back(std::ldexp(1.0, e));
  numbers.push_back(std::numeric_limits<float>::max());
  numbers.push_back(3.4028235677973366e38);  // halfway to infinity
  expect_exact<double>(numbers, "\r\n");
  expect_exact<float>(numbers, "\n");
}

TEST_P(NumberLines, NineteenDigitTies) {
  // 2^53 + 1 and neighbours with more digits than a double has.
  std::string text;
  std::vector<std::string> lines = {
      "9.007199254740993000e+15\n", "9.007199254740992999e+15\n", "9.007199254740993001e+15\n",
      "9.007199254740995000e+15\n", "9.223372036854775295e+18\n", "9.999999999999999999e+00\n",
      "1.000000000000000000e+00\n", "1.000000000000000001e+00\n", "4.503599627370497500e+15\n"};
  for (int i = 0; i < 16; ++i) text += lines[static_cast<size_t>(i) % lines.size()];
  const std::vector<double> values = parse<double>(text, 16);
  ASSERT_EQ(values.size(), 16U);
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(values[i], expected<double>(lines[i % lines.size()]));
}

TEST_P(NumberLines, StopsAtOtherShapes) {
  const std::string number = line_of(-0.125);
  for (const std::string other :
       {"\n", "1\n", "nan\n", "x.125000000000000000e-01\n", "1x125000000000000000e-01\n",
        "1.12500000000000000/e-01\n", "1.1250000:0000000000e-01\n", "1.125000000000000000E+01\n",
        "1.125000000000000000x+01\n", "1.125000000000000000e,01\n", "1.125000000000000000e/01\n",
        "1.125000000000000000e+1x\n", "1.125000000000000000e+100\n", "1.125000000000000000e+01,\n",
        "+1.125000000000000000e+01\n", "--.125000000000000000e+01\n",
        "1.125000000000000000e+01\rx\n"}) {
    const bool parsed = other.find('E') != std::string::npos;  // the careful way takes both cases
    for (const size_t before : {0U, 1U, 7U, 8U, 20U}) {
      std::string text;
      for (size_t i = 0; i < before; ++i) text += number;
      const std::string tail = other + number + number + number;
      std::string rest;
      const auto values = parse<double>(text + tail, 100, &rest);
      if (parsed) {
        EXPECT_EQ(values.size(), before + 4) << other;
      } else {
        EXPECT_EQ(values.size(), before) << other;
        EXPECT_EQ(rest, tail);
      }
      for (size_t i = 0; i < std::min(before, values.size()); ++i) EXPECT_EQ(values[i], -0.125);
    }
  }
}

TEST_P(NumberLines, CountsAndEnds) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += line_of(i % 2 ? i : -i);
  for (int64_t most = 0; most <= 41; ++most) {
    std::string rest;
    const auto values = parse<double>(text, most, &rest);
    ASSERT_EQ(static_cast<int64_t>(values.size()), std::min<int64_t>(most, 40));
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i % 2 ? double(i) : -double(i));
  }
  text.pop_back();  // the reader ends the last line
  EXPECT_EQ(parse<double>(text, 40).size(), 40U);
  EXPECT_EQ(parse<float>("", 5).size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Levels, NumberLines,
                         testing::Values(SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512));

}  // namespace
}  // namespace hr
