// SPDX-License-Identifier: Apache-2.0
// Pieces of any length give the bits of the reduction of all rows, also behind a file.
#include "headrace/algo/reduce/reduce_state.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hr {
namespace {

Column numbers(int64_t rows) {
  Buffer buffer = Buffer::allocate(8 * std::max<int64_t>(rows, 1));
  std::mt19937_64 random(5);
  for (int64_t i = 0; i < rows; ++i)
    buffer.mutable_as<double>()[i] = random() % 97 == 0
                                         ? std::numeric_limits<double>::quiet_NaN()
                                         : static_cast<double>(random() >> 11) * 0x1p-53 - 0.3;
  return Column(TypeId::kFloat64, rows, buffer);
}

uint64_t bits_of(const Scalar& scalar) {
  return scalar.is_null() ? 1 : std::bit_cast<uint64_t>(scalar.as<double>());
}

TEST(ReduceStateTest, HasTheBitsOfAllRows) {
  const ReduceOptions options{.skip_nan = true, .empty_is_null = true, .ddof = 1};
  for (const Aggregate aggregate :
       {Aggregate::kSum, Aggregate::kMean, Aggregate::kVariance, Aggregate::kKurtosis}) {
    for (const int64_t rows : {int64_t{0}, int64_t{1}, int64_t{65}, 3 * morsel_rows() + 77}) {
      const Column all = numbers(rows);
      const uint64_t expected = bits_of(reduce(all, aggregate, options));
      for (const int64_t piece : {kBlockRows, 7 * kBlockRows, morsel_rows()}) {
        ReduceState state(aggregate, TypeId::kFloat64, options);
        int64_t at = 0;
        for (; at + piece <= rows; at += piece) {
          state.push(all.slice(at, piece));
          ReduceState again(aggregate, TypeId::kFloat64, options);
          again.restore(state.rows(), state.parts());
          ASSERT_EQ(again.parts().size(), state.parts().size());
        }
        ReduceState again(aggregate, TypeId::kFloat64, options);
        again.restore(state.rows(), state.parts());
        ASSERT_EQ(bits_of(again.total(all.slice(at, rows - at))), expected) << rows << " " << piece;
      }
    }
  }
}

TEST(ReduceStateTest, MergesAtPowersOfTwo) {
  const int64_t half = 4 * kBlockRows;
  const Column all = numbers(2 * half);
  ReduceState left(Aggregate::kSum, TypeId::kFloat64, {.skip_nan = true});
  ReduceState right(Aggregate::kSum, TypeId::kFloat64, {.skip_nan = true});
  left.push(all.slice(0, half));
  right.push(all.slice(half, half));
  left.merge(right);
  EXPECT_EQ(left.rows(), 2 * half);
  EXPECT_EQ(bits_of(left.total(all.slice(0, 0))),
            bits_of(reduce(all, Aggregate::kSum, {.skip_nan = true})));
}

TEST(ReduceStateTest, RefusesPartsOfOtherRows) {
  ReduceState state(Aggregate::kSum, TypeId::kFloat64, {});
  const PartialRun::Part part{0, {.count = 5}};
  EXPECT_THROW(state.restore(2000, {part}), InvalidArgumentError);
  EXPECT_THROW(state.restore(-1, {}), InvalidArgumentError);
  EXPECT_THROW(state.restore(10, {{60, {.count = 5}}}), InvalidArgumentError);
  EXPECT_THROW(state.restore(4, {part}), InvalidArgumentError);
  EXPECT_THROW(state.push(Column(TypeId::kInt64, 0, Buffer())), TypeMismatchError);
  state.restore(10, {part});
  EXPECT_EQ(state.rows(), 10);
}

}  // namespace
}  // namespace hr
