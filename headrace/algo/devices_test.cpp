// SPDX-License-Identifier: Apache-2.0
// The operators of this room have the host's bits on every device.
#include "headrace/algo/compress.h"
#include "headrace/algo/diff.h"
#include "headrace/algo/histogram.h"
#include "headrace/algo/index_of_true.h"
#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace hr {

namespace {

using testing::tensor_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class AlgoDevices : public testing::OnDevices {};

INSTANTIATE_TEST_SUITE_P(Device, AlgoDevices, ::testing::ValuesIn(testing::device_places()),
                         AlgoDevices::name);

template <class T>
std::vector<T> mixed(int64_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(std::normal_distribution<double>(1, 3)(random));
    else
      value = static_cast<T>(random() >> (random() % 64));
  }
  return values;
}

template <class F>
void each_dtype(F&& f) {
  f(double{});
  f(float{});
  f(int8_t{});
  f(int32_t{});
  f(int64_t{});
  f(uint16_t{});
  f(uint64_t{});
}

std::vector<int64_t> sizes() {
  std::vector<int64_t> some = testing::edge_sizes();
  for (const int64_t size : {8191, 8192, 8193}) some.push_back(size);
  return some;
}

}  // namespace

TEST_P(AlgoDevices, Diff) {
  const auto work = [](std::span<const Tensor> in) { return diff(in[0]); };
  each_dtype([&]<class T>(T) {
    for (const int64_t size : sizes()) expect_same({tensor_of(mixed<T>(size, 1))}, work);
  });
  for (const int64_t stride : {2, -1, -3})
    expect_same({tensor_of(mixed<double>(5000, 2), stride)}, work);
  expect_same({tensor_of<double>({0, kNan, kInf, kInf, -kInf, 1})}, work);
}

TEST_P(AlgoDevices, IndexOfTrue) {
  for (const int64_t size : sizes())
    for (const double share : {0.0, 0.001, 0.5, 1.0}) {
      std::mt19937 random(3);
      std::vector<uint8_t> gate(static_cast<size_t>(size));
      for (uint8_t& each : gate)
        each = std::bernoulli_distribution(share)(random) ? static_cast<uint8_t>(1 + random() % 255)
                                                          : 0;
      for (const int64_t stride : {1, 3, -1}) {
        const Tensor bytes = tensor_of(gate, stride);
        expect_same({bytes}, [](std::span<const Tensor> in) {
          return index_of_true(Tensor(TypeId::kBool, in[0].shape(), in[0].strides(), in[0].buffer(),
                                      in[0].byte_offset()));
        });
      }
    }
}

