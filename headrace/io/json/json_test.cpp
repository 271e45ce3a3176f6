// SPDX-License-Identifier: Apache-2.0
// The JSON reader against hand-made answers: syntax, dtypes, bad rows, borders of pieces.
#include "headrace/io/json/json.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_testing.h"
#include "headrace/io/json/json_reader.h"
#include "headrace/io/json/json_write.h"
#include "headrace/memory/budget/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace hr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string written(const Table& table) {
  std::string text;
  write_json(table, [&](std::string_view piece) { text.append(piece); });
  return text;
}

std::string dtypes_of(const Table& table) {
  std::string text;
  for (const Column& column : table.columns())
    text.append(text.empty() ? "" : " ").append(column.dtype().name());
  return text;
}

Table read_rows(std::string_view text, const JsonOptions& options = {}) {
  return read_json(text_source(text), options).table;
}

std::string round_trip(std::string_view text, const JsonOptions& options = {}) {
  return written(read_rows(text, options));
}

InputError bad(std::string_view text, const JsonOptions& options = {}) {
  try {
    read_json(text_source(text), options);
  } catch (const InputError& error) {
    return error;
  }
  ADD_FAILURE() << "no error: " << text;
  return InputError("");
}

// The verdict on a value that stands in a row whose column is kept as text, and one that is not
// read.
bool is_json(std::string_view value) {
  const std::string text = "[{\"v\":" + std::string(value) + "}]";
  const auto accepts = [&](const JsonOptions& options) {
    try {
      read_json(text_source(text), options);
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  const bool kept = accepts({.dtypes = {{"v", TypeId::kString}}});
  EXPECT_EQ(kept, accepts({.columns = {"w"}, .dtypes = {{"w", TypeId::kString}}})) << value;
  return kept;
}

class Json : public ::hr::testing::SimdAndThreadsTest {};

TEST_F(Json, ReadsEachKind) {
  const Table table = read_rows(
      "{\"i\":1,\"f\":-0.5,\"b\":true,\"s\":\"x\",\"l\":[1,2],\"n\":null}\n"
      "\n"
      "{\"i\":-9223372036854775808,\"f\":1e3,\"b\":false,\"s\":\"\\u00e9 "
      "\\\"\",\"l\":[],\"n\":null}");
  EXPECT_EQ(dtypes_of(table), "int64 float64 bool string list[int64] float64");
  EXPECT_EQ(written(table),
            "{\"i\":1,\"f\":-0.5,\"b\":true,\"s\":\"x\",\"l\":[1,2],\"n\":null}\n"
            "{\"i\":-9223372036854775808,\"f\":1000.0,\"b\":false,\"s\":\"\xC3\xA9 \\\"\",\"l\":[],"
            "\"n\":null}\n");
}

TEST_F(Json, WidensNumbers) {
  EXPECT_EQ(round_trip("{\"x\":1}\n{\"x\":2.5}\n"), "{\"x\":1.0}\n{\"x\":2.5}\n");
  EXPECT_EQ(dtypes_of(read_rows("{\"x\":1}\n{\"x\":18446744073709551615}")), "uint64");
  EXPECT_EQ(round_trip("{\"x\":-1}\n{\"x\":18446744073709551615}"),
            "{\"x\":-1.0}\n{\"x\":18446744073709551616.0}\n");
  EXPECT_EQ(round_trip("{\"x\":18446744073709551615}\n{\"x\":-1}"),
            "{\"x\":18446744073709551616.0}\n{\"x\":-1.0}\n");
  EXPECT_EQ(round_trip("{\"x\":123456789012345678901234567890}"),
            "{\"x\":1.2345678901234568e+29}\n");
  EXPECT_EQ(round_trip("{\"x\":9007199254740993}\n{\"x\":0.5}"),
            "{\"x\":9007199254740992.0}\n{\"x\":0.5}\n");
}

TEST_F(Json, MissingKeysAreNull) {
  EXPECT_EQ(round_trip("{\"a\":1}\n{\"b\":\"x\"}\n{}\n{\"b\":\"y\",\"a\":2}\n"),
            "{\"a\":1,\"b\":null}\n{\"a\":null,\"b\":\"x\"}\n{\"a\":null,\"b\":null}\n"
            "{\"a\":2,\"b\":\"y\"}\n");
}

TEST_F(Json, LastOfEqualKeysCounts) {
  EXPECT_EQ(round_trip("{\"a\":\"x\",\"b\":1,\"a\":2}\n{\"a\":3,\"\\u0061\":4}"),
            "{\"a\":2,\"b\":1}\n{\"a\":4,\"b\":null}\n");
  EXPECT_EQ(dtypes_of(read_rows("{\"a\":\"x\",\"a\":2}")), "int64");
}

// Also of values of another kind than the column, which a scan knows before it reads the rows.
TEST_F(Json, AValueOfAKeyThatComesAgainNeedsNotFit) {
  const std::string text = "{\"a\":false,\"a\":2}\n{\"a\":[{\"a\":1,\"a\":2}],\"a\":-0.5}\n";
  const JsonOptions given{.form = JsonForm::kLines, .dtypes = {{"a", TypeId::kFloat64}}};
  const std::string wanted =
      written(read_json(text_source("{\"a\":2.0}\n{\"a\":-0.5}\n"), given).table);
  EXPECT_EQ(written(read_json(text_source(text), given).table), wanted);
  for (const BadRows on_bad : {BadRows::kError, BadRows::kReject}) {
    const JsonOptions options{.form = JsonForm::kLines, .on_bad = on_bad};
    EXPECT_EQ(written(read_json(text_source(text), options).table), wanted);
    EXPECT_EQ(written(JsonScan(text_source(text), options).read().table), wanted);
  }
}

TEST_F(Json, ReadsArrays) {
  const JsonOptions array{.form = JsonForm::kArray};
  EXPECT_EQ(round_trip("\xEF\xBB\xBF [ {\"a\" : 1} ,\n {\"a\":\t2 }\n ] \n"),
            "{\"a\":1}\n{\"a\":2}\n");
  EXPECT_EQ(round_trip(" [ ] "), "");
  for (const char* text :
       {"", "  ", "[", "[{}", "[{},", "[{},]", "[,{}]", "[{}]]", "[{}] x", "[{}{}]", "[1]",
        "[null]", "[[]]", "{\"a\":1}", "[{\"a\":1]}", "[{\"a\":\"]}"})
    bad(text, array);
}

TEST_F(Json, ArraysAreCutOutsideOfStrings) {
  std::string text = "[", wanted;
  for (int i = 0; i < 500; ++i) {
    text += i > 0 ? ", {" : "{";
    text += "\"a\":\"}],{[\\\\\\\"\", \"b\":[[" + std::to_string(i) + ",{\"x\":[1,2]}]]}";
    wanted +=
        "{\"a\":\"}],{[\\\\\\\"\",\"b\":\"[[" + std::to_string(i) + ",{\\\"x\\\":[1,2]}]]\"}\n";
  }
  text += "]";
  const JsonOptions options{.dtypes = {{"b", TypeId::kString}}};
  for (const int64_t bytes : {1, 7, 64, 1000, 1 << 20})
    EXPECT_EQ(written(read_in_chunks(text_source(text), options, bytes).table), wanted) << bytes;
}

TEST_F(Json, SameForAnyPiecesThreadsAndSimd) {
  std::mt19937_64 random(1);
  std::string text;
  const auto number = [&] {
    return std::to_string(static_cast<int64_t>(random()) >> (random() % 60));
  };
  for (int row = 0; row < 3000; ++row) {
    text += "{\"id\":" + number();
    if (random() % 3 != 0) text += ", \"f\":" + number() + (random() % 50 ? "" : ".25");
    if (random() % 5 != 0) text += ",\"s\":\"" + std::string(random() % 40, 'a') + "\\n\"";
    if (random() % 4 == 0) text += ",\"l\":[" + number() + ",null]";
    if (random() % 2 == 0) text += ",\"t\":\"2024-02-29 12:00:00\"";
    text += random() % 10 ? "}\n" : "}\r\n\n";
  }
  const std::string wanted = round_trip(text);
  EXPECT_THAT(wanted, HasSubstr("2024-02-29T12:00:00"));
  for (const int64_t bytes : {100, 4096, 1 << 16})
    for (const int count : {1, 2, 4}) {
      set_threads(count);
      EXPECT_EQ(written(read_in_chunks(text_source(text), {}, bytes).table), wanted);
    }
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2}) {
    set_simd_level(level);
    EXPECT_EQ(round_trip(text), wanted);
  }
}

