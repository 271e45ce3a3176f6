// SPDX-License-Identifier: Apache-2.0
#include "headrace/frame/apply.h"

#include "headrace/base/error.h"
#include "headrace/frame/frame.h"
#include "headrace/io/csv_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace hr {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Frame orders() {
  const char* const text =
      "item,day,sent,price,count\n"
      "nut,2024-02-28,2024-02-28 12:00:00,1.25,4\n"
      "bolt,2024-02-29,2024-03-02 00:30:00,0.10,30\n"
      ",,,,\n";
  return Frame(read(text, {.dtypes = {{"price", Dtype::decimal(15, 2)}}}));
}

std::string text_of(const Series& series) {
  std::string text;
  write_csv(Frame({{"x", series}}).table(), [&](std::string_view piece) { text += piece; },
            {.line_end = " "});
  return text.substr(2, text.size() - 3);
}

TEST(Apply, ComparesAndAddsStrings) {
  const Frame frame = orders();
  EXPECT_EQ(text_of(frame["item"] == "nut"), "True False False");
  EXPECT_EQ(text_of(frame["item"] > frame["item"]), "False False False");
  EXPECT_EQ(text_of(apply(Op::kAdd, frame["item"], "s")), "nuts bolts NA");
  EXPECT_EQ(text_of(frame["item"].fillna(frame["item"])), "nut bolt NA");
}

TEST(Apply, ComparesDatesWithTextAndTimes) {
  const Frame frame = orders();
  EXPECT_EQ(text_of(frame["day"] >= "2024-02-29"), "False True False");
  EXPECT_EQ(text_of(frame["sent"] < "2024-03-01"), "True False False");
  EXPECT_EQ(text_of(frame["day"] < frame["sent"]), "True True False");
  EXPECT_THAT([&] { frame["day"] < "soon"; },
              ThrowsMessage<TypeMismatchError>(HasSubstr("value='soon'; pass a date or a time")));
}

TEST(Apply, MovesTimes) {
  const Frame frame = orders();
  const DurationLiteral day{nanoseconds_per(CountUnit())};
  EXPECT_EQ(text_of(apply(Op::kAdd, frame["day"], day)), "2024-02-29 2024-03-01 NA");
  EXPECT_EQ(text_of(apply(Op::kAdd, frame["day"], CalendarLiteral{1, 0})),
            "2024-03-28 2024-03-29 NA");
  const Series took = frame["sent"] - frame["day"];
  EXPECT_TRUE(took.dtype().is_duration());
  EXPECT_EQ(text_of(frame["day"] + took == frame["sent"]), "True True False");
  EXPECT_EQ(text_of(took / 2 * 2 == took), "True True False");
  EXPECT_EQ(text_of(-took < took), "True True False");
}

TEST(Apply, TakesTextDatesAndDurationsOfCpp) {
  using namespace std::chrono;
  const Frame frame = orders();
  EXPECT_EQ(text_of("pea" + frame["item"]), "peanut peabolt NA");
  EXPECT_EQ(text_of("nut" == frame["item"]), "True False False");
  EXPECT_EQ(text_of(frame["item"].fillna("none")), "nut bolt none");
  EXPECT_EQ(text_of(frame["day"] == 2024y / February / 29), "False True False");
  EXPECT_EQ(text_of(frame["day"] < sys_days(2024y / February / 29)), "True False False");
  EXPECT_EQ(text_of("2024-03-01" > frame["sent"]), "True False False");
  EXPECT_EQ(text_of(frame["day"] + days(1)), "2024-02-29 2024-03-01 NA");
  EXPECT_EQ(text_of(frame["day"] + CalendarLiteral{1}), "2024-03-28 2024-03-29 NA");
  EXPECT_EQ(text_of(2024y / March / 1 - frame["day"] == hours(24)), "False True False");
  EXPECT_EQ(text_of(frame["count"] * minutes(15) == minutes(15) * frame["count"]),
            "True True False");
  EXPECT_EQ(text_of(minutes(60) / frame["count"] == minutes(2)), "False True False");
  EXPECT_EQ(text_of(frame["price"] >= DecimalLiteral{"1.25"}), "True False False");
  EXPECT_THAT([&] { frame["day"] == 2023y / February / 29; },
              ThrowsMessage<InvalidArgumentError>(
                  HasSubstr("date: no such day: year=2023, month=2, day=29")));
  static_assert(!LiteralValue<months> && !LiteralValue<duration<double>> && !LiteralValue<int>);
}

TEST(Apply, KeepsDecimalsExact) {
  const Frame frame = orders();
  EXPECT_EQ(text_of(frame["price"] * frame["count"]), "5.00 3.00 NA");
  EXPECT_EQ(text_of(1 - frame["price"]), "-0.25 0.90 NA");
  EXPECT_EQ(text_of(apply(Op::kLess, frame["price"], DecimalLiteral{"0.2"})), "False True False");
  EXPECT_EQ(text_of(apply(Op::kPower, frame["price"], Scalar::weak(int64_t{2}))),
            "1.5625 0.0100 NA");
  EXPECT_TRUE((frame["price"] * 0.5).dtype().is_floating());
  EXPECT_THAT([&] { frame["price"] + frame["item"]; },
              ThrowsMessage<TypeMismatchError>(HasSubstr("dtype='decimal128(15, 2)'")));
}

