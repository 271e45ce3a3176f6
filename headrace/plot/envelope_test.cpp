// SPDX-License-Identifier: Apache-2.0
// envelope equals the minimum and maximum of each pixel's rows, for all dtypes, strides and
// threads.
#include "headrace/plot/envelope.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace hr {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
Tensor tensor_of(const std::vector<T>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Buffer buffer = Buffer::allocate(count * static_cast<int64_t>(sizeof(T)));
  if (count > 0) std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
  return Tensor(dtype_of<T>(), {count}, std::move(buffer));
}

/// Numbers without a pattern, from a linear congruence.
template <class T>
std::vector<T> noise(int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  uint64_t state = 7;
  for (T& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = std::is_floating_point_v<T>
                ? static_cast<T>(static_cast<double>(state >> 40) / 1e3 - 8000)
                : static_cast<T>(state >> 32);
  }
  return values;
}

template <class T>
void expect_definition(const std::vector<T>& values, int64_t start, int64_t stop, int64_t width) {
  const Envelope result = envelope(tensor_of(values), start, stop, width);
  ASSERT_EQ(result.low.shape(), Shape{width});
  ASSERT_EQ(result.high.dtype(), dtype_of<T>());
  for (int64_t p = 0; p < width; ++p) {
    const auto rows = static_cast<double>(stop - start);
    const auto first = static_cast<int64_t>(std::floor(static_cast<double>(p) * rows / width));
    const auto next = static_cast<int64_t>(std::floor(static_cast<double>(p + 1) * rows / width));
    T low = values[static_cast<size_t>(start + first)];
    T high = low;
    for (int64_t i = first + 1; i < next; ++i) {
      low = std::min(low, values[static_cast<size_t>(start + i)]);
      high = std::max(high, values[static_cast<size_t>(start + i)]);
    }
    ASSERT_EQ(result.low.as<T>()[p], low) << "pixel " << p << " of " << width << ", rows " << rows;
    ASSERT_EQ(result.high.as<T>()[p], high) << "pixel " << p << " of " << width;
  }
}

TEST(Envelope, MatchesDefinition) {
  for (const int64_t rows : {1, 2, 63, 64, 65, 4'095, 131'071, 131'072, 131'073, 400'000}) {
    const std::vector<float> values = noise<float>(rows);
    for (const int64_t width : {1, 2, 3, 7, 64, 100, 1'920, 150'000})
      expect_definition(values, 0, rows, width);
    if (rows > 64) expect_definition(values, 13, rows - 29, 17);
  }
}

TEST(Envelope, TakesEveryRealDtype) {
  expect_definition(noise<int8_t>(1000), 0, 1000, 30);
  expect_definition(noise<int16_t>(1000), 0, 1000, 30);
  expect_definition(noise<int32_t>(1000), 0, 1000, 3);
  expect_definition(noise<int64_t>(1000), 0, 1000, 3);
  expect_definition(noise<uint8_t>(1000), 0, 1000, 30);
  expect_definition(noise<uint16_t>(1000), 0, 1000, 30);
  expect_definition(noise<uint32_t>(1000), 0, 1000, 3);
  expect_definition(noise<uint64_t>(1000), 0, 1000, 3);
  expect_definition(noise<double>(300'000), 0, 300'000, 3);
}

TEST(Envelope, PassesOverNan) {
  const Tensor x = tensor_of<double>({kNan, 2, kNan, kNan, 5, 1});
  const Envelope result = envelope(x, 0, 6, 3);
  EXPECT_EQ(result.low.as<double>()[0], 2);
  EXPECT_EQ(result.high.as<double>()[0], 2);
  EXPECT_TRUE(std::isnan(result.low.as<double>()[1]));
  EXPECT_TRUE(std::isnan(result.high.as<double>()[1]));
  EXPECT_EQ(result.low.as<double>()[2], 1);
  EXPECT_EQ(result.high.as<double>()[2], 5);
  EXPECT_TRUE(std::isnan(envelope(x, 0, 1, 5).low.as<double>()[4]));
}

TEST(Envelope, KeepsInfinitiesAndHasOneZero) {
  const double inf = std::numeric_limits<double>::infinity();
  const Envelope ends = envelope(tensor_of<double>({inf, inf, -inf, kNan}), 0, 4, 2);
  EXPECT_EQ(ends.low.as<double>()[0], inf);
  EXPECT_EQ(ends.high.as<double>()[1], -inf);
  const Envelope zeros = envelope(tensor_of<double>({-0.0, 0.0, -0.0}), 0, 3, 1);
  EXPECT_FALSE(std::signbit(zeros.low.as<double>()[0]));
  EXPECT_FALSE(std::signbit(zeros.high.as<double>()[0]));
}

TEST(Envelope, TakesAnyStride) {
  const std::vector<float> values = noise<float>(300'000);
  const Tensor all = tensor_of(values);
  const Tensor back(TypeId::kFloat32, {150'000}, {-2}, all.buffer(), 299'999 * 4);
  std::vector<float> copied;
  for (int64_t i = 299'999; i > 0; i -= 2) copied.push_back(values[static_cast<size_t>(i)]);
  const Envelope strided = envelope(back, 5, 149'000, 333);
  const Envelope plain = envelope(tensor_of(copied), 5, 149'000, 333);
  EXPECT_EQ(std::memcmp(strided.low.data(), plain.low.data(), 333 * 4), 0);
  EXPECT_EQ(std::memcmp(strided.high.data(), plain.high.data(), 333 * 4), 0);
}

TEST(Envelope, SameBitsForAnyThreads) {
  const Tensor x = tensor_of(noise<double>(1'000'000));
  const int before = threads();
  set_threads(1);
  const Envelope one = envelope(x, 3, 999'999, 777);
  for (const int count : {2, 4}) {
    set_threads(count);
    const Envelope many = envelope(x, 3, 999'999, 777);
    EXPECT_EQ(std::memcmp(one.low.data(), many.low.data(), 777 * 8), 0);
    EXPECT_EQ(std::memcmp(one.high.data(), many.high.data(), 777 * 8), 0);
  }
  set_threads(before);
}

TEST(Envelope, FirstRowNeverOverflows) {
  constexpr int64_t kRows = int64_t{1} << 61;
  constexpr int64_t kWidth = (int64_t{1} << 31) - 1;
  EXPECT_EQ(envelope_first_row(kWidth, kRows, kWidth), kRows);
  EXPECT_EQ(envelope_first_row(0, kRows, kWidth), 0);
}

TEST(Envelope, RefusesWhatItCannotDraw) {
  const Tensor x = tensor_of<double>({1, 2, 3});
  EXPECT_THROW(envelope(x, 0, 0, 5), InvalidArgumentError);
  EXPECT_THROW(envelope(x, -1, 2, 5), InvalidArgumentError);
  EXPECT_THROW(envelope(x, 0, 4, 5), InvalidArgumentError);
  EXPECT_THROW(envelope(x, 0, 3, 0), InvalidArgumentError);
  EXPECT_THROW(envelope(x, 0, 3, int64_t{1} << 31), InvalidArgumentError);
  EXPECT_THROW(envelope(tensor_of<double>({}), 0, 0, 5), InvalidArgumentError);
  EXPECT_THROW(envelope(Tensor(TypeId::kFloat64, {3, 1}, x.buffer()), 0, 3, 5), TypeMismatchError);
  EXPECT_THROW(envelope(Tensor(TypeId::kBool, {3}, x.buffer()), 0, 3, 5), TypeMismatchError);
}

}  // namespace
}  // namespace hr