TEST_F(Json, Times) {
  EXPECT_EQ(
      dtypes_of(read_rows("{\"d\":\"2024-02-29\",\"t\":\"2024-02-29T01:02:03.5\",\"n\":"
                          "\"2024-02-29 01:02:03.123456789\",\"z\":\"2024-02-29T00:00:00Z\"}")),
      "date datetime64[us] datetime64[ns] string");
  EXPECT_EQ(dtypes_of(read_rows("{\"d\":\"2024-02-29\"}\n{\"d\":\"later\"}")), "string");
}

TEST_F(Json, GivenDtypes) {
  const JsonOptions options{.dtypes = {{"a", TypeId::kInt8},
                                       {"b", TypeId::kFloat32},
                                       {"c", TypeId::kString},
                                       {"d", TypeId::kCategory},
                                       {"e", TypeId::kDate},
                                       {"f", TypeId::kUInt64}}};
  const Table table = read_rows(
      "{\"a\":-128,\"b\":0.1,\"c\":[1, {\"x\": null}],\"d\":\"u\",\"e\":\"2024-01-01\"}\n"
      "{\"c\":1.50,\"d\":null}\n{\"c\":\"s\",\"d\":\"u\",\"f\":18446744073709551615}",
      options);
  EXPECT_EQ(dtypes_of(table), "int8 float32 string category date uint64");
  EXPECT_EQ(
      written(table),
      "{\"a\":-128,\"b\":0.1,\"c\":\"[1, {\\\"x\\\": null}]\",\"d\":\"u\",\"e\":\"2024-01-01\","
      "\"f\":null}\n"
      "{\"a\":null,\"b\":null,\"c\":\"1.50\",\"d\":null,\"e\":null,\"f\":null}\n"
      "{\"a\":null,\"b\":null,\"c\":\"s\",\"d\":\"u\",\"e\":null,\"f\":18446744073709551615}\n");
  for (const char* text : {"{\"a\":128}", "{\"a\":1.0}", "{\"a\":\"1\"}", "{\"b\":true}",
                           "{\"e\":\"2024-01-01T00:00:01\"}", "{\"f\":-1}", "{\"d\":1}",
                           "{\"a\":[1]}", "{\"e\":\"2024-02-30\"}"})
    EXPECT_THAT(bad(text, options).what(), HasSubstr("does not fit the column's dtype")) << text;
  EXPECT_THROW(read_rows("{}", {.dtypes = {{"a", TypeId::kDuration}}}), UnsupportedError);
}

