// SPDX-License-Identifier: Apache-2.0
// Plans over the host's data that run in part on a device.
#include "headrace/plan/execute/places.h"

#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/device_tier.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/plan/graph/operator_testing.h"
#include "headrace/plan/graph/placement.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hr {

namespace {

constexpr int64_t kRows = 1'000'000;

class Places : public ::testing::Test {
 protected:
  void SetUp() override {
    open_simulated({.limit_bytes = int64_t{256} << 20, .latency_ns = 0});
    set_auto_place(simulated);
  }

  void TearDown() override { set_auto_place(host); }
};

/// Adds one, at a cost for each row.
struct AddOne final : Operator {
  AddOne(double cost, bool kernel) : nanoseconds(cost), has_kernel(kernel) {}

  std::string_view name() const override { return has_kernel ? "on_both" : "on_host"; }

  bool supports(Place place) const override { return has_kernel || !place.is_gpu(); }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Cost cost(const InputEstimates&) const override { return {.nanoseconds = nanoseconds}; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& values = std::get<Tensor>(inputs[0]);
    const int64_t rows = values.shape()[0];
    Buffer made = Buffer::allocate(rows * 8);
    for (int64_t i = 0; i < rows; ++i) made.mutable_as<double>()[i] = values.as<double>()[i] + 1;
    return Tensor(TypeId::kFloat64, {rows}, made);
  }

  double nanoseconds;
  bool has_kernel;
};

NodePtr numbers(int64_t rows) {
  Buffer buffer = Buffer::allocate(rows * 8);
  std::iota(buffer.mutable_as<double>(), buffer.mutable_as<double>() + rows, 0.0);
  return lazy_value(Tensor(TypeId::kFloat64, {rows}, buffer), "x", new_domain());
}

NodePtr add_one(const NodePtr& input, double nanoseconds, bool has_kernel = true) {
  return apply_operator(std::make_shared<AddOne>(nanoseconds, has_kernel), input->signature(),
                        {input});
}

std::string plan_of(const NodePtr& node) {
  return explain(std::span(&node, 1)).text;
}

int64_t count(const std::string& text, std::string_view word) {
  int64_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

void expect_plus(const NodePtr& node, double more) {
  const Value value = force(node);
  EXPECT_TRUE(place_of(value).is_host());
  const auto& values = std::get<Tensor>(value);
  for (const int64_t i : {int64_t{0}, int64_t{1}, values.shape()[0] - 1})
    EXPECT_EQ(values.as<double>()[i], static_cast<double>(i) + more);
}

TEST_F(Places, DearStepsGoToTheDeviceAndTheResultComesBack) {
  const NodePtr x = numbers(kRows);
  const NodePtr first = add_one(x, 1000), last = add_one(first, 1000);
  const std::string plan = plan_of(last);
  EXPECT_EQ(count(plan, "to [sim:0]"), 1) << plan;
  EXPECT_EQ(count(plan, "to [host]"), 1) << plan;
  expect_plus(last, 2);
  EXPECT_TRUE(last->fields().place.is_host());
  EXPECT_FALSE(first->is_ready());  // its value is on the device, and was not asked for
  expect_plus(first, 1);
}

TEST_F(Places, ALaterPlanFindsItsInputsThere) {
  const NodePtr x = numbers(kRows);
  expect_plus(add_one(x, 1000), 1);
  const NodePtr again = add_one(x, 1000);
  EXPECT_EQ(count(plan_of(again), "to [sim:0]"), 0);
  EXPECT_EQ(count(plan_of(again), "to [host]"), 1);
  expect_plus(again, 1);
}

TEST_F(Places, CopiesLeaveAFullDeviceWithoutACopyAndEndWithTheirValue) {
  const int64_t before = memory_statistics(simulated).used_bytes;
  const int64_t copied = device_tier_statistics(simulated).copied_bytes;
  const int64_t evicted = device_tier_statistics(simulated).evicted_bytes;
  std::vector<NodePtr> all;
  for (int k = 0; k < 40; ++k) {
    all.push_back(numbers(kRows));
    expect_plus(add_one(all.back(), 1000), 1);
  }
  EXPECT_GT(device_tier_statistics(simulated).evicted_bytes, evicted);
  EXPECT_EQ(device_tier_statistics(simulated).copied_bytes, copied);
  for (const NodePtr& x : all) expect_plus(add_one(x, 1000), 1);
  EXPECT_EQ(device_tier_statistics(simulated).copied_bytes, copied);
  EXPECT_GT(memory_statistics(simulated).used_bytes, before);
  all.clear();
  EXPECT_EQ(memory_statistics(simulated).used_bytes, before);
}

TEST_F(Places, CheapStepsAndFewRowsStay) {
  EXPECT_EQ(count(plan_of(add_one(numbers(kRows), 0.1)), "sim"), 0);
  EXPECT_EQ(count(plan_of(add_one(numbers(1000), 1e6)), "sim"), 0);
  set_auto_place(host);
  EXPECT_EQ(count(plan_of(add_one(numbers(kRows), 1000)), "sim"), 0);
}

TEST_F(Places, WhatHasNoKernelStays) {
  EXPECT_EQ(count(plan_of(add_one(numbers(kRows), 1000, false)), "sim"), 0);
  // Between two such steps a cheap one does not go back and forth.
  const NodePtr a = add_one(numbers(kRows), 1000);
  const NodePtr b = add_one(a, 1, false), c = add_one(b, 0.01), d = add_one(c, 1, false);
  const NodePtr e = add_one(d, 1000);
  const std::string plan = plan_of(e);
  EXPECT_EQ(count(plan, "to [sim:0]"), 2) << plan;
  EXPECT_EQ(count(plan, "to [host]"), 2) << plan;
  expect_plus(e, 5);
}

TEST_F(Places, AValueMovesOnceForAllItsReaders) {
  const NodePtr x = numbers(kRows);
  const NodePtr made = add_one(x, 1000);
  const NodePtr one = add_one(made, 1000), other = add_one(made, 2000);
  const NodePtr sum = elementwise(Op::kAdd, {one, other});
  const std::string plan = plan_of(sum);
  EXPECT_EQ(count(plan, "to [sim:0]"), 1) << plan;
  EXPECT_EQ(count(plan, "to [host]"), 1) << plan;
  const Value value = force(sum);
  EXPECT_EQ(std::get<Tensor>(value).as<double>()[kRows - 1], 2.0 * (kRows - 1) + 4);
}

TEST_F(Places, RootsThatOthersReadComeBackToo) {
  const NodePtr first = add_one(numbers(kRows), 1000), last = add_one(first, 1000);
  const NodePtr total = reduce(Aggregate::kSum, last);
  const std::vector<NodePtr> roots{first, last, total};
  force(roots);
  expect_plus(first, 1);
  expect_plus(last, 2);
  EXPECT_EQ(std::get<Tensor>(total->value()).item<double>(),
            kRows * (kRows - 1.0) / 2 + 2.0 * kRows);
}

TEST_F(Places, ChosenPlacesAreKept) {
  const NodePtr there = to_place(numbers(kRows), simulated);
  const NodePtr made = add_one(there, 1000, false);
  EXPECT_EQ(count(plan_of(made), "to [host]"), 0);
  EXPECT_TRUE(place_of(force(made)).is_simulated());
}

}  // namespace

}  // namespace hr
