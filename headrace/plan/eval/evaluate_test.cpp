// SPDX-License-Identifier: Apache-2.0
// The evaluator against expectations by hand: dtypes, nulls, slices, broadcasting, equal bits.
#include "headrace/plan/eval/evaluate.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace hr {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kEdges[] = {
    0, 1, 63, 64, 65, 1023, 1024, 1025, kMorselRows - 1, kMorselRows + 1, 3 * kMorselRows + 777};

template <class T>
Column column(const std::vector<T>& values, const std::vector<int>& valid = {}) {
  const int64_t n = static_cast<int64_t>(values.size());
  Buffer validity;
  if (!valid.empty()) {
    validity = Buffer::allocate_zeroed(bitmap_bytes(n));
    for (int64_t i = 0; i < n; ++i)
      set_bit(validity.mutable_as<uint8_t>(), i, valid[static_cast<size_t>(i)] != 0);
  }
  const int64_t nulls = valid.empty() ? 0 : -1;
  if constexpr (std::is_same_v<T, bool>) {
    Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(n));
    for (int64_t i = 0; i < n; ++i)
      set_bit(bits.mutable_as<uint8_t>(), i, values[static_cast<size_t>(i)]);
    return Column(TypeId::kBool, n, bits, validity, nulls);
  } else {
    Buffer buffer = Buffer::allocate(n * static_cast<int64_t>(sizeof(T)));
    if (n > 0) std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
    return Column(dtype_of<T>(), n, buffer, validity, nulls);
  }
}

template <class T>
Tensor tensor(const std::vector<T>& values, Shape shape) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
  return Tensor(dtype_of<T>(), std::move(shape), buffer);
}

template <class T>
std::vector<T> values_of(const Column& c) {
  std::vector<T> result;
  for (int64_t i = 0; i < c.num_rows(); ++i) {
    if constexpr (std::is_same_v<T, bool>)
      result.push_back(c.bit(i));
    else
      result.push_back(c.values<T>()[static_cast<size_t>(i)]);
  }
  return result;
}

std::vector<int> validity_of(const Column& c) {
  std::vector<int> result;
  for (int64_t i = 0; i < c.num_rows(); ++i) result.push_back(!c.is_null(i));
  return result;
}

// op over columns, as a column.
Column run(Op op, const std::vector<Column>& columns) {
  Program program;
  std::vector<int> operands;
  std::vector<Value> inputs;
  for (const Column& c : columns) {
    operands.push_back(
        program.input(static_cast<int>(inputs.size()), c.dtype(), c.null_count() > 0));
    inputs.push_back(c);
  }
  program.add_column(program.apply(op, operands));
  return std::get<Column>(evaluate(program, inputs, columns[0].num_rows())[0]);
}

int apply(Program& program, Op op, std::initializer_list<int> operands) {
  return program.apply(op, std::span<const int>(operands.begin(), operands.size()));
}

Column cast_to(const Column& c, Dtype dtype) {
  Program program;
  program.add_column(program.cast(program.input(0, c.dtype(), true), dtype));
  const Value inputs[] = {c};
  return std::get<Column>(evaluate(program, inputs, c.num_rows())[0]);
}

using EvaluateTest = testing::SimdAndThreadsTest;

