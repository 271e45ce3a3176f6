// SPDX-License-Identifier: Apache-2.0
// Rasters: spans where the envelope is, joined as a line; points counted as a histogram counts
// them.
#include "headrace/plot/raster.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hr {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor tensor_of(const std::vector<double>& values) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size()) * 8);
  std::copy(values.begin(), values.end(), buffer.mutable_as<double>());
  return Tensor(TypeId::kFloat64, {static_cast<int64_t>(values.size())}, std::move(buffer));
}

int alpha(const Tensor& image, int64_t y, int64_t x) {
  return image.as<uint8_t>()[(y * image.shape()[1] + x) * 4 + 3];
}

TEST(RasterEnvelope, DrawsSpans) {
  const Envelope spans{tensor_of({1, 2, kNan}), tensor_of({3, 2.5, kNan})};
  const Tensor image = raster_envelope(spans, 0, 4, 4, {10, 20, 30, 200});
  ASSERT_EQ(image.shape(), (Shape{4, 3, 4}));
  // Column 0 covers values 1 to 3: rows 1 and 2 from the top.
  EXPECT_EQ(alpha(image, 0, 0), 0);
  EXPECT_EQ(alpha(image, 1, 0), 200);
  EXPECT_EQ(alpha(image, 2, 0), 200);
  EXPECT_EQ(alpha(image, 3, 0), 0);
  // Column 1 is half a pixel thick and widened to one: 1.25 to 2.25 from the top.
  EXPECT_EQ(alpha(image, 1, 1), 150);
  EXPECT_EQ(alpha(image, 2, 1), 50);
  for (int64_t y = 0; y < 4; ++y) EXPECT_EQ(alpha(image, y, 2), 0);
  EXPECT_EQ(image.as<uint8_t>()[(1 * 3 + 0) * 4 + 1], 20);
}

TEST(RasterEnvelope, JoinsNeighboursHalfWay) {
  const Envelope spans{tensor_of({0, 8}), tensor_of({2, 10})};
  const Tensor image = raster_envelope(spans, 0, 10, 10, {});
  // Value 5 is half way between 2 and 8: column 0 reaches up to it, column 1 down to it.
  for (int64_t y = 0; y < 10; ++y) {
    EXPECT_EQ(alpha(image, y, 0), y >= 5 ? 255 : 0);
    EXPECT_EQ(alpha(image, y, 1), y < 5 ? 255 : 0);
  }
}

TEST(RasterEnvelope, CutsOffWhatIsOutside) {
  const Envelope spans{tensor_of({-100, 50}), tensor_of({100, 60})};
  const Tensor image = raster_envelope(spans, 0, 1, 3, {});
  for (int64_t y = 0; y < 3; ++y) EXPECT_EQ(alpha(image, y, 0), 255);
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor all = raster_envelope({tensor_of({-inf}), tensor_of({inf})}, 0, 1, 3, {});
  EXPECT_EQ(alpha(all, 1, 0), 255);
}

TEST(RasterEnvelope, DrawsManyColumnsAlike) {
  const std::vector<double> low(200, 1.0);
  const std::vector<double> high(200, 2.0);
  const Tensor image = raster_envelope({tensor_of(low), tensor_of(high)}, 0, 4, 8, {});
  for (int64_t x = 0; x < 200; ++x)
    for (int64_t y = 0; y < 8; ++y) EXPECT_EQ(alpha(image, y, x), y >= 4 && y < 6 ? 255 : 0);
}

TEST(RasterEnvelope, RefusesWhatItCannotDraw) {
  const Envelope good{tensor_of({0, 1}), tensor_of({1, 2})};
  EXPECT_THROW(raster_envelope(good, 1, 1, 4), InvalidArgumentError);
  EXPECT_THROW(raster_envelope(good, kNan, 1, 4), InvalidArgumentError);
  EXPECT_THROW(raster_envelope(good, 0, 1, 0), InvalidArgumentError);
  EXPECT_THROW(raster_envelope(good, 0, 1, 65537), InvalidArgumentError);
  EXPECT_THROW(raster_envelope({tensor_of({0}), tensor_of({1, 2})}, 0, 1, 4), InvalidArgumentError);
}

