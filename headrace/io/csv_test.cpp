// SPDX-License-Identifier: Apache-2.0
// The CSV reader against hand-made answers: syntax, dtypes, nulls, bad rows, limits.
#include "headrace/io/csv.h"

#include "headrace/algo/select/filter.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_reader_testing.h"
#include "headrace/io/csv_testing.h"
#include "headrace/memory/budget/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

namespace hr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Each cell as text: null as "null", floats as printf's %.17g.
std::vector<std::string> cells(const Column& column) {
  std::vector<std::string> result;
  for (int64_t i = 0; i < column.num_rows(); ++i) {
    if (column.is_null(i)) {
      result.push_back("null");
    } else if (column.dtype().is_string()) {
      result.emplace_back(column.string(i));
    } else if (column.dtype().is_bool()) {
      result.push_back(column.bit(i) ? "true" : "false");
    } else {
      visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
        const T value = column.values<T>()[static_cast<size_t>(i)];
        char buffer[40];
        if constexpr (std::is_floating_point_v<T>)
          std::snprintf(buffer, sizeof buffer, "%.17g", static_cast<double>(value));
        else
          std::snprintf(buffer, sizeof buffer, "%s", std::to_string(value).c_str());
        result.emplace_back(buffer);
      });
    }
  }
  return result;
}

std::vector<std::string> read_column(std::string_view text, const CsvOptions& options = {}) {
  return cells(read(text, options).column(0));
}

InputError bad(std::string_view text, const CsvOptions& options = {}) {
  try {
    read(text, options);
  } catch (const InputError& error) {
    return error;
  }
  ADD_FAILURE() << "no InputError for " << text.substr(0, 100);
  return InputError("");
}

TEST(Csv, InfersDtypes) {
  const Table table = read(
      "b,i,u,f,s,n,big,mix\n"
      "true,1,18446744073709551615,1.5,x,,-9223372036854775809,True\n"
      "FALSE,-2,1,2,\"y,z\",NA,1,1\n");
  EXPECT_THAT(table.names(), ElementsAre("b", "i", "u", "f", "s", "n", "big", "mix"));
  std::vector<Dtype> dtypes;
  for (const Column& column : table.columns()) dtypes.push_back(column.dtype());
  EXPECT_THAT(dtypes,
              ElementsAre(TypeId::kBool, TypeId::kInt64, TypeId::kUInt64, TypeId::kFloat64,
                          TypeId::kString, TypeId::kFloat64, TypeId::kFloat64, TypeId::kString));
  EXPECT_THAT(cells(table.column("b")), ElementsAre("true", "false"));
  EXPECT_THAT(cells(table.column("i")), ElementsAre("1", "-2"));
  EXPECT_THAT(cells(table.column("u")), ElementsAre("18446744073709551615", "1"));
  EXPECT_THAT(cells(table.column("f")), ElementsAre("1.5", "2"));
  EXPECT_THAT(cells(table.column("s")), ElementsAre("x", "y,z"));
  EXPECT_THAT(cells(table.column("n")), ElementsAre("null", "null"));
  EXPECT_THAT(cells(table.column("big")), ElementsAre("-9.2233720368547758e+18", "1"));
}

TEST(Csv, TakesEveryLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string text = "a,b" + end + "1,x" + end + end + "2,\"p" + end + "q\"" + end + "3,z";
    for (const std::string& whole : {text, text + end}) {
      const Table table = read(whole);
      EXPECT_THAT(cells(table.column("a")), ElementsAre("1", "2", "3"));
      EXPECT_THAT(cells(table.column("b")), ElementsAre("x", "p" + end + "q", "z"));
    }
  }
}

TEST(Csv, KnowsQuotes) {
  EXPECT_THAT(read_column("a\n\"x \"\"y\"\" z\"\n\"\"\n\"\"\"\"\n5\" disk\nab\"c\n"),
              ElementsAre("x \"y\" z", "", "\"", "5\" disk", "ab\"c"));
  EXPECT_THAT(read_column("a\n\"1\"\n\" 2 \"\n\"\"\n"), ElementsAre("1", "2", "null"));
  EXPECT_THAT(read_column("a\n\"x\n", {.quote = std::nullopt}), ElementsAre("\"x"));
  EXPECT_THAT(read_column("a\n'x,y'\n", {.quote = '\''}), ElementsAre("x,y"));
}

