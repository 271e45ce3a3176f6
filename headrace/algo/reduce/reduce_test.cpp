// SPDX-License-Identifier: Apache-2.0
// Reductions against plain loops: dtypes, nulls, NaN, axes, and equal bits everywhere.
#include "headrace/algo/reduce/reduce.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace hr {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<int64_t> edges() {
  std::vector<int64_t> sizes = testing::edge_sizes();
  std::erase(sizes, 0);
  sizes.insert(sizes.end(), {31, 32, 33, 5 * kMorselRows + 4321});
  return sizes;
}

template <class T>
Tensor tensor(const std::vector<T>& values, Shape shape) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  std::copy(values.begin(), values.end(), buffer.mutable_as<T>());
  return Tensor(dtype_of<T>(), std::move(shape), buffer);
}

template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor(values, {static_cast<int64_t>(values.size())});
}

template <class T>
Column column(const std::vector<T>& values, const std::vector<bool>& valid) {
  const int64_t n = static_cast<int64_t>(values.size());
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(n));
  for (int64_t i = 0; i < n; ++i)
    set_bit(validity.mutable_as<uint8_t>(), i, valid[static_cast<size_t>(i)]);
  return Column(dtype_of<T>(), n, tensor(values).buffer(), validity, -1);
}

template <class T>
std::vector<T> noise(int64_t n) {
  return testing::random_values<T>(n, 42, [](uint64_t state) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(state >> 11) * 0x1p-53 - 0.25;
    else
      return state >> 33;
  });
}

using ReduceTest = testing::SimdAndThreadsTest;

template <class T>
void expect_plain_loop(int64_t n) {
  const std::vector<T> x = noise<T>(n);
  long double sum = 0, squares = 0;
  uint64_t wrapped = 0;
  int64_t least = 0, most = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += static_cast<long double>(x[i]);
    if constexpr (std::is_integral_v<T>) wrapped += static_cast<uint64_t>(x[i]);
    if (x[i] < x[least]) least = i;
    if (x[i] > x[most]) most = i;
  }
  const long double mean = sum / n;
  for (const T value : x) squares += (value - mean) * (value - mean);
  const Tensor t = tensor(x);
  if constexpr (std::is_integral_v<T>)
    EXPECT_EQ(reduce(t, Aggregate::kSum).as<uint64_t>(), wrapped);
  else
    EXPECT_NEAR(reduce(t, Aggregate::kSum).as<double>(), static_cast<double>(sum),
                std::fabs(static_cast<double>(sum)) * (sizeof(T) == 4 ? 1e-7 : 1e-14));
  const double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-12;
  EXPECT_NEAR(reduce(t, Aggregate::kMean).as<double>() / static_cast<double>(mean), 1, tolerance);
  EXPECT_EQ(reduce(t, Aggregate::kMin).as<T>(), x[least]);
  EXPECT_EQ(reduce(t, Aggregate::kMax).as<T>(), x[most]);
  EXPECT_EQ(reduce(t, Aggregate::kArgmin).as<int64_t>(), least);
  EXPECT_EQ(reduce(t, Aggregate::kArgmax).as<int64_t>(), most);
  if (n > 1) {
    const double variance = static_cast<double>(squares / (n - 1));
    EXPECT_NEAR(reduce(t, Aggregate::kVariance, {.ddof = 1}).as<double>() / variance, 1, tolerance);
    EXPECT_NEAR(reduce(t, Aggregate::kStd, {.ddof = 1}).as<double>() / std::sqrt(variance), 1,
                tolerance);
  }
}

TEST_F(ReduceTest, EqualsAPlainLoop) {
  for (const int64_t n : edges()) {
    expect_plain_loop<double>(n);
    expect_plain_loop<float>(n);
    expect_plain_loop<int8_t>(n);
    expect_plain_loop<uint16_t>(n);
    expect_plain_loop<int32_t>(n);
    expect_plain_loop<uint64_t>(n);
  }
}

