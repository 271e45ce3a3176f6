// SPDX-License-Identifier: Apache-2.0
// Reductions of filtered rows have the bits of the rows copied together first.
#include "headrace/plan/eval/evaluate_filtered.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>

namespace hr {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Missing : uint8_t { kNone, kNulls, kNaNs };

// Numbers from 0 to 1, behind three rows that a slice leaves out.
Column numbers(int64_t rows, uint64_t seed, Missing missing) {
  std::mt19937_64 random(seed);
  const int64_t all = rows + 3;
  Buffer values = Buffer::allocate(8 * all), validity;
  for (int64_t i = 0; i < all; ++i) {
    const double value = static_cast<double>(random() >> 11) * 0x1p-53;
    const bool is_nan = missing == Missing::kNaNs && random() % 5 == 0;
    values.mutable_as<double>()[i] = is_nan ? kNan : value;
  }
  if (missing == Missing::kNulls) {
    validity = Buffer::allocate_zeroed(bitmap_bytes(all));
    for (int64_t i = 0; i < all; ++i) set_bit(validity.mutable_as<uint8_t>(), i, random() % 5 != 0);
  }
  return Column(TypeId::kFloat64, all, std::move(values), std::move(validity), -1).slice(3, rows);
}

int apply(Program& program, Op op, std::initializer_list<int> operands) {
  return program.apply(op, std::span<const int>(operands.begin(), operands.size()));
}

// x > limit
int condition(Program& program, double limit) {
  const int x = program.input(0, TypeId::kFloat64, true);
  return apply(program, Op::kGreater, {x, program.constant(Scalar(limit))});
}

constexpr Aggregate kReductions[] = {Aggregate::kSum,  Aggregate::kMean,  Aggregate::kMin,
                                     Aggregate::kMax,  Aggregate::kCount, Aggregate::kVariance,
                                     Aggregate::kSkew, Aggregate::kArgmax};

// Of y and of 2 * y + x.
Program reductions() {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, true);
  const int y = program.input(1, TypeId::kFloat64, true);
  const int twice = apply(program, Op::kMultiply, {y, program.constant(Scalar(2.0))});
  for (const int value : {y, apply(program, Op::kAdd, {twice, x})})
    for (const Aggregate each : kReductions)
      program.add_reduction(value, each, {.skip_nan = true, .empty_is_null = true});
  return program;
}

uint64_t bits_of(const Value& value) {
  const Scalar& scalar = std::get<Scalar>(value);
  if (scalar.is_null()) return 1;
  return scalar.dtype().is_floating() ? std::bit_cast<uint64_t>(scalar.as<double>())
                                      : static_cast<uint64_t>(scalar.as<int64_t>());
}

class EvaluateFilteredTest : public testing::SimdAndThreadsTest {
 protected:
  void TearDown() override {
    set_morsel_rows(kMorselRows);
    SimdAndThreadsTest::TearDown();
  }
};

void expect_same_bits(int64_t rows, double limit, Missing missing) {
  const Value inputs[] = {numbers(rows, 1, missing), numbers(rows, 2, missing)};
  Program mask;
  mask.add_column(condition(mask, limit));
  const Column made = std::get<Column>(evaluate(mask, inputs, rows)[0]);
  std::vector<Value> kept;
  for (const Value& input : inputs) kept.emplace_back(filter(std::get<Column>(input), Mask(made)));
  const Program program = reductions();
  const std::vector<Value> expected = evaluate(program, kept, std::get<Column>(kept[0]).num_rows());
  Program rule;
  rule.add_block(condition(rule, limit));
  const RowFilter rule_of_rows{rule, std::span(inputs).first(1), rows};
  ASSERT_TRUE(takes_filter(program, inputs, rows));
  const std::vector<Value> got = evaluate_filtered(rule_of_rows, program, inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t o = 0; o < got.size(); ++o)
    ASSERT_EQ(bits_of(got[o]), bits_of(expected[o]))
        << "rows " << rows << " limit " << limit << " output " << o << " threads " << threads();
}

TEST_F(EvaluateFilteredTest, HasTheBitsOfRowsCopiedTogether) {
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    for (const int64_t rows : {int64_t{0}, int64_t{1}, int64_t{63}, int64_t{64}, int64_t{65},
                               int64_t{1025}, kMorselRows + 1, 5 * kMorselRows + 777})
      for (const Missing missing : {Missing::kNone, Missing::kNulls, Missing::kNaNs})
        for (const double limit : {-1.0, 0.5, 0.999, 0.99999, 2.0})
          expect_same_bits(rows, limit, missing);
  }
}

TEST_F(EvaluateFilteredTest, MorselsMayBeShort) {
  for (const int64_t rows : {int64_t{1024}, int64_t{4096}}) {
    set_morsel_rows(rows);
    for (const double limit : {-1.0, 0.3, 0.9995}) expect_same_bits(50'000, limit, Missing::kNulls);
  }
  set_morsel_rows(192);
  const Value inputs[] = {numbers(10, 1, Missing::kNone), numbers(10, 2, Missing::kNone)};
  EXPECT_FALSE(takes_filter(reductions(), inputs, 10));  // blocks end with the morsels
}

TEST_F(EvaluateFilteredTest, TakesWhatHasTheRowsOfTheFilter) {
  const Program program = reductions();
  const Value wrong[] = {numbers(10, 1, Missing::kNone), numbers(9, 2, Missing::kNone)};
  EXPECT_FALSE(takes_filter(program, wrong, 10));
  const Value single[] = {numbers(10, 1, Missing::kNone), Scalar(2.0)};
  EXPECT_TRUE(takes_filter(program, single, 10));
  Program makes;
  makes.add_column(makes.input(0, TypeId::kFloat64, true));
  EXPECT_FALSE(takes_filter(makes, std::span(single).first(1), 10));
}

TEST_F(EvaluateFilteredTest, AnErrorEndsAllTasks) {
  constexpr int64_t kRows = 6 * kMorselRows;
  Buffer values = Buffer::allocate(8 * kRows);
  for (int64_t i = 0; i < kRows; ++i) values.mutable_as<int64_t>()[i] = i == kRows / 2 ? -1 : 1;
  const Value inputs[] = {Column(TypeId::kInt64, kRows, std::move(values))};
  Program rule;
  const int x = rule.input(0, TypeId::kInt64, false);
  rule.add_block(apply(rule, Op::kGreater, {apply(rule, Op::kPower, {x, x}), x}));
  Program program;
  program.add_reduction(program.input(0, TypeId::kInt64, false), Aggregate::kSum);
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    EXPECT_THROW(evaluate_filtered({rule, inputs, kRows}, program, inputs), InvalidArgumentError);
  }
}

}  // namespace
}  // namespace hr
