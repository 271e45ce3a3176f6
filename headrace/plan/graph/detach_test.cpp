// SPDX-License-Identifier: Apache-2.0
// Writable exports: who else holds the value keeps it; what is made later runs at once.
#include "headrace/plan/graph/detach.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hr {
namespace {

NodePtr counting(int64_t count) {
  Buffer buffer = Buffer::allocate(count * 8);
  for (int64_t i = 0; i < count; ++i) buffer.mutable_as<double>()[i] = static_cast<double>(i);
  return lazy_value(Tensor(TypeId::kFloat64, {count}, std::move(buffer)));
}

double first_of(const NodePtr& node) {
  return std::get<Tensor>(force(node)).as<double>()[0];
}

void write(const Tensor& tensor, double value) {
  *reinterpret_cast<double*>(const_cast<std::byte*>(tensor.data())) = value;
}

TEST(Detach, LaterWritesChangeNoResult) {
  NodePtr node = counting(100);
  const NodePtr before = elementwise(Op::kAdd, {node, literal(Scalar::weak(int64_t{1}))});
  EXPECT_FALSE(detach(node));  // the sum has not run
  force(before);
  const std::byte* const data = std::get<Tensor>(node->value()).data();
  const std::optional<Tensor> given = detach(node);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->data(), data);
  EXPECT_EQ(std::get<Tensor>(node->value()).data(), data);
  const NodePtr negated = elementwise(Op::kNegative, {node});
  EXPECT_TRUE(negated->is_ready());
  write(*given, 7.0);
  EXPECT_EQ(first_of(before), 1.0);
  EXPECT_EQ(first_of(negated), 0.0);
  EXPECT_EQ(first_of(elementwise(Op::kNegative, {node})), -7.0);
  EXPECT_FALSE(detach(node));  // it has two holders now
}

TEST(Detach, HoldersOfTheValueKeepIt) {
  NodePtr node = counting(100);
  {
    const NodePtr handle = node;
    EXPECT_FALSE(detach(node));
  }
  {
    const NodePtr view = slice(node, 10, 5);
    EXPECT_FALSE(detach(node));
    EXPECT_EQ(first_of(view), 10.0);
  }
  {
    const Value value = node->value();
    EXPECT_FALSE(detach(node));
  }
  EXPECT_EQ(first_of(node), 0.0);
  EXPECT_TRUE(detach(node));
}

TEST(Detach, NothingKnownOfFormerValuesStays) {
  NodePtr mask = lazy_value([] {
    Buffer buffer = Buffer::allocate(4);
    std::memset(buffer.mutable_data(), 1, 4);
    return Tensor(TypeId::kBool, {4}, std::move(buffer));
  }());
  const uint64_t picked = picked_domain(mask);
  ASSERT_TRUE(detach(mask));
  EXPECT_NE(picked_domain(mask), picked);
}

}  // namespace
}  // namespace hr
