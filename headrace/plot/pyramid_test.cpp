// SPDX-License-Identifier: Apache-2.0
// A pyramid keeps every peak within its step, and its bytes give the codes back.
#include "headrace/plot/pyramid.h"

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
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor tensor_of(const std::vector<double>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Buffer buffer = Buffer::allocate(count * 8);
  if (count > 0) std::memcpy(buffer.mutable_data(), values.data(), values.size() * 8);
  return Tensor(TypeId::kFloat64, {count}, std::move(buffer));
}

/// A slow wave with noise, a spike now and then and one very large one.
std::vector<double> wave(int64_t rows) {
  std::vector<double> values(static_cast<size_t>(rows));
  uint64_t state = 11;
  for (int64_t i = 0; i < rows; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double t = static_cast<double>(i);
    values[static_cast<size_t>(i)] = std::sin(t / 900) + static_cast<double>(state >> 50) / 4e5 +
                                     (i % 5000 == 17 ? 3.0 : 0.0) + (i == rows / 2 ? 40.0 : 0.0);
  }
  return values;
}

/// What a page does with the bytes.
std::vector<int> unpack(const Tensor& bytes, int64_t count) {
  const auto* in = bytes.as<uint8_t>();
  int64_t at = 0;
  std::vector<int> codes;
  int last = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int first = in[at++];
    if (first == 0) {
      last = in[at] | in[at + 1] << 8;
      at += 2;
    } else {
      last += first - 128;
    }
    codes.push_back(last);
  }
  EXPECT_EQ(at, bytes.num_elements());
  return codes;
}

