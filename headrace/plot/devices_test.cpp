// SPDX-License-Identifier: Apache-2.0
// The operators of this room have the host's bits on every device.
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/plot/envelope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

namespace hr {

namespace {

using testing::tensor_of;

class PlotDevices : public testing::OnDevices {
 protected:
  static void expect_same_curve(const Tensor& x, int64_t start, int64_t stop, int64_t width) {
    expect_same(
        {x}, [=](std::span<const Tensor> in) { return envelope(in[0], start, stop, width).low; });
    expect_same(
        {x}, [=](std::span<const Tensor> in) { return envelope(in[0], start, stop, width).high; });
  }
};

INSTANTIATE_TEST_SUITE_P(Device, PlotDevices, ::testing::ValuesIn(testing::device_places()),
                         PlotDevices::name);

/// Numbers with runs of NaN, infinities and both zeros.
template <class T>
std::vector<T> mixed(int64_t count) {
  std::mt19937_64 random(1);
  std::vector<T> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T kInf = std::numeric_limits<T>::infinity();
      values[i] = static_cast<T>(std::normal_distribution<double>(0, 3)(random));
      if (i % 13 == 0) values[i] = i % 2 != 0 ? T{0} : -T{0};
      if (i % 997 == 0) values[i] = i % 2 != 0 ? kInf : -kInf;
      if (i % 4096 < 700) values[i] = std::numeric_limits<T>::quiet_NaN();
      if (i % 4096 > 3500) values[i] = i % 2 != 0 ? T{0} : -T{0};
    } else {
      values[i] = static_cast<T>(random() >> (random() % 64));
    }
  }
  return values;
}

}  // namespace

TEST_P(PlotDevices, Envelope) {
  const auto each = [&]<class T>(T) {
    for (const int64_t size : testing::edge_sizes())
      for (const int64_t width : {1, 7, 1000})
        if (size > 0) expect_same_curve(tensor_of(mixed<T>(size)), 0, size, width);
    expect_same_curve(tensor_of(mixed<T>(30'000), -3), 17, 29'000, 640);
    expect_same_curve(tensor_of(mixed<T>(5000), 2), 1, 4999, 6000);
  };
  each(double{});
  each(float{});
  each(int8_t{});
  each(uint16_t{});
  each(int32_t{});
  each(int64_t{});
  each(uint64_t{});
}

}  // namespace hr