TEST_F(Json, ColumnsAreChosen) {
  const std::string_view text = "{\"a\":1,\"b\":\"x\"}\n{\"c\":{\"d\":[]},\"b\":\"y\",\"a\":2}\n";
  EXPECT_EQ(round_trip(text, {.columns = {"b", "a"}}),
            "{\"b\":\"x\",\"a\":1}\n{\"b\":\"y\",\"a\":2}\n");
  EXPECT_THROW(read_rows(text, {.columns = {"bb"}}), ColumnNotFoundError);
  EXPECT_THROW(read_rows("{\"a\":{}}"), UnsupportedError);
  EXPECT_THAT(bad("{\"a\":1,\"b\":tru}", {.columns = {"a"}}).what(), HasSubstr("expected a value"));
}

TEST_F(Json, ObjectsAreStructs) {
  const std::string_view text =
      "{\"o\":{\"a\":1,\"b\":[{\"c\":\"x\"}]}}\n{\"o\":null}\n{}\n{\"o\":{}}\n"
      "{\"o\":{\"b\":[null,{\"c\":\"y\",\"d\":true}],\"a\":0.5}}\n{\"o\":{\"a\":3,\"a\":4}}\n";
  const std::string wanted =
      "{\"o\":{\"a\":1.0,\"b\":[{\"c\":\"x\",\"d\":null}]}}\n{\"o\":null}\n{\"o\":null}\n"
      "{\"o\":{\"a\":null,\"b\":null}}\n"
      "{\"o\":{\"a\":0.5,\"b\":[null,{\"c\":\"y\",\"d\":true}]}}\n"
      "{\"o\":{\"a\":4.0,\"b\":null}}\n";
  for (const int64_t bytes : {1, 50, 1 << 20})
    EXPECT_EQ(written(read_in_chunks(text_source(text), {}, bytes).table), wanted) << bytes;
  EXPECT_THAT(bad("{\"o\":{\"a\":1}}\n{\"o\":{\"a\":\"x\"}}").what(), HasSubstr("key='a'"));
  EXPECT_THAT(bad("{\"o\":{\"a\":1}}\n{\"o\":[1]}").what(), HasSubstr("objects and arrays"));
}