TEST_F(ReduceTest, FloatSumsHoldAsManyDigitsAsTheyCan) {
  // 0.1 a million times: a plain loop of float64 is off by 1e-6
  const std::vector<double> x(1'000'000, 0.1);
  EXPECT_NEAR(reduce(tensor(x), Aggregate::kSum).as<double>(), 100'000, 1e-10);
  const std::vector<float> y(1'000'000, 0.1f);
  EXPECT_EQ(reduce(tensor(y), Aggregate::kSum).as<float>(), static_cast<float>(0.1f * 1e6));
}

TEST_F(ReduceTest, BitsDoNotDependOnLevelOrThreads) {
  for (const int64_t n : edges()) {
    const std::vector<double> x = noise<double>(n);
    std::vector<bool> valid;
    for (int64_t i = 0; i < n; ++i) valid.push_back(i % 5 != 2);
    const Column nulls = column(x, valid);
    const Tensor dense = tensor(x);
    for (const Aggregate r : {Aggregate::kSum, Aggregate::kProduct, Aggregate::kMean,
                              Aggregate::kVariance, Aggregate::kMin, Aggregate::kArgmax}) {
      uint64_t first[2] = {};
      bool has_first = false;
      for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512})
        for (const int workers : {1, 2, 4}) {
          if (level > best_simd_level()) continue;
          set_simd_level(level);
          set_threads(workers);
          const uint64_t got[2] = {std::bit_cast<uint64_t>(reduce(dense, r).as<double>()),
                                   std::bit_cast<uint64_t>(reduce(nulls, r).as<double>())};
          if (!has_first) std::memcpy(first, got, sizeof got);
          has_first = true;
          ASSERT_EQ(std::memcmp(first, got, sizeof got), 0)
              << aggregate_name(r, AggregateForm::kColumn) << " of " << n;
        }
    }
  }
}

TEST_F(ReduceTest, OneNanWinsWhereverItStands) {
  for (const int64_t size : {1, 31, 32, 96, 1000, 1024, 3000})
    for (int64_t place = 0; place < size; place += 7) {
      std::vector<double> values(static_cast<size_t>(size), 1.5);
      values[static_cast<size_t>(place)] = kNan;
      const std::vector<float> narrow(values.begin(), values.end());
      for (const Tensor& x : {testing::tensor_of(values), testing::tensor_of(narrow)}) {
        EXPECT_TRUE(std::isnan(reduce(x, Aggregate::kMin).as<double>())) << place;
        EXPECT_TRUE(std::isnan(reduce(x, Aggregate::kMax).as<double>())) << place;
        EXPECT_EQ(reduce(x, Aggregate::kArgmin).as<int64_t>(), place);
        EXPECT_EQ(reduce(x, Aggregate::kArgmax).as<int64_t>(), place);
      }
    }
}

TEST_F(ReduceTest, NullsAreSkippedAndNanSpreads) {
  const Column c = column<double>({5, kNan, -1, 9, 100}, {true, true, true, true, false});
  EXPECT_TRUE(std::isnan(reduce(c, Aggregate::kSum).as<double>()));
  EXPECT_TRUE(std::isnan(reduce(c, Aggregate::kMin).as<double>()));
  EXPECT_EQ(reduce(c, Aggregate::kArgmin).as<int64_t>(), 1);
  EXPECT_EQ(reduce(c, Aggregate::kCount).as<int64_t>(), 4);
  const ReduceOptions skip{.skip_nan = true};
  EXPECT_EQ(reduce(c, Aggregate::kSum, skip).as<double>(), 13);
  EXPECT_EQ(reduce(c, Aggregate::kMin, skip).as<double>(), -1);
  EXPECT_EQ(reduce(c, Aggregate::kArgmax, skip).as<int64_t>(), 3);
  EXPECT_EQ(reduce(c, Aggregate::kMean, skip).as<double>(), 13.0 / 3);
  EXPECT_EQ(reduce(c, Aggregate::kCount, skip).as<int64_t>(), 3);
  EXPECT_TRUE(reduce(c, Aggregate::kSum, {.skip_null = false}).is_null());
  EXPECT_EQ(reduce(c.slice(2, 2), Aggregate::kSum, {.skip_null = false}).as<double>(), 8);
}

