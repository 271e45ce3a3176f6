// SPDX-License-Identifier: Apache-2.0
// Fused expressions and reductions on a CUDA device: the host's bits.
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/plan/eval/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <type_traits>

namespace hr {

namespace {

using testing::tensor_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class PlanDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
};

bool same_values(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  if (const auto* tensor = std::get_if<Tensor>(&a))
    return testing::same_bits(*tensor, testing::fetched(std::get<Tensor>(b)));
  if (const auto* column = std::get_if<Column>(&a)) {
    const auto& there = std::get<Column>(b);
    if (there.dtype() != column->dtype() || there.num_rows() != column->num_rows()) return false;
    if (column->num_rows() == 0) return true;
    const Column here = to_place(there, host, current_stream(cuda_place()));
    for (int64_t i = 0; i < column->num_rows(); ++i)
      if (column->bit(i) != here.bit(i)) return false;
    return true;
  }
  const auto& one = std::get<Scalar>(a);
  const auto& other = std::get<Scalar>(b);
  if (one.dtype() != other.dtype() || one.is_null() != other.is_null()) return false;
  const auto x = one.as<double>(), y = other.as<double>();
  return one.as<uint64_t>() == other.as<uint64_t>() &&
         (std::memcmp(&x, &y, 8) == 0 || (x != x && y != y));
}

std::string words_of(const Value& value) {
  const auto* scalar = std::get_if<Scalar>(&value);
  return scalar ? ", " + std::to_string(scalar->as<double>()) : "";
}

void expect_same(const Program& program, const std::vector<Tensor>& inputs, const char* what) {
  std::vector<Value> here, there;
  for (const Tensor& input : inputs) {
    here.emplace_back(input);
    there.emplace_back(testing::sent(input, cuda_place()));
  }
  const std::vector<Value> expected = evaluate(program, here, inputs[0].shape());
  const std::vector<Value> found = evaluate(program, there, inputs[0].shape());
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(same_values(expected[i], found[i]))
        << what << ", output " << i << ", dtype " << inputs[0].dtype().name() << ", size "
        << inputs[0].num_elements() << words_of(expected[i]) << words_of(found[i]);
}

template <class T>
std::vector<T> mixed(int64_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      const double size = std::exp(std::uniform_real_distribution<double>(-20, 25)(random));
      values[i] = static_cast<T>(random() % 2 ? size : -size);
      constexpr double special[] = {0.0,  -0.0, kNan, kInf, -kInf, 1.0,
                                    -1.0, 0.5,  2.5,  1e30, 1e-310};
      if (i % 11 == 0) values[i] = static_cast<T>(special[random() % std::size(special)]);
    } else {
      values[i] = static_cast<T>(random() >> (random() % 64));
    }
  }
  return values;
}

bool is_libm(Op op) {
  static const std::set<Op> all{Op::kCbrt, Op::kArcsin, Op::kArccos, Op::kArctan,
                                Op::kSinh, Op::kCosh,   Op::kHypot,  Op::kArctan2};
  return all.count(op) > 0;
}

// NaN has many bits, and the processors choose different ones.
int without_nan(Program& program, int value) {
  const Dtype dtype = program.dtype(value);
  if (!dtype.is_floating()) return value;
  const int is_nan = program.apply(Op::kIsNan, std::vector<int>{value});
  const int zero = dtype.id() == TypeId::kFloat32 ? program.constant(Scalar(77.0f))
                                                  : program.constant(Scalar(77.0));
  return program.apply(Op::kWhere, std::vector<int>{is_nan, zero, value});
}

}  // namespace

