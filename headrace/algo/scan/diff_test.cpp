// SPDX-License-Identifier: Apache-2.0
// diff equals its definition for every dtype, size and stride.
#include "headrace/algo/scan/diff.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hr {
namespace {

using namespace testing;

template <class T>
std::vector<T> some_values(int64_t count) {
  return random_values<T>(count, 1,
                          [](uint64_t state) { return static_cast<int64_t>(state >> 33) % 100; });
}

template <class T>
class Diff : public ::testing::Test {};

using RealTypes = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                   uint64_t, float, double>;
TYPED_TEST_SUITE(Diff, RealTypes);

TYPED_TEST(Diff, SubtractsNeighbours) {
  for (const int64_t size : edge_sizes())
    for (const int64_t stride : {1, 3, -1}) {
      const std::vector<TypeParam> values = some_values<TypeParam>(size);
      std::vector<TypeParam> expected;
      for (size_t i = 1; i < values.size(); ++i)
        expected.push_back(static_cast<TypeParam>(values[i] - values[i - 1]));
      const Tensor result = diff(tensor_of(values, stride));
      EXPECT_EQ(result.dtype(), dtype_of<TypeParam>());
      EXPECT_EQ(values_of<TypeParam>(result), expected) << "size " << size;
    }
}

TEST(DiffOfIntegers, WrapsAround) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values_of<int64_t>(diff(tensor_of<int64_t>({1, least}))),
            std::vector<int64_t>{std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(values_of<uint8_t>(diff(tensor_of<uint8_t>({2, 1}))), std::vector<uint8_t>{255});
}

TEST(DiffOfFloats, SpreadsNan) {
  const auto result = values_of<double>(diff(tensor_of<double>({1, NAN, 2, 5})));
  EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
  EXPECT_EQ(result[2], 3);
}

TEST(DiffOfFloats, IsTheSameForAnyThreads) {
  const Tensor x = tensor_of(some_values<float>(5 * kMorselRows + 3));
  EXPECT_TRUE(same_for_any_threads([&] { return diff(x); }));
}

TEST(DiffOfOthers, IsRefused) {
  EXPECT_THROW(diff(Tensor(TypeId::kBool, {2}, Buffer::allocate_zeroed(2))), TypeMismatchError);
  EXPECT_THROW(diff(Tensor(TypeId::kFloat64, {2, 2}, Buffer::allocate_zeroed(32))),
               TypeMismatchError);
}

}  // namespace
}  // namespace hr
