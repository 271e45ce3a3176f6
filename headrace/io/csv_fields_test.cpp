// SPDX-License-Identifier: Apache-2.0
// The index of a tile and its text fields against the careful functions, at every SIMD level.
#include "headrace/base/simd.h"
#include "headrace/base/utf8.h"
#include "headrace/io/csv_fields_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace hr {
namespace {

using testing::ElementsAre;

class Fields : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > best_simd_level()) GTEST_SKIP() << "not on this machine";
    set_simd_level(GetParam());
  }
  void TearDown() override { set_simd_level(best_simd_level()); }
};

CsvSyntax syntax_of(char delimiter = ',', int quote = '"', int comment = -1) {
  CsvSyntax syntax{.delimiter = delimiter, .quote = quote, .comment = comment};
  syntax.null_words = {"", "NA"};
  syntax.prepare();
  return syntax;
}

// Text with the room around it that the kernels want, and the index of its first tile.
struct Tile {
  Tile(const CsvSyntax& syntax, int64_t columns, const std::string& body, int64_t most = 1 << 20)
      : text(std::string(kCsvPadding, '#') + body) {
    const bool ended = body.empty() || body.back() == '\n' || body.back() == '\r';
    text.append("\n").append(kCsvPadding, '\0');
    room.resize(static_cast<size_t>(cpu::csv_fields_room(kCsvTileBytes)) / sizeof(int32_t));
    const char* const begin = text.data() + kCsvPadding;
    index =
        cpu::index_fields(syntax, columns, begin, begin + body.size() + !ended, most, room.data());
  }

  std::string text;
  std::vector<int32_t> room;
  CsvFields index;

  std::vector<std::string> row(int64_t r) const {
    std::vector<std::string> fields;
    for (int64_t f = 0; f < index.fields; ++f)
      fields.emplace_back(index.text + index.begin(r, f), index.text + index.end(r, f));
    return fields;
  }

  std::string rest() const { return {index.next, text.data() + text.size() - kCsvPadding - 1}; }
};

// Rows of the right number of fields up to the first other one, by the careful functions.
std::vector<std::vector<std::string>> careful_rows(const CsvSyntax& syntax, size_t columns,
                                                   const std::string& body) {
  std::string text = body + "\n";
  text.append(kCsvPadding, '\0');
  const char* p = text.data();
  const char* const end = p + body.size();
  std::vector<std::vector<std::string>> rows;
  while (p < end) {
    std::vector<std::string> row;
    const char* stop = p;
    for (;;) {
      const CsvField field = scan_field(syntax, stop, end);
      if (field.defect != FieldDefect::kNone) return rows;
      row.emplace_back(stop, field.next);
      stop = field.next;
      if (*stop != syntax.delimiter) break;
      ++stop;
    }
    if (row.size() != columns || syntax.is_comment(*stop)) return rows;
    rows.push_back(std::move(row));
    p = next_row(syntax, stop);
  }
  return rows;
}

TEST_P(Fields, FindsFieldsAndRows) {
  const CsvSyntax syntax = syntax_of();
  const Tile tile(syntax, 3, "a,b,c\n,,\n1,\"x,\ny\",3");
  ASSERT_EQ(tile.index.rows, 3);
  EXPECT_THAT(tile.row(0), ElementsAre("a", "b", "c"));
  EXPECT_THAT(tile.row(1), ElementsAre("", "", ""));
  EXPECT_THAT(tile.row(2), ElementsAre("1", "\"x,\ny\"", "3"));
  EXPECT_EQ(tile.index.line_end, 1);
  EXPECT_TRUE(tile.index.quotes);
  EXPECT_TRUE(tile.index.ascii);
}

TEST_P(Fields, KnowsLineEnds) {
  const CsvSyntax syntax = syntax_of();
  const Tile crlf(syntax, 2, "a,b\r\nc,d\r\n");
  ASSERT_EQ(crlf.index.rows, 2);
  EXPECT_EQ(crlf.index.line_end, 2);
  EXPECT_THAT(crlf.row(1), ElementsAre("c", "d"));
  EXPECT_EQ(crlf.rest(), "");
  EXPECT_EQ(Tile(syntax, 2, "a,b\r\nc,d\ne,f\r\n").index.rows, 1);
  EXPECT_EQ(Tile(syntax, 2, "a,b\nc,d\r\ne,f\n").index.rows, 1);
  EXPECT_EQ(Tile(syntax, 2, "a,b\rc,d\r").index.rows, 0);
}

TEST_P(Fields, StopsAtIrregularRows) {
  const CsvSyntax syntax = syntax_of(',', '"', '#');
  for (const std::string bad : {"1\n", "1,2,3\n", "\n", "x\"y,2\n", "\"x\"y,2\n", "1,2#z\n", "#z\n",
                                "\"open,2\n", "1,\"open\n"}) {
    for (const size_t before : {0U, 1U, 15U, 16U, 17U, 100U}) {
      std::string text;
      for (size_t i = 0; i < before; ++i) text += "1,22\n";
      const std::string tail = bad + "1,2\n1,2\n";
      const Tile tile(syntax, 2, text + tail);
      EXPECT_EQ(tile.index.rows, static_cast<int64_t>(before)) << bad;
      EXPECT_EQ(tile.rest(), tail);
      if (bad.find("open") == std::string::npos) {
        EXPECT_GT(tile.index.looked, tile.index.next) << bad;
      }
    }
  }
}