TEST_F(Json, ErrorsNameThePlace) {
  const InputError error = bad("{\"a\":1}\n\n{\"a\":1,\"k\":\"\xC3\xA9\", \"a\" 2}\n");
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.column, 21);
  EXPECT_THAT(error.what(), HasSubstr("read_json: expected ':' behind a key: path='<test>'"));
  const InputError mixed = bad("{\"a\":1}\n{\"a\":\"x\"}\n");
  EXPECT_EQ(mixed.line, 2);
  EXPECT_THAT(mixed.what(), HasSubstr("a column has numbers and strings: key='a'"));
  EXPECT_THAT(mixed.what(), HasSubstr("dtypes="));
  EXPECT_THAT(bad("[{\"a\":1},\n {\"a\":[true, 1]}]").what(), HasSubstr("numbers and arrays"));
  EXPECT_THAT(bad("{\"a\":1}\n[1]\n").what(), HasSubstr("a row is not an object"));
  EXPECT_THAT(bad("{\"a\":\n1}\n").what(), HasSubstr("the line ends inside of a value"));
}

TEST_F(Json, RejectsBadRows) {
  const JsonOptions options{.on_bad = BadRows::kReject};
  const std::string_view text =
      "{\"a\":1}\n{\"a\":\"x\"}\nnonsense\n{\"a\":2} "
      "tail\n[]\n{\"a\":3,\"b\":[1,\"y\"]}\n{\"a\":4}";
  for (const int64_t bytes : {1, 10, 30, 1 << 20}) {
    const JsonResult result = read_in_chunks(text_source(text), options, bytes);
    EXPECT_EQ(written(result.table), "{\"a\":1}\n{\"a\":4}\n") << bytes;
    const auto lines = result.rejects.column("line").values<int64_t>();
    EXPECT_THAT(std::vector<int64_t>(lines.begin(), lines.end()), ElementsAre(2, 3, 4, 5, 6));
    EXPECT_EQ(result.rejects.column("text").string(3), "[]");
  }
  const JsonResult array =
      read_json(text_source("[{\"a\":1}, 5, {\"a\":\"x\"}, {\"a\":2}]"), options);
  EXPECT_EQ(written(array.table), "{\"a\":1}\n{\"a\":2}\n");
  EXPECT_EQ(array.rejects.num_rows(), 2);
  bad("[{\"a\":1}, {\"a\":}, {\"a\":2}]", options);
}

