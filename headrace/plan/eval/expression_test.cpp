// SPDX-License-Identifier: Apache-2.0
// Dtype rules of expressions against NumPy 2's tables, and what programs fold and refuse.
#include "headrace/plan/eval/expression.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

Dtype result(Op op, std::vector<Operand> operands) {
  return result_dtype(op, operands);
}

Operand strong(std::string_view name) {
  return {dtype_from_name(name)};
}

Operand weak(std::string_view name) {
  static const Scalar kInteger = Scalar::weak(int64_t{3}), kFloat = Scalar::weak(2.5);
  const Dtype dtype = dtype_from_name(name);
  return {dtype, dtype.is_floating() ? &kFloat : &kInteger};
}

TEST(Expression, PromotesAsNumPy) {
  const struct {
    const char *a, *b, *expected;
  } cases[] = {{"bool", "int8", "int8"},        {"uint8", "int8", "int16"},
               {"uint8", "int16", "int16"},     {"uint16", "int8", "int32"},
               {"uint32", "int64", "int64"},    {"uint32", "int8", "int64"},
               {"uint64", "int64", "float64"},  {"int16", "float32", "float32"},
               {"int32", "float32", "float64"}, {"float32", "float64", "float64"},
               {"uint8", "uint32", "uint32"}};
  for (const auto& c : cases) {
    EXPECT_EQ(promote(dtype_from_name(c.a), dtype_from_name(c.b)).name(), c.expected);
    EXPECT_EQ(promote(dtype_from_name(c.b), dtype_from_name(c.a)).name(), c.expected);
  }
  EXPECT_THROW(promote(TypeId::kString, TypeId::kInt8), TypeMismatchError);
}

TEST(Expression, LiteralsTakeTheDtypeTheyMeet) {
  EXPECT_EQ(result(Op::kAdd, {strong("float32"), weak("float64")}).name(), "float32");
  EXPECT_EQ(result(Op::kAdd, {strong("int8"), weak("int64")}).name(), "int8");
  EXPECT_EQ(result(Op::kAdd, {strong("int8"), weak("float64")}).name(), "float64");
  EXPECT_EQ(result(Op::kAdd, {strong("bool"), weak("int64")}).name(), "int64");
  EXPECT_EQ(result(Op::kAdd, {weak("int64"), weak("float64")}).name(), "float64");
  EXPECT_EQ(result(Op::kDivide, {strong("int32"), weak("int64")}).name(), "float64");
  EXPECT_EQ(result(Op::kDivide, {strong("float32"), weak("int64")}).name(), "float32");
}

TEST(Expression, ResultsFollowTheRuleOfTheOperation) {
  EXPECT_EQ(result(Op::kSin, {strong("int16")}).name(), "float32");
  EXPECT_EQ(result(Op::kSin, {strong("int64")}).name(), "float64");
  EXPECT_EQ(result(Op::kLess, {strong("int16"), strong("float32")}).name(), "bool");
  EXPECT_EQ(result(Op::kFloor, {strong("int16")}).name(), "int16");
  EXPECT_EQ(result(Op::kAdd, {strong("bool"), strong("bool")}).name(), "bool");
  EXPECT_EQ(result(Op::kPower, {strong("bool"), strong("bool")}).name(), "int8");
  EXPECT_THROW(result(Op::kSubtract, {strong("bool"), strong("bool")}), TypeMismatchError);
  EXPECT_THROW(result(Op::kBitwiseAnd, {strong("float64"), strong("bool")}), TypeMismatchError);
  EXPECT_THROW(result(Op::kAdd, {strong("string"), strong("string")}), TypeMismatchError);
  EXPECT_THROW(result(Op::kAdd, {strong("int8")}), InvalidArgumentError);
  EXPECT_EQ(result(Op::kRint, {strong("int16")}).name(), "float32");
  EXPECT_EQ(result(Op::kSquare, {strong("bool")}).name(), "int8");
  EXPECT_EQ(result(Op::kFillNull, {strong("int8"), weak("int64")}).name(), "int8");
  EXPECT_THROW(result(Op::kFillNull, {strong("int8"), weak("float64")}), TypeMismatchError);
  EXPECT_EQ(result(Op::kIsNull, {strong("string")}).name(), "bool");
}

TEST(Expression, WordsAreNumPys) {
  EXPECT_EQ(op_from_name("true_divide"), Op::kDivide);
  EXPECT_EQ(op_from_name("logical_and"), Op::kLogicalAnd);
  EXPECT_EQ(op_row(op_from_name("greater_equal")).symbol, ">=");
  EXPECT_THROW(op_from_name("cast"), UnsupportedError);
  EXPECT_THROW(op_from_name("nonsense"), UnsupportedError);
}

TEST(Expression, BroadcastsShapes) {
  const Shape shapes[] = {{2, 1, 3}, {4, 1}, {}};
  EXPECT_EQ(broadcast_shape("add", shapes), (Shape{2, 4, 3}));
  const Shape bad[] = {{2}, {3}};
  EXPECT_THROW(broadcast_shape("add", bad), InvalidArgumentError);
  const Shape empty[] = {{0, 3}, {1, 3}};
  EXPECT_EQ(broadcast_shape("add", empty), (Shape{0, 3}));
}

TEST(Expression, EqualValuesAreOne) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int two = program.constant(Scalar::weak(int64_t{2}));
  const int operands[] = {x, two};
  EXPECT_EQ(program.apply(Op::kAdd, operands), program.apply(Op::kAdd, operands));
  EXPECT_EQ(program.nodes()[static_cast<size_t>(program.apply(Op::kPower, operands))].op,
            Op::kSquare);
}

TEST(Expression, LiteralsOutOfRangeCompareButDoNotAdd) {
  Program program;
  const int x = program.input(0, TypeId::kUInt8, false);
  const int operands[] = {x, program.constant(Scalar::weak(int64_t{300}))};
  EXPECT_THROW(program.apply(Op::kAdd, operands), InvalidArgumentError);
  EXPECT_EQ(program.dtype(program.apply(Op::kLess, operands)).name(), "bool");
}

TEST(Expression, NullabilityIsKnownBeforeTheRun) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, true),
            y = program.input(1, TypeId::kFloat64, false);
  const int both[] = {x, y}, back[] = {y, x};
  EXPECT_TRUE(program.nullable(program.apply(Op::kAdd, both)));
  EXPECT_FALSE(program.nullable(program.apply(Op::kFillNull, both)));
  EXPECT_EQ(program.apply(Op::kFillNull, back), y);
  EXPECT_FALSE(program.nullable(program.apply(Op::kIsNull, {&x, 1})));
  EXPECT_THROW(program.add_tensor(x), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
