// SPDX-License-Identifier: Apache-2.0
// Words of dtypes, equality with units, and what visitors refuse.
#include "headrace/base/dtype.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

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

TEST(Dtype, ZonesArePartOfTimestamps) {
  const Dtype berlin = Dtype::timestamp(TimeUnit::kMilli, "Europe/Berlin");
  EXPECT_EQ(berlin.name(), "datetime64[ms, Europe/Berlin]");
  EXPECT_EQ(berlin.zone(), "Europe/Berlin");
  EXPECT_EQ(dtype_from_name(berlin.name()), berlin);
  EXPECT_NE(berlin, Dtype::timestamp(TimeUnit::kMilli));
  EXPECT_NE(berlin, Dtype::timestamp(TimeUnit::kMilli, "UTC"));
  EXPECT_NE(berlin, Dtype::timestamp(TimeUnit::kMicro, "Europe/Berlin"));
  EXPECT_EQ(berlin.storage(), Dtype(TypeId::kInt64));
  EXPECT_EQ(Dtype::timestamp(TimeUnit::kMilli).zone(), "");
  EXPECT_TRUE(berlin.has_zone() && berlin.has_unit() && berlin.is_temporal());
  EXPECT_EQ(Dtype::timestamp(TimeUnit::kNano, "+05:30").name(), "datetime64[ns, +05:30]");
  const std::string longest(64, 'a');
  EXPECT_EQ(Dtype::timestamp(TimeUnit::kNano, longest).zone(), longest);
  for (const std::string& wrong : {std::string(), longest + "a", std::string("a b"),
                                   std::string("a\0b", 3), std::string("Zürich")})
    EXPECT_THROW(Dtype::timestamp(TimeUnit::kNano, wrong), InvalidArgumentError) << wrong;
  EXPECT_THROW(dtype_from_name("datetime64[us, ]"), InvalidArgumentError);
  EXPECT_THROW(dtype_from_name("datetime64[D, UTC]"), TypeMismatchError);
}

TEST(Dtype, DecimalsHaveDigits) {
  const Dtype price = Dtype::decimal(15, 2);
  EXPECT_EQ(price.name(), "decimal128(15, 2)");
  EXPECT_EQ(dtype_from_name("decimal128(15, 2)"), price);
  EXPECT_EQ(dtype_from_name("decimal128(15,2)"), price);
  EXPECT_EQ(Dtype::decimal(38, 38).name(), "decimal128(38, 38)");
  EXPECT_NE(price, Dtype::decimal(15, 3));
  EXPECT_TRUE(price.is_decimal());
  EXPECT_FALSE(price.is_real() || price.has_zone() || price.has_unit());
  EXPECT_EQ(price.size_bytes(), 16);
  EXPECT_EQ(price.zone(), "");
  for (const auto& [precision, scale] : {std::pair{0, 0}, {39, 0}, {5, 6}, {5, -1}})
    EXPECT_THROW(Dtype::decimal(precision, scale), InvalidArgumentError);
  for (const char* word : {"decimal128", "decimal128()", "decimal128(3)", "decimal128(3;1)"})
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

TEST(Dtype, StructsHaveFields) {
  const Dtype point = Dtype::structure({{"x", TypeId::kInt64}, {"y", TypeId::kString}});
  EXPECT_EQ(point.name(), "struct[x: int64, y: string]");
  EXPECT_EQ(point, Dtype::structure({{"x", TypeId::kInt64}, {"y", TypeId::kString}}));
  EXPECT_NE(point, Dtype::structure({{"y", TypeId::kString}, {"x", TypeId::kInt64}}));
  EXPECT_NE(point, Dtype::structure({{"x", TypeId::kInt64}, {"z", TypeId::kString}}));
  EXPECT_EQ(point.fields().at(1), (Field{"y", TypeId::kString}));
  EXPECT_TRUE(Dtype(TypeId::kInt64).fields().empty());
  EXPECT_EQ(Dtype::structure({}).name(), "struct[]");
  EXPECT_TRUE(point.is_struct() && point.is_nested() && !point.has_items());
  const Dtype codes = Dtype::structure({{"c", TypeId::kCategory}});
  const Dtype numbers = Dtype::structure({{"c", Dtype::category(TypeId::kInt64)}});
  EXPECT_EQ(codes.name(), numbers.name());
  EXPECT_NE(codes, numbers);
  EXPECT_THROW(Dtype::structure({{"x", TypeId::kBool}, {"x", TypeId::kBool}}),
               InvalidArgumentError);
  EXPECT_THROW(Dtype::structure({{"\xFF", TypeId::kBool}}), InvalidArgumentError);
}

TEST(Dtype, MapsAreListsOfEntries) {
  const Dtype map = Dtype::map(TypeId::kString, Dtype::list(TypeId::kFloat32));
  EXPECT_EQ(map.name(), "map[string, list[float32]]");
  EXPECT_EQ(map.item(),
            Dtype::structure({{"key", TypeId::kString}, {"value", Dtype::list(TypeId::kFloat32)}}));
  EXPECT_NE(map, Dtype::list(map.item()));
  EXPECT_EQ(Dtype::list(map.item()).name(), "list[struct[key: string, value: list[float32]]]");
  EXPECT_TRUE(map.is_map() && map.has_items() && map.is_nested() && !map.is_list());
  EXPECT_EQ(map.levels(), 2);
  EXPECT_EQ(Dtype::list(map).levels(), 3);
}

TEST(Dtype, NamesOfNestedDtypesGoBothWays) {
  const Dtype odd = Dtype::structure({{"", TypeId::kBool},
                                      {"a b", Dtype::decimal(15, 2)},
                                      {"say \"x\", [\\", Dtype::timestamp(TimeUnit::kNano, "UTC")},
                                      {std::string("\n\0", 2), TypeId::kInt8},
                                      {"größe", Dtype::structure({})}});
  for (const Dtype dtype : {odd, Dtype::list(odd), Dtype::map(odd, Dtype::list(odd)),
                            Dtype::structure({{"x", Dtype::map(TypeId::kDate, odd)}})})
    EXPECT_EQ(dtype_from_name(dtype.name()), dtype) << dtype.name();
  EXPECT_EQ(dtype_from_name("struct[x:int64,y: str]").name(), "struct[x: int64, y: string]");
  for (const char* word : {"struct[x]", "struct[x: ]", "struct[\"x: int64]", "map[string]",
                           "map[string, int64, bool]", "list[]", "struct[x: int64", "list[int64]]"})
    EXPECT_THROW(dtype_from_name(word), TypeMismatchError) << word;
}

TEST(Dtype, NestingHasALimit) {
  Dtype dtype = TypeId::kInt64;
  for (int level = 0; level < 32; ++level)
    dtype = level % 2 == 0 ? Dtype::list(dtype) : Dtype::structure({{"x", dtype}});
  EXPECT_EQ(dtype.levels(), 32);
  EXPECT_EQ(dtype_from_name(dtype.name()), dtype);
  EXPECT_THROW(Dtype::list(dtype), UnsupportedError);
  EXPECT_THROW(Dtype::structure({{"x", dtype}}), UnsupportedError);
  std::string deep;
  for (int level = 0; level < 100'000; ++level) deep += "list[";
  EXPECT_THROW(dtype_from_name(deep + std::string(100'000, ']')), UnsupportedError);
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