TEST_P(Fields, LimitsRowsAndText) {
  const CsvSyntax syntax = syntax_of();
  std::string text;
  while (text.size() < 3 * kCsvTileBytes) text += "12,345\n";
  EXPECT_EQ(Tile(syntax, 2, text).index.rows, kCsvTileBytes / 7);
  EXPECT_EQ(Tile(syntax, 2, text, 3).index.rows, 3);
  EXPECT_EQ(Tile(syntax, 2, text, 0).index.rows, 0);
  EXPECT_EQ(Tile(syntax, 1, std::string(kCsvTileBytes, '\n')).index.rows, kCsvTileBytes);
  const Tile wide(syntax, kCsvTileBytes, std::string(kCsvTileBytes - 1, ',') + "\n");
  EXPECT_EQ(wide.index.rows, 1);
  const Tile endless(syntax, 2, std::string(2 * kCsvTileBytes, 'x'));
  EXPECT_EQ(endless.index.rows, 0);
  EXPECT_GT(endless.index.looked, endless.index.text);
}

TEST_P(Fields, RandomText) {
  std::mt19937_64 random(1);
  int64_t whole = 0;
  for (int round = 0; round < 20'000; ++round) {
    const CsvSyntax syntax = syntax_of(',', round % 5 ? '"' : -1, round % 3 ? -1 : '#');
    const size_t columns = 1 + random() % 3;
    const std::string line_end = round % 2 ? "\n" : "\r\n";
    const bool wild = round % 4 == 0;
    std::string text;
    for (size_t row = random() % 40; row > 0; --row) {
      for (size_t c = 0; c < columns; ++c) {
        static constexpr const char* kWords[] = {
            "7",         "-1.5",       "word", "\"q\"",
            "\"a,\nb\"", "\"d\"\"d\"", "\"\"", "long text of a field",
            "\xC3\xA4"};
        static constexpr const char* kWild[] = {"\"", "x\"", "\r", "\n", ",", "#", "\"a\"b", ""};
        text += kWords[random() % std::size(kWords)];
        if (wild && random() % 16 == 0) text += kWild[random() % std::size(kWild)];
        text += c + 1 < columns ? "," : line_end;
      }
    }
    const Tile tile(syntax, static_cast<int64_t>(columns), text);
    const auto rows = careful_rows(syntax, columns, text);
    ASSERT_LE(tile.index.rows, static_cast<int64_t>(rows.size())) << text;
    for (int64_t r = 0; r < tile.index.rows; ++r)
      ASSERT_EQ(tile.row(r), rows[static_cast<size_t>(r)]) << text;
    if (!wild && syntax.quote >= 0) {
      ASSERT_EQ(tile.index.rows, static_cast<int64_t>(rows.size())) << text;
      whole += tile.index.rows;
    }
    if (text.find('\xC3') == std::string::npos) {
      ASSERT_TRUE(tile.index.ascii);
    } else if (tile.rest().empty()) {
      ASSERT_FALSE(tile.index.ascii) << text;
    }
  }
  EXPECT_GT(whole, 100'000);
}

TEST_P(Fields, ReadsText) {
  if (!cpu::has_field_kernels()) GTEST_SKIP() << "no kernels at this level";
  const CsvSyntax syntax = syntax_of();
  std::vector<std::string> words = {"NA",
                                    "N",
                                    "",
                                    "\"q\"",
                                    "\xC3\xA4",
                                    "\xFF",
                                    "\"d\"\"d\"",
                                    "\"\"",
                                    "\"\xFF\"",
                                    "\"a, and\n a long b\"",
                                    "\"a long text\"\" b\""};
  for (size_t n = 0; n < 80; ++n) words.push_back(std::string(n, static_cast<char>('a' + n % 26)));
  std::string text;
  for (const std::string& word : words) text += "1," + word + "\n";
  const Tile tile(syntax, 2, text);
  ASSERT_EQ(tile.index.rows, static_cast<int64_t>(words.size()));
  ByteBuffer arena;
  arena.append("before");
  std::vector<StringView> views(words.size());
  std::vector<int32_t> others(words.size());
  const int64_t count =
      cpu::parse_string_fields(syntax, tile.index, 1, 7, arena, views.data(), others.data());
  others.resize(static_cast<size_t>(count));
  EXPECT_THAT(others, ElementsAre(0, 2, 5, 6, 8, 10, 11));
  for (size_t i = 0; i < words.size(); ++i) {
    if (std::find(others.begin(), others.end(), static_cast<int32_t>(i)) != others.end()) continue;
    const StringView& view = views[i];
    if (words[i].starts_with('"')) words[i] = words[i].substr(1, words[i].size() - 2);
    ASSERT_EQ(view.size, words[i].size());
    if (view.size <= sizeof view.inlined) {
      std::string padded = words[i];
      padded.resize(sizeof view.inlined);
      EXPECT_EQ(std::string(view.inlined, sizeof view.inlined), padded);
    } else {
      EXPECT_EQ(view.indirect.buffer, 7U);
      EXPECT_EQ(std::string(view.indirect.prefix, 4), words[i].substr(0, 4));
      EXPECT_EQ(arena.view().substr(view.indirect.offset, view.size), words[i]);
    }
  }
  EXPECT_EQ(arena.view().substr(0, 6), "before");
}

INSTANTIATE_TEST_SUITE_P(Levels, Fields,
                         testing::Values(SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512));

}  // namespace
}  // namespace hr
