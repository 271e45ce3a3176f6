// SPDX-License-Identifier: Apache-2.0
#include "headrace/frame/aggregates.h"

#include "headrace/algo/aggregate/aggregate_binding.h"
#include "headrace/base/error.h"
#include "headrace/frame/astype.h"
#include "headrace/frame/conversions.h"
#include "headrace/frame/frame.h"
#include "headrace/io/csv_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Input = BoundAggregate::Input;

std::string text_of(const Series& series) {
  std::string text;
  write_csv(Frame({{"x", series}}).table(), [&](std::string_view piece) { text += piece; },
            {.line_end = " "});
  return text.substr(2, text.size() - 3);
}

Frame orders() {
  const char* const text =
      "item,day,sent,price,digits,stamp\n"
      "nut,2024-02-28,2024-02-28 12:00:00,1.25,20240228,0\n"
      "bolt,2024-03-01,2024-03-02 00:00:00,0.10,20240301,60\n"
      "nut,2024-02-29,2024-02-29 12:00:01,2.00,20240229,-1\n"
      ",,,,,\n";
  return Frame(read(text, {.dtypes = {{"price", Dtype::decimal(15, 2)}}}));
}

Series took(const Frame& frame) {
  return frame["sent"] - frame["day"];
}

TEST(BindAggregate, SaysWhatTimesMean) {
  const Dtype date = TypeId::kDate, spans = Dtype::duration(TimeUnit::kMilli);
  const auto bound = [](Aggregate aggregate, Dtype dtype) {
    return bind_aggregate(aggregate, dtype, AggregateForm::kColumn);
  };
  EXPECT_EQ(bound(Aggregate::kMean, date).result, date);
  EXPECT_EQ(bound(Aggregate::kMean, date).input, Input::kOffsets);
  EXPECT_EQ(bound(Aggregate::kStd, date).result, Dtype::duration(TimeUnit::kSecond));
  EXPECT_EQ(bound(Aggregate::kStd, spans).result, spans);
  EXPECT_EQ(bound(Aggregate::kSum, spans).input, Input::kCounts);
  EXPECT_EQ(bound(Aggregate::kSum, date).input, Input::kValues);  // which refuses it
  EXPECT_EQ(bound(Aggregate::kSum, Dtype::decimal(9, 2)).input, Input::kDecimals);
  EXPECT_EQ(bound(Aggregate::kMean, Dtype::decimal(9, 2)).input, Input::kFloats);
  EXPECT_EQ(bound(Aggregate::kMin, TypeId::kString).input, Input::kStrings);
  EXPECT_EQ(bind_aggregate(Aggregate::kMin, date, AggregateForm::kGroup).input, Input::kValues);
}

TEST(AggregateColumn, TakesTimesDecimalsAndStrings) {
  const Frame frame = orders();
  const auto of = [&](const char* name, Aggregate aggregate) {
    return text_of(aggregate_column(aggregate, frame[name], 1));
  };
  EXPECT_EQ(of("day", Aggregate::kMin), "2024-02-28");
  EXPECT_EQ(of("day", Aggregate::kMean), "2024-02-29");
  EXPECT_EQ(of("sent", Aggregate::kMax), "2024-03-02 00:00:00");
  EXPECT_EQ(of("item", Aggregate::kMax), "nut");
  EXPECT_EQ(of("price", Aggregate::kSum), "3.35");
  EXPECT_EQ(text_of(astype(frame["day"].std(), TypeId::kInt64)), "86400");
  const Series sum = Array(took(frame).sum());
  EXPECT_EQ(text_of(sum.astype(Dtype::duration(TimeUnit::kSecond)).astype(TypeId::kInt64)),
            "172801");
  EXPECT_EQ(text_of(column_quantiles(frame["day"], {0, 1}, Interpolation::kLinear)),
            "2024-02-28 2024-03-01");
  EXPECT_THAT([&] { aggregate_column(Aggregate::kSum, frame["day"], 0); },
              ThrowsMessage<TypeMismatchError>(HasSubstr("sum: the values are not numbers")));
}

TEST(AggregateColumn, OfNothingIsNull) {
  const Frame frame = orders();
  const Frame none = frame.filter(frame["price"] > frame["price"]);
  EXPECT_EQ(text_of(aggregate_column(Aggregate::kMean, none["day"])), "NA");
  const NodePtr sum = aggregate_column(Aggregate::kSum, took(none));
  EXPECT_EQ(text_of(astype(sum, TypeId::kInt64)), "0");
  EXPECT_EQ(text_of(column_quantiles(none["day"], {0.5}, Interpolation::kLower)), "NA");
}

TEST(GroupColumns, AggregateTimesInCpp) {
  const Frame frame = orders();
  const Frame groups = frame.group_by({"item"}).agg(
      {{"mean", "day", "mean"}, {"last", "sent", "max"}, {"spread", "day", "std"}});
  EXPECT_EQ(text_of(groups["mean"]), "2024-03-01 2024-02-28");
  EXPECT_TRUE(groups["spread"].dtype().is_duration());
  EXPECT_EQ(text_of(groups["last"]), "2024-03-02 00:00:00 2024-02-29 12:00:01");
}

TEST(Conversions, ReadDigitsAndNumbers) {
  const Frame frame = orders();
  EXPECT_EQ(text_of(to_datetime(frame["digits"], {.format = "%Y%m%d", .dtype = TypeId::kDate})),
            "2024-02-28 2024-03-01 2024-02-29 NA");
  EXPECT_EQ(text_of(to_datetime(frame["stamp"], {.unit = "s"})),
            "1970-01-01 00:00:00 1970-01-01 00:01:00 1969-12-31 23:59:59 NA");
  EXPECT_EQ(to_timedelta(frame["stamp"], {.unit = "D"})->signature().dtype,
            Dtype::duration(TimeUnit::kMicro));
  EXPECT_THAT([&] { to_datetime(frame["stamp"]); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("unit=None; expected 'D'")));
  EXPECT_THAT([&] { to_datetime(took(frame)); },
              ThrowsMessage<TypeMismatchError>(HasSubstr("expected strings, numbers or times")));
}

TEST(Conversions, ChooseTheDtypeByTheStrings) {
  const Frame frame = orders();
  const Series texts = astype(frame["sent"], TypeId::kString);
  EXPECT_EQ(to_datetime(texts)->signature().dtype, Dtype::timestamp(TimeUnit::kMicro));
  EXPECT_THROW(to_datetime(frame["item"]), InvalidArgumentError);
  EXPECT_EQ(text_of(to_datetime(frame["item"], {.or_null = true})), "NA NA NA NA");
  EXPECT_EQ(to_numeric(astype(frame["stamp"], TypeId::kString), false)->signature().dtype,
            Dtype(TypeId::kInt64));
  EXPECT_EQ(to_numeric(astype(frame["price"], TypeId::kString), false)->signature().dtype,
            Dtype(TypeId::kFloat64));
}

}  // namespace
}  // namespace hr
