// SPDX-License-Identifier: Apache-2.0
// Dtypes of CSV text that is longer than its first sample: samples that begin in quoted text, rows
// longer than the head, rows across the borders of samples.
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_row_splitter_kernels.h"
#include "headrace/io/csv_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace hr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Dtype> dtypes_of(std::string_view text, const CsvOptions& options = {}) {
  return CsvScan(text_source(text), options).schema().dtypes;
}

std::vector<Dtype> same(Dtype dtype, size_t count) {
  return std::vector<Dtype>(count, dtype);
}

// Rows of an id, a note and a number, up to a number of bytes.
std::string notes(std::string_view note, size_t bytes) {
  std::string text = "id,note,n\n";
  for (int64_t i = 0; text.size() < bytes; ++i)
    text += std::to_string(9007199254740993 + 2 * i) + ",\"" + std::string(note) + "\"," +
            std::to_string(i) + "\n";
  return text;
}

TEST(CsvSniff, LinesOfQuotedTextAreNoRows) {
  for (const std::string_view note :
       {"one, two\nthree, four", "a note\n3.5,of two lines", "a,\n1,x,2\n3,y,\"\"4\"\"\nb",
        "\"\"\n1,\"\"x\"\",2\n\"\"", "\r\n2.5,x,y\r\n"}) {
    const std::string text = notes(note, 2'500'000);
    EXPECT_THAT(dtypes_of(text), ElementsAre(TypeId::kInt64, TypeId::kString, TypeId::kInt64))
        << note;
    const Table table = read(text);
    EXPECT_EQ(table.column(0).values<int64_t>()[1], 9007199254740995);
  }
}

