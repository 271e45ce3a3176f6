// SPDX-License-Identifier: Apache-2.0
#include "headrace/plan/bind/binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr {
namespace {

using Cast = BoundOperation::Cast;
using Result = BoundOperation::Result;
using Storage = BoundOperation::Storage;

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr NullRule kThreeValued = NullRule::kThreeValued,
                   kPlainComparisons = NullRule::kPlainComparisons,
                   kMissingIsFalse = NullRule::kMissingIsFalse;

const Dtype kInt = TypeId::kInt64, kDouble = TypeId::kFloat64, kString = TypeId::kString,
            kDate = TypeId::kDate, kTime = Dtype::timestamp(TimeUnit::kMilli),
            kSpan = Dtype::duration(TimeUnit::kMicro), kPrice = Dtype::decimal(15, 2);

BoundOperation bound(Op op, Dtype left, Dtype right, NullRule nulls = kThreeValued) {
  return bind(op, std::vector<BindOperand>{{.dtype = left}, {.dtype = right}}, nulls);
}

BoundOperation bound(Op op, Dtype left, const Literal& right, Dtype dtype) {
  return bind(op, std::vector<BindOperand>{{.dtype = left}, {.dtype = dtype, .literal = &right}},
              kThreeValued);
}

void refuses(Op op, Dtype left, Dtype right, const std::string& message) {
  EXPECT_THAT([&] { bound(op, left, right); },
              ThrowsMessage<TypeMismatchError>(HasSubstr(message)));
}

TEST(Binder, LeavesNumbersToTheEvaluator) {
  for (const Op op : {Op::kAdd, Op::kPower, Op::kLess, Op::kHypot, Op::kBitwiseAnd}) {
    const BoundOperation found = bound(op, kInt, kDouble);
    EXPECT_EQ(found.storage, Storage::kNumbers);
    EXPECT_EQ(found.casts[0], Cast::kNone);
    EXPECT_EQ(found.result, Result::kStorage);
  }
  EXPECT_EQ(bind(Op::kIsNull, std::vector<BindOperand>{{.dtype = kString}}, kThreeValued).storage,
            Storage::kNumbers);
}

TEST(Binder, BringsTimesToTheFinestUnit) {
  const BoundOperation less = bound(Op::kLess, kDate, kTime);
  EXPECT_EQ(less.casts[0], Cast::kClampedCounts);
  EXPECT_EQ(less.unit, TimeUnit::kMilli);
  EXPECT_EQ(less.result, Result::kStorage);
  EXPECT_EQ(bound(Op::kEqual, kDate, kDate).unit, CountUnit());
  EXPECT_EQ(bound(Op::kMaximum, kDate, kDate).dtype, kDate);
  EXPECT_EQ(bound(Op::kWhere, kDate, kTime).dtype, kTime);
  EXPECT_EQ(bound(Op::kSubtract, kDate, kDate).dtype, Dtype::duration(TimeUnit::kSecond));
  EXPECT_EQ(bound(Op::kSubtract, kTime, kSpan).dtype, Dtype::timestamp(TimeUnit::kMicro));
  EXPECT_EQ(bound(Op::kAdd, kSpan, kTime).dtype, Dtype::timestamp(TimeUnit::kMicro));
}

TEST(Binder, KeepsDatesWhereWholeDaysAreAdded) {
  const Int128 day = nanoseconds_per(CountUnit());
  EXPECT_EQ(bound(Op::kAdd, kDate, DurationLiteral{2 * day}, kSpan).dtype, kDate);
  EXPECT_EQ(bound(Op::kAdd, kDate, DurationLiteral{day / 2}, kSpan).dtype,
            Dtype::timestamp(TimeUnit::kSecond));
  const BoundOperation moved = bound(Op::kSubtract, kTime, CalendarLiteral{1, 0}, kSpan);
  EXPECT_EQ(moved.storage, Storage::kCalendar);
  EXPECT_EQ(moved.dtype, kTime);
}

TEST(Binder, KeepsTimeZones) {
  const Dtype berlin = Dtype::timestamp(TimeUnit::kSecond, "Europe/Berlin");
  const Dtype utc = Dtype::timestamp(TimeUnit::kNano, "UTC");
  EXPECT_EQ(bound(Op::kAdd, berlin, kSpan).dtype,
            Dtype::timestamp(TimeUnit::kMicro, "Europe/Berlin"));
  EXPECT_EQ(bound(Op::kLess, berlin, utc).unit, TimeUnit::kNano);
  EXPECT_EQ(bound(Op::kSubtract, berlin, utc).dtype, Dtype::duration(TimeUnit::kNano));
  refuses(Op::kWhere, berlin, utc, "one column cannot hold two time zones");
  refuses(Op::kLess, berlin, kTime, "left='datetime64[s, Europe/Berlin]', right='datetime64[ms]'");
  EXPECT_THAT([&] { bound(Op::kLess, berlin, TimeLiteral{0, kDate}, kDate); },
              ThrowsMessage<TypeMismatchError>(HasSubstr("value='1970-01-01', zone='Europe")));
}

TEST(Binder, ScalesDurationsByNumbers) {
  for (const Op op : {Op::kMultiply, Op::kDivide, Op::kFloorDivide})
    EXPECT_EQ(bound(op, kSpan, kDouble).dtype, kSpan);
  EXPECT_EQ(bound(Op::kMultiply, kInt, kSpan).dtype, kSpan);
  EXPECT_EQ(bound(Op::kDivide, kSpan, kSpan).result, Result::kStorage);
  EXPECT_EQ(bound(Op::kRemainder, kSpan, kSpan).dtype, kSpan);
  EXPECT_EQ(bind(Op::kNegative, std::vector<BindOperand>{{.dtype = kSpan}}, kThreeValued).dtype,
            kSpan);
  refuses(Op::kDivide, kInt, kSpan, "the dtypes cannot be combined");
}

TEST(Binder, KeepsDecimalsExactBesideIntegersOnly) {
  EXPECT_EQ(bound(Op::kAdd, kPrice, kPrice).storage, Storage::kDecimal);
  EXPECT_EQ(bound(Op::kAdd, kInt, kPrice).casts[0], Cast::kDecimal);
  EXPECT_EQ(bound(Op::kAdd, kPrice, kDouble).casts[0], Cast::kFloat64);
  EXPECT_EQ(bound(Op::kDivide, kPrice, kPrice).casts[1], Cast::kFloat64);
  EXPECT_EQ(bound(Op::kPower, kPrice, Scalar::weak(int64_t{2}), kInt).storage, Storage::kDecimal);
  EXPECT_EQ(bound(Op::kPower, kPrice, Scalar::weak(int64_t{-2}), kInt).storage, Storage::kNumbers);
  refuses(Op::kWhere, kPrice, kDouble, "other_dtype='float64'");
}

TEST(Binder, TakesTheNullRuleFromItsCaller) {
  const Dtype kBool = TypeId::kBool;
  for (const Op op : {Op::kLess, Op::kNotEqual, Op::kBitwiseAnd, Op::kLogicalNot, Op::kIsNan}) {
    EXPECT_FALSE(bound(op, kBool, kBool).null_is_false);
    EXPECT_FALSE(bound(op, kBool, kBool).null_becomes);
  }
  for (const Dtype dtype : {kInt, kString, kTime, kPrice}) {
    EXPECT_EQ(bound(Op::kLess, dtype, dtype, kMissingIsFalse).null_becomes, false);
    EXPECT_EQ(bound(Op::kNotEqual, dtype, dtype, kMissingIsFalse).null_becomes, true);
    EXPECT_TRUE(bound(Op::kWhere, dtype, dtype, kMissingIsFalse).null_is_false);
    EXPECT_FALSE(bound(Op::kAdd, kInt, kInt, kMissingIsFalse).null_becomes);
    EXPECT_EQ(bound(Op::kLess, dtype, dtype, kPlainComparisons).null_becomes, false);
    EXPECT_EQ(bound(Op::kNotEqual, dtype, dtype, kPlainComparisons).null_becomes, true);
    EXPECT_FALSE(bound(Op::kWhere, dtype, dtype, kPlainComparisons).null_is_false);
  }
  EXPECT_FALSE(bound(Op::kBitwiseAnd, kBool, kBool, kPlainComparisons).null_is_false);
  EXPECT_TRUE(bound(Op::kBitwiseAnd, kBool, kBool, kMissingIsFalse).null_is_false);
  EXPECT_FALSE(bound(Op::kBitwiseAnd, kInt, kInt, kMissingIsFalse).null_is_false);
  EXPECT_TRUE(bound(Op::kLogicalOr, kInt, kInt, kMissingIsFalse).null_is_false);
}

TEST(Binder, PutsRowsTogether) {
  const auto common = [](std::vector<Dtype> dtypes) { return common_dtype(dtypes); };
  EXPECT_EQ(common({kDate, kDate}), kDate);
  EXPECT_EQ(common({kInt, TypeId::kUInt64, kDouble}), kDouble);
  EXPECT_EQ(common({kString, TypeId::kCategory}), kString);
  EXPECT_EQ(common({kTime, Dtype::timestamp(TimeUnit::kNano)}), Dtype::timestamp(TimeUnit::kNano));
  EXPECT_EQ(common({kSpan, Dtype::duration(TimeUnit::kSecond)}), kSpan);
  EXPECT_EQ(common({TypeId::kInt8, kPrice, TypeId::kUInt64}), Dtype::decimal(22, 2));
  EXPECT_EQ(common({Dtype::decimal(38, 0), Dtype::decimal(20, 10)}), Dtype::decimal(38, 10));
  const Dtype utc = Dtype::timestamp(TimeUnit::kSecond, "UTC");
  for (const Dtype other : {kInt, kString, kDate, kSpan, utc, kPrice})
    EXPECT_FALSE(common({kTime, other})) << other.name();
  EXPECT_FALSE(common({kInt, kPrice, kDouble}));
}

TEST(Binder, ComparesKeys) {
  const Dtype utc = Dtype::timestamp(TimeUnit::kSecond, "UTC"),
              berlin = Dtype::timestamp(TimeUnit::kNano, "Europe/Berlin");
  EXPECT_FALSE(bind_keys("merge", kTime, kTime).are_counts);
  EXPECT_TRUE(bind_keys("merge", kTime, kDate).are_counts);
  EXPECT_EQ(bind_keys("merge", utc, berlin).unit, TimeUnit::kNano);
  EXPECT_EQ(bind_keys("merge", kPrice, TypeId::kFloat32).dtype, kDouble);
  EXPECT_EQ(bind_keys("merge", TypeId::kBool, TypeId::kInt8).dtype, TypeId::kInt8);
  EXPECT_EQ(bind_keys("merge", TypeId::kCategory, kString).dtype, kString);
  EXPECT_THAT([&] { bind_keys("merge", kInt, kString); },
              ThrowsMessage<TypeMismatchError>(
                  HasSubstr("merge: these dtypes cannot be compared: left='int64'")));
  EXPECT_THROW(bind_keys("merge", kTime, utc), TypeMismatchError);
}

TEST(Binder, NamesWhatDoesNotMatch) {
  const Literal text = std::string("x"), three = Scalar::weak(int64_t{3});
  EXPECT_THAT(
      [&] {
        bind(Op::kGreater,
             std::vector<BindOperand>{{.dtype = kInt, .name = "a"},
                                      {.dtype = kString, .literal = &text}},
             kThreeValued);
      },
      ThrowsMessage<TypeMismatchError>("greater: the value does not match the column's dtype: "
                                       "column='a', dtype='int64', value='x'; pass a number, or "
                                       "convert the column with astype('string')"));
  EXPECT_THAT([&] { bound(Op::kGreater, kTime, three, kInt); },
              ThrowsMessage<TypeMismatchError>(HasSubstr("value=3; pass a date or a time")));
  refuses(Op::kAdd, kInt, kString,
          "dtype='int64', other_dtype='string'; use astype on one of them");
  refuses(Op::kMultiply, kTime, kTime, "the operation does not support this dtype");
}

TEST(Literals, ReadTimesFromText) {
  EXPECT_EQ(time_from_text("1970-01-02")->nanoseconds, nanoseconds_per(CountUnit()));
  EXPECT_EQ(time_from_text("1970-01-02")->dtype, kDate);
  EXPECT_EQ(time_from_text("1970-01-01 00:00:01.5")->dtype, kTime);
  const Dtype utc = Dtype::timestamp(TimeUnit::kSecond, "+00:00");
  EXPECT_EQ(time_from_text("1970-01-01 01:00:00+01:00", utc)->nanoseconds, 0);
  for (const char* wrong : {"", "garbage", "1970-13-01", "1970-01-01T", "1970-0101", "1970-W54-1",
                            "1970-W10-8", "0000-01-01", "1970-01-01 24:00", "1970-01-01 00:00:00.",
                            "1970-01-01 00:00+24:00", "1970-01-01 00:00 "})
    EXPECT_FALSE(time_from_text(wrong)) << wrong;
  const Int128 day = nanoseconds_per(CountUnit());
  for (const char* text : {"1970-01-11", "19700111", "1970-W02-7", "1970W027", "1970-01-11T00",
                           "19700111 0000", "1970-01-11_00:00:00,000", "1970-01-11 01:00+0100"})
    EXPECT_EQ(time_from_text(text)->nanoseconds, 10 * day) << text;
  EXPECT_EQ(time_from_text("1970-01-01 00:00:00Z")->dtype,
            Dtype::timestamp(TimeUnit::kSecond, "UTC"));
  EXPECT_EQ(time_from_text("1970-01-01T00:00:00.0000000019")->nanoseconds, 1);
}

}  // namespace
}  // namespace hr