// Also where the dtype of the column is known before, as in a scan.
TEST_F(Json, ARowThatIsNoJsonIsRejectedForThat) {
  const JsonResult result =
      read_json(text_source("{\"a\":1}\n{\"a\":\"x\"} tail\n{\"a\":\"x\"\n{\"a\":\"x\"}\n"),
                {.on_bad = BadRows::kReject});
  const Column& reasons = result.rejects.column("reason");
  EXPECT_EQ(reasons.string(0), "unexpected text behind the object of a line");
  EXPECT_EQ(reasons.string(1), "the line ends inside of a value");
  EXPECT_EQ(reasons.string(2), "a column has numbers and strings: key='a'");
}

TEST_F(Json, ReadsAtMostSomeRows) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "{\"a\":" + std::to_string(i) + "}\n";
  text += "broken";
  for (const int64_t rows : {0, 1, 999, 1000}) {
    const JsonOptions options{.form = JsonForm::kLines, .num_rows = rows};
    EXPECT_EQ(read_in_chunks(text_source(text), options, 100).table.num_rows(), rows);
  }
  bad(text);
}

// Rows behind the last one wanted tell neither dtypes nor rejects, however they were cut.
TEST_F(Json, SomeRowsAreTheSameForAnyPieces) {
  const std::string lines =
      "{\"a\":1}\nbad\n{\"a\":2}\nworse\n{\"a\":0.5,\"b\":1}\n{\"a\":\"x\"}\n";
  const std::string array = "[{\"a\":1}, {\"a\":2}] tail, {\"a\":0.5}, {\"b\":1}]";
  for (const std::string& text : {lines, array})
    for (const int64_t bytes : {1, 9, 20, 1 << 20}) {
      const JsonOptions options{.num_rows = 2, .on_bad = BadRows::kReject};
      const JsonResult result = read_in_chunks(text_source(text), options, bytes);
      EXPECT_EQ(written(result.table), "{\"a\":1}\n{\"a\":2}\n") << text << bytes;
      EXPECT_EQ(result.rejects.num_rows(), text == lines ? 1 : 0) << text << bytes;
    }
}

TEST_F(Json, LinesHaveNoEndOfAnArray) {
  const std::string_view text = "]\n{\"a\":1}\n{\"a\":2}\n";
  for (const int64_t bytes : {1, 9, 1 << 20}) {
    const JsonResult result =
        read_in_chunks(text_source(text), {.on_bad = BadRows::kReject}, bytes);
    EXPECT_EQ(written(result.table), "{\"a\":1}\n{\"a\":2}\n") << bytes;
    EXPECT_EQ(result.rejects.column("text").string(0), "]");
  }
  bad("]\n");
}

TEST_F(Json, ScansReadWhatIsWanted) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "{\"a\":" + std::to_string(i) + ",\"b\":" + (i == 999 ? "0.5" : "1") + ",\"t\":\"" +
            (i == 500 ? "x" : "2024-01-01") + "\"}\n";
  const JsonScan scan(text_source(text));
  EXPECT_THAT(scan.schema().names, ElementsAre("a", "b", "t"));
  EXPECT_EQ(scan.schema().num_rows, 1000);
  EXPECT_EQ(dtypes_of(scan.read({false, true, true}, 2).table), "float64 string");
  EXPECT_EQ(written(scan.read({}, 1).table), "{\"a\":0,\"b\":1.0,\"t\":\"2024-01-01\"}\n");
  EXPECT_EQ(scan.read({true, false, false}).table.num_rows(), 1000);
}