// A field of many lines that look like rows, longer than a sample, without a quote in it.
TEST(CsvSniff, ALongQuotedTextIsNoRows) {
  std::string text = "a,b\n";
  while (text.size() < 300'000) text += "1,2\n";
  text += "3,\"";
  while (text.size() < 900'000) text += "4.5,x\n";
  text += "\"\n";
  while (text.size() < 3'000'000) text += "5,6\n";
  EXPECT_THAT(dtypes_of(text), ElementsAre(TypeId::kInt64, TypeId::kString));
  // The same lines as rows.
  std::replace(text.begin(), text.end(), '"', ' ');
  EXPECT_THAT(dtypes_of(text), ElementsAre(TypeId::kFloat64, TypeId::kString));
}

// What a sample takes for rows does not hide those that are rows.
TEST(CsvSniff, LinesOfQuotedTextHideNoRow) {
  std::string text = "a,b\n,\"";
  while (text.size() < 500'000) text += "4.5,4.5\n";
  text += "\"\n9007199254740993,x\n";
  EXPECT_THAT(dtypes_of(text), ElementsAre(TypeId::kInt64, TypeId::kString));
}

TEST(CsvSniff, ARowLongerThanTheHeadIsReadWhole) {
  const std::string number = "9007199254740993";
  for (const std::string_view end : {"\n", "\r\n", ""}) {
    std::string names, row, halves;
    for (int c = 0; c < 16'000; ++c) {
      const std::string comma = c > 0 ? "," : "";
      names += comma + "c" + std::to_string(c);
      row += comma + number;
      halves += comma + "0.5";
    }
    const std::string line_end = end.empty() ? "\n" : std::string(end);
    const std::string wide = names + line_end + row + std::string(end);
    EXPECT_EQ(dtypes_of(wide), same(TypeId::kInt64, 16'000));
    EXPECT_EQ(read(wide).column(0).values<int64_t>()[0], 9007199254740993);
    EXPECT_EQ(dtypes_of(names + line_end + row + line_end + halves + std::string(end)),
              same(TypeId::kFloat64, 16'000));
    const std::string text = "a,b" + line_end + std::string(300'000, 'x') + ",1" + std::string(end);
    EXPECT_THAT(dtypes_of(text), ElementsAre(TypeId::kString, TypeId::kInt64));
    EXPECT_THAT(dtypes_of(text.substr(5), {.header = CsvHeader::kNo}),
                ElementsAre(TypeId::kString, TypeId::kInt64));
    EXPECT_THAT(dtypes_of("a,b" + line_end + "," + line_end + text.substr(3 + line_end.size())),
                ElementsAre(TypeId::kString, TypeId::kInt64));
  }
}

TEST(CsvSniff, NamesLongerThanTheHeadAreReadWhole) {
  // What comes behind the names begins at their end, just before it, or behind blank lines.
  for (const int size : {262'143, 262'144, 262'145, 400'000}) {
    const std::string names = std::string(static_cast<size_t>(size) - 3, 'x') + ",b\n";
    for (const std::string_view rows : {"1,2.5\n", "\n\n1,2.5", "1,2.5\n3,4\n"})
      EXPECT_THAT(dtypes_of(names + std::string(rows)),
                  ElementsAre(TypeId::kInt64, TypeId::kFloat64))
          << size;
  }
  const std::string blank = "a\n" + std::string(600'000, '\n') + "12\n";
  EXPECT_THAT(dtypes_of(blank), ElementsAre(TypeId::kInt64));
}

TEST(CsvSniff, ARowWithoutEndIsAnErrorOrNeedsNoGuess) {
  const std::string text = "a,b\n" + std::string(17 << 20, 'x') + ",1\n2,3\n";
  try {
    read(text);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.line, 2);
    EXPECT_THAT(error.what(), HasSubstr("dtypes="));
  }
  EXPECT_THROW(read("a\n" + std::string(17 << 20, '\n') + "1\n"), InputError);
  const Table table = read(text, {.dtypes = {{"b", TypeId::kInt8}}, .dtype = TypeId::kString});
  EXPECT_EQ(table.num_rows(), 2);
  EXPECT_EQ(std::ssize(table.column(0).string(0)), 17 << 20);
}

// Of CSV text of up to 1.2 MB no row is left out, wherever samples end.
TEST(CsvSniff, EveryRowOfAShortTextIsSeen) {
  std::mt19937 random(1);
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    for (const size_t width : {3, 40, 5'000, 70'000}) {
      const std::string row = std::string(width, 'y') + ",2" + std::string(end);
      const size_t rows = 1'200'000 / row.size();
      std::string text = "a,b" + std::string(end);
      const size_t first = text.size();
      for (size_t i = 0; i < rows; ++i) text += row;
      for (int k = 0; k < 20; ++k) {
        char& digit = text[first + random() % rows * row.size() + width + 1];
        digit = 'x';
        EXPECT_THAT(dtypes_of(text), ElementsAre(TypeId::kString, TypeId::kString)) << width;
        digit = '2';
      }
    }
  }
}

TEST(CsvSniff, AnyThreadsGuessTheSame) {
  const std::string text = notes("a note\n3.5,of two lines", 3'000'000);
  const int before = threads();
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    EXPECT_THAT(dtypes_of(text), ElementsAre(TypeId::kInt64, TypeId::kString, TypeId::kInt64));
  }
  set_threads(before);
}

CsvSyntax syntax_of(int comment) {
  CsvSyntax syntax{.comment = comment};
  syntax.prepare();
  return syntax;
}

TEST(CsvStateBefore, IsWhatFollowingFromTheBeginGives) {
  std::mt19937 random(2);
  for (const int comment : {-1, static_cast<int>('#')}) {
    const CsvSyntax syntax = syntax_of(comment);
    int told = 0;
    for (const std::string_view letters : {"ab,\n\"", "abcdefgh,,\n\n\"\"", "a#,\n\"\r", "\"\n,"}) {
      std::string text(30'000, 'x');
      for (char& c : text) c = letters[random() % letters.size()];
      const Source source = text_source(text);
      const auto opened = source.open("test", Compression::kNone);
      opened->load(std::ssize(text));
      const std::string padded = "\n" + text + std::string(kCsvPadding, '\0');
      for (int k = 0; k < 500; ++k) {
        const auto offset = static_cast<int64_t>(random() % text.size());
        const auto state = state_before(*opened, syntax, 0, offset);
        if (!state) continue;
        ++told;
        EXPECT_EQ(*state,
                  cpu::follow_chunk(syntax, padded.data() + 1, offset, QuoteState::kOutside).end)
            << letters << offset;
      }
    }
    EXPECT_EQ(told, 2000);
  }
}

TEST(CsvStateBefore, LooksNoFurtherThanItMust) {
  const CsvSyntax syntax = syntax_of(-1);
  const auto told = [&](const std::string& text) {
    const auto opened = text_source(text).open("test", Compression::kNone);
    opened->load(std::ssize(text));
    return state_before(*opened, syntax, 0, std::ssize(text));
  };
  const std::string far(17 << 20, 'x');
  EXPECT_EQ(told("1,\"" + far), QuoteState::kOutside);  // no quote for 16 MiB
  EXPECT_EQ(told("1,\"" + far + "\"\"" + far.substr(1 << 20) + "x"), std::nullopt);
  EXPECT_EQ(told("1,\"" + far.substr(2 << 20)), QuoteState::kInside);
  EXPECT_EQ(told("1,\"" + far + "\",2"), QuoteState::kOutside);
}

}  // namespace
}  // namespace hr
