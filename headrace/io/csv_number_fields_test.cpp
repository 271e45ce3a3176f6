// SPDX-License-Identifier: Apache-2.0
// Number fields of a tile against strtod, strtof and strtoll, at every SIMD level.
#include "headrace/base/simd.h"
#include "headrace/io/csv_fields_kernels.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace hr {
namespace {

class NumberFields : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > best_simd_level()) GTEST_SKIP() << "not on this machine";
    set_simd_level(GetParam());
    if (!cpu::has_field_kernels()) GTEST_SKIP() << "no kernels at this level";
  }
  void TearDown() override { set_simd_level(best_simd_level()); }
};

template <class T>
struct Parsed {
  std::vector<T> values;
  std::vector<bool> other;
};

// Each word as the second of three fields, tile by tile.
template <class T>
Parsed<T> parse(const std::vector<std::string>& words, const char* line_end = "\n") {
  CsvSyntax syntax;
  syntax.prepare();
  std::string text(kCsvPadding, '7');
  for (const std::string& word : words) text += "12," + word + ",34" + line_end;
  const size_t end = text.size();
  text.append("\n").append(kCsvPadding, '8');
  std::vector<int32_t> room(static_cast<size_t>(cpu::csv_fields_room(kCsvTileBytes)) /
                            sizeof(int32_t));
  Parsed<T> result{std::vector<T>(words.size() + 1, T{77}), std::vector<bool>(words.size())};
  std::vector<int32_t> others(words.size());
  const char* p = text.data() + kCsvPadding;
  size_t row = 0;
  while (row < words.size()) {
    const CsvFields fields =
        cpu::index_fields(syntax, 3, p, text.data() + end, 1 << 20, room.data());
    EXPECT_GT(fields.rows, 0);
    if (fields.rows == 0) break;
    const int64_t count =
        cpu::parse_number_fields(fields, 1, result.values.data() + row, others.data());
    for (int64_t i = 0; i < count; ++i)
      result.other[row + static_cast<size_t>(others[static_cast<size_t>(i)])] = true;
    row += static_cast<size_t>(fields.rows);
    p = fields.next;
  }
  EXPECT_EQ(result.values.back(), T{77});  // nothing behind the last row
  result.values.pop_back();
  return result;
}

template <class T>
T expected(const std::string& word) {
  if constexpr (std::is_same_v<T, double>) return std::strtod(word.c_str(), nullptr);
  if constexpr (std::is_same_v<T, float>) return std::strtof(word.c_str(), nullptr);
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(std::strtoull(word.c_str(), nullptr, 10));
  return static_cast<T>(std::strtoll(word.c_str(), nullptr, 10));
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a == b && std::signbit(a) == std::signbit(b);
  return a == b;
}

// All words are numbers, and the kernel takes all but a few of them.
template <class T>
void expect_exact(const std::vector<std::string>& words, double most_others = 0) {
  for (const char* line_end : {"\n", "\r\n"}) {
    const Parsed<T> parsed = parse<T>(words, line_end);
    size_t others = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      others += parsed.other[i];
      if (!parsed.other[i]) {
        ASSERT_TRUE(same(parsed.values[i], expected<T>(words[i]))) << words[i];
      }
    }
    EXPECT_LE(static_cast<double>(others), most_others * static_cast<double>(words.size()));
  }
}

std::string shortest(double value) {
  char text[400];
  const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed);
  return {text, result.ptr};
}

std::string decimals(double value, int places) {
  char text[400];
  return {text, static_cast<size_t>(std::snprintf(text, sizeof text, "%.*f", places, value))};
}

TEST_P(NumberFields, Integers) {
  std::mt19937_64 random(1);
  std::vector<std::string> words = {"0", "-0", "1", "-1", "9999999999999999", "-999999999999999"};
  for (int i = 0; i < 100'000; ++i)
    words.push_back(std::to_string(static_cast<int64_t>(random()) >> (11 + random() % 52)));
  expect_exact<int64_t>(words, 0.02);  // 16 digits behind a minus with care
  expect_exact<double>(words, 0.0001);
  expect_exact<float>(words);
}

TEST_P(NumberFields, NarrowIntegers) {
  std::vector<std::string> words;
  for (int64_t x : {0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2147483647})
    for (const int64_t y : {x, -x, -x - 1}) words.push_back(std::to_string(y));
  const auto check = [&]<class T>(std::type_identity<T>) {
    const Parsed<T> parsed = parse<T>(words);
    for (size_t i = 0; i < words.size(); ++i) {
      const int64_t value = std::stoll(words[i]);
      const bool fits = value >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
                        value <= static_cast<int64_t>(std::numeric_limits<T>::max());
      EXPECT_EQ(parsed.other[i], !fits) << words[i];
      if (fits) {
        EXPECT_EQ(parsed.values[i], static_cast<T>(value));
      }
    }
  };
  check(std::type_identity<int8_t>{});
  check(std::type_identity<int16_t>{});
  check(std::type_identity<int32_t>{});
  check(std::type_identity<uint8_t>{});
  check(std::type_identity<uint16_t>{});
  check(std::type_identity<uint32_t>{});
  const Parsed<uint64_t> large = parse<uint64_t>({"0", "9999999999999999", "-1"});
  EXPECT_EQ(large.values[1], 9999999999999999U);
  EXPECT_EQ(large.other, (std::vector<bool>{false, false, true}));
}

TEST_P(NumberFields, ShortDecimals) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::vector<std::string> words = {"0.0", "-0.0", ".5", "-.25", "0.1", "123456789012.34"};
  for (int i = 0; i < 100'000; ++i)
    words.push_back(decimals(normal(random) * std::pow(10, i % 6), static_cast<int>(random() % 8)));
  expect_exact<double>(words);
  expect_exact<float>(words);
}

TEST_P(NumberFields, ShortestDoubles) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  std::vector<std::string> words = {"0.30000000000000004",
                                    "-9007199254740993.0",
                                    "0.1",
                                    "-5.5",
                                    "9223372036854775807",
                                    "0.00000000000000000000000000001"};
  for (int i = 0; i < 200'000; ++i) {
    const double x = uniform(random) * std::pow(10, static_cast<double>(random() % 24) - 8);
    words.push_back(shortest(i % 2 ? x : -x));
  }
  expect_exact<double>(words, 0.05);  // more than 19 digits with care
  expect_exact<float>(words, 0.05);
}