TEST(Csv, KnowsNulls) {
  const Table table = read("i,f,s,b\n1,nan,null,true\nNULL,,NA,NA\n\"\",\" NA \",\"NA\",\"\"\n",
                           {.dtypes = {{"s", TypeId::kString}}});
  EXPECT_THAT(cells(table.column("i")), ElementsAre("1", "null", "null"));
  EXPECT_THAT(cells(table.column("f")), ElementsAre("nan", "null", "null"));
  EXPECT_THAT(cells(table.column("s")), ElementsAre("null", "null", "NA"));
  EXPECT_THAT(cells(table.column("b")), ElementsAre("true", "null", "null"));
  EXPECT_EQ(table.column("i").values<int64_t>()[1], 0);
  EXPECT_THAT(read_column("a\n1\n-\n", {.null_words = {"-"}}), ElementsAre("1", "null"));
  EXPECT_THAT(read_column("a,b\n,1\n", {.null_words = {}}), ElementsAre(""));
}

TEST(Csv, SkipsCommentsBlankLinesAndTheTop) {
  const std::string_view text =
      "\xEF\xBB\xBFjunk \"\n# more\na,b\n\n1,2 # it's \"one\"\n  \n# \"none\n3,\"#4\"\n";
  const Table table = read(text, {.comment = '#', .skip_rows = 1});
  EXPECT_THAT(table.names(), ElementsAre("a", "b"));
  EXPECT_THAT(cells(table.column("a")), ElementsAre("1", "3"));
  EXPECT_THAT(cells(table.column("b")), ElementsAre("2 ", "#4"));
}

TEST(Csv, NamesColumns) {
  EXPECT_THAT(read("a,a,,a.1\n1,2,3,4\n").names(), ElementsAre("a", "a.1", "Unnamed: 2", "a.1.1"));
  EXPECT_THAT(read("1,2\n", {.header = CsvHeader::kNo}).names(), ElementsAre("0", "1"));
  EXPECT_EQ(read("1,2\n", {.names = {"x", "y"}}).num_rows(), 1);
  EXPECT_EQ(read("a,b\n1,2\n", {.header = CsvHeader::kYes, .names = {"x", "y"}}).num_rows(), 1);
  EXPECT_THROW(read("1,2\n", {.names = {"x"}}), InvalidArgumentError);
  EXPECT_THROW(read("1,2\n", {.names = {"x", "x"}}), InvalidArgumentError);
}

TEST(Csv, ReadsChosenColumnsInTheirOrder) {
  const std::string_view text = "a,b,c\n1,x,2\n3,y,4\n";
  const Table table = read(text, {.columns = {"c", "a"}});
  EXPECT_THAT(table.names(), ElementsAre("c", "a"));
  EXPECT_THAT(cells(table.column("c")), ElementsAre("2", "4"));
  EXPECT_THAT(read(text, {.column_indices = {1}}).names(), ElementsAre("b"));
  EXPECT_THROW(read(text, {.columns = {"d"}}), ColumnNotFoundError);
  EXPECT_THROW(read(text, {.column_indices = {3}}), ColumnNotFoundError);
  const CsvScan scan(text_source(text), {.columns = {"c", "a", "b"}});
  EXPECT_THAT(scan.read({false, true, true}).table.names(), ElementsAre("a", "b"));
  EXPECT_EQ(scan.read({}, 1).table.num_rows(), 1);
}

TEST(Csv, ADelimiterMayLookLikePartOfATime) {
  // With each line end: rows of CR alone are parsed one by one.
  for (const char* line_end : {"\n", "\r"}) {
    const std::string text = std::string("a b c") + line_end + "2023-11-28 75 x" + line_end +
                             "2023-11-29 12:30 y" + line_end;
    const Table table = read(text, {.delimiter = ' '});
    EXPECT_TRUE(table.column("a").dtype().is_date());
    EXPECT_EQ(table.column("a").values<int32_t>()[1], 19690);
    EXPECT_EQ(table.column("b").string(1), "12:30");
  }
}

