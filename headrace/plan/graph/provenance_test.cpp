// SPDX-License-Identifier: Apache-2.0
#include "headrace/plan/graph/provenance.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/plan/graph/elementwise_operators.h"
#include "headrace/plan/graph/plan_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace hr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NodePtr numbers(uint64_t domain) {
  return lazy_value(testing::column_of<int64_t>({1, 2, 3}), {}, domain);
}

std::vector<std::string> names(const NodePtr& node) {
  std::vector<std::string> made;
  for (const Mark& mark : marks_of(node))
    made.push_back(mark.source->is_tag ? mark.source->words : mark.name());
  std::ranges::sort(made);
  return made;
}

std::vector<NodePtr> read(const std::string& words, uint64_t domain = 0) {
  const std::vector<NodePtr> made{numbers(domain), numbers(domain)};
  mark_sources(made, value_source(words, {"a", "b"}));
  return made;
}

TEST(Provenance, MarksFollowValues) {
  const uint64_t domain = new_domain();
  const std::vector<NodePtr> columns = read("file", domain);
  const NodePtr other = numbers(domain);
  EXPECT_THAT(names(columns[1]), ElementsAre("b"));
  const NodePtr sum = elementwise(Op::kAdd, {columns[0], other});
  EXPECT_THAT(names(sum), ElementsAre("a"));
  const NodePtr both = elementwise(Op::kMultiply, {sum, columns[1]});
  EXPECT_THAT(names(both), ElementsAre("a", "b"));
  const NodePtr mask = elementwise(Op::kGreater, {columns[1], literal(Scalar::weak(1))});
  EXPECT_THAT(names(masked_rows(other->signature(), other, mask)), IsEmpty());
  EXPECT_THAT(names(reduce(Aggregate::kSum, both)), ElementsAre("a", "b"));
  force(both);
  EXPECT_THAT(names(both), ElementsAre("a", "b"));
  EXPECT_THAT(names(slice(both, 0, 2)), ElementsAre("a", "b"));
  EXPECT_THAT(names(in_domain(both, new_domain())), ElementsAre("a", "b"));
  EXPECT_THAT(names(slice(std::vector{both}, 0, 2, new_domain())[0]), ElementsAre("a", "b"));
}

TEST(Provenance, TagsAreOfOneNode) {
  const NodePtr plain = read("file")[0];
  const std::vector<std::string> first{"x", "y"}, second{"z", "x"};
  const NodePtr once = add_tags(plain, "k", first);
  const NodePtr twice = add_tags(once, "k", second);
  EXPECT_THAT(names(plain), ElementsAre("a"));
  EXPECT_THAT(names(once), ElementsAre("a", "x", "y"));
  EXPECT_THAT(names(twice), ElementsAre("a", "x", "y", "z"));
  EXPECT_THAT(names(remove_tags(twice, first)), ElementsAre("a", "z"));
  const NodePtr lazy = elementwise(Op::kNegative, {plain});
  EXPECT_THAT(names(add_tags(lazy, "k", second)), ElementsAre("a", "x", "z"));
  EXPECT_THAT(names(lazy), ElementsAre("a"));
}

// Every set of marks against std::set: unions in any order, of sizes around the branches' bits.
TEST(Provenance, SetsAreThoseOfTheStandardLibrary) {
  constexpr size_t kSources = 130;
  std::vector<NodePtr> columns;
  for (size_t i = 0; i < kSources; ++i) columns.push_back(read(std::to_string(i))[i % 2]);
  std::vector<std::pair<NodePtr, std::set<uint64_t>>> made;
  const auto ids = [](const NodePtr& node) {
    std::set<uint64_t> found;
    uint64_t last = 0;
    for (const Mark& mark : marks_of(node)) {
      const uint64_t number = mark.source->first + mark.column;
      EXPECT_GT(number, last);  // in order, each once
      found.insert(last = number);
    }
    return found;
  };
  for (const NodePtr& column : columns) made.emplace_back(column, ids(column));
  uint64_t state = 1;
  for (size_t step = 0; step < 2000; ++step) {
    const auto pick = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return made[static_cast<size_t>(state >> 33) % made.size()];
    };
    const auto [left, of_left] = pick();
    const auto [right, of_right] = pick();
    const NodePtr sum = elementwise(Op::kAdd, {left, right});
    std::set<uint64_t> expected(of_left);
    expected.insert(of_right.begin(), of_right.end());
    ASSERT_EQ(ids(sum), expected);
    force(sum);
    made.emplace_back(sum, expected);
  }
}