TEST_F(Json, Verdicts) {
  for (const char* value : {"[]",
                            "{}",
                            "[ ]",
                            "[[]   ]",
                            "\"\"",
                            "0",
                            "-0",
                            "-0.0e+1",
                            "1E22",
                            "0e1",
                            "1e400",
                            "-1e-999",
                            "[1,\t2\r\n]",
                            "\"\\u0060\\u012a\\u12AB\"",
                            "\"\\uD801\\udc37\"",
                            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                            "\"\xF4\x8F\xBF\xBF\"",
                            "\"\x7F\"",
                            "{\"\":0}",
                            "{\"a\":1,\"a\":2}",
                            "{\"a\\u0000b\":1}",
                            "null",
                            "true",
                            "\"\\uFFFF\"",
                            "123456789012345678901234567890e-30"})
    EXPECT_TRUE(is_json(value)) << value;
  for (const char* value : {"",
                            "[",
                            "{",
                            "]",
                            "[1,]",
                            "[,1]",
                            "[1 2]",
                            "[1",
                            "{\"a\"}",
                            "{\"a\":}",
                            "{\"a\":1,}",
                            "{a:1}",
                            "{'a':1}",
                            "{1:1}",
                            "{\"a\":1 \"b\":2}",
                            "{,}",
                            "01",
                            "-01",
                            "-",
                            "+1",
                            "1.",
                            ".5",
                            "1.e1",
                            "1e",
                            "1e+",
                            "1eE2",
                            "0x1",
                            "1_0",
                            "--1",
                            "- 1",
                            "Infinity",
                            "NaN",
                            "nan",
                            "inf",
                            "tru",
                            "True",
                            "nul",
                            "truefalse",
                            "\"",
                            "\"\\\"",
                            "\"\\x00\"",
                            "\"\\a\"",
                            "\"\\u12\"",
                            "\"\\u00G0\"",
                            "\"\n\"",
                            "\"\t\"",
                            "\"\x1f\"",
                            "\"\xFF\"",
                            "\"\xC0\x80\"",
                            "\"\xED\xA0\x80\"",
                            "\"\xF5\x80\x80\x80\"",
                            "\"\xE2\x82\"",
                            "\"\\uD800\"",
                            "\"\\uDC00\"",
                            "\"\\uD800\\u0061\"",
                            "\"\\uD800\\",
                            "'a'",
                            "[\"a\",\n\"b\"",
                            "/**/1",
                            "1 // x",
                            "\xC2\xA0 1",
                            "\f1",
                            "1\v",
                            "\xEF\xBB\xBF"
                            "1"})
    EXPECT_FALSE(is_json(value)) << value;
  std::string zero = "1";
  zero += '\0';
  EXPECT_FALSE(is_json(zero));
  // With the array and the object around it.
  EXPECT_TRUE(is_json(std::string(62, '[') + std::string(62, ']')));
  EXPECT_FALSE(is_json(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(is_json(std::string(100'000, '[')));
}

TEST_F(Json, LongStrings) {
  for (const int64_t size : {0, 11, 12, 13, 31, 32, 33, 63, 64, 65, 100'000}) {
    const std::string value(static_cast<size_t>(size), 'x');
    EXPECT_EQ(round_trip("{\"a\":\"" + value + "\"}"), "{\"a\":\"" + value + "\"}\n");
    EXPECT_EQ(round_trip("{\"a\":\"" + value + "\\u0041\"}"), "{\"a\":\"" + value + "A\"}\n");
    bad("{\"a\":\"" + value);
  }
}

TEST_F(Json, HoldsTheLimit) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "{\"a\":" + std::to_string(i) + ",\"b\":\"" + std::string(20, 'x') + "\"}\n";
  const Source source = text_source(text);
  const int64_t before = memory_limit(), used = memory_statistics().used_bytes;
  const int64_t limit = used + (int64_t{1} << 21);
  set_memory_limit(limit);
  try {
    EXPECT_EQ(read_json(source).table.num_rows(), 100'000);
  } catch (const OutOfMemoryError&) {
  }
  set_memory_limit(before);
  EXPECT_EQ(read_json(source).table.num_rows(), 100'000);
}

TEST_F(Json, WritesEscapes) {
  EXPECT_EQ(round_trip("{\"k\\\"\\n\":\"\\u0001\\u001f\\b\\t\\/\\\\x\"}"),
            "{\"k\\\"\\n\":\"\\u0001\\u001f\\b\\t/\\\\x\"}\n");
}

}  // namespace
}  // namespace hr