TEST_F(EvaluateTest, IntegerArithmeticFollowsNumPy) {
  const Column a = column<int32_t>({7, -7, 7, -7, 5, std::numeric_limits<int32_t>::min(), 0});
  const Column b = column<int32_t>({2, 2, -2, -2, 0, -1, 3});
  EXPECT_EQ(values_of<int32_t>(run(Op::kFloorDivide, {a, b})),
            (std::vector<int32_t>{3, -4, -4, 3, 0, std::numeric_limits<int32_t>::min(), 0}));
  EXPECT_EQ(values_of<int32_t>(run(Op::kRemainder, {a, b})),
            (std::vector<int32_t>{1, 1, -1, -1, 0, 0, 0}));
  EXPECT_EQ(run(Op::kDivide, {a, b}).dtype(), Dtype(TypeId::kFloat64));
  EXPECT_EQ(values_of<double>(run(Op::kDivide, {a, b}))[0], 3.5);
  const Column big = column<int8_t>({127, -128, 100});
  EXPECT_EQ(values_of<int8_t>(run(Op::kAdd, {big, big})), (std::vector<int8_t>{-2, 0, -56}));
  EXPECT_EQ(values_of<int8_t>(run(Op::kAbsolute, {big})), (std::vector<int8_t>{127, -128, 100}));
  EXPECT_EQ(values_of<int8_t>(run(Op::kNegative, {big})), (std::vector<int8_t>{-127, -128, -100}));
  EXPECT_EQ(values_of<int8_t>(run(Op::kSign, {big})), (std::vector<int8_t>{1, -1, 1}));
  const Column power =
      run(Op::kPower, {column<int64_t>({2, -3, 0, 10}), column<int64_t>({62, 3, 0, 19})});
  EXPECT_EQ(values_of<int64_t>(power),
            (std::vector<int64_t>{int64_t{1} << 62, -27, 1,
                                  static_cast<int64_t>(10000000000000000000u)}));
  EXPECT_THROW(run(Op::kPower, {column<int64_t>({2}), column<int64_t>({-1})}),
               InvalidArgumentError);
  EXPECT_EQ(values_of<int16_t>(
                run(Op::kLeftShift, {column<int16_t>({1, 1, -4}), column<int16_t>({3, 16, 1})})),
            (std::vector<int16_t>{8, 0, -8}));
  EXPECT_EQ(values_of<int16_t>(
                run(Op::kRightShift, {column<int16_t>({9, -9, -4}), column<int16_t>({3, 16, 1})})),
            (std::vector<int16_t>{1, -1, -2}));
}

TEST_F(EvaluateTest, FloatDivisionAndExtremesFollowNumPy) {
  const Column a = column<double>({7.5, -7.5, 1.0, 0.0, kNan, -0.0});
  const Column b = column<double>({2.0, 2.0, 0.0, 0.0, 1.0, 3.0});
  const std::vector<double> quotient = values_of<double>(run(Op::kFloorDivide, {a, b}));
  EXPECT_EQ(quotient[0], 3);
  EXPECT_EQ(quotient[1], -4);
  EXPECT_TRUE(std::isinf(quotient[2]));
  EXPECT_TRUE(std::isnan(quotient[3]));
  EXPECT_TRUE(std::signbit(quotient[5]));
  EXPECT_EQ(values_of<double>(run(Op::kRemainder, {a, b}))[1], 0.5);
  const Column c = column<double>({1, kNan, 3, kNan});
  const Column d = column<double>({2, 5, kNan, kNan});
  const std::vector<double> low = values_of<double>(run(Op::kMinimum, {c, d}));
  EXPECT_EQ(low[0], 1);
  EXPECT_TRUE(std::isnan(low[1]) && std::isnan(low[2]));
  const std::vector<double> fmin = values_of<double>(run(Op::kFmin, {c, d}));
  EXPECT_EQ(fmin[1], 5);
  EXPECT_EQ(fmin[2], 3);
  EXPECT_TRUE(std::isnan(fmin[3]));
}