TEST_F(ReduceTest, EmptyIsAnErrorForArraysAndNullForColumns) {
  const Tensor none = tensor(std::vector<double>{});
  EXPECT_EQ(reduce(none, Aggregate::kSum).as<double>(), 0);
  EXPECT_EQ(reduce(none, Aggregate::kProduct).as<double>(), 1);
  EXPECT_TRUE(std::isnan(reduce(none, Aggregate::kMean).as<double>()));
  EXPECT_THROW(reduce(none, Aggregate::kMin), InvalidArgumentError);
  EXPECT_THROW(reduce(none, Aggregate::kArgmax), InvalidArgumentError);
  EXPECT_TRUE(reduce(none, Aggregate::kAll).as<bool>());
  const Column nulls = column<int32_t>({1, 2}, {false, false});
  EXPECT_EQ(reduce(nulls, Aggregate::kSum).as<int64_t>(), 0);
  EXPECT_TRUE(reduce(nulls, Aggregate::kMin).is_null());
  EXPECT_EQ(reduce(nulls, Aggregate::kMin).dtype(), Dtype(TypeId::kInt32));
}

TEST_F(ReduceTest, BoolsCountAndDecide) {
  const Tensor t = tensor<bool>({true, false, true, true});
  EXPECT_EQ(reduce(t, Aggregate::kSum).as<int64_t>(), 3);
  EXPECT_EQ(reduce(t, Aggregate::kSum).dtype(), Dtype(TypeId::kInt64));
  EXPECT_TRUE(reduce(t, Aggregate::kAny).as<bool>());
  EXPECT_FALSE(reduce(t, Aggregate::kAll).as<bool>());
  EXPECT_FALSE(reduce(t, Aggregate::kMin).as<bool>());
  EXPECT_EQ(reduce(t, Aggregate::kMean).as<double>(), 0.75);
  const Column bits(TypeId::kBool, 9, [] {
    Buffer buffer = Buffer::allocate_zeroed(2);
    buffer.mutable_as<uint8_t>()[0] = 0b10110100;
    buffer.mutable_as<uint8_t>()[1] = 1;
    return buffer;
  }());
  EXPECT_EQ(reduce(bits.slice(3, 6), Aggregate::kSum).as<int64_t>(), 4);
}

TEST_F(ReduceTest, AlongAnAxisEachLineHasTheBitsOfItsOwnReduction) {
  const Shape shape = {3, 1100, 2};
  const Tensor t = tensor(noise<double>(num_elements(shape)), shape);
  for (const int64_t axis : {0, 1, 2, -1}) {
    const size_t along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    for (const Aggregate r : {Aggregate::kSum, Aggregate::kMax, Aggregate::kStd, Aggregate::kAny}) {
      const Tensor got = reduce_axis(t, r, axis);
      EXPECT_EQ(got.num_dimensions(), 2);
      EXPECT_EQ(reduce_axis(t, r, axis, {}, true).shape()[along], 1);
      int64_t line = 0;
      for (int64_t i = 0; i < (along == 0 ? 1 : 3); ++i)
        for (int64_t j = 0; j < (along == 1 ? 1 : 1100); ++j)
          for (int64_t k = 0; k < (along == 2 ? 1 : 2); ++k, ++line) {
            std::vector<double> values;
            const int64_t start = i * 2200 + j * 2 + k;
            for (int64_t m = 0; m < shape[along]; ++m)
              values.push_back(t.as<double>()[start + m * t.strides()[along]]);
            const Scalar expected = reduce(tensor(values), r);
            if (r == Aggregate::kAny)
              ASSERT_EQ(got.as<uint8_t>()[line], expected.as<uint8_t>());
            else
              ASSERT_EQ(got.as<double>()[line], expected.as<double>());
          }
    }
  }
  EXPECT_THROW(reduce_axis(t, Aggregate::kSum, 3), InvalidArgumentError);
  const Tensor empty(TypeId::kFloat64, {0, 2}, Buffer::allocate(0));
  EXPECT_EQ(reduce_axis(empty, Aggregate::kSum, 0).as<double>()[1], 0);
  EXPECT_THROW(reduce_axis(empty, Aggregate::kMin, 0), InvalidArgumentError);
  EXPECT_EQ(reduce_axis(empty, Aggregate::kMin, 1).num_elements(), 0);
}

