// SPDX-License-Identifier: Apache-2.0
// The table of aggregates against what its forms promise.
#include "headrace/algo/aggregate/aggregate.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

constexpr AggregateForm kForms[] = {AggregateForm::kColumn, AggregateForm::kGroup,
                                    AggregateForm::kRolling, AggregateForm::kCumulative};

TEST(AggregateTable, NamesLeadBackInEveryForm) {
  for (const AggregateRow& row : aggregate_rows())
    for (const AggregateForm form : kForms) {
      if (!has_form(row.aggregate, form)) continue;
      const std::string_view name = aggregate_name(row.aggregate, form);
      EXPECT_EQ(aggregate_from_name(name, form), row.aggregate) << name;
    }
  EXPECT_EQ(aggregate_name(Aggregate::kArgmin, AggregateForm::kColumn), "argmin");
  EXPECT_EQ(aggregate_name(Aggregate::kArgmin, AggregateForm::kGroup), "idxmin");
  EXPECT_EQ(aggregate_from_name("cumsum", AggregateForm::kCumulative), Aggregate::kSum);
  EXPECT_THROW(aggregate_from_name("median", AggregateForm::kColumn), InvalidArgumentError);
  EXPECT_THROW(aggregate_from_name("sum", AggregateForm::kCumulative), InvalidArgumentError);
}

TEST(AggregateTable, KernelsOfDevicesKnowTheFirstTwelve) {
  EXPECT_EQ(static_cast<int>(Aggregate::kCount), 11);
}

TEST(AggregateTable, DtypesFollowTheForm) {
  const auto dtype_of = [](Aggregate aggregate, Dtype dtype, AggregateForm form) {
    return aggregate_dtype(aggregate, dtype, form);
  };
  for (const AggregateForm form : kForms) {
    EXPECT_EQ(dtype_of(Aggregate::kSum, TypeId::kInt8, form), TypeId::kInt64);
    EXPECT_EQ(dtype_of(Aggregate::kSum, TypeId::kUInt8, form), TypeId::kUInt64);
    EXPECT_EQ(dtype_of(Aggregate::kSum, TypeId::kFloat32, form), TypeId::kFloat32);
    EXPECT_EQ(dtype_of(Aggregate::kMin, TypeId::kInt8, form), TypeId::kInt8);
    EXPECT_THROW(dtype_of(Aggregate::kSum, TypeId::kString, form), TypeMismatchError);
  }
  EXPECT_EQ(dtype_of(Aggregate::kMean, TypeId::kBool, AggregateForm::kGroup), TypeId::kFloat64);
  EXPECT_EQ(dtype_of(Aggregate::kMean, Dtype::decimal(9, 2), AggregateForm::kGroup),
            TypeId::kFloat64);
  EXPECT_EQ(dtype_of(Aggregate::kMin, TypeId::kString, AggregateForm::kGroup), TypeId::kString);
  EXPECT_THROW(dtype_of(Aggregate::kMin, TypeId::kString, AggregateForm::kColumn),
               TypeMismatchError);
  EXPECT_THROW(dtype_of(Aggregate::kMean, TypeId::kInt64, AggregateForm::kCumulative),
               UnsupportedError);
}

}  // namespace
}  // namespace hr