TEST_F(EvaluateTest, NullsSpreadAndKleeneDecides) {
  const std::vector<int> some = {1, 1, 0, 0, 1};
  const Column sum = run(Op::kAdd, {column<int64_t>({1, 2, 3, 4, 5}, some),
                                    column<int64_t>({10, 20, 30, 40, 50}, {1, 0, 1, 0, 1})});
  EXPECT_EQ(validity_of(sum), (std::vector<int>{1, 0, 0, 0, 1}));
  EXPECT_EQ(sum.null_count(), 3);
  EXPECT_EQ(values_of<int64_t>(sum), (std::vector<int64_t>{11, 0, 0, 0, 55}));  // null slots zero
  // true, false, null against true, false, null
  const Column left = column<bool>({1, 1, 1, 0, 0, 0, 1, 0, 1}, {1, 1, 1, 1, 1, 1, 0, 0, 0});
  const Column right = column<bool>({1, 0, 1, 1, 0, 1, 1, 0, 0}, {1, 1, 0, 1, 1, 0, 1, 1, 0});
  const Column both = run(Op::kLogicalAnd, {left, right});
  EXPECT_EQ(validity_of(both), (std::vector<int>{1, 1, 0, 1, 1, 1, 0, 1, 0}));
  EXPECT_EQ(values_of<bool>(both), (std::vector<bool>{1, 0, 0, 0, 0, 0, 0, 0, 0}));
  const Column either = run(Op::kBitwiseOr, {left, right});
  EXPECT_EQ(validity_of(either), (std::vector<int>{1, 1, 1, 1, 1, 0, 1, 0, 0}));
  EXPECT_EQ(values_of<bool>(either), (std::vector<bool>{1, 1, 1, 1, 0, 0, 1, 0, 0}));
  const Column test = run(Op::kIsNull, {sum});
  EXPECT_EQ(test.null_count(), 0);
  EXPECT_EQ(values_of<bool>(test), (std::vector<bool>{0, 1, 1, 1, 0}));
  const Column filled = run(Op::kFillNull, {sum, column<int64_t>({7, 7, 7, 8, 8})});
  EXPECT_EQ(values_of<int64_t>(filled), (std::vector<int64_t>{11, 7, 7, 8, 55}));
  const Column chosen = run(
      Op::kWhere, {column<bool>({1, 0, 1, 0, 1}, {1, 1, 1, 1, 0}),
                   column<int64_t>({1, 2, 3, 4, 5}, some), column<int64_t>({-1, -2, -3, -4, -5})});
  EXPECT_EQ(validity_of(chosen), (std::vector<int>{1, 1, 0, 1, 0}));
  EXPECT_EQ(values_of<int64_t>(chosen), (std::vector<int64_t>{1, -2, 0, -4, 0}));
}

TEST_F(EvaluateTest, CastsAreDefinedForAllValues) {
  const Column c = column<double>({1.9, -1.9, 300.0, 1e30, kNan, -1e30});
  EXPECT_EQ(values_of<int64_t>(cast_to(c, TypeId::kInt64)),
            (std::vector<int64_t>{1, -1, 300, INT64_MIN, INT64_MIN, INT64_MIN}));
  EXPECT_EQ(values_of<uint8_t>(cast_to(c, TypeId::kUInt8)),
            (std::vector<uint8_t>{1, 255, 44, 0, 0, 0}));
  EXPECT_EQ(values_of<bool>(cast_to(column<double>({0.0, -0.0, 0.1, kNan}), TypeId::kBool)),
            (std::vector<bool>{0, 0, 1, 1}));
  EXPECT_EQ(
      values_of<uint64_t>(cast_to(column<double>({0x1p63, 0x1p64 - 2048, 5}), TypeId::kUInt64)),
      (std::vector<uint64_t>{uint64_t{1} << 63, uint64_t(-2048), 5}));
  EXPECT_EQ(values_of<float>(cast_to(column<bool>({1, 0}), TypeId::kFloat32)),
            (std::vector<float>{1, 0}));
}