TEST(Csv, TakesGivenDtypes) {
  const std::string_view text = "a,b\n1,2\n 3 ,+4\n";
  const Table table = read(text, {.dtypes = {{"b", TypeId::kInt8}}, .dtype = TypeId::kFloat32});
  EXPECT_EQ(table.column("a").dtype(), Dtype(TypeId::kFloat32));
  EXPECT_THAT(cells(table.column("a")), ElementsAre("1", "3"));
  EXPECT_THAT(cells(table.column("b")), ElementsAre("2", "4"));
  EXPECT_THAT(read_column("a\n007\n", {.dtype = TypeId::kString}), ElementsAre("007"));
  EXPECT_THROW(read(text, {.dtypes = {{"c", TypeId::kInt8}}}), ColumnNotFoundError);
  EXPECT_THROW(read(text, {.dtype = TypeId::kComplex64}), TypeMismatchError);
}

TEST(Csv, RoundsFloatsOnce) {
  // 1 + 2^-24 + 2^-60: to float64 first and then to float32 it would end in 1.
  EXPECT_EQ(
      read("a\n1.0000000596046447762\n", {.dtype = TypeId::kFloat32}).column(0).values<float>()[0],
      1.0f + std::numeric_limits<float>::epsilon());
  EXPECT_THAT(read_column("a\n1e999\n-1e-999\n9007199254740993\n2.2250738585072011e-308\n-inf\n"),
              ElementsAre("inf", "-0", "9007199254740992", "2.2250738585072009e-308", "-inf"));
}

TEST(Csv, ErrorsNameTheirPlace) {
  const InputError ragged = bad("a,b\n1,2\n\"x\ny\",4\n5\n");
  EXPECT_EQ(ragged.line, 5);
  EXPECT_EQ(ragged.column, 2);
  EXPECT_EQ(ragged.path, "<test>");
  EXPECT_THAT(ragged.what(), HasSubstr("a row has 1 field where there are 2 names"));
  const InputError misfit = bad("a,b\n1,2\n1,2.5\n", {.dtypes = {{"b", TypeId::kInt64}}});
  EXPECT_EQ(misfit.line, 3);
  EXPECT_EQ(misfit.column, 2);
  EXPECT_THAT(misfit.what(), HasSubstr("dtypes={\"b\": \"float64\"}"));
  EXPECT_THAT(misfit.what(), HasSubstr("text='1,2.5'"));
  EXPECT_EQ(bad("a\n300\n", {.dtype = TypeId::kUInt8}).line, 2);
  EXPECT_EQ(bad("a\n-1\n", {.dtype = TypeId::kUInt8}).line, 2);
  EXPECT_EQ(bad("a,b\n1,\"x\"y\n").line, 2);
  EXPECT_EQ(bad("a,b\n1,2\n3,\"x\n4,5\n").line, 3);
  EXPECT_EQ(bad("a\nx\n\xFF\n").line, 3);
  EXPECT_EQ(bad(std::string_view("a\n1\n2\0\n", 8), {.dtype = TypeId::kInt64}).line, 3);
  EXPECT_THAT(bad(std::string_view("a\0b,c\n1,2\n", 10)).what(), HasSubstr("NUL"));
  EXPECT_THAT(bad("").what(), HasSubstr("no rows"));
  EXPECT_THAT(bad("\n\n").what(), HasSubstr("no rows"));
  EXPECT_THAT(bad("\xFF\xFE,\n").what(), HasSubstr("UTF-16"));
}

struct Limit {
  int64_t before = memory_limit();
  explicit Limit(int64_t bytes) { set_memory_limit(bytes); }
  ~Limit() { set_memory_limit(before); }
};

// Everything a read tells.
std::vector<std::string> outcome(const std::string& text, const CsvOptions& options,
                                 int64_t chunk) {
  std::vector<std::string> told;
  try {
    const CsvScan scan(text_source(text), options);
    const CsvResult result = read_in_chunks(scan, {}, -1, chunk);
    for (const Table* table : {&result.table, &result.rejects})
      for (int64_t c = 0; c < table->num_columns(); ++c) {
        told.emplace_back(table->column(c).dtype().name());
        for (std::string& cell : cells(table->column(c))) told.push_back(std::move(cell));
      }
  } catch (const Error& error) {
    told.push_back(error.what());
  }
  return told;
}