TEST(RasterPoints, CountsLikeAHistogram) {
  const Tensor x = tensor_of({0.0, 0.5, 1.0, 1.999, 2.0, 2.001, -0.1, kNan, 1.0});
  const Tensor y = tensor_of({0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.0, 0.0, 7.0});
  const Tensor counts = raster_points(x, y, 0, 2, 0, 1, 2, 2);
  ASSERT_EQ(counts.shape(), (Shape{2, 2}));
  EXPECT_EQ(counts.as<int64_t>()[0], 0);  // top left
  EXPECT_EQ(counts.as<int64_t>()[1], 3);
  EXPECT_EQ(counts.as<int64_t>()[2], 2);
  EXPECT_EQ(counts.as<int64_t>()[3], 0);
}

TEST(RasterPoints, CountsEveryPointOfManyMorsels) {
  constexpr int64_t kRows = 500'000;
  std::vector<double> values(kRows);
  for (int64_t i = 0; i < kRows; ++i) values[static_cast<size_t>(i)] = static_cast<double>(i % 10);
  const Tensor x = tensor_of(values);
  const Tensor counts = raster_points(x, x, -0.5, 9.5, -0.5, 9.5, 10, 10);
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(counts.as<int64_t>()[i], i / 10 == 9 - i % 10 ? kRows / 10 : 0);
}