TEST_P(AlgoDevices, IndexOfTrueOfColumns) {
  if (!GetParam().is_gpu()) GTEST_SKIP() << "columns have no simulated operators";
  for (const int64_t rows : {0, 1, 31, 32, 33, 100'000}) {
    std::mt19937 random(4);
    Buffer bits = Buffer::allocate((rows + 7) / 8 + 8);
    for (int64_t i = 0; i < bits.size_bytes(); ++i)
      bits.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
    const Column whole(TypeId::kBool, rows, bits);
    for (const int64_t begin : {0, 1, 7, 8, 13}) {
      if (begin > rows) continue;
      const Column part = whole.slice(begin, rows - begin);
      const Column there = to_place(part, GetParam(), current_stream(GetParam()));
      EXPECT_TRUE(testing::same_bits(testing::fetched(index_of_true(there)), index_of_true(part)));
    }
  }
}

TEST_P(AlgoDevices, Compress) {
  const auto work = [](std::span<const Tensor> in) {
    return compress(
        in[0], Mask(Tensor(TypeId::kBool, in[1].shape(), in[1].buffer(), in[1].byte_offset())));
  };
  std::mt19937 random(9);
  each_dtype([&]<class T>(T) {
    for (const int64_t size : sizes()) {
      std::vector<uint8_t> mask(static_cast<size_t>(size));
      for (uint8_t& each : mask) each = static_cast<uint8_t>(random() % 3 == 0);
      const Tensor x = tensor_of(mixed<T>(3 * size, 10));
      expect_same({Tensor(x.dtype(), {size}, x.buffer()), tensor_of(mask)}, work);
      if (size > 0) expect_same({Tensor(x.dtype(), {size, 3}, x.buffer()), tensor_of(mask)}, work);
    }
  });
}

TEST_P(AlgoDevices, CompressOfColumns) {
  if (!GetParam().is_gpu()) GTEST_SKIP() << "columns have no simulated operators";
  std::mt19937 random(11);
  const int64_t rows = 100'003;
  Buffer bits = Buffer::allocate((rows + 7) / 8 + 8);
  for (int64_t i = 0; i < bits.size_bytes(); ++i)
    bits.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
  const Tensor values = tensor_of(mixed<double>(rows, 12));
  const Column column = Column(TypeId::kFloat64, rows, values.buffer()).slice(5, rows - 9);
  const Column mask = Column(TypeId::kBool, rows, bits).slice(7, rows - 9);
  const auto there = [&](const Column& one) {
    return to_place(one, GetParam(), current_stream(GetParam()));
  };
  const Column here = compress(column, Mask(mask));
  const Column moved = there(column), gate = there(mask);
  const Column back = to_place(compress(moved, Mask(gate)), host, current_stream(GetParam()));
  ASSERT_EQ(back.num_rows(), here.num_rows());
  EXPECT_EQ(std::memcmp(back.values_buffer().data(), here.values_buffer().data(),
                        static_cast<size_t>(8 * here.num_rows())),
            0);
  EXPECT_THROW(compress(gate, Mask(gate)), UnsupportedError);
  EXPECT_THROW(compress(moved.slice(0, 3), Mask(gate)), InvalidArgumentError);
}

TEST_P(AlgoDevices, Histogram) {
  const auto counts = [](auto... arguments) {
    return [=](std::span<const Tensor> in) { return histogram(in[0], arguments...).counts; };
  };
  const auto edges = [](std::span<const Tensor> in) { return histogram(in[0], 50).edges; };
  each_dtype([&]<class T>(T) {
    for (const int64_t size : sizes()) {
      const Tensor x = tensor_of(mixed<T>(size, 5));
      expect_same({x}, counts(int64_t{10}));
      expect_same({x}, edges);
    }
    const Tensor x = tensor_of(mixed<T>(100'000, 6), 2);
    for (const int64_t bins : {1, 2, 1000, 5000, 20'000}) {
      expect_same({x}, counts(bins, std::optional(HistogramRange{-1.5, 3.7})));
      if (bins < 20'000 || sizeof(T) == 8) expect_same({x}, counts(bins));
    }
  });
  expect_same({tensor_of<double>({kNan, kInf, -kInf, 0, 1, 0.5})},
              counts(int64_t{2}, std::optional(HistogramRange{0, 1})));
}

TEST_P(AlgoDevices, HistogramBetweenEdges) {
  const auto work = [](std::span<const Tensor> in) { return histogram(in[0], in[1]).counts; };
  each_dtype([&]<class T>(T) {
    const Tensor x = tensor_of(mixed<T>(50'000, 7));
    expect_same({x, tensor_of<double>({-1, 0, 0, 0.5, 3, 100, 1e300})}, work);
    expect_same({x, tensor_of<int64_t>({-5, 0, 1, 2, 90, int64_t{1} << 62})}, work);
    expect_same({x, tensor_of<uint64_t>({0, 1, 2, 90, uint64_t{1} << 63})}, work);
  });
  std::vector<double> many(30'000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i) / 1000 - 10;
  expect_same({tensor_of(mixed<double>(100'000, 8)), tensor_of(many)}, work);
  expect_same({tensor_of<double>({kNan, kInf, -kInf, 0, 1}), tensor_of<double>({-kInf, 0, kInf})},
              work);
}

TEST_P(AlgoDevices, BadInputIsAnErrorThere) {
  if (!GetParam().is_gpu()) GTEST_SKIP();
  const Tensor there = testing::sent(tensor_of<double>({1, kNan, 2}), GetParam());
  EXPECT_THROW(histogram(there, int64_t{3}), InvalidArgumentError);
  EXPECT_THROW(histogram(there, testing::sent(tensor_of<double>({1, 0}), GetParam())),
               InvalidArgumentError);
}

}  // namespace hr