// Columns of common fields with a few odd ones: by tiles, in chunks, and row by row (which is what
// the base level does).
TEST(Csv, TilesTellTheSameAsRows) {
  static constexpr const char* kCommon[] = {"7",          "-12",
                                            "0.5",        "-3.25",
                                            "123456.125", "0.30000000000000004",
                                            "word",       "a longer text field"};
  static constexpr const char* kOdd[] = {"",           "NA",
                                         " 5",         "\"6\"",
                                         "1e3",        "nan",
                                         "true",       "\"a,\nb\"",
                                         "\"d\"\"d\"", "99999999999999999999",
                                         "\xC3\xA4",   "+1",
                                         "x\"y",       "12345678901234567",
                                         "5."};
  static constexpr const char* kBad[] = {"1,2", "\xFF", "\"x\"y", "\r", "\n", "#c", "x", "\"open"};
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const size_t columns = 1 + random() % 4;
    const char* const line_end = round % 3 ? "\n" : "\r\n";
    std::vector<size_t> kinds;
    std::string text;
    for (size_t c = 0; c < columns; ++c) {
      kinds.push_back(random() % std::size(kCommon));
      text += std::string(c ? "," : "") + static_cast<char>('a' + c);
    }
    text += line_end;
    const auto odd = random() % 30, bad = round % 2 ? 0 : random() % 3;
    for (size_t row = random() % 3000; row > 0; --row)
      for (size_t c = 0; c < columns; ++c) {
        const auto chance = random() % 1000;
        if (chance < bad)
          text += kBad[random() % std::size(kBad)];
        else if (chance < odd)
          text += kOdd[random() % std::size(kOdd)];
        else
          text += kCommon[kinds[c]];
        text += c + 1 < columns ? "," : line_end;
      }
    CsvOptions options;
    if (round % 5 == 0) options.comment = '#';
    if (round % 7 == 0) options.quote = std::nullopt;
    if (round % 4 != 3) options.on_bad = BadRows::kReject;
    if (round % 11 == 0) options.num_rows = static_cast<int64_t>(random() % 2000);
    if (round % 13 == 0) options.dtype = TypeId::kFloat32;
    const auto tiles = outcome(text, options, kCsvChunkBytes);
    EXPECT_EQ(tiles, outcome(text, options, 5000)) << "round " << round;
    {
      const Limit limit(memory_statistics().used_bytes + (int64_t{64} << 20));
      EXPECT_EQ(tiles, outcome(text, options, 5000)) << "round " << round;
    }
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2}) {
      if (level > best_simd_level()) continue;
      set_simd_level(level);
      EXPECT_EQ(tiles, outcome(text, options, kCsvChunkBytes)) << "round " << round;
    }
    set_simd_level(best_simd_level());
  }
}

// Which rows have a first read column whose text hashes to an even number; nulls are left null.
Column even_texts(const Table& table) {
  const std::vector<std::string> texts = cells(table.column(0));
  const auto rows = static_cast<int64_t>(texts.size());
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows)),
         valid = Buffer::allocate_zeroed(bitmap_bytes(rows));
  for (int64_t row = 0; row < rows; ++row) {
    const std::string& text = texts[static_cast<size_t>(row)];
    set_bit(bits.mutable_as<uint8_t>(), row, std::hash<std::string>()(text) % 2 == 0);
    set_bit(valid.mutable_as<uint8_t>(), row, text != "null");
  }
  return Column(TypeId::kBool, rows, std::move(bits), std::move(valid), -1);
}

