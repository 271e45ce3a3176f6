// SPDX-License-Identifier: Apache-2.0
// The least cut against all choices.
#include "headrace/plan/execute/least_cut.h"

#include <gtest/gtest.h>

#include <random>

namespace hr {

namespace {

struct ValueOfStep {
  size_t step;
  std::vector<size_t> readers;
  bool wanted_here;
  int64_t cost;
};

struct Network {
  std::vector<int64_t> here, there;
  std::vector<ValueOfStep> values;

  int64_t cost_of(const std::vector<bool>& is_there) const {
    int64_t sum = 0;
    for (size_t i = 0; i < here.size(); ++i) sum += is_there[i] ? there[i] : here[i];
    for (const ValueOfStep& value : values) {
      bool other_side = value.wanted_here && is_there[value.step];
      for (const size_t reader : value.readers)
        other_side |= is_there[reader] != is_there[value.step];
      if (other_side) sum += value.cost;
    }
    return sum;
  }

  std::vector<bool> solve() const {
    LeastCut cut(here.size());
    for (size_t i = 0; i < here.size(); ++i) cut.add_cost(i, here[i], there[i]);
    for (const ValueOfStep& value : values)
      cut.add_value(value.step, value.readers, value.wanted_here, value.cost);
    return cut.solve();
  }
};

TEST(LeastCut, CostsNoMoreThanAnyChoice) {
  std::mt19937 random(1);
  const auto below = [&](size_t most) { return random() % most; };
  for (int round = 0; round < 3000; ++round) {
    const size_t steps = 1 + below(9);
    Network network;
    for (size_t i = 0; i < steps; ++i) {
      network.here.push_back(static_cast<int64_t>(below(20)));
      network.there.push_back(below(4) == 0 ? LeastCut::kNever : static_cast<int64_t>(below(10)));
    }
    for (size_t i = 0; i < steps; ++i) {
      ValueOfStep value{i, {}, below(4) == 0, static_cast<int64_t>(below(8))};
      for (size_t j = i + 1; j < steps; ++j)
        if (below(3) == 0) value.readers.push_back(j);
      network.values.push_back(value);
    }
    const std::vector<bool> found = network.solve();
    int64_t least = LeastCut::kNever;
    for (size_t choice = 0; choice < size_t{1} << steps; ++choice) {
      std::vector<bool> is_there;
      for (size_t i = 0; i < steps; ++i) is_there.push_back(choice >> i & 1);
      least = std::min(least, network.cost_of(is_there));
    }
    ASSERT_EQ(network.cost_of(found), least) << "round " << round;
  }
}

TEST(LeastCut, StaysHereWhereThatCostsTheSame) {
  EXPECT_EQ((Network{{5, 3}, {5, 3}, {{0, {1}, false, 0}}}.solve()), std::vector<bool>(2));
}

TEST(LeastCut, GoesBackAndForthNoMoreThanItPays) {
  // Steps without a kernel in the middle: one between them is not worth two moves.
  const Network network{
      {100, 5, 5, 5, 100},
      {1, LeastCut::kNever, 1, LeastCut::kNever, 1},
      {{0, {1}, false, 10}, {1, {2}, false, 10}, {2, {3}, false, 10}, {3, {4}, false, 10}}};
  EXPECT_EQ(network.solve(), (std::vector<bool>{true, false, false, false, true}));
}

}  // namespace

}  // namespace hr
