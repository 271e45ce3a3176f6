// SPDX-License-Identifier: Apache-2.0
// Chunks of every size, any number of threads and every SIMD level read the same rows as a plain
// reader that goes byte by byte.
#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv.h"
#include "headrace/io/csv_reader_testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace hr {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// RFC 4180 with literal quotes in unquoted fields; rows of unequal length are kept.
Rows read_plainly(std::string_view text, char comment) {
  Rows rows;
  size_t i = 0;
  const auto line_end = [&] { return text[i] == '\n' || text[i] == '\r'; };
  const auto pass_line_end = [&] {
    if (i < text.size()) i += text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n' ? 2 : 1;
  };
  while (i < text.size()) {
    size_t j = i;
    while (j < text.size() && (text[j] == ' ' || text[j] == '\t')) ++j;
    if (j == text.size()) break;
    if (text[j] == comment || text[j] == '\n' || text[j] == '\r') {
      i = j;
      while (i < text.size() && !line_end()) ++i;
      pass_line_end();
      continue;
    }
    std::vector<std::string> row(1);
    bool bad = false;
    for (bool start = true; i < text.size() && !line_end();) {
      if (start && text[i] == '"') {
        for (++i;; ++i) {
          if (i >= text.size()) {
            bad = true;
            break;
          }
          if (text[i] == '"' && (i + 1 >= text.size() || text[i + 1] != '"')) break;
          if (text[i] == '"') ++i;
          row.back() += text[i];
        }
        ++i;
        if (i < text.size() && !line_end() && text[i] != ',' && text[i] != comment) bad = true;
        start = false;
      } else if (text[i] == comment) {
        while (i < text.size() && !line_end()) ++i;
      } else if (text[i] == ',') {
        row.emplace_back();
        start = true;
        ++i;
      } else {
        row.back() += text[i++];
        start = false;
      }
    }
    pass_line_end();
    if (bad || row.size() != 2) row = {"bad"};
    rows.push_back(row);
  }
  return rows;
}

Rows read_chunked(const std::string& text, char comment, int64_t chunk_bytes) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
  if (!text.empty()) std::memcpy(buffer.mutable_data(), text.data(), text.size());
  const CsvScan scan(Source::bytes(std::move(buffer)), {.comment = comment,
                                                        .header = CsvHeader::kNo,
                                                        .names = {"a", "b"},
                                                        .dtype = TypeId::kString,
                                                        .null_words = {},
                                                        .on_bad = BadRows::kReject});
  const CsvResult result = read_in_chunks(scan, {}, -1, chunk_bytes);
  Rows rows;
  int64_t line = 0;
  for (int64_t i = 0; i < result.table.num_rows(); ++i)
    rows.push_back({std::string(result.table.column(0).string(i)),
                    std::string(result.table.column(1).string(i))});
  for (int64_t i = 0; i < result.rejects.num_rows(); ++i) {
    rows.push_back({"bad"});
    EXPECT_GT(result.rejects.column(0).values<int64_t>()[static_cast<size_t>(i)], line);
    line = result.rejects.column(0).values<int64_t>()[static_cast<size_t>(i)];
  }
  return rows;
}

// Good rows in order, then the bad ones.
Rows bad_last(const Rows& rows) {
  Rows result, bad;
  for (const auto& row : rows) (row.size() == 2 ? result : bad).push_back(row);
  result.insert(result.end(), bad.begin(), bad.end());
  return result;
}

std::string random_text(std::mt19937& random, size_t size) {
  // Characters that matter, in mixes from tame to hostile.
  static constexpr std::string_view kMixes[] = {"ab,\n",
                                                "ab,,\n\"",
                                                "a,\n\r\"",
                                                "\"\n,",
                                                "ab,\n\"\"\"\" #\t",
                                                "a\"\"\"\"\"\",\n",
                                                "abcdefghijklmnopqrstuvwxyz,,\n"};
  const std::string_view mix = kMixes[random() % std::size(kMixes)];
  std::string text = "x,y\n";  // a first row of two fields
  for (size_t i = 0; i < size; ++i) text += mix[random() % mix.size()];
  return text;
}

TEST(CsvRowSplitter, AnyBordersGiveTheSameRows) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = random_text(random, random() % 300);
    const char comment = random() % 2 ? '#' : '~';
    const Rows expected = bad_last(read_plainly(text, comment));
    for (const int64_t chunk : {1, 2, 7, 64, 100, 4096})
      ASSERT_EQ(read_chunked(text, comment, chunk), expected)
          << "chunk " << chunk << " of " << testing::PrintToString(text);
  }
}

TEST(CsvRowSplitter, EveryLevelGivesTheSameRows) {
  std::mt19937 random(2);
  const SimdLevel before = simd_level();
  for (int round = 0; round < 100; ++round) {
    const std::string text = random_text(random, 2000);
    const Rows expected = bad_last(read_plainly(text, '#'));
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
      if (level > best_simd_level()) continue;
      set_simd_level(level);
      ASSERT_EQ(read_chunked(text, '#', 333), expected) << testing::PrintToString(text);
    }
  }
  set_simd_level(before);
}

TEST(CsvRowSplitter, AnyThreadsGiveTheSameBits) {
  std::string text = "i,f,s,b\n";
  for (int i = 0; i < 300000; ++i) {
    text += i % 7 == 3 ? "" : std::to_string(i);
    text += "," + std::to_string(i / 7.0) + ",";
    text += i % 5 == 0 ? "\"a long text, with a comma\"" : "t";
    text += i % 3 == 0 ? ",true\n" : ",false\n";
  }
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
  std::memcpy(buffer.mutable_data(), text.data(), text.size());
  const Source source = Source::bytes(std::move(buffer));
  const int before = threads();
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    const Table table = read_csv(source).table;
    ASSERT_EQ(table.num_rows(), 300000);
    for (int64_t i = 0; i < table.num_rows(); ++i) {
      ASSERT_EQ(table.column(0).is_null(i), i % 7 == 3);
      ASSERT_EQ(table.column(0).values<int64_t>()[static_cast<size_t>(i)], i % 7 == 3 ? 0 : i);
      ASSERT_EQ(table.column(2).string(i), i % 5 == 0 ? "a long text, with a comma" : "t");
      ASSERT_EQ(table.column(3).bit(i), i % 3 == 0);
    }
  }
  set_threads(before);
}

TEST(CsvRowSplitter, TheLowestBadRowWins) {
  std::string text = "i\n";
  for (int i = 0; i < 400000; ++i) text += i == 123456 || i == 390000 ? "x\n" : "1\n";
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
  std::memcpy(buffer.mutable_data(), text.data(), text.size());
  const Source source = Source::bytes(std::move(buffer));
  for (int round = 0; round < 5; ++round) {
    try {
      read_csv(source, {.dtype = TypeId::kInt64});
      FAIL();
    } catch (const InputError& error) {
      EXPECT_EQ(error.line, 123458);
    }
  }
}

}  // namespace
}  // namespace hr
