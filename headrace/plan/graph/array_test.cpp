// SPDX-License-Identifier: Apache-2.0
#include "headrace/plan/graph/array.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

Array numbers(int64_t count) {
  Buffer buffer = Buffer::allocate(count * 8);
  for (int64_t i = 0; i < count; ++i) buffer.mutable_as<double>()[i] = static_cast<double>(i);
  return Tensor(TypeId::kFloat64, {count}, std::move(buffer));
}

TEST(Array, OperatorsMakeOnePass) {
  const Array x = numbers(1000);
  const Array total = (2 * x - x / 4 + 1).sum();
  EXPECT_NE(total.explain().find("1 full-size pass over 1,000 elements"), std::string::npos);
  EXPECT_DOUBLE_EQ(total.item<double>(), 1.75 * 499'500 + 1000);
}

TEST(Array, ComparisonsAreGates) {
  const Array x = numbers(10);
  const Tensor gate = (((x > 2) & !(x >= 5)) | (x < 1)).tensor();
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(gate.as<bool>()[i], (i > 2 && i < 5) || i < 1) << i;
  EXPECT_EQ((x <= 3).sum().item<int64_t>(), 4);
}

TEST(Array, NumbersTakeTheDtypeTheyMeet) {
  const Array x = scalar_tensor(1.5f);
  EXPECT_EQ((x * 2.0).dtype(), Dtype(TypeId::kFloat32));
  EXPECT_EQ((-x + 1).item<float>(), -0.5f);
}

TEST(Array, LengthsThatDoNotFitAreRefusedAtOnce) {
  EXPECT_THROW(numbers(3) + numbers(4), InvalidArgumentError);
}

TEST(Array, TrimSharesTheMemory) {
  const Array x = numbers(5);
  const Array inner = x.trim(1, 2);
  EXPECT_EQ(inner.tensor().as<double>(), x.tensor().as<double>() + 1);
  EXPECT_EQ(inner.tensor().num_elements(), 2);
  EXPECT_EQ(inner.max().item<double>() + inner.min().item<double>(), 3);
  EXPECT_EQ(inner.mean().item<double>() + inner.std().item<double>(), 2);
}

}  // namespace
}  // namespace hr
