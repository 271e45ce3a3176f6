// SPDX-License-Identifier: Apache-2.0
// Numbers as text, against std::to_chars.
#include "headrace/algo/math/number_text_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hr {
namespace {

template <class T>
std::string written(T value) {
  char room[kNumberRoom];
  return {room, write_float<FloatNotation::kShorter>(value, room)};
}

template <class T>
std::string expected(T value) {
  char room[64];
  std::string text(room, std::to_chars(room, room + sizeof room, value).ptr);
  if (text.find_first_of(".en") == text.npos) text += ".0";
  return text;
}

// Counted in the environment: 10^8 were compared when this was written.
int64_t random_floats() {
  const char* const count = std::getenv("HEADRACE_RANDOM_FLOATS");
  return count ? std::atoll(count) : 50'000;
}

// Floats at the borders of what the loops and branches tell apart.
std::vector<double> corner_doubles() {
  std::vector<double> corners = {5e-324,
                                 2.2250738585072014e-308,
                                 2.2250738585072011e-308,
                                 1.7976931348623157e308,
                                 9007199254740991,
                                 9007199254740992,
                                 9007199254740993.0,
                                 9007199254740994,
                                 1e22,
                                 1e23,
                                 9.5367431640625e-07,
                                 2.98023223876953125e-8,
                                 4.4501477170144023e-308,
                                 123456789012345680000.0,
                                 5e-5,
                                 0.3,
                                 2.0 / 3};
  for (int power = -1074; power < 1024; ++power) corners.push_back(std::ldexp(1.0, power));
  for (int power = -323; power < 309; ++power) {
    const std::string text = "e" + std::to_string(power);
    for (const char* digits : {"1", "5", "9", "12", "99", "123456", "1234567890123456", "9999999"})
      corners.push_back(std::strtod((digits + text).c_str(), nullptr));
  }
  for (int64_t whole = 0; whole < 3000; ++whole)
    for (const double scale : {1.0, 10.0, 0.1, 0.001, 0.25, 1e15, 1e17, 1e20})
      corners.push_back(static_cast<double>(whole) * scale);
  const size_t count = corners.size();
  for (size_t i = 0; i < count; ++i) {
    corners.push_back(std::nextafter(corners[i], 0.0));
    corners.push_back(std::nextafter(corners[i], INFINITY));
    corners.push_back(-corners[i]);
  }
  return corners;
}

TEST(NumberText, DoublesAreAsShortAsTheyCanBe) {
  for (const double value : corner_doubles()) ASSERT_EQ(written(value), expected(value));
  EXPECT_EQ(written(0.0), "0.0");
  EXPECT_EQ(written(-0.0), "-0.0");
  EXPECT_EQ(written(-INFINITY), "-inf");
  EXPECT_EQ(written(INFINITY), "inf");
  EXPECT_EQ(written(-std::nan("")), "nan");
}

TEST(NumberText, AnyDoubles) {
  std::mt19937_64 random(7);
  for (int64_t i = 0; i < random_floats(); ++i) {
    const auto any = std::bit_cast<double>(random());
    if (std::isfinite(any)) {
      ASSERT_EQ(written(any), expected(any));
    }
    const double between = static_cast<double>(random() >> 11) * 0x1p-53;
    ASSERT_EQ(written(between), expected(between));
    const double few = static_cast<double>(random() % 1'000'000'000) / 1e4;
    ASSERT_EQ(written(few), expected(few));
    const auto whole = static_cast<double>(random() >> random() % 64);
    ASSERT_EQ(written(whole), expected(whole));
  }
}

TEST(NumberText, Floats) {
  for (const double corner : corner_doubles()) {
    const auto value = static_cast<float>(corner);
    if (std::isfinite(value)) {
      ASSERT_EQ(written(value), expected(value));
    }
  }
  std::mt19937 random(7);
  for (int64_t i = 0; i < random_floats(); ++i) {
    const auto any = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(any)) {
      ASSERT_EQ(written(any), expected(any));
    }
  }
  for (uint32_t bits = 0; bits < 300'000; ++bits) {
    const auto tiny = std::bit_cast<float>(bits);
    ASSERT_EQ(written(tiny), expected(tiny));
  }
}

// What the fast way decides is what the long way does.
TEST(NumberText, OneProductIsEnough) {
  std::mt19937_64 random(11);
  for (int64_t i = 0; i < random_floats(); ++i) {
    const uint64_t magnitude = random() & (UINT64_MAX >> 1);
    if (magnitude == 0 || magnitude >= std::bit_cast<uint64_t>(INFINITY + 0.0)) continue;
    const number_text::FloatParts<double> parts(magnitude);
    const auto one = number_text::find_shortest_double(parts),
               all = number_text::find_shortest(parts);
    ASSERT_EQ(one.digits, all.digits);
    ASSERT_EQ(one.power, all.power);
  }
}

TEST(NumberText, PythonsNotation) {
  const auto python = [](auto value) {
    char room[kNumberRoom];
    return std::string(room, write_float<FloatNotation::kPython>(value, room));
  };
  EXPECT_EQ(python(1e16), "1e+16");
  EXPECT_EQ(python(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(python(123456.0), "123456.0");
  EXPECT_EQ(python(1e15), "1000000000000000.0");
  EXPECT_EQ(python(0.0001), "0.0001");
  EXPECT_EQ(python(0.00012345678901234567), "0.00012345678901234567");
  EXPECT_EQ(python(0.00001), "1e-05");
  EXPECT_EQ(python(-1.5e-310), "-1.5e-310");
  EXPECT_EQ(python(16777216.0F), "16777216.0");
  EXPECT_EQ(python(1e10F), "10000000000.0");
  EXPECT_EQ(python(0.1F), "0.1");
}

template <class T>
void compare_integers() {
  std::vector<T> values = {0, 1, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) values.push_back(static_cast<T>(random() >> random() % 64));
  uint64_t ten = 1;
  for (int i = 0; i < 20; ++i, ten *= 10)
    for (const uint64_t value : {ten - 1, ten, ten + 1, 0 - ten, 1 - ten})
      values.push_back(static_cast<T>(value));
  for (const T value : values) {
    char room[kNumberRoom], other[32];
    const std::string_view ours(room, write_integer(value, room));
    ASSERT_EQ(ours, std::string_view(other, std::to_chars(other, other + 32, value).ptr));
  }
}

TEST(NumberText, Integers) {
  compare_integers<int8_t>();
  compare_integers<uint8_t>();
  compare_integers<int16_t>();
  compare_integers<uint16_t>();
  compare_integers<int32_t>();
  compare_integers<uint32_t>();
  compare_integers<int64_t>();
  compare_integers<uint64_t>();
}

}  // namespace
}  // namespace hr