TEST_F(EvaluateTest, BitsDoNotDependOnLevelThreadsOrSlicing) {
  for (const int64_t n : kEdges) {
    std::vector<double> x;
    std::vector<int> valid;
    for (int64_t i = 0; i < n; ++i) {
      x.push_back(std::ldexp(static_cast<double>(i * 2654435761 % 1000003), -15) - 11);
      valid.push_back(i % 7 != 3);
    }
    const Column whole = column(x, n == 0 ? std::vector<int>{} : valid);
    for (const int64_t begin : {int64_t{0}, std::min<int64_t>(n, 5)}) {
      const Column input = whole.slice(begin, n - begin);
      Program program;
      const int v = program.input(0, TypeId::kFloat64, true);
      const int s = apply(program, Op::kSin, {v}), c = apply(program, Op::kCos, {v});
      const int two = program.constant(Scalar::weak(int64_t{2}));
      const int sum =
          apply(program, Op::kAdd,
                {apply(program, Op::kPower, {s, two}), apply(program, Op::kPower, {c, two})});
      const int one = apply(program, Op::kEqual, {sum, program.constant(Scalar::weak(int64_t{1}))});
      program.add_column(sum);
      program.add_column(one);
      program.add_reduction(sum, Aggregate::kSum);
      program.add_reduction(one, Aggregate::kSum);
      program.add_reduction(sum, Aggregate::kVariance);
      std::vector<Value> reference;
      for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512})
        for (const int workers : {1, 2, 4}) {
          if (level > best_simd_level()) continue;
          set_simd_level(level);
          set_threads(workers);
          const Value inputs[] = {input};
          std::vector<Value> got = evaluate(program, inputs, n - begin);
          if (reference.empty()) {
            reference = got;
            const Column& out = std::get<Column>(got[0]);
            for (int64_t i = 0; i < n - begin; ++i) {
              ASSERT_EQ(out.is_null(i), (i + begin) % 7 == 3);
              if (!out.is_null(i)) {
                ASSERT_NEAR(out.values<double>()[static_cast<size_t>(i)], 1, 1e-15);
              }
            }
            continue;
          }
          for (int o = 0; o < 2; ++o) {
            const Column &a = std::get<Column>(reference[o]), &b = std::get<Column>(got[o]);
            ASSERT_EQ(a.values_buffer().size_bytes(), b.values_buffer().size_bytes());
            ASSERT_EQ(a.null_count(), b.null_count());
            if (n > begin) {
              ASSERT_EQ(std::memcmp(a.values_buffer().data(), b.values_buffer().data(),
                                    static_cast<size_t>(a.values_buffer().size_bytes())),
                        0);
            }
          }
          for (int o = 2; o < 5; ++o) {
            const double a = std::get<Scalar>(reference[o]).as<double>();
            const double b = std::get<Scalar>(got[o]).as<double>();
            ASSERT_EQ(std::memcmp(&a, &b, 8), 0) << n << " " << simd_level_name(level);
          }
        }
    }
  }
}

template <class T>
void expect_once_changes_nothing(Op op) {
  constexpr int64_t rows = 1025;
  std::vector<T> values;
  for (int64_t i = 0; i < rows; ++i) values.push_back(static_cast<T>(i % 23 - 11));
  if constexpr (std::is_floating_point_v<T>) values[7] = static_cast<T>(kNan);
  const Column x = column(values);
  const Column same = column(std::vector<T>(rows, T{3}));
  for (const bool left : {false, true}) {
    Program program;
    const int a = program.input(0, dtype_of<T>(), false);
    const int b = program.input(1, dtype_of<T>(), false);
    std::vector<int> operands{left ? b : a, left ? a : b};
    if (op == Op::kWhere)
      operands.insert(operands.begin(),
                      apply(program, Op::kLess, {a, program.constant(Scalar::weak(int64_t{1}))}));
    int value = 0;
    try {
      value = program.apply(op, operands);
    } catch (const TypeMismatchError&) {
      continue;  // not for this dtype
    }
    program.add_tensor(value);
    const Value of_blocks[] = {x, same}, of_once[] = {x, Scalar(T{3})};
    const auto wanted = std::get<Tensor>(evaluate(program, of_blocks, rows)[0]);
    const auto found = std::get<Tensor>(evaluate(program, of_once, rows)[0]);
    EXPECT_EQ(std::memcmp(wanted.data(), found.data(),
                          static_cast<size_t>(rows * wanted.dtype().size_bytes())),
              0)
        << op_row(op).name << ' ' << dtype_of<T>().name() << (left ? " left" : " right");
  }
}