TEST(RasterPoints, CountsEachGroup) {
  for (const int64_t points : {0, 1, 63, 64, 65, 2047, 2049, 131071, 131073, 400'000}) {
    std::vector<double> x, y;
    Buffer numbers = Buffer::allocate(2 * points);
    std::vector<int64_t> wanted(3 * 4 * 5);
    uint64_t state = 7;
    for (int64_t i = 0; i < points; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      x.push_back(static_cast<double>(state >> 40) * 0x1p-24 * 6 - 0.5);
      y.push_back(i % 97 == 0 ? kNan : static_cast<double>((state >> 20) % 4096) * 0x1p-10);
      const auto group = static_cast<uint16_t>((state >> 60) % 5);
      numbers.mutable_as<uint16_t>()[i] = group == 4 ? 65535 : group;
      if (group > 2 || !(x.back() >= 0 && x.back() <= 5) || !(y.back() >= 0 && y.back() <= 4))
        continue;
      const auto column = std::min<int64_t>(static_cast<int64_t>(x.back() / 5 * 5), 4);
      const auto row = std::min<int64_t>(static_cast<int64_t>(y.back() / 4 * 4), 3);
      ++wanted[static_cast<size_t>((group * 4 + 3 - row) * 5 + column)];
    }
    const Tensor of(dtype_of<uint16_t>(), {points}, std::move(numbers));
    const Tensor counts =
        raster_points(tensor_of(x), tensor_of(y), 0, 5, 0, 4, 5, 4, PointGroups{of, 3});
    ASSERT_EQ(counts.shape(), (Shape{3, 4, 5}));
    for (int64_t i = 0; i < 60; ++i)
      ASSERT_EQ(counts.as<int64_t>()[i], wanted[static_cast<size_t>(i)]) << points << " " << i;
  }
}

TEST(RasterPoints, RefusesWhatItCannotCount) {
  const Tensor x = tensor_of({1, 2});
  EXPECT_THROW(raster_points(x, tensor_of({1}), 0, 1, 0, 1, 4, 4), InvalidArgumentError);
  EXPECT_THROW(raster_points(x, x, 0, 0, 0, 1, 4, 4), InvalidArgumentError);
  EXPECT_THROW(raster_points(x, x, 0, 1, 0, 1, 0, 4), InvalidArgumentError);
  const Tensor one(dtype_of<uint16_t>(), {1}, Buffer::allocate_zeroed(2));
  EXPECT_THROW(raster_points(x, x, 0, 1, 0, 1, 4, 4, PointGroups{one, 1}), InvalidArgumentError);
  EXPECT_THROW(raster_points(x, x, 0, 1, 0, 1, 4, 4, PointGroups{x, 1}), TypeMismatchError);
  EXPECT_THROW(raster_points(tensor_of({1}), tensor_of({1}), 0, 1, 0, 1, 4, 4, PointGroups{one, 0}),
               InvalidArgumentError);
}

TEST(RasterSegments, StepsAlongTheLongerSide) {
  const auto cells = [](std::vector<double> ends) {
    const Tensor counts = raster_segments(
        {tensor_of({ends[0]}), tensor_of({ends[1]}), tensor_of({ends[2]}), tensor_of({ends[3]})}, 0,
        4, 0, 4, 4, 4);
    std::string made;
    for (int64_t i = 0; i < 16; ++i) made += std::to_string(counts.as<int64_t>()[i]);
    return made;
  };
  EXPECT_EQ(cells({0.5, 0.5, 3.5, 3.5}), "0001001001001000");
  EXPECT_EQ(cells({3.5, 3.5, 0.5, 0.5}), "0001001001001000");
  EXPECT_EQ(cells({0.5, 3.5, 3.5, 3.5}), "1111000000000000");
  EXPECT_EQ(cells({2.5, 0.5, 2.5, 1.5}), "0000000000100010");
  EXPECT_EQ(cells({0.5, 0.5, 0.5, 0.5}), "0000000000001000");  // a point
  EXPECT_EQ(cells({-4, 1.5, 99, 1.5}), "0000000011110000");    // cut off
  EXPECT_EQ(cells({-2, 1, 1, -2}), "0000000000000000");        // past the corner
  EXPECT_EQ(cells({9, 9, 12, 9}), "0000000000000000");
  EXPECT_EQ(cells({kNan, 0, 1, 1}), "0000000000000000");
}

TEST(RasterSegments, CountsOneCellInEachColumnOfManyLines) {
  constexpr int64_t kLines = 20'000;
  std::vector<double> ends[4];
  uint64_t state = 1;
  for (int64_t i = 0; i < 4 * kLines; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    ends[i % 4].push_back(static_cast<double>(state >> 40) * 0x1p-24 * 50);
  }
  const Tensor counts = raster_segments(
      {tensor_of(ends[0]), tensor_of(ends[1]), tensor_of(ends[2]), tensor_of(ends[3])}, 0, 50, 0,
      50, 50, 50);
  int64_t sum = 0, wanted = 0;
  for (int64_t i = 0; i < 2500; ++i) sum += counts.as<int64_t>()[i];
  for (size_t i = 0; i < kLines; ++i) {
    const auto reach = [](double a, double b) {
      return std::abs(std::floor(a) - std::floor(b)) + 1;
    };
    const double across = std::abs(ends[0][i] - ends[2][i]);
    wanted += static_cast<int64_t>(across >= std::abs(ends[1][i] - ends[3][i])
                                       ? reach(ends[0][i], ends[2][i])
                                       : reach(50 - ends[1][i], 50 - ends[3][i]));
  }
  EXPECT_EQ(sum, wanted);
}

TEST(RasterSegments, RefusesWhatItCannotDraw) {
  const Tensor x = tensor_of({1, 2});
  EXPECT_THROW(raster_segments({x, x, x, tensor_of({1})}, 0, 1, 0, 1, 4, 4), InvalidArgumentError);
  EXPECT_THROW(raster_segments({x, x, x, x}, 1, 1, 0, 1, 4, 4), InvalidArgumentError);
  EXPECT_THROW(raster_segments({x, x, x, x}, 0, 1, 0, 1, 4, 0), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