TEST_P(NumberFields, Exponents) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  const auto text_of = [](const char* format, double x) {
    char text[60];
    return std::string(text, static_cast<size_t>(std::snprintf(text, sizeof text, format, x)));
  };
  std::vector<std::string> words = {"1e-05", "-2E+10", "0e+00", "-0.0e-99", "9.9e+38", ".5e-01"};
  for (int i = 0; i < 100'000; ++i) {
    const double x = normal(random) * std::pow(10, static_cast<double>(random() % 60) - 30);
    constexpr const char* kFormats[] = {"%.18e", "%.6e", "%.17g", "%.0e", "%g"};
    words.push_back(text_of(kFormats[i / 50 % 5], x));
  }
  expect_exact<double>(words, 0.05);  // more than 19 digits with care
  expect_exact<float>(words, 0.05);
}

TEST_P(NumberFields, TiesBetweenFloats) {
  std::mt19937_64 random(4);
  std::vector<std::string> words;
  for (int i = 0; i < 100'000; ++i) {
    const auto odd = static_cast<double>((random() >> 40) * 2 + 1);
    words.push_back(shortest(std::ldexp(odd, -static_cast<int>(random() % 20))));
  }
  expect_exact<float>(words, 0.5);  // more than 19 digits with care
  expect_exact<double>(words, 0.5);
}

TEST_P(NumberFields, LeavesOtherShapes) {
  const std::vector<std::string> odd = {"",
                                        "-",
                                        ".",
                                        "-.",
                                        "5.",
                                        "-5.",
                                        "1..2",
                                        "1.2.3",
                                        "--1",
                                        "1-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1e5",
                                        "1E5",
                                        "nan",
                                        "inf",
                                        "NA",
                                        "x",
                                        "0x10",
                                        "1_000",
                                        "1:2",
                                        "1/2",
                                        "12-3",
                                        "1.-2",
                                        "...",
                                        "-1.5-",
                                        ".5.",
                                        "1.2.",
                                        "\xC3\xA4",
                                        "1234567890.12345678901234567890",
                                        "12345678901234567890.5",
                                        "....................5",
                                        "0000000000000000000000000000000001.5",
                                        "1234567890123456.78901x",
                                        "-----------------"};
  for (const size_t before : {0U, 1U, 5U, 8U}) {
    std::vector<std::string> words;
    for (const std::string& word : odd) {
      for (size_t i = 0; i < before; ++i) words.push_back("-12.5");
      words.push_back(word);
    }
    const Parsed<double> parsed = parse<double>(words);
    const Parsed<float> singles = parse<float>(words);
    for (size_t i = 0; i < words.size(); ++i) {
      const bool is_odd = i % (before + 1) == before;
      EXPECT_EQ(parsed.other[i], is_odd) << words[i];
      EXPECT_EQ(singles.other[i], is_odd) << words[i];
      if (!is_odd) {
        EXPECT_EQ(parsed.values[i], -12.5);
      }
    }
  }
  const std::vector<std::string> no_integers = {
      "1.5", "-1.0", ".", "", "-", "1-", "12345678901234567", "1e3", "+1"};
  for (const bool other : parse<int64_t>(no_integers).other) EXPECT_TRUE(other);
}

TEST_P(NumberFields, AnyBytes) {
  std::mt19937_64 random(5);
  constexpr std::string_view kBytes = "0123456789.-+eE x/:";
  constexpr const char* kTails[] = {"e-05", "E+12", "e+0", "e-", "5e-01"};
  std::vector<std::string> words;
  for (int i = 0; i < 200'000; ++i) {
    std::string word;
    for (size_t n = random() % 36; n > 0; --n)
      word += kBytes[random() % (random() % 4 ? 10 : kBytes.size())];
    if (random() % 4 == 0) word += kTails[random() % std::size(kTails)];
    words.push_back(word);
  }
  const Parsed<double> doubles = parse<double>(words);
  const Parsed<int64_t> integers = parse<int64_t>(words);
  size_t taken = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool plain = word.find_first_of("+ x/:") >= word.find_first_of("eE");
    char* end = nullptr;
    if (!doubles.other[i]) {
      ++taken;
      const double value = std::strtod(word.c_str(), &end);
      ASSERT_TRUE(plain && *end == '\0' && !word.empty()) << word;
      ASSERT_TRUE(same(doubles.values[i], value)) << word;
    }
    if (!integers.other[i]) {
      const int64_t value = std::strtoll(word.c_str(), &end, 10);
      ASSERT_TRUE(plain && *end == '\0' && !word.empty()) << word;
      ASSERT_EQ(integers.values[i], value) << word;
    }
  }
  EXPECT_GT(taken, words.size() / 8);
}

INSTANTIATE_TEST_SUITE_P(Levels, NumberFields,
                         testing::Values(SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512));

}  // namespace
}  // namespace hr