TEST_F(EvaluateTest, AnOperandThatIsTheSameInEveryRowGivesTheSameBits) {
  for (const Op op :
       {Op::kAdd,        Op::kSubtract,  Op::kMultiply,   Op::kDivide,     Op::kMinimum,
        Op::kMaximum,    Op::kFmin,      Op::kFmax,       Op::kCopysign,   Op::kEqual,
        Op::kNotEqual,   Op::kLess,      Op::kLessEqual,  Op::kGreater,    Op::kGreaterEqual,
        Op::kLogicalAnd, Op::kLogicalOr, Op::kBitwiseAnd, Op::kBitwiseXor, Op::kFloorDivide,
        Op::kRemainder,  Op::kHypot,     Op::kWhere}) {
    expect_once_changes_nothing<int8_t>(op);
    expect_once_changes_nothing<uint16_t>(op);
    expect_once_changes_nothing<int32_t>(op);
    expect_once_changes_nothing<int64_t>(op);
    expect_once_changes_nothing<float>(op);
    expect_once_changes_nothing<double>(op);
  }
}

// As an output of its own the inner value has two readers, and the pair stays apart.
template <class T>
void expect_pair_equals_its_parts(Op inner, Op outer, bool swapped, unsigned once) {
  constexpr int64_t rows = 1025;
  std::vector<Value> inputs;
  for (int k = 0; k < 3; ++k) {
    std::vector<T> values;
    for (int64_t i = 0; i < rows; ++i)
      values.push_back(static_cast<T>((i * (7 + k) % 1001 - 500) * 0.37 / (k + 1)));
    values[static_cast<size_t>(k)] = static_cast<T>(kNan);
    std::vector<int> valid(rows, 1);
    valid[static_cast<size_t>(10 + k)] = 0;
    if (once >> k & 1)
      inputs.emplace_back(Scalar(static_cast<T>(1.7 + k)));
    else
      inputs.push_back(column(values, valid));
  }
  std::vector<Column> found;
  for (const bool apart : {true, false}) {
    Program program;
    int values[3];
    for (int k = 0; k < 3; ++k) values[k] = program.input(k, dtype_of<T>(), (once >> k & 1) == 0);
    const int first = apply(program, inner, {values[0], values[1]});
    program.add_column(swapped ? apply(program, outer, {values[2], first})
                               : apply(program, outer, {first, values[2]}));
    if (apart) program.add_column(first);
    found.push_back(std::get<Column>(evaluate(program, inputs, rows)[0]));
  }
  EXPECT_EQ(validity_of(found[0]), validity_of(found[1]));
  EXPECT_EQ(std::memcmp(found[0].template values<T>().data(), found[1].template values<T>().data(),
                        rows * sizeof(T)),
            0)
      << op_row(inner).name << ' ' << op_row(outer).name << swapped << once;
}

TEST_F(EvaluateTest, PairsOfOperationsEqualTheirParts) {
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > level_) continue;
    set_simd_level(level);
    for (const Op inner : {Op::kAdd, Op::kSubtract, Op::kMultiply})
      for (const Op outer : {Op::kAdd, Op::kSubtract, Op::kMultiply, Op::kDivide})
        for (const bool swapped : {false, true})
          for (const unsigned once : {0u, 1u, 2u, 3u, 4u, 5u, 6u}) {
            expect_pair_equals_its_parts<float>(inner, outer, swapped, once);
            expect_pair_equals_its_parts<double>(inner, outer, swapped, once);
          }
  }
}

TEST_F(EvaluateTest, FusedReductionsEqualReduce) {
  for (const int64_t n : kEdges) {
    if (n == 0) continue;
    std::vector<float> x;
    for (int64_t i = 0; i < n; ++i) x.push_back(1 + static_cast<float>(i % 1013 - 500) * 1e-4f);
    const Column input = column(x);
    Program program;
    const int v = program.input(0, TypeId::kFloat32, false);
    const Aggregate all[] = {Aggregate::kSum,   Aggregate::kMean,   Aggregate::kMin,
                             Aggregate::kMax,   Aggregate::kArgmin, Aggregate::kArgmax,
                             Aggregate::kStd,   Aggregate::kAny,    Aggregate::kAll,
                             Aggregate::kCount, Aggregate::kProduct};
    for (const Aggregate r : all) program.add_reduction(v, r);
    const Value inputs[] = {input};
    const std::vector<Value> got = evaluate(program, inputs, n);
    for (size_t i = 0; i < std::size(all); ++i)
      EXPECT_EQ(std::get<Scalar>(got[i]).as<double>(), reduce(input, all[i]).as<double>())
          << aggregate_name(all[i], AggregateForm::kColumn) << " " << n;
  }
}