TEST_F(ReduceTest, LinesOfSeveralMorselsHaveTheBitsOfTheirOwnReduction) {
  constexpr int64_t kRows = 70001, kColumns = 37;
  const Tensor whole = tensor(noise<float>(kRows * 2 * kColumns), {kRows, 2, kColumns});
  const Tensor half(TypeId::kFloat32, {kRows, kColumns}, {2 * kColumns, 1}, whole.buffer(), 0);
  for (const Tensor& t : {whole, half})
    for (const Aggregate r : {Aggregate::kSum, Aggregate::kMean, Aggregate::kArgmax}) {
      const Tensor got = reduce_axis(t, r, 0);
      for (int64_t line = 0; line < got.num_elements(); ++line) {
        const Tensor alone(TypeId::kFloat32, {kRows}, {2 * kColumns}, whole.buffer(), line * 4);
        const Scalar expected = reduce(alone, r);
        if (r == Aggregate::kArgmax)
          ASSERT_EQ(got.as<int64_t>()[line], expected.as<int64_t>());
        else
          ASSERT_EQ(got.as<float>()[line], expected.as<float>());
      }
    }
}

TEST_F(ReduceTest, SumsHaveOneNan) {
  constexpr int64_t kRows = 97, kColumns = 1003;
  std::vector<double> x = noise<double>(kRows * kColumns);
  for (size_t i = 0; i < x.size(); i += 7) x[i] = i % 2 == 0 ? kNan : -kNan;
  const Tensor t = tensor(x, {kRows, kColumns});
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512})
    for (const int count : {1, 4}) {
      set_simd_level(level);
      set_threads(count);
      for (const Aggregate r : {Aggregate::kSum, Aggregate::kMean, Aggregate::kProduct}) {
        EXPECT_EQ(std::bit_cast<uint64_t>(reduce(t, r).as<double>()),
                  std::bit_cast<uint64_t>(kNan));
        for (const int64_t axis : {0, 1}) {
          const Tensor sums = reduce_axis(t, r, axis);
          for (int64_t i = 0; i < sums.num_elements(); ++i)
            ASSERT_EQ(std::bit_cast<uint64_t>(sums.as<double>()[i]), std::bit_cast<uint64_t>(kNan));
        }
      }
    }
}

TEST_F(ReduceTest, StridedEqualsCopied) {
  const std::vector<double> x = noise<double>(6000);
  const Tensor whole = tensor(x);
  const Tensor backwards(TypeId::kFloat64, {2000}, {-3}, whole.buffer(), 5999 * 8);
  std::vector<double> copied;
  for (int64_t i = 0; i < 2000; ++i) copied.push_back(x[static_cast<size_t>(5999 - 3 * i)]);
  EXPECT_EQ(reduce(backwards, Aggregate::kSum).as<double>(),
            reduce(tensor(copied), Aggregate::kSum).as<double>());
  EXPECT_EQ(reduce(backwards, Aggregate::kArgmin).as<int64_t>(),
            reduce(tensor(copied), Aggregate::kArgmin).as<int64_t>());
}

}  // namespace
}  // namespace hr
