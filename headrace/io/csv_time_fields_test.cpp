// SPDX-License-Identifier: Apache-2.0
// Dates, times and categories of CSV text: inference, invalid values, codes for any chunks and
// threads.
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_reader_testing.h"
#include "headrace/io/csv_testing.h"
#include "headrace/io/csv_time_fields_kernels.h"
#include "headrace/io/csv_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>

namespace hr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string reason(std::string_view text, const CsvOptions& options) {
  try {
    read(text, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> words_of(const Column& column) {
  std::vector<std::string> words;
  for (int64_t row = 0; row < column.num_rows(); ++row)
    words.emplace_back(column.is_null(row) ? "<null>" : column.string(row));
  return words;
}

// All that a category column shows, codes and the order of its strings included.
std::string shown(const Column& column) {
  std::string text;
  for (const std::string& word : words_of(column.dictionary()->values())) text += word + "|";
  for (int64_t row = 0; row < column.num_rows(); ++row)
    text += std::to_string(
                column.is_null(row) ? -1 : column.values<int32_t>()[static_cast<size_t>(row)]) +
            ",";
  return text;
}

TEST(CsvTimes, InfersDatesAndTimes) {
  const auto dtype = [](std::string_view text) { return read(text).column(0).dtype(); };
  EXPECT_EQ(dtype("d\n2023-01-31\nNA\n 1999-12-31 \n\"2000-02-29\"\n"), Dtype(TypeId::kDate));
  EXPECT_EQ(dtype("d\n2023-01-31 10:00\n2023-01-31\n"), Dtype(TypeId::kTimestamp));
  EXPECT_EQ(dtype("d\n2023-01-31T10:00:00.123456000\n"), Dtype(TypeId::kTimestamp));
  EXPECT_EQ(dtype("d\n2023-01-31T10:00:00.1234567\n"), Dtype::timestamp(TimeUnit::kNano));
  EXPECT_EQ(dtype("d\n2023-01-31T10:00:00.1234567\n1500-01-01\n"), Dtype(TypeId::kString));
  for (const char* other : {"2023-02-30", "2023-01-31T10:00:00Z", "2023-01-31 10:00:00+01:00",
                            "31.01.2023", "2023-1-31", "2023-01-31 24:00", "7", "true", "word"})
    EXPECT_EQ(dtype(std::string("d\n2023-01-31\n") + other + "\n"), Dtype(TypeId::kString))
        << other;
}

TEST(CsvTimes, ValuesAndNulls) {
  const Table table = read("day,at\n1970-01-02,1970-01-01 00:00:01.5\n,\n1969-12-31,1969-12-31\n",
                           {.dtypes = {{"at", Dtype::timestamp(TimeUnit::kMilli)}}});
  EXPECT_EQ(table.column(0).values<int32_t>()[0], 1);
  EXPECT_TRUE(table.column(0).is_null(1));
  EXPECT_EQ(table.column(0).values<int32_t>()[2], -1);
  EXPECT_EQ(table.column(1).values<int64_t>()[0], 1500);
  EXPECT_EQ(table.column(1).values<int64_t>()[2], -86'400'000);
}

TEST(CsvTimes, ANullWordMayBeADate) {
  CsvOptions options;
  options.null_words = {"9999-12-31"};
  const Table table = read("a,d\n1,2023-01-31\n2,9999-12-31\n", options);
  EXPECT_EQ(table.column(1).dtype(), Dtype(TypeId::kDate));
  EXPECT_TRUE(table.column(1).is_null(1));
  options.delimiter = '-';
  options.names = {"a", "b", "c"};
  EXPECT_EQ(read("2023-01-31\n", options).column(2).values<int64_t>()[0], 31);
}

TEST(CsvTimes, MisfitsNameWhatFits) {
  const auto given = [](Dtype dtype) { return CsvOptions{.dtypes = {{"d", dtype}}}; };
  const CsvOptions date = given(TypeId::kDate), micro = given(TypeId::kTimestamp);
  EXPECT_THAT(reason("d\n2023-02-29\n", date), HasSubstr("is not a date: '2023-02-29'"));
  EXPECT_THAT(reason("d\n2023-02-29\n", date), HasSubstr("dtypes={\"d\": \"string\"}"));
  EXPECT_THAT(reason("d\n2023-02-28 01:00\n", date), HasSubstr("\"d\": \"datetime64[us]\""));
  EXPECT_THAT(reason("d\n2023-02-28 01:00:00.1234567\n", micro),
              HasSubstr("\"d\": \"datetime64[ns]\""));
  EXPECT_THAT(reason("d\n1500-01-01\n", given(Dtype::timestamp(TimeUnit::kNano))),
              HasSubstr("\"d\": \"datetime64[us]\""));
  EXPECT_THAT(reason("d\n2023-02-28T01:00:00Z\n", micro),
              HasSubstr("\"d\": \"datetime64[us, UTC]\""));
}

TEST(CsvCategories, StringsInTheOrderSeenFirst) {
  const Table table = read("k,x\nb,1\n,2\n\"a \"\"q\"\"\",3\nb,4\nc,5\n\"b\",6\n",
                           {.dtypes = {{"k", TypeId::kCategory}}});
  EXPECT_THAT(words_of(table.column(0)), ElementsAre("b", "<null>", "a \"q\"", "b", "c", "b"));
  EXPECT_THAT(words_of(table.column(0).dictionary()->values()), ElementsAre("b", "a \"q\"", "c"));
  EXPECT_THAT(words_of(read("k\n\nx\n \ny\n", {.dtype = TypeId::kCategory}).column(0)),
              ElementsAre("x", "y"));
  EXPECT_EQ(read("k\n", {.dtype = TypeId::kCategory}).column(0).dictionary()->size(), 0);
  EXPECT_THAT(reason("k\na\nb\xFF\n", {.dtype = TypeId::kCategory}), HasSubstr("not UTF-8"));
}

TEST(CsvCategories, TheSameForAnyChunksThreadsAndSimdLevel) {
  std::mt19937_64 random(3);
  std::string text = "k,x,l\n";
  for (int row = 0; row < 3000; ++row) {
    const std::string word = std::to_string(random() % (row % 50 == 0 ? 100'000 : 40));
    const uint64_t shape = random() % 40;
    std::string cell = shape == 0   ? "\"" + word + ", quoted\""
                       : shape == 1 ? ""
                       : shape == 2 ? "\"" + word + "\""
                       : shape == 5 ? "\"a \"\"" + word + "\"\"\""
                       : shape == 3 ? word + " \xC3\xA9 and much more than twelve bytes"
                       : shape == 4 ? word + "\xFF"  // its row is set aside
                                    : word;
    // Some rows do not fit elsewhere: their strings must leave no trace.
    text += cell + "," + (random() % 30 == 0 ? "only here " + std::to_string(row) : "1") + "," +
            (random() % 30 == 0 ? "a new word " + std::to_string(row) + ",too many" : word) + "\n";
  }
  for (const int64_t most : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1234}}) {
    CsvOptions options;
    options.dtypes = {{"k", TypeId::kCategory}, {"x", TypeId::kInt64}, {"l", TypeId::kCategory}};
    options.on_bad = BadRows::kReject;
    options.num_rows = most;
    const CsvScan scan(text_source(text), options);
    const int before = threads();
    std::string expected;
    for (const SimdLevel level : {best_simd_level(), SimdLevel::kBase})
      for (const int count : {1, 2, 4})
        for (const int64_t chunk :
             {int64_t{1} << 20, int64_t{64}, int64_t{1000}, int64_t{40'000}}) {
          set_simd_level(level);
          set_threads(count);
          const CsvResult result = read_in_chunks(scan, {}, -1, chunk);
          const std::string got = shown(result.table.column(0)) + shown(result.table.column(2));
          if (expected.empty()) expected = got;
          ASSERT_EQ(got, expected) << most << ' ' << count << ' ' << chunk;
          for (const int64_t c : {0, 2}) {  // each string is used
            const std::vector<std::string> words = words_of(result.table.column(c));
            const std::set<std::string> used(words.begin(), words.end());
            for (const std::string& word : words_of(result.table.column(c).dictionary()->values()))
              ASSERT_TRUE(used.contains(word)) << word;
          }
        }
    set_simd_level(best_simd_level());
    set_threads(before);
  }
}

TEST(CsvTimes, WrittenTextIsReadBack) {
  const std::string text =
      "day,at,kind\n"
      "2023-01-31,1969-12-31 23:59:59.250000,\"a, b\"\n"
      ",,\n"
      "0001-01-01,9999-12-31 00:00:00,c\n";
  const Table table = read(text, {.dtypes = {{"kind", TypeId::kCategory}}});
  std::string written;
  write_csv(table, [&](std::string_view piece) { written += piece; }, {.line_end = "\n"});
  EXPECT_EQ(written, text);
}

}  // namespace
}  // namespace hr