TEST_F(EvaluateTest, BroadcastsAndReadsAnyStrides) {
  const Tensor a = tensor<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor row = tensor<double>({10, 20, 30}, {3});
  const Tensor side = tensor<double>({100, 200}, {2, 1});
  const Tensor turned(TypeId::kFloat64, {2, 3}, {1, 2}, a.buffer(), 0);  // [[1,3,5],[2,4,6]]
  Program program;
  int total = program.input(0, TypeId::kFloat64, false);
  for (int i = 1; i < 4; ++i)
    total = apply(program, Op::kAdd, {total, program.input(i, TypeId::kFloat64, false)});
  program.add_tensor(total);
  const Value inputs[] = {a, row, side, turned};
  const Tensor result = std::get<Tensor>(evaluate(program, inputs, Shape{2, 3})[0]);
  EXPECT_EQ(result.shape(), (Shape{2, 3}));
  const double expected[] = {112, 125, 138, 216, 229, 242};
  EXPECT_EQ(std::memcmp(result.data(), expected, sizeof expected), 0);
  EXPECT_THROW(evaluate(program, inputs, Shape{3, 2}), InvalidArgumentError);
}

TEST_F(EvaluateTest, BoolsAreBitsInColumnsAndBytesInTensors) {
  const Column c = column<bool>({1, 0, 1, 1, 0, 0, 1, 0, 1, 1}).slice(1, 9);
  Program program;
  const int v = program.input(0, TypeId::kBool, false);
  program.add_tensor(v);
  program.add_column(apply(program, Op::kLogicalNot, {v}));
  program.add_reduction(v, Aggregate::kSum);
  const Value inputs[] = {c};
  const std::vector<Value> got = evaluate(program, inputs, 9);
  const uint8_t bytes[] = {0, 1, 1, 0, 0, 1, 0, 1, 1};
  EXPECT_EQ(std::memcmp(std::get<Tensor>(got[0]).data(), bytes, 9), 0);
  EXPECT_EQ(values_of<bool>(std::get<Column>(got[1])),
            (std::vector<bool>{1, 0, 0, 1, 1, 0, 1, 0, 0}));
  EXPECT_EQ(std::get<Scalar>(got[2]).as<int64_t>(), 5);
  EXPECT_EQ(std::get<Scalar>(got[2]).dtype(), Dtype(TypeId::kInt64));
}

TEST_F(EvaluateTest, ConstantsAndInputsAreOutputsToo) {
  Program program;
  program.add_column(program.constant(Scalar(int32_t{7})));
  program.add_tensor(program.input(0, TypeId::kFloat64, false));
  program.add_column(program.constant(Scalar::null(TypeId::kFloat64)));
  const Value inputs[] = {column<double>({1, 2, 3})};
  const std::vector<Value> got = evaluate(program, inputs, 3);
  EXPECT_EQ(values_of<int32_t>(std::get<Column>(got[0])), (std::vector<int32_t>{7, 7, 7}));
  EXPECT_EQ(std::get<Tensor>(got[1]).as<double>()[2], 3);
  EXPECT_EQ(std::get<Column>(got[2]).null_count(), 3);
}

TEST_F(EvaluateTest, RefusesWhatTheProgramDoesNotDescribe) {
  Program program;
  program.add_column(program.input(0, TypeId::kFloat64, false));
  const Value wrong_dtype[] = {column<float>({1})}, wrong_size[] = {column<double>({1, 2})};
  const Value nulls[] = {column<double>({1}, {0})};
  EXPECT_THROW(evaluate(program, wrong_dtype, 1), InvalidArgumentError);
  EXPECT_THROW(evaluate(program, wrong_size, 1), InvalidArgumentError);
  EXPECT_THROW(evaluate(program, nulls, 1), InvalidArgumentError);
  EXPECT_THROW(evaluate(program, {}, 1), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