// What a filtered read tells: cells, or the error.
std::vector<std::string> outcome_where(const std::string& text, const CsvOptions& options,
                                       int64_t chunk, size_t by, bool with_it) {
  std::vector<std::string> told;
  try {
    const CsvScan scan(text_source(text), options);
    const size_t columns = scan.schema().names.size();
    CsvFilter filter{.reads = std::vector<bool>(columns), .test = even_texts};
    filter.reads[by] = true;
    std::vector<bool> wanted(columns, true);
    wanted[by] = with_it;
    const Table table = read_in_chunks(scan, wanted, -1, chunk, host, &filter).table;
    for (int64_t c = 0; c < table.num_columns(); ++c)
      for (std::string& cell : cells(table.column(c))) told.push_back(std::move(cell));
  } catch (const Error& error) {
    told.push_back(error.what());
  }
  return told;
}

TEST(Csv, AFilterLeavesTheRowsThatItWants) {
  static constexpr const char* kFields[] = {
      "7",         "-12",       "0.5", "NA", "word", "\"q\"", "\"6\"", "a longer text field",
      "\"a,\nb\"", "\"d\"\"d\""};
  std::mt19937_64 random(2);
  for (int round = 0; round < 150; ++round) {
    const size_t columns = 2 + random() % 4;
    const bool regular = round % 2, broken = round % 5 == 0;
    std::vector<size_t> kinds;
    std::string text;
    for (size_t c = 0; c < columns; ++c) {
      kinds.push_back(random() % 3);
      text += std::string(c ? "," : "") + static_cast<char>('a' + c);
    }
    text += "\n";
    CsvOptions options;
    for (size_t c = 0; c < columns; ++c)
      options.dtypes.emplace_back(std::string(1, static_cast<char>('a' + c)),
                                  regular && kinds[c] != 2 ? TypeId::kFloat64 : TypeId::kString);
    for (size_t row = random() % 3000; row > 0; --row) {
      for (size_t c = 0; c < columns; ++c) {
        if (regular)
          text += kinds[c] == 2 ? kFields[random() % std::size(kFields)] : kFields[random() % 4];
        else
          text += kFields[random() % std::size(kFields)];
        if (broken && random() % 2000 == 0) text += "x";
        text += c + 1 < columns ? "," : random() % 50 ? "\n" : "\n\n";
      }
    }
    if (round % 11 == 0) options.num_rows = static_cast<int64_t>(random() % 2000);
    const size_t by = random() % columns;
    const bool with_it = random() % 2;
    const auto told = outcome_where(text, options, kCsvChunkBytes, by, with_it);
    EXPECT_EQ(told, outcome_where(text, options, 5000, by, with_it)) << "round " << round;
    EXPECT_EQ(told, outcome_where(text, options, 64, by, with_it)) << "round " << round;
    {
      const Limit limit(memory_statistics().used_bytes + (int64_t{64} << 20));
      EXPECT_EQ(told, outcome_where(text, options, 5000, by, with_it)) << "round " << round;
    }
    set_simd_level(SimdLevel::kBase);
    EXPECT_EQ(told, outcome_where(text, options, kCsvChunkBytes, by, with_it)) << "round " << round;
    set_simd_level(best_simd_level());
    if (broken) continue;
    const Table all = read(text, options);
    const Column test = even_texts(Table({"by"}, {all.column(static_cast<int64_t>(by))}));
    std::vector<std::string> expected;
    for (int64_t c = 0; c < all.num_columns(); ++c)
      if (with_it || c != static_cast<int64_t>(by))
        for (std::string& cell : cells(hr::filter(all.column(c), Mask(test))))
          expected.push_back(std::move(cell));
    EXPECT_EQ(told, expected) << "round " << round;
  }
}

// Of each piece a column has far less text than what leaves memory, and of all pieces far more.
TEST(Csv, ManyColumnsOfTextFitUnderALimit) {
  constexpr int64_t kColumns = 30, kRows = 80'000, kQuarter = kColumns * kRows * 10;
  const auto word = [](int64_t row, int64_t column) {
    return "a word, number " + std::to_string(row * kColumns + column);
  };
  std::string text;
  for (int64_t row = -1; row < kRows; ++row)
    for (int64_t c = 0; c < kColumns; ++c)
      text.append(c ? "," : "")
          .append(row < 0 ? "c" + std::to_string(c) : '"' + word(row, c) + '"')
          .append(c + 1 < kColumns ? "" : "\n");
  const CsvScan scan(text_source(text), {});
  const Limit limit(memory_statistics().used_bytes + kQuarter);
  const Table table = scan.read().table;
  ASSERT_EQ(table.num_rows(), kRows);
  for (int64_t c = 0; c < kColumns; ++c)
    for (int64_t row = 0; row < kRows; ++row)
      ASSERT_EQ(table.column(c).string(row), word(row, c)) << "row " << row << ", column " << c;
}

