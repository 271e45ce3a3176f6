// SPDX-License-Identifier: Apache-2.0
// non_max_suppression equals brute force over every window.
#include "headrace/signal/non_max_suppression.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {
namespace {

using namespace testing;

template <class T>
std::vector<uint8_t> brute_force(const std::vector<T>& x, int64_t window, double threshold) {
  const auto size = static_cast<int64_t>(x.size());
  std::vector<uint8_t> gate(x.size(), 0);
  for (int64_t i = 0; i < size; ++i) {
    const auto value = [&](int64_t j) { return x[static_cast<size_t>(j)]; };
    bool peak = static_cast<long double>(value(i)) >= static_cast<long double>(threshold);
    for (int64_t j = std::max<int64_t>(0, i - window / 2); peak && j < i; ++j)
      peak = !(value(j) >= value(i));
    for (int64_t j = i + 1; peak && j < size && j - i <= window / 2; ++j)
      peak = !(value(j) > value(i));
    gate[static_cast<size_t>(i)] = peak ? 1 : 0;
  }
  return gate;
}

/// Values with many ties, walks up and down, and NaN or inf where the type has them.
template <class T>
std::vector<T> signal_of(int64_t count, int64_t levels) {
  std::vector<T> values;
  uint64_t state = 11;
  int64_t walk = 0;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto random = static_cast<int64_t>(state >> 33);
    walk += random % 3 - 1;
    T value = static_cast<T>(levels > 0 ? random % levels : walk % 100);
    if constexpr (std::is_floating_point_v<T>) {
      if (random % 41 == 0) value = static_cast<T>(NAN);
      if (random % 997 == 1) value = static_cast<T>(INFINITY);
      if (random % 997 < 30 && random % 7 == 0) value = static_cast<T>(-INFINITY);
    }
    values.push_back(value);
  }
  return values;
}

template <class T>
class NonMaxSuppression : public ::testing::Test {};

using RealTypes = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                   uint64_t, float, double>;
TYPED_TEST_SUITE(NonMaxSuppression, RealTypes);

TYPED_TEST(NonMaxSuppression, EqualsBruteForce) {
  for (const int64_t size : {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025, 3001})
    for (const int64_t window : {1, 3, 5, 31, 63, 65, 129, 1001, 4097, 4099, 100'001})
      for (const int64_t levels : {0, 4, 100})
        for (const int64_t stride : {1, -2}) {
          const std::vector<TypeParam> x = signal_of<TypeParam>(size, levels);
          EXPECT_EQ(values_of<uint8_t>(non_max_suppression(tensor_of(x, stride), window)),
                    brute_force(x, window, -INFINITY))
              << size << ' ' << window << ' ' << levels;
          EXPECT_EQ(values_of<uint8_t>(non_max_suppression(tensor_of(x, stride), window, 2.5)),
                    brute_force(x, window, 2.5));
        }
}

TEST(NonMaxSuppressionOfMorsels, LooksAcrossTheirBorders) {
  for (const int64_t size : {kMorselRows - 1, kMorselRows, kMorselRows + 1, 2 * kMorselRows + 9})
    for (const int64_t window : {1, 3, 9, 301, 5001}) {
      const std::vector<double> x = signal_of<double>(size, 0);
      const Tensor gate = non_max_suppression(tensor_of(x), window);
      EXPECT_EQ(gate.dtype(), Dtype(TypeId::kBool));
      EXPECT_EQ(values_of<uint8_t>(gate), brute_force(x, window, -INFINITY));
    }
}

TEST(NonMaxSuppressionOfPlateaus, TakesTheLeftmost) {
  EXPECT_EQ(values_of<uint8_t>(non_max_suppression(tensor_of<int32_t>({1, 3, 3, 3, 2, 3}), 3)),
            (std::vector<uint8_t>{0, 1, 0, 0, 0, 1}));
  std::vector<uint8_t> one(5000, 0);
  one[0] = 1;
  EXPECT_EQ(values_of<uint8_t>(non_max_suppression(tensor_of(std::vector<float>(5000, 2)), 101)),
            one);
}

TEST(NonMaxSuppressionOfNan, NeverPeaksNorSuppresses) {
  EXPECT_EQ(values_of<uint8_t>(non_max_suppression(tensor_of<double>({NAN, 1, NAN}), 3)),
            (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_EQ(values_of<uint8_t>(
                non_max_suppression(tensor_of(std::vector<double>(100, std::nan(""))), 99)),
            std::vector<uint8_t>(100, 0));
}

TEST(NonMaxSuppressionOfThresholds, ComparesExactly) {
  constexpr int64_t top = std::numeric_limits<int64_t>::max();
  const Tensor x = tensor_of<int64_t>({top, 0});
  EXPECT_EQ(values_of<uint8_t>(non_max_suppression(x, 1, 0x1p63)), (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(values_of<uint8_t>(non_max_suppression(x, 1, 0x1p62)), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(values_of<uint8_t>(non_max_suppression(x, 1, 1e-300)), (std::vector<uint8_t>{1, 0}));
  const double above = std::nextafter(static_cast<double>(0.1f), 1);
  EXPECT_EQ(values_of<uint8_t>(non_max_suppression(tensor_of<float>({0.1f}), 1, above)),
            std::vector<uint8_t>{0});
}

TEST(NonMaxSuppressionOfLongSignals, IsTheSameForAnyThreadsAndLevel) {
  const Tensor x = tensor_of(signal_of<float>(5 * kMorselRows + 3, 1000));
  EXPECT_TRUE(same_for_any_threads([&] { return non_max_suppression(x, 129); }));
  const SimdLevel best = simd_level();
  const Tensor gate = non_max_suppression(x, 129);
  set_simd_level(SimdLevel::kBase);
  EXPECT_TRUE(same_bits(gate, non_max_suppression(x, 129)));
  set_simd_level(best);
}

TEST(NonMaxSuppressionOfOthers, IsRefused) {
  const Tensor x = tensor_of<double>({1, 2});
  EXPECT_THROW(non_max_suppression(x, 0), InvalidArgumentError);
  EXPECT_THROW(non_max_suppression(x, 4), InvalidArgumentError);
  EXPECT_THROW(non_max_suppression(x, -3), InvalidArgumentError);
  EXPECT_THROW(non_max_suppression(x, 3, NAN), InvalidArgumentError);
  EXPECT_THROW(non_max_suppression(Tensor(TypeId::kBool, {2}, Buffer::allocate_zeroed(2)), 3),
               TypeMismatchError);
  EXPECT_THROW(
      non_max_suppression(Tensor(TypeId::kFloat64, {1, 2}, Buffer::allocate_zeroed(16)), 3),
      TypeMismatchError);
}

}  // namespace
}  // namespace hr
