// SPDX-License-Identifier: Apache-2.0
// Values come out as they are written, and what is no strict JSON is refused with its place.
#include "headrace/learn/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace hr {
namespace {

Json parsed(const std::string& text) {
  JsonFault fault;
  const auto made = Json::parse(text, fault);
  EXPECT_TRUE(made) << text << ": " << fault.what << " at " << fault.at;
  return *made;
}

TEST(Json, ReadsValues) {
  const Json all = parsed(R"( {"a": [1, -2.5e3, true, null], "b": {"c": "x"}, "": false} )");
  ASSERT_EQ(all.kind(), Json::Kind::kObject);
  const std::vector<Json> items = all.find("a")->items();
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].integer(), 1);
  EXPECT_EQ(items[1].integer(), std::nullopt);
  EXPECT_EQ(items[1].number(), -2500);
  EXPECT_TRUE(items[2].boolean());
  EXPECT_EQ(items[3].kind(), Json::Kind::kNull);
  EXPECT_EQ(all.find("b")->find("c")->string(), "x");
  EXPECT_FALSE(all.find("")->boolean());
  EXPECT_FALSE(all.find("c"));
  EXPECT_EQ(all.members().size(), 3u);
}

TEST(Json, ReadsNumbersExactly) {
  EXPECT_EQ(parsed("9223372036854775807").integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parsed("9223372036854775808").integer(), std::nullopt);
  EXPECT_EQ(parsed("0.1").number(), 0.1);
  EXPECT_EQ(parsed("5e-324").number(), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(parsed("-0.0").number()));
  EXPECT_TRUE(std::isinf(parsed("1e999").number()));
  EXPECT_EQ(parsed("1e-999").number(), 0);
}

TEST(Json, ReadsEscapes) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t")").string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(parsed(R"("\u00fc\u20ac\ud83d\ude00é")").string(), "ü€😀é");
  EXPECT_EQ(parsed(R"("\u0000a")").string(), std::string("\0a", 2));
}

TEST(Json, RefusesTheRest) {
  const std::string deep = std::string(101, '[') + std::string(101, ']');
  for (const std::string& text : {std::string(),
                                  std::string("nul"),
                                  std::string("01"),
                                  std::string("1."),
                                  std::string(".5"),
                                  std::string("+1"),
                                  std::string("1e"),
                                  std::string("NaN"),
                                  std::string("Infinity"),
                                  std::string("'a'"),
                                  std::string("\"a"),
                                  std::string("\"\\x\""),
                                  std::string("\"\\u12\""),
                                  std::string("\"\\ud800\""),
                                  std::string("\"\\ude00\""),
                                  std::string("\"\xff\""),
                                  std::string("\"\n\""),
                                  std::string("[1,]"),
                                  std::string("[1 2]"),
                                  std::string("[1"),
                                  std::string("{\"a\"}"),
                                  std::string("{\"a\": 1,}"),
                                  std::string("{a: 1}"),
                                  std::string("{\"a\": 1, \"\\u0061\": 2}"),
                                  std::string("1 2"),
                                  std::string("\0", 1),
                                  deep}) {
    JsonFault fault;
    EXPECT_FALSE(Json::parse(text, fault)) << text;
    EXPECT_FALSE(fault.what.empty());
    EXPECT_LE(fault.at, text.size());
  }
  EXPECT_EQ(parsed(std::string(100, '[') + std::string(100, ']')).items().size(), 1u);
}

}  // namespace
}  // namespace hr