TEST(Csv, AFilterKeepsTheCodesOfCategories) {
  std::string text = "a,b\n";
  for (int row = 0; row < 3000; ++row)
    text += std::to_string(row % 7) + ",word" + std::to_string(row * row % 101) + "\n";
  const CsvScan scan(text_source(text), {.dtypes = {{"b", TypeId::kCategory}}});
  const CsvFilter filter{.reads = {true, false}, .test = even_texts};
  const Table all = scan.read().table;
  const Column expected =
      hr::filter(all.column(1), Mask(even_texts(Table({"a"}, {all.column(0)}))));
  for (const int64_t chunk : {int64_t{100}, kCsvChunkBytes}) {
    const Table some = read_in_chunks(scan, {}, -1, chunk, host, &filter).table;
    const Column& codes = some.column(1);
    ASSERT_EQ(codes.num_rows(), expected.num_rows());
    EXPECT_EQ(codes.dictionary()->size(), expected.dictionary()->size());
    EXPECT_TRUE(std::equal(codes.values<int32_t>().begin(), codes.values<int32_t>().end(),
                           expected.values<int32_t>().begin()));
  }
}

TEST(Csv, AFilterTellsOfTheFirstBadRowThatItLooksAt) {
  const std::string text = "a,b\n1,x\n2,1\n3,y\n4\n";
  const CsvScan scan(text_source(text),
                     {.dtypes = {{"a", TypeId::kInt64}, {"b", TypeId::kInt64}}, .num_rows = -1});
  const auto where = [&](int64_t value) {
    return CsvFilter{.reads = {true, false}, .test = [value](const Table& table) {
                       const int64_t rows = table.num_rows();
                       Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows) + 1);
                       for (int64_t row = 0; row < rows; ++row)
                         set_bit(
                             bits.mutable_as<uint8_t>(), row,
                             table.column(0).values<int64_t>()[static_cast<size_t>(row)] == value);
                       return Column(TypeId::kBool, rows, std::move(bits));
                     }};
  };
  const auto line = [&](int64_t value) {
    try {
      scan.read_where(where(value));
    } catch (const InputError& error) {
      return error.line;
    }
    return int64_t{0};
  };
  EXPECT_EQ(line(1), 2);  // a value of a row that is needed
  EXPECT_EQ(line(2), 5);  // the number of fields counts in all rows
  EXPECT_EQ(line(3), 4);  // and comes behind what is bad before
  EXPECT_THROW(CsvScan(text_source(text), {.on_bad = BadRows::kReject}).read_where(where(1)),
               InvalidArgumentError);
}

TEST(Csv, KeepsNulBytesInText) {
  const Table table = read(std::string_view("a\nx\0y\n", 6));
  EXPECT_EQ(table.column(0).string(0), std::string_view("x\0y", 3));
}

TEST(Csv, RejectsSetBadRowsAside) {
  const CsvResult result =
      read_csv(text_source("a,b\n1,x\n2\n\"3\n\",y\n4,y,z\nq,w\n5,\xFFvw\n6,\"v\n"),
               {.dtypes = {{"a", TypeId::kInt64}}, .on_bad = BadRows::kReject});
  EXPECT_THAT(cells(result.table.column("a")), ElementsAre("1"));
  EXPECT_THAT(cells(result.rejects.column("line")), ElementsAre("3", "4", "6", "7", "8", "9"));
  EXPECT_THAT(cells(result.rejects.column("column")), ElementsAre("2", "1", "3", "1", "2", "0"));
  EXPECT_THAT(cells(result.rejects.column("text")),
              ElementsAre("2", "\"3\n\",y", "4,y,z", "q,w", "5,\xEF\xBF\xBDvw", "6,\"v\n"));
  EXPECT_THAT(std::string(result.rejects.column("reason").string(3)), HasSubstr("dtypes="));
}

