// SPDX-License-Identifier: Apache-2.0
// Words of dtypes, equality with units, and what visitors refuse.
#include "headrace/base/dtype.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace hr {

namespace {

TEST(Dtype, WordsGoBothWays) {
  for (int id = 0; id <= static_cast<int>(TypeId::kDuration); ++id) {
    const Dtype dtype = static_cast<TypeId>(id);
    EXPECT_EQ(dtype_from_name(dtype.name()), dtype) << dtype.name();
    EXPECT_GT(dtype.size_bytes(), 0);
    EXPECT_EQ(dtype.storage().size_bytes(), dtype.size_bytes());
  }
  for (const char* word :
       {"datetime64[s]", "datetime64[ms]", "datetime64[us]", "datetime64[ns]", "timedelta64[s]",
        "timedelta64[ms]", "timedelta64[us]", "timedelta64[ns]"})
    EXPECT_EQ(dtype_from_name(word).name(), word);
  EXPECT_EQ(dtype_from_name("datetime64[us]"), Dtype(TypeId::kTimestamp));
  for (const char* word :
       {"datetime64", "datetime64[D]", "datetime64[h]", "timedelta64", "time", ""})
    EXPECT_THROW(dtype_from_name(word), TypeMismatchError) << word;
}

TEST(Dtype, UnitsTellTimestampsApart) {
  EXPECT_NE(Dtype::timestamp(TimeUnit::kNano), Dtype::timestamp(TimeUnit::kSecond));
  EXPECT_EQ(units_per_second(Dtype::timestamp(TimeUnit::kNano).unit()), 1'000'000'000);
  EXPECT_TRUE(Dtype(TypeId::kDate).is_temporal());
  EXPECT_FALSE(Dtype(TypeId::kCategory).is_temporal());
  EXPECT_FALSE(Dtype(TypeId::kDuration).is_temporal());
  EXPECT_NE(Dtype::duration(TimeUnit::kNano), Dtype::timestamp(TimeUnit::kNano));
  for (const TypeId id : {TypeId::kDate, TypeId::kTimestamp, TypeId::kCategory, TypeId::kDuration})
    EXPECT_FALSE(Dtype(id).is_real() || Dtype(id).is_string() || Dtype(id).is_bool());
}

TEST(Dtype, VisitorsTakeNumbersOnly) {
  EXPECT_EQ(
      visit_real(TypeId::kFloat64, [](auto type) { return sizeof(typename decltype(type)::type); }),
      8u);
  for (const TypeId id : {TypeId::kBool, TypeId::kString, TypeId::kComplex64, TypeId::kDate,
                          TypeId::kTimestamp, TypeId::kCategory})
    EXPECT_THROW(visit_real(id, [](auto) {}), TypeMismatchError);
}

}  // namespace

}  // namespace hr
