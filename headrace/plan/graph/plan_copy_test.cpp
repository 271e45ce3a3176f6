// SPDX-License-Identifier: Apache-2.0
// Copies of plans: the same values, kept apart from those of the original.
#include "headrace/plan/graph/plan_copy.h"

#include "headrace/plan/graph/operator_testing.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hr {

namespace {

NodePtr numbers(int64_t rows, uint64_t domain) {
  Buffer buffer = Buffer::allocate(rows * 8);
  std::iota(buffer.mutable_as<double>(), buffer.mutable_as<double>() + rows, 0.0);
  return lazy_value(Tensor(TypeId::kFloat64, {rows}, buffer), "x", domain);
}

double total(const NodePtr& node) {
  return std::get<Tensor>(force(node)).item<double>();
}

TEST(PlanCopy, RunsApartFromTheOriginal) {
  for (const int64_t rows : {0, 1, 65, 200'000}) {
    const NodePtr x = numbers(rows, new_domain());
    const NodePtr twice = elementwise(Op::kMultiply, {x, literal(Scalar::weak(int64_t{2}))});
    const std::vector<NodePtr> roots{twice, reduce(Aggregate::kSum, twice)};
    const PlanTemplate plan(roots, {});
    const std::vector<NodePtr> first = plan.copy(), second = plan.copy();
    ASSERT_EQ(first.size(), 2u);
    EXPECT_NE(first[0], roots[0]);
    EXPECT_EQ(first[0]->signature().domain, x->signature().domain);
    const double n = static_cast<double>(rows);
    EXPECT_EQ(total(first[1]), rows == 0 ? 0 : n * (n - 1));
    force(first[0]);
    EXPECT_FALSE(roots[0]->is_ready());
    EXPECT_FALSE(roots[1]->is_ready());
    EXPECT_EQ(total(second[1]), total(first[1]));
  }
}

TEST(PlanCopy, SharesWhatIsAskedForAndWhatIsThere) {
  const NodePtr x = numbers(10, new_domain());
  const NodePtr source = elementwise(Op::kNegative, {x});
  const NodePtr root = elementwise(Op::kAdd, {source, x});
  const std::vector<NodePtr> made =
      PlanTemplate(std::vector{root, x, source}, std::vector{source}).copy();
  EXPECT_NE(made[0], root);
  EXPECT_EQ(made[1], x);
  EXPECT_EQ(made[2], source);
  force(source);
  EXPECT_EQ(total(reduce(Aggregate::kSum, made[0])), 0);
}

TEST(PlanCopy, ALongChainDoesNotRecurse) {
  NodePtr node = numbers(3, new_domain());
  for (int i = 0; i < 100'000; ++i) node = elementwise(Op::kNegative, {node});
  const std::vector<NodePtr> made = PlanTemplate(std::vector{node}, {}).copy();
  EXPECT_EQ(total(reduce(Aggregate::kSum, made[0])), 3);
}

}  // namespace

}  // namespace hr