TEST(Csv, LimitsRows) {
  const std::string_view text = "a\n1\n\n2\nx\n3\n4\ny\n";
  const CsvOptions options{
      .dtypes = {{"a", TypeId::kInt64}}, .num_rows = 3, .on_bad = BadRows::kReject};
  const CsvScan scan(text_source(text), options);
  for (const int64_t chunk : {1, 3, 1000}) {
    const CsvResult result = read_in_chunks(scan, {}, -1, chunk);
    EXPECT_THAT(cells(result.table.column(0)), ElementsAre("1", "2", "3"));
    EXPECT_EQ(result.rejects.num_rows(), 1);
    EXPECT_EQ(read_in_chunks(scan, {}, 0, chunk).table.num_rows(), 0);
    EXPECT_EQ(read_in_chunks(scan, {}, 2, chunk).rejects.num_rows(), 0);
  }
  // A bad row behind the limit does not matter.
  EXPECT_EQ(read("a\n1\n2\nx\n", {.dtype = TypeId::kInt64, .num_rows = 2}).num_rows(), 2);
}

TEST(Csv, AHeaderAloneIsAnEmptyTable) {
  for (const std::string_view text : {"a,b", "a,b\n", "a,b\r\n\r\n"}) {
    const Table table = read(text, {.dtypes = {{"b", TypeId::kString}}});
    EXPECT_EQ(table.num_rows(), 0);
    EXPECT_EQ(table.column("a").dtype(), Dtype(TypeId::kFloat64));
    EXPECT_EQ(table.column("b").dtype(), Dtype(TypeId::kString));
  }
  EXPECT_EQ(read("", {.names = {"x"}}).num_rows(), 0);
}

TEST(Csv, RefusesContradictions) {
  EXPECT_THROW(read("a\n1\n", {.delimiter = '\n'}), InvalidArgumentError);
  EXPECT_THROW(read("a\n1\n", {.delimiter = '"'}), InvalidArgumentError);
  EXPECT_THROW(read("a\n1\n", {.comment = ','}), InvalidArgumentError);
  EXPECT_THROW(read("a\n1\n", {.skip_rows = -1}), InvalidArgumentError);
  EXPECT_THROW(read("a\n1\n", {.columns = {"a"}, .column_indices = {0}}), InvalidArgumentError);
}

TEST(Csv, AnEndlessFirstRowIsAnError) {
  std::string text(17 << 20, 'x');
  EXPECT_THAT(bad(text).what(), HasSubstr("longer than 16 MiB"));
}

TEST(Csv, SamplesTellDtypesBehindTheHead) {
  std::string text = "a\n";
  while (text.size() < (1 << 19)) text += "12345678\n";
  while (text.size() < (1 << 20)) text += "1234567.5\n";
  const Table table = read(text);
  EXPECT_EQ(table.column(0).dtype(), Dtype(TypeId::kFloat64));
  EXPECT_EQ(table.column(0).values<double>().back(), 1234567.5);
  const auto rows = static_cast<double>(table.num_rows());
  const CsvScan scan(text_source(text));
  EXPECT_NEAR(static_cast<double>(scan.schema().estimated_rows), rows, 0.05 * rows);
  const CsvScan given(text_source(text), {.dtypes = {{"a", TypeId::kFloat64}}});
  EXPECT_NEAR(static_cast<double>(given.schema().estimated_rows), rows, 0.05 * rows);
}

TEST(Csv, ALateMisfitIsAnErrorThatNamesDtypes) {
  std::string text = "a\n";
  while (text.size() < (1 << 23)) text += "12345678\n";
  const size_t place = text.size() / 3 / 9 * 9 + 2;
  text.replace(place, 8, "1234567x");
  const InputError error = bad(text);
  EXPECT_EQ(error.line, static_cast<int64_t>(place / 9 + 2));
  EXPECT_THAT(error.what(), HasSubstr("dtypes={\"a\": \"string\"}"));
}

}  // namespace
}  // namespace hr
