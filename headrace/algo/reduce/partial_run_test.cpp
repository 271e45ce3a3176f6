// SPDX-License-Identifier: Apache-2.0
// Runs of any length give the bits of the tree over all blocks, and of one over morsels.
#include "headrace/algo/reduce/partial_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

namespace hr {
namespace {

std::vector<ReducePartial> partials_of(const Reducer& reducer, size_t count) {
  std::mt19937_64 random(7);
  std::vector<ReducePartial> partials;
  for (size_t i = 0; i < count; ++i) {
    double values[3];
    for (double& value : values) value = static_cast<double>(random() >> 11) * 0x1p-53 - 0.3;
    partials.push_back(reducer.block(values, nullptr, random() % 4, 0));
  }
  return partials;
}

uint64_t bits_of(const ReducePartial& partial) {
  return std::bit_cast<uint64_t>(partial.value) ^ std::bit_cast<uint64_t>(partial.squares) * 3 ^
         static_cast<uint64_t>(partial.count) * 5;
}

TEST(PartialRunTest, GivesTheBitsOfTheTree) {
  for (const Aggregate aggregate : {Aggregate::kSum, Aggregate::kMax, Aggregate::kVariance}) {
    const Reducer reducer(aggregate, TypeId::kFloat64, {});
    const std::vector<ReducePartial> partials = partials_of(reducer, 333);
    for (const size_t count : {0, 1, 2, 3, 64, 127, 128, 129, 333}) {
      PartialTree tree(reducer), of_morsels(reducer);
      for (size_t i = 0; i < count; ++i) tree.push(partials[i]);
      for (size_t begin = 0; begin < count; begin += 16) {
        PartialTree morsel(reducer);
        for (size_t i = begin; i < std::min(begin + 16, count); ++i) morsel.push(partials[i]);
        of_morsels.push(morsel.total());
      }
      ASSERT_EQ(bits_of(tree.total()), bits_of(of_morsels.total()));
      for (const size_t length : {1, 2, 5, 8, 100, 400}) {
        PartialRun all(reducer, 0);
        for (size_t begin = 0; begin < count; begin += length) {
          PartialRun run(reducer, begin);
          for (size_t i = begin; i < std::min(begin + length, count); ++i) run.push(partials[i]);
          all.push(run);
        }
        ASSERT_EQ(bits_of(all.total()), bits_of(tree.total())) << count << " by " << length;
        ASSERT_EQ(all.total().count, tree.total().count);
      }
    }
  }
}

}  // namespace
}  // namespace hr