TEST(Apply, ChoosesNullForAMissingValue) {
  const Frame frame = orders();
  const auto kept = [&](const char* name, const Literal& missing) {
    return text_of(hr::apply(
        Op::kWhere,
        std::vector<ApplyOperand>{{NodePtr(frame["count"] > 4)}, {NodePtr(frame[name])}, {missing}},
        NullRule::kThreeValued));
  };
  const Literal null = Scalar::null(TypeId::kBool);
  EXPECT_EQ(kept("item", null), "NA bolt NA");
  EXPECT_EQ(kept("day", Scalar::weak(std::nan(""))), "NA 2024-02-29 NA");
  EXPECT_EQ(kept("count", null), "NA 30 NA");
}

TEST(Apply, CountsMissingAsFalseWhereAsked) {
  const Frame frame = orders();
  const auto known = [](Op op, const std::vector<ApplyOperand>& operands) {
    const NodePtr made = hr::apply(op, operands, NullRule::kMissingIsFalse);
    EXPECT_FALSE(made->signature().nullable);
    return text_of(made);
  };
  const Literal nut = std::string("nut"), four = Scalar::weak(int64_t{4});
  const NodePtr item = frame["item"], day = frame["day"], count = frame["count"],
                price = frame["price"], mask = frame["item"] == "nut";
  EXPECT_EQ(known(Op::kEqual, {{item}, {nut}}), "True False False");
  EXPECT_EQ(known(Op::kNotEqual, {{item}, {nut}}), "False True True");
  EXPECT_EQ(known(Op::kGreaterEqual, {{count}, {four}}), "True True False");
  EXPECT_EQ(known(Op::kLess, {{price}, {count}}), "True True False");
  EXPECT_EQ(known(Op::kNotEqual, {{day}, {day}}), "False False True");
  EXPECT_EQ(known(Op::kIsNan, {{count}}), "False False False");
  EXPECT_EQ(known(Op::kLogicalNot, {{mask}}), "False True True");
  EXPECT_EQ(known(Op::kBitwiseOr, {{mask}, {mask}}), "True False False");
  EXPECT_EQ(text_of(hr::apply(Op::kWhere, std::vector<ApplyOperand>{{mask}, {day}, {day}},
                              NullRule::kMissingIsFalse)),
            "2024-02-28 2024-02-29 NA");
  EXPECT_EQ(text_of(hr::apply(Op::kAdd, std::vector<ApplyOperand>{{count}, {four}},
                              NullRule::kMissingIsFalse)),
            "8 34 NA");
}

TEST(Astype, ConvertsAllDtypes) {
  const Frame frame = orders();
  const auto as = [&](const char* name, Dtype dtype) { return text_of(frame[name].astype(dtype)); };
  EXPECT_EQ(as("sent", TypeId::kDate), "2024-02-28 2024-03-02 NA");
  EXPECT_EQ(as("day", Dtype::timestamp(TimeUnit::kSecond)),
            "2024-02-28 00:00:00 2024-02-29 00:00:00 NA");
  EXPECT_EQ(as("price", TypeId::kFloat64), "1.25 0.1 NA");
  EXPECT_EQ(as("count", TypeId::kString), "4 30 NA");
  EXPECT_EQ(text_of(frame["count"].astype(TypeId::kString).astype(TypeId::kInt8)), "4 30 NA");
  EXPECT_EQ(as("count", TypeId::kCategory), "4 30 NA");
}

TEST(Keys, CompareAsTheOperatorDoes) {
  const Frame frame = orders();
  const auto keyed = [](const Series& key) { return Frame({{"key", key}}); };
  const auto merged = [&](const Series& left, const Series& right, const char* how) {
    const Series key = keyed(left).merge(keyed(right), {"key"}, {.how = how})["key"];
    return std::string(key.dtype().name()) + ": " + text_of(key);
  };
  const Series day = frame["day"], item = frame["item"], price = frame["price"];
  const Series noon = Series(day.astype(Dtype::timestamp(TimeUnit::kSecond)));
  EXPECT_EQ(merged(day, noon, "inner"), "date: 2024-02-28 2024-02-29 NA");
  EXPECT_EQ(merged(noon, day, "outer"),
            "datetime64[s]: 2024-02-28 00:00:00 2024-02-29 00:00:00 NA");
  EXPECT_EQ(merged(item.astype(TypeId::kCategory), item, "left"), "string: nut bolt NA");
  EXPECT_EQ(merged(price, price.astype(TypeId::kFloat64), "outer"), "float64: 0.1 1.25 NA");
  EXPECT_EQ(text_of(day.isin(noon)), "True True True");
  EXPECT_THROW(merged(day, item, "inner"), TypeMismatchError);
}

TEST(Keys, RowsPutTogetherHaveOneDtype) {
  const Frame frame = orders();
  const auto both = [](const Series& first, const Series& second) {
    return concat({Frame({{"x", first}}), Frame({{"x", second}})})["x"].dtype();
  };
  EXPECT_EQ(both(frame["price"], frame["count"]), Dtype::decimal(22, 2));
  EXPECT_EQ(both(frame["item"], frame["item"].astype(TypeId::kCategory)), TypeId::kString);
  EXPECT_EQ(both(frame["sent"], frame["sent"].astype(Dtype::timestamp(TimeUnit::kNano))),
            Dtype::timestamp(TimeUnit::kNano));
  EXPECT_THAT([&] { both(frame["day"], frame["count"]); },
              ThrowsMessage<TypeMismatchError>(HasSubstr("dtype='date', other='int64'")));
}

TEST(Apply, BringsTimesToComparableCounts) {
  const Frame frame = orders();
  EXPECT_EQ(comparable_counts("merge", frame["day"], frame["sent"]).size(), 2);
  EXPECT_TRUE(comparable_counts("merge", frame["day"], frame["count"]).empty());
}

}  // namespace
}  // namespace hr