TEST(Provenance, WhatNoNodeHoldsIsForgotten) {
  const size_t before = count_value_sources();
  {
    const std::vector<NodePtr> one = read("same"), other = read("same");
    EXPECT_EQ(count_value_sources(), before + 1);
    EXPECT_THAT(names(elementwise(Op::kAdd, {one[0], other[0]})), ElementsAre("a"));
    NodePtr sum = one[0];
    for (int i = 0; i < 1000; ++i)
      force(sum = elementwise(Op::kAdd, {sum, read("file" + std::to_string(i))[0]}));
    EXPECT_EQ(marks_of(sum).size(), 1001u);
    EXPECT_EQ(count_value_sources(), before + 1001);
  }
  EXPECT_EQ(count_value_sources(), before);
}

TEST(Provenance, ThreadsReadTheSameAtOnce) {
  const size_t before = count_value_sources();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        const NodePtr a = read(std::to_string(i % 3))[0], b = read(std::to_string(i % 3))[0];
        if (marks_of(elementwise(Op::kAdd, {a, b})).size() != 1) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(count_value_sources(), before);
}

TEST(Provenance, DeniedTagsStopExports) {
  const std::vector<std::string> tags{"personal"};
  const NodePtr tagged = add_tags(numbers(0), "k", tags);
  check_export(*tagged);
  deny_tags(tags);
  EXPECT_EQ(denied_tags_of(*elementwise(Op::kNegative, {tagged})).at(0).name(), "k");
  EXPECT_THAT(denied_tags_of(*numbers(0)), IsEmpty());
  try {
    check_export(*tagged);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tag='personal', column='k'"));
  }
  EXPECT_THROW(plan_to_bytes(std::vector{elementwise(Op::kNegative, {tagged})}),
               InvalidArgumentError);
  deny_tags({});
  check_export(*tagged);
}

TEST(Provenance, PlansEndAtSources) {
  const auto plan = [](std::vector<NodePtr>& columns, int64_t value) {
    const uint64_t domain = new_domain();
    columns = read("file" + std::to_string(value), domain);
    return elementwise(Op::kAdd, {elementwise(Op::kMultiply, {columns[1], columns[1]}),
                                  literal(Scalar::weak(value))});
  };
  std::vector<NodePtr> columns, again;
  const std::vector<NodePtr> roots{plan(columns, 1)}, same{plan(again, 1)}, other{plan(again, 2)};
  const SourcePlan made = plan_of_sources(roots, 1 << 20);
  ASSERT_EQ(made.sources.size(), 1u);
  EXPECT_EQ(made.sources[0].name(), "b");
  EXPECT_EQ(made.bytes, plan_of_sources(same, 1 << 20).bytes);
  EXPECT_NE(made.bytes, plan_of_sources(other, 1 << 20).bytes);
  const NodePtr fresh = lazy_value(testing::column_of<int64_t>({4, 5, 6}), {}, new_domain());
  const std::vector<NodePtr> rebuilt = plan_from_bytes(made.bytes, std::vector{fresh});
  const auto values = std::get<Column>(force(rebuilt[0]));
  EXPECT_THAT(values.values<int64_t>(), ElementsAre(17, 26, 37));
  EXPECT_THROW(plan_from_bytes(made.bytes, {}), InvalidArgumentError);
  const auto wrong = [&](const Column& column) {
    const std::vector<NodePtr> given{lazy_value(column, {}, new_domain())};
    EXPECT_THROW(plan_from_bytes(made.bytes, given), InvalidArgumentError);
  };
  wrong(testing::column_of<double>({4, 5, 6}));  // another dtype
  wrong(testing::column_of<int64_t>({4, 5}));    // other rows
  force(roots[0]);
  EXPECT_THROW(plan_of_sources(roots, 1 << 20), UnsupportedError);
  const std::vector<NodePtr> large{
      lazy_value(testing::column_of<int64_t>(std::vector<int64_t>(1000)))};
  EXPECT_THROW(plan_of_sources(large, 1000), UnsupportedError);
}

}  // namespace
}  // namespace hr
