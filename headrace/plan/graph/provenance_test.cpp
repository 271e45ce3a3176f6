// SPDX-License-Identifier: Apache-2.0
#include "headrace/plan/graph/provenance.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/plan/graph/elementwise_operators.h"
#include "headrace/plan/graph/plan_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodePtr numbers(uint64_t domain) {
  return lazy_value(testing::column_of<int64_t>({1, 2, 3}), {}, domain);
}

TEST(Provenance, MarksFollowValues) {
  const uint64_t domain = new_domain();
  const std::vector<NodePtr> read{numbers(domain), numbers(domain)};
  const NodePtr other = numbers(domain);
  mark_sources(read, 7);
  EXPECT_THAT(marks_of(read[1]), ElementsAre(8));
  const NodePtr sum = elementwise(Op::kAdd, {read[0], other});
  EXPECT_THAT(marks_of(sum), ElementsAre(7));
  const NodePtr both = elementwise(Op::kMultiply, {sum, read[1]});
  EXPECT_THAT(marks_of(both), ElementsAre(7, 8));
  const NodePtr mask = elementwise(Op::kGreater, {read[1], literal(Scalar::weak(1))});
  const NodePtr rows = masked_rows(other->signature(), other, mask);
  EXPECT_THAT(marks_of(rows), IsEmpty());
  EXPECT_THAT(marks_of(reduce(Aggregate::kSum, both)), ElementsAre(7, 8));
  force(both);
  EXPECT_THAT(marks_of(both), ElementsAre(7, 8));
  EXPECT_THAT(marks_of(slice(both, 0, 2)), ElementsAre(7, 8));
  EXPECT_THAT(marks_of(in_domain(both, new_domain())), ElementsAre(7, 8));
  EXPECT_THAT(marks_of(slice(std::vector{both}, 0, 2, new_domain())[0]), ElementsAre(7, 8));
}

TEST(Provenance, MarksAreSetOfOneNode) {
  const NodePtr plain = numbers(0);
  const NodePtr once = with_marks(plain, {5, 3});
  const NodePtr twice = with_marks(once, {4, 3});
  EXPECT_THAT(marks_of(plain), IsEmpty());
  EXPECT_THAT(marks_of(once), ElementsAre(3, 5));
  EXPECT_THAT(marks_of(twice), ElementsAre(3, 4));
  const NodePtr lazy = elementwise(Op::kNegative, {plain});
  EXPECT_THAT(marks_of(with_marks(lazy, {9})), ElementsAre(9));
  EXPECT_THAT(marks_of(lazy), IsEmpty());
  EXPECT_THAT(marks_of(with_marks(once, {})), IsEmpty());
}

TEST(Provenance, PlansEndAtSources) {
  const auto plan = [](std::vector<NodePtr>& read, int64_t value) {
    const uint64_t domain = new_domain();
    read = {numbers(domain), numbers(domain)};
    mark_sources(read, static_cast<uint32_t>(20 * value));
    return elementwise(
        Op::kAdd, {elementwise(Op::kMultiply, {read[1], read[1]}), literal(Scalar::weak(value))});
  };
  std::vector<NodePtr> read, again;
  const std::vector<NodePtr> roots{plan(read, 1)}, same{plan(again, 1)}, other{plan(again, 2)};
  const SourcePlan made = plan_of_sources(roots, 1 << 20);
  EXPECT_THAT(made.sources, ElementsAre(21));
  EXPECT_EQ(made.bytes, plan_of_sources(same, 1 << 20).bytes);
  EXPECT_NE(made.bytes, plan_of_sources(other, 1 << 20).bytes);
  const NodePtr fresh = lazy_value(testing::column_of<int64_t>({4, 5, 6}), {}, new_domain());
  const std::vector<NodePtr> rebuilt = plan_from_bytes(made.bytes, std::vector{fresh});
  const auto values = std::get<Column>(force(rebuilt[0]));
  EXPECT_THAT(values.values<int64_t>(), ElementsAre(17, 26, 37));
  EXPECT_THROW(plan_from_bytes(made.bytes, {}), InvalidArgumentError);
  force(roots[0]);
  EXPECT_THROW(plan_of_sources(roots, 1 << 20), UnsupportedError);
  const std::vector<NodePtr> large{
      lazy_value(testing::column_of<int64_t>(std::vector<int64_t>(1000)))};
  EXPECT_THROW(plan_of_sources(large, 1000), UnsupportedError);
}

}  // namespace
}  // namespace hr