TEST_F(PlanDevices, EveryOperationOfEveryDtype) {
  const auto each = [&]<class T>(T) {
    const std::vector<Tensor> inputs{tensor_of(mixed<T>(20'000, 1)),
                                     tensor_of(mixed<T>(20'000, 2))};
    Program program;
    std::string words;
    const int x = program.input(0, dtype_of<T>(), false);
    const int y = program.input(1, dtype_of<T>(), false);
    for (int op = static_cast<int>(Op::kNegative); op <= static_cast<int>(Op::kWhere); ++op) {
      const Op each_op = static_cast<Op>(op);
      if (is_libm(each_op) || (each_op == Op::kPower && std::is_integral_v<T>)) continue;
      std::vector<int> operands{x, y};
      operands.resize(static_cast<size_t>(op_row(each_op).operands), y);
      if (each_op == Op::kWhere)
        operands = {program.apply(Op::kLess, std::vector<int>{x, y}), x, y};
      try {
        program.add_tensor(without_nan(program, program.apply(each_op, operands)));
        words += std::string(op_row(each_op).name) + " ";
      } catch (const TypeMismatchError&) {  // not for this dtype
      }
    }
    expect_same(program, inputs, words.c_str());
  };
  each(double{});
  each(float{});
  each(int8_t{});
  each(int32_t{});
  each(int64_t{});
  each(uint8_t{});
  each(uint16_t{});
  each(uint64_t{});
}

TEST_F(PlanDevices, CastsAndIntegerPowers) {
  const TypeId all[] = {TypeId::kBool,   TypeId::kInt8,    TypeId::kInt16,  TypeId::kInt32,
                        TypeId::kInt64,  TypeId::kUInt8,   TypeId::kUInt16, TypeId::kUInt32,
                        TypeId::kUInt64, TypeId::kFloat32, TypeId::kFloat64};
  const auto each = [&]<class T>(T) {
    Program program;
    const int x = program.input(0, dtype_of<T>(), false);
    for (const TypeId to : all) program.add_tensor(without_nan(program, program.cast(x, to)));
    if (std::is_integral_v<T>)
      program.add_tensor(
          program.apply(Op::kPower, std::vector<int>{x, program.constant(Scalar(T{3}))}));
    expect_same(program, {tensor_of(mixed<T>(5000, 3))}, "casts");
  };
  each(double{});
  each(float{});
  each(int16_t{});
  each(int64_t{});
  each(uint32_t{});
  each(uint64_t{});
}

TEST_F(PlanDevices, EveryReductionOfEverySize) {
  const auto each = [&]<class T>(T, bool with_nan) {
    for (const int64_t size : testing::edge_sizes()) {
      std::vector<T> values = mixed<T>(size, 4);
      for (T& value : values)
        if constexpr (std::is_floating_point_v<T>)
          if (!with_nan && !std::isfinite(value)) value = 3;
      Program program;
      const int x = program.input(0, dtype_of<T>(), false);
      for (int r = 0; r <= static_cast<int>(Aggregate::kCount); ++r)
        for (const bool skip : {false, true})
          program.add_reduction(x, static_cast<Aggregate>(r),
                                {.skip_nan = skip, .empty_is_null = true, .ddof = 1});
      expect_same(program, {tensor_of(values)}, "reductions");
    }
  };
  each(double{}, false);
  each(double{}, true);
  each(float{}, false);
  each(int32_t{}, false);
  each(uint64_t{}, false);
}

TEST_F(PlanDevices, ChainsWithReductionsColumnsAndStrides) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int y = program.input(1, TypeId::kFloat64, true);
  const int s = program.apply(Op::kSin, std::vector<int>{x});
  const int c = program.apply(Op::kCos, std::vector<int>{x});
  const int one =
      program.apply(Op::kAdd, std::vector<int>{program.apply(Op::kSquare, std::vector<int>{s}),
                                               program.apply(Op::kSquare, std::vector<int>{c})});
  const int is_one =
      program.apply(Op::kEqual, std::vector<int>{one, program.constant(Scalar(1.0))});
  program.add_reduction(is_one, Aggregate::kSum);
  program.add_reduction(is_one, Aggregate::kAll);
  program.add_tensor(without_nan(program, one));
  program.add_column(program.apply(Op::kGreater, std::vector<int>{x, y}));
  program.add_reduction(program.apply(Op::kFmax, std::vector<int>{x, y}), Aggregate::kStd);
  for (const int64_t size : testing::edge_sizes())
    expect_same(program, {tensor_of(mixed<double>(size, 5)), tensor_of(mixed<double>(size, 6), -2)},
                "a chain");
}

Column with_nulls(const Tensor& values, uint32_t seed, int64_t begin) {
  std::mt19937 random(seed);
  const int64_t rows = values.num_elements();
  Buffer validity = Buffer::allocate_zeroed((rows + 7) / 8 + 8);
  for (int64_t i = 0; i < rows; ++i) set_bit(validity.mutable_as<uint8_t>(), i, random() % 3 != 0);
  return Column(values.dtype(), rows, values.buffer(), validity, -1).slice(begin, rows - begin);
}

Column bools_with_nulls(int64_t rows, uint32_t seed, int64_t begin) {
  std::mt19937 random(seed);
  Buffer bits = Buffer::allocate_zeroed(rows / 8 + 8),
         validity = Buffer::allocate_zeroed(rows / 8 + 8);
  for (int64_t i = 0; i < rows; ++i) {
    set_bit(bits.mutable_as<uint8_t>(), i, random() % 2 != 0);
    set_bit(validity.mutable_as<uint8_t>(), i, random() % 3 != 0);
  }
  return Column(TypeId::kBool, rows, bits, validity, -1).slice(begin, rows - begin);
}

void expect_same_columns(const Program& program, const std::vector<Column>& inputs,
                         const char* what) {
  std::vector<Value> here, there;
  for (const Column& input : inputs) {
    here.emplace_back(input);
    there.emplace_back(to_place(input, cuda_place(), current_stream(cuda_place())));
  }
  const int64_t rows = inputs[0].num_rows();
  const std::vector<Value> expected = evaluate(program, here, rows);
  const std::vector<Value> found = evaluate(program, there, rows);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto* column = std::get_if<Column>(&expected[i]);
    if (!column) {
      EXPECT_TRUE(same_values(expected[i], found[i]))
          << what << ", output " << i << ", rows " << rows;
      continue;
    }
    const auto& own = std::get<Column>(found[i]);
    ASSERT_EQ(own.dtype(), column->dtype());
    ASSERT_EQ(own.num_rows(), rows);
    ASSERT_EQ(own.null_count(), column->null_count()) << what << ", output " << i;
    if (rows == 0) continue;
    const Column back = to_place(own, host, current_stream(cuda_place()));
    const int64_t width = column->dtype().size_bytes();
    for (int64_t row = 0; row < rows; ++row) {
      ASSERT_EQ(back.is_null(row), column->is_null(row))
          << what << ", output " << i << ", row " << row;
      if (column->dtype().is_bool())
        ASSERT_EQ(back.bit(row), column->bit(row)) << what << ", output " << i << ", row " << row;
      else  // null slots are zero on both sides
        ASSERT_EQ(std::memcmp(back.values_buffer().data() + (back.offset() + row) * width,
                              column->values_buffer().data() + (column->offset() + row) * width,
                              static_cast<size_t>(width)),
                  0)
            << what << ", output " << i << ", row " << row;
    }
  }
}

TEST_F(PlanDevices, NullsOfEveryOperation) {
  const auto each = [&]<class T>(T) {
    Program program;
    const int x = program.input(0, dtype_of<T>(), true);
    const int y = program.input(1, dtype_of<T>(), true);
    const int z = program.input(2, dtype_of<T>(), false);
    for (int op = static_cast<int>(Op::kNegative); op <= static_cast<int>(Op::kWhere); ++op) {
      const Op each_op = static_cast<Op>(op);
      if (is_libm(each_op) || (each_op == Op::kPower && std::is_integral_v<T>)) continue;
      for (const int other : {y, z}) {
        std::vector<int> operands{x, other};
        operands.resize(static_cast<size_t>(op_row(each_op).operands), other);
        if (each_op == Op::kWhere)
          operands = {program.apply(Op::kLess, std::vector<int>{x, y}), z, other};
        try {
          program.add_column(without_nan(program, program.apply(each_op, operands)));
        } catch (const TypeMismatchError&) {  // not for this dtype
        }
      }
    }
    program.add_column(program.constant(Scalar::null(dtype_of<T>())));
    for (const int64_t rows : {0, 1, 31, 33, 63, 64, 65, 1023, 20'001})
      expect_same_columns(program,
                          {with_nulls(tensor_of(mixed<T>(rows + 3, 1)), 11, 3),
                           with_nulls(tensor_of(mixed<T>(rows + 9, 2)), 12, 9),
                           as_column(tensor_of(mixed<T>(rows, 3)))},
                          op_row(Op::kAdd).name.data());
  };
  each(double{});
  each(float{});
  each(int8_t{});
  each(int64_t{});
  each(uint16_t{});
}

TEST_F(PlanDevices, NullsOfLogicAndSelection) {
  Program program;
  const int a = program.input(0, TypeId::kBool, true);
  const int b = program.input(1, TypeId::kBool, true);
  const int x = program.input(2, TypeId::kInt32, true);
  for (const Op op : {Op::kLogicalAnd, Op::kLogicalOr, Op::kLogicalXor, Op::kBitwiseAnd,
                      Op::kBitwiseOr, Op::kBitwiseXor, Op::kEqual})
    program.add_column(program.apply(op, std::vector<int>{a, b}));
  program.add_column(program.apply(Op::kLogicalNot, std::vector<int>{a}));
  program.add_column(program.apply(Op::kIsNull, std::vector<int>{a}));
  program.add_column(program.apply(Op::kFillNull, std::vector<int>{a, b}));
  program.add_column(
      program.apply(Op::kFillNull, std::vector<int>{x, program.constant(Scalar(int32_t{7}))}));
  program.add_column(
      program.apply(Op::kWhere, std::vector<int>{a, x, program.constant(Scalar(int32_t{1}))}));
  program.add_column(program.cast(x, TypeId::kFloat64));
  for (const Aggregate aggregate : {Aggregate::kSum, Aggregate::kCount, Aggregate::kMin,
                                    Aggregate::kArgmax, Aggregate::kStd, Aggregate::kAny})
    program.add_reduction(x, aggregate, {.empty_is_null = true, .ddof = 1});
  program.add_reduction(program.cast(x, TypeId::kFloat64), Aggregate::kMean);
  program.add_reduction(a, Aggregate::kAll);
  for (const int64_t rows : {0, 1, 63, 64, 65, 1024, 131'071, 131'073, 300'000})
    expect_same_columns(program,
                        {bools_with_nulls(rows + 5, 21, 5), bools_with_nulls(rows + 2, 22, 2),
                         with_nulls(tensor_of(mixed<int32_t>(rows + 1, 23)), 24, 1)},
                        "logic");
}

TEST_F(PlanDevices, ReductionsOfNulls) {
  for (const int64_t rows : testing::edge_sizes()) {
    Program program;
    const int x = program.input(0, TypeId::kFloat64, true);
    for (int r = 0; r <= static_cast<int>(Aggregate::kCount); ++r)
      for (const bool skip : {false, true})
        program.add_reduction(x, static_cast<Aggregate>(r),
                              {.skip_nan = skip, .empty_is_null = true, .ddof = 1});
    expect_same_columns(program, {with_nulls(tensor_of(mixed<double>(rows + 1, 31)), 32, 1)},
                        "reductions");
  }
}

TEST_F(PlanDevices, StringsAreTestedForNull) {
  Program program;
  program.add_column(
      program.apply(Op::kIsNull, std::vector<int>{program.input(0, TypeId::kString, true)}));
  Buffer validity = Buffer::allocate_zeroed(8);
  validity.mutable_as<uint8_t>()[0] = 0b101;
  const Column strings = Column::strings(3, Buffer::allocate_zeroed(48), {}, validity, 1);
  expect_same_columns(program, {strings}, "strings");
}

TEST_F(PlanDevices, WhatHasNoKernelIsAnError) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, true);
  program.add_reduction(x, Aggregate::kSum, {.skip_null = false});
  Buffer validity = Buffer::allocate_zeroed(8);
  const Column nulls(TypeId::kFloat64, 3, tensor_of<double>({1, 2, 3}).buffer(), validity, 3);
  const std::vector<Value> there{to_place(nulls, cuda_place(), current_stream(cuda_place()))};
  EXPECT_THROW(evaluate(program, there, 3), UnsupportedError);
  Program declared;
  declared.add_column(declared.input(0, TypeId::kFloat64, false));
  EXPECT_THROW(evaluate(declared, there, 3), InvalidArgumentError);
}

}  // namespace hr