TEST(Pyramid, HoldsRowsWithinHalfAStep) {
  for (const int64_t rows : {1, 63, 64, 65, 4'096, 131'072, 131'073, 300'001}) {
    const std::vector<double> values = wave(rows);
    const Pyramid result = pyramid(tensor_of(values));
    ASSERT_EQ(result.bucket, 1);
    ASSERT_EQ(result.num_buckets, rows);
    ASSERT_EQ(result.codes.shape(), Shape{rows});
    for (int64_t i = 0; i < rows; ++i) {
      const double value = result.offset + result.step * result.codes.as<uint16_t>()[i];
      ASSERT_NEAR(value, values[static_cast<size_t>(i)], result.step * 0.5000001) << i;
    }
    EXPECT_TRUE(rows < 100'000 || result.step < 0.01);
  }
}

TEST(Pyramid, RoundsBucketsOutward) {
  const std::vector<double> values = wave(300'001);
  const Pyramid result = pyramid(tensor_of(values), 40'000);
  EXPECT_EQ(result.bucket, 16);
  EXPECT_EQ(result.num_buckets, 18'751);
  EXPECT_EQ(result.codes.shape(), (Shape{2, 18'751}));
  for (int64_t k = 0; k < result.num_buckets; ++k) {
    double low = kInfinity;
    double high = -kInfinity;
    for (int64_t i = 16 * k; i < std::min<int64_t>(16 * k + 16, 300'001); ++i) {
      low = std::min(low, values[static_cast<size_t>(i)]);
      high = std::max(high, values[static_cast<size_t>(i)]);
    }
    const double below = result.offset + result.step * result.codes.as<uint16_t>()[k];
    const double above =
        result.offset + result.step * result.codes.as<uint16_t>()[result.num_buckets + k];
    ASSERT_LE(below, low);
    ASSERT_GE(above, high);
    ASSERT_GT(below, low - 1.0001 * result.step);
    ASSERT_LT(above, high + 1.0001 * result.step);
  }
}

TEST(Pyramid, MarksMissingAndClampsInfinities) {
  std::vector<double> values(10, 2.0);
  values[0] = kNan;
  values[3] = kInfinity;
  values[4] = -kInfinity;
  values[5] = 3.0;
  const Pyramid result = pyramid(tensor_of(values));
  const auto* codes = result.codes.as<uint16_t>();
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(codes[3], 65535);
  EXPECT_EQ(codes[4], 1);
  EXPECT_NEAR(result.offset + result.step * codes[5], 3.0, result.step);
  const Pyramid buckets = pyramid(tensor_of(values), 4);
  EXPECT_EQ(buckets.bucket, 8);
  EXPECT_EQ(buckets.codes.as<uint16_t>()[0], 1);
  EXPECT_EQ(buckets.codes.as<uint16_t>()[2], 65535);
}

TEST(Pyramid, TakesFlatEmptyMissingAndHugeSeries) {
  const Pyramid flat = pyramid(tensor_of(std::vector<double>(100, 7.5)));
  EXPECT_NEAR(flat.offset + flat.step * flat.codes.as<uint16_t>()[99], 7.5, 1e-12);
  EXPECT_EQ(pyramid(tensor_of({})).num_buckets, 0);
  EXPECT_EQ(pack_codes(pyramid(tensor_of({})).codes).num_elements(), 0);
  EXPECT_EQ(pyramid(tensor_of({kNan, kNan})).codes.as<uint16_t>()[1], 0);
  const Pyramid huge = pyramid(tensor_of({-1.7e308, 0.0, 1.7e308}));
  const auto* codes = huge.codes.as<uint16_t>();
  EXPECT_NEAR((huge.offset + huge.step * codes[1]) / 1e308, 0, 1e-4);
  EXPECT_GT(codes[2], codes[1]);
  EXPECT_LT(codes[0], codes[1]);
  const Pyramid tiny = pyramid(tensor_of({0.0, 5e-324}));
  EXPECT_TRUE(std::isfinite(tiny.offset) && tiny.step > 0);
}

TEST(Pyramid, BytesGiveTheCodesBack) {
  for (const int64_t rows : {1, 64, 131'072, 131'073, 300'001}) {
    const Pyramid result = pyramid(tensor_of(wave(rows)));
    const std::vector<int> codes = unpack(pack_codes(result.codes), rows);
    for (int64_t i = 0; i < rows; ++i)
      ASSERT_EQ(codes[static_cast<size_t>(i)], result.codes.as<uint16_t>()[i]);
  }
  const Pyramid pair = pyramid(tensor_of(wave(300'001)), 200'000);
  const Tensor low(TypeId::kUInt16, {pair.num_buckets}, pair.codes.buffer());
  const Tensor high(TypeId::kUInt16, {pair.num_buckets}, pair.codes.buffer(), pair.num_buckets * 2);
  const Tensor both = pack_codes(pair.codes);
  const Tensor first = pack_codes(low);
  const Tensor second = pack_codes(high);
  ASSERT_EQ(both.num_elements(), first.num_elements() + second.num_elements());
  EXPECT_EQ(std::memcmp(both.data() + first.num_elements(), second.data(),
                        static_cast<size_t>(second.num_elements())),
            0);
}

TEST(Pyramid, SameBitsForAnyThreads) {
  const Tensor x = tensor_of(wave(600'000));
  const int before = threads();
  set_threads(1);
  const Pyramid one = pyramid(x, 100'000);
  const Tensor bytes = pack_codes(one.codes);
  for (const int count : {2, 4}) {
    set_threads(count);
    const Pyramid many = pyramid(x, 100'000);
    EXPECT_EQ(one.step, many.step);
    const Tensor again = pack_codes(many.codes);
    ASSERT_EQ(bytes.num_elements(), again.num_elements());
    EXPECT_EQ(std::memcmp(bytes.data(), again.data(), static_cast<size_t>(bytes.num_elements())),
              0);
  }
  set_threads(before);
}

TEST(Pyramid, RefusesWhatItCannotPack) {
  EXPECT_THROW(pyramid(tensor_of({1, 2}), 1), InvalidArgumentError);
  EXPECT_THROW(pyramid(Tensor(TypeId::kFloat64, {1, 2}, tensor_of({1, 2}).buffer())),
               TypeMismatchError);
  EXPECT_THROW(pack_codes(tensor_of({1, 2})), TypeMismatchError);
}

}  // namespace
}  // namespace hr
