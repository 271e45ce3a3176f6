// SPDX-License-Identifier: Apache-2.0
// Lines of plain fields: what they take they take as the reader of all fields does, on the host and
// on every device.
#include "headrace/io/csv_device_reader.h"

#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/io/csv_device_reader_kernels_math.h"
#include "headrace/io/csv_reader.h"
#include "headrace/io/csv_reader_testing.h"
#include "headrace/io/csv_testing.h"
#include "headrace/plan/graph/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>

namespace hr {
namespace {

constexpr const char* kPlain[] = {
    "0",
    "-0",
    "7",
    "+12",
    "0.5",
    "-3.25",
    "123456.125",
    "0.30000000000000004",
    "1e3",
    "-1.5E-7",
    "2.5e+300",
    "1e-320",
    "1e999",
    "-1e-999",
    "5.",
    ".5",
    "9007199254740993",
    "1.234567890123456789e-01",
    "18446744073709551615",
    "-9223372036854775808",
    "007",
    "NA",
    "",
    "null",
    " 5",
    "6\t",
    "nan",
    "NaN",
    "inf",
    "INF",
    "true",
    "FALSE",
    "1.0000000596046447762",
    "3.4028236e38",
    "1e-45",
    "1.17549429e-38",
};
constexpr const char* kTexts[] = {
    "2024-02-29",
    "1999-12-31 23:59",
    "2001-01-01T00:00:00.5",
    "0000-01-01",
    "9999-12-31 23:59:59.999999999",
    "2262-04-11 23:47:16.854775807",
    "2262-04-11 23:47:16.854775808",
    "1677-09-21 00:12:43.145224192",
    "1970-01-01",
    "\"2020-05-05\"",
    "\" 7 \"",
    "\"-1.5e3\"",
    "\"true\"",
    "\"\"",
    "\"NA\"",
    "abc",
    "twelve bytes",
    "more than twelve bytes",
    "\"quoted\"",
    "\"with, delimiters and more\"",
    "\"over\ntwo lines\"",
    "\"over\r\ntwo\rlines or three\"",
    "\"a \"\"word\"\" in quotes\"",
    "\"\"\"\"",
    "\"\"\"x\"",
    "caf\u00E9",
    "\"\u65E5\u672C\u8A9E, \U0001F600\"",
    "  blanks  ",
};
constexpr const char* kOdd[] = {
    "2023-02-29",
    "2024-1-1",
    "2024-01-01x",
    "2024-01-01 25:00",
    "\"text\" behind",
    "\" 2\"\" \"",
    "5\" pipe \"x",
    "a\"b\"c",
    "\xC3(",
    "\"\xE2\x82 and more than twelve\"",
    " \"blank before\"",
    "123456789012345678901234567890",
    "0.500000000000000166533453693773481063544750213623046875",
    "8.9884656743115795386465259539451236680898848947115e307",
    "-nan",
    "infinity",
    "-inf",
    "1e",
    "+-1",
    ".",
    "-",
    "e5",
    "1_0",
    "0x10",
    "truer",
    "NAN A",
    "a long text without any number",
    "1,2",
    "\xFF",
    " ",
};

uint64_t bits_of(double value) {
  return __builtin_bit_cast(uint64_t, value);
}

uint32_t bits_of(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

struct HostBits {
  void set(uint32_t* words, int64_t bit) const { words[bit / 32] |= 1U << (bit % 32); }

  void clear(uint32_t* words, int64_t bit) const { words[bit / 32] &= ~(1U << (bit % 32)); }

  int64_t add(int64_t* sum, int64_t value) const {
    *sum += value;
    return *sum - value;
  }
};

template <class T>
void expect_rounded(uint64_t w, int64_t q) {
  T ours = 0;
  if (!scale_decimal(w, q, false, fast_float::powers::power_of_five_128, &ours)) return;
  const std::string text = std::to_string(w) + "e" + std::to_string(q);
  T theirs;
  fast_float::from_chars(text.data(), text.data() + text.size(), theirs);
  EXPECT_EQ(bits_of(ours), bits_of(theirs)) << text;
}

LineSyntax default_syntax() {
  LineSyntax syntax;
  for (const char* word : {"", "NA", "null", "NULL"}) syntax.add_null(word);
  return syntax;
}

TimeUnit unit_of(Dtype dtype) {
  return dtype.is_timestamp() ? dtype.unit() : TimeUnit::kMicro;
}

// One line by one lane: 'x' when it is refused, else the value's bits, text or "null".
std::string taken(const std::string& field, Dtype dtype) {
  alignas(16) std::byte values[16] = {};
  uint32_t validity = ~0U, has_null = 0;
  const LineField fields[] = {{}, {true, dtype.id(), unit_of(dtype), values, &validity, &has_null}};
  std::string line = "1," + field + "\n";
  const size_t size = line.size();
  line.append(64, '\0');
  const LineText text{line.data(), line.data() + size, line.data(), 0};
  const LineSyntax syntax = default_syntax();
  const HostBits host_bits;
  const LineParser<HostBits> lane{syntax, text, fast_float::powers::power_of_five_128, 0,
                                  host_bits};
  const LineEnd end = lane.parse(fields, 2, line.data());
  if (!end.is_taken) return "x";
  EXPECT_EQ(end.at, text.end - 1) << field;
  if ((validity & 1) == 0) return "null";
  if (dtype.is_string()) {
    StringView view;
    std::memcpy(&view, values, sizeof view);
    return {view.size <= sizeof view.inlined ? view.inlined : line.data() + view.indirect.offset,
            view.size};
  }
  uint64_t bits;
  std::memcpy(&bits, values, 8);
  return std::to_string(bits);
}

std::string read_whole(const std::string& field, Dtype dtype) {
  try {
    const Table table = read("a,b\n1," + field + "\n", {.columns = {"b"}, .dtype = dtype});
    const Column& column = table.column(0);
    if (column.is_null(0)) return "null";
    if (dtype.is_bool()) return std::to_string(column.bit(0));
    if (dtype.is_string()) return std::string(column.string(0));
    uint64_t bits = 0;
    std::memcpy(&bits, column.values_buffer().data(), static_cast<size_t>(dtype.size_bytes()));
    return std::to_string(bits);
  } catch (const InputError&) {
    return "error";
  }
}

std::string number_text(std::mt19937_64& random) {
  std::string text = random() % 3 == 0 ? "-" : "";
  const auto digits = [&](uint64_t most) {
    for (uint64_t i = random() % most; i > 0; --i) text += static_cast<char>('0' + random() % 10);
  };
  digits(12);
  if (random() % 2) text += ".";
  digits(random() % 20 == 0 ? 60 : 14);
  if (random() % 3 == 0) {
    text += random() % 2 ? "e" : "E";
    if (random() % 2) text += random() % 2 ? "-" : "+";
    digits(4);
  }
  return text;
}

const std::vector<Dtype>& dtypes() {
  static const std::vector<Dtype> all{TypeId::kFloat64,
                                      TypeId::kFloat32,
                                      TypeId::kInt64,
                                      TypeId::kUInt64,
                                      TypeId::kInt32,
                                      TypeId::kUInt16,
                                      TypeId::kInt8,
                                      TypeId::kUInt8,
                                      TypeId::kBool,
                                      TypeId::kString,
                                      TypeId::kDate,
                                      Dtype::timestamp(TimeUnit::kSecond),
                                      Dtype::timestamp(TimeUnit::kMicro),
                                      Dtype::timestamp(TimeUnit::kNano)};
  return all;
}

}  // namespace

TEST(CsvDeviceRows, ScalesAsFastFloatDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t w = random() >> (random() % 64);
    const int64_t q = static_cast<int64_t>(random() % 720) - 370;
    expect_rounded<double>(w, q);
    expect_rounded<float>(w, q / 5);
  }
  for (const uint64_t w : {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 53) + 1, ~uint64_t{0}})
    for (int64_t q = -345; q < 312; ++q) {
      expect_rounded<double>(w, q);
      expect_rounded<float>(w, q);
    }
}

TEST(CsvDeviceRows, WhatALaneTakesIsWhatTheReaderReads) {
  std::mt19937_64 random(2);
  const auto check = [](const std::string& field) {
    for (const Dtype dtype : dtypes()) {
      const std::string ours = taken(field, dtype);
      if (ours == "x") continue;
      EXPECT_EQ(ours, read_whole(field, dtype)) << field << ", " << dtype.name();
    }
  };
  for (const char* field : kPlain) check(field);
  for (const char* field : kTexts) check(field);
  for (const char* field : kOdd) check(field);
  for (int i = 0; i < 3000; ++i) check(number_text(random));
}

TEST(CsvDeviceRows, ALaneTakesThePlain) {
  for (const char* field : kPlain) {
    bool any = false;
    for (const Dtype dtype : dtypes()) any |= !dtype.is_string() && taken(field, dtype) != "x";
    EXPECT_TRUE(any) << field;
    EXPECT_NE(taken(field, TypeId::kString), "x") << field;
  }
  for (const char* field : kTexts) EXPECT_NE(taken(field, TypeId::kString), "x") << field;
  EXPECT_NE(taken("2024-02-29", TypeId::kDate), "x");
  EXPECT_NE(taken("\"2001-01-01T00:00:00.5\"", Dtype::timestamp(TimeUnit::kMicro)), "x");
  EXPECT_NE(taken("1.234567890123456789012345", TypeId::kFloat64), "x");
  EXPECT_EQ(taken("256", TypeId::kUInt8), "x");
  EXPECT_EQ(taken("1.5", TypeId::kInt64), "x");
}

namespace {

// The rows of CSV text, as told below.
struct Told {
  std::string rows{};
  std::string rejects{};
};

std::string value_text(const Column& column, int64_t row) {
  if (column.is_null(row)) return "n;";
  if (column.dtype().is_string()) return std::string(column.string(row)) + ";";
  if (column.dtype().is_bool()) return column.bit(row) ? "1;" : "0;";
  const auto width = static_cast<size_t>(column.dtype().size_bytes());
  return {column.values_buffer().as<char>() + static_cast<size_t>(row) * width, width};
}

Told tell(const CsvResult& result, int64_t more_lines = 0) {
  Told told;
  for (int64_t i = 0; i < result.table.num_rows(); ++i)
    for (int64_t c = 0; c < result.table.num_columns(); ++c)
      told.rows += value_text(result.table.column(c), i);
  for (int64_t i = 0; i < result.rejects.num_rows(); ++i) {
    const auto at = static_cast<size_t>(i);
    told.rejects +=
        std::to_string(result.rejects.column("line").values<int64_t>()[at] + more_lines) + "," +
        std::to_string(result.rejects.column("column").values<int64_t>()[at]) +
        std::string(result.rejects.column("text").string(i)) +
        std::string(result.rejects.column("reason").string(i));
  }
  return told;
}

// What the kernels do, by one thread. Blocks of text are cut where the row that holds each byte of
// `cuts` ends. Refused lines are read by the reader, each alone. Nothing where quotes are out of
// step.
std::optional<Told> by_blocks(const std::string& text, const CsvScan& scan,
                              const std::vector<int64_t>& cuts, bool is_reversed) {
  const CsvScan::State& state = scan.state();
  const size_t num_fields = state.layout.names.size();
  const auto slots = static_cast<size_t>(std::count_if(
                         text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; })) +
                     1;
  std::vector<std::vector<std::byte>> values(num_fields);
  std::vector<std::vector<uint32_t>> validity(num_fields);
  std::vector<LineField> fields(num_fields);
  std::vector<uint32_t> has_null(num_fields);
  for (size_t f = 0; f < num_fields; ++f) {
    const Dtype dtype = state.layout.dtypes[f];
    values[f].resize(dtype.is_bool() ? slots / 8 + 8
                                     : slots * static_cast<size_t>(dtype.size_bytes()));
    validity[f].assign(slots / 32 + 1, ~0U);
    fields[f] = {true,        dtype.id(), unit_of(dtype), values[f].data(), validity[f].data(),
                 &has_null[f]};
  }
  LineSyntax syntax{.delimiter = state.syntax.delimiter,
                    .quote = state.syntax.quote,
                    .comment = state.syntax.comment,
                    .plain_numbers = state.syntax.plain_numbers};
  for (const std::string& word : state.syntax.null_words) syntax.add_null(word);
  LineCounts counts;
  std::vector<RefusedLine> refused(kMostRefused);
  std::vector<LineTile> tiles(text.size() / kLineTile + 2);
  std::vector<RowEndBits> row_ends(tiles.size() * kTileWords);
  const LineTargets targets{.syntax = syntax,
                            .num_fields = static_cast<int>(num_fields),
                            .slots = static_cast<int64_t>(slots),
                            .fields = fields.data(),
                            .fives = fast_float::powers::power_of_five_128,
                            .counts = &counts,
                            .refused = refused.data(),
                            .tiles = tiles.data(),
                            .row_ends = row_ends.data()};
  const parquet::HostBlock block{is_reversed};
  std::vector<std::string> blocks;
  std::string_view left =
      std::string_view(text).substr(static_cast<size_t>(state.layout.data_begin));
  auto offset = state.layout.data_begin;
  for (size_t k = 0; !left.empty(); ++k) {
    auto size = static_cast<int64_t>(left.size());
    if (k < cuts.size() && cuts[k] < size)
      if (const int64_t whole =
              whole_rows(state.syntax, left.substr(0, static_cast<size_t>(cuts[k])));
          whole > 0)
        size = whole;
    std::string& bytes = blocks.emplace_back(left.substr(0, static_cast<size_t>(size)));
    left.remove_prefix(static_cast<size_t>(size));
    if (left.empty() && bytes.back() != '\n' && bytes.back() != '\r') bytes += '\n';
    const size_t end = bytes.size();
    bytes.append(80, k % 2 ? '"' : '\n');  // anything may stand there
    const LineText lines{bytes.data(), bytes.data() + end, bytes.data(), static_cast<uint32_t>(k)};
    const auto num_tiles = static_cast<int64_t>(end - 1) / kLineTile + 1;
    const auto window = std::make_unique<TileWindow>();
    for (int64_t tile = 0; tile < num_tiles; ++tile)
      count_tile(block, *window, targets, lines, tile);
    resolve_tiles(block, *std::make_unique<ResolveWindow>(), targets, num_tiles);
    const auto rows = std::make_unique<RowWindow>();
    for (int64_t tile = 0; tile < num_tiles; ++tile)
      parse_tile(block, *rows, targets, lines, offset, is_reversed ? num_tiles - 1 - tile : tile,
                 HostBits{});
    offset += size;
  }
  if (counts.out_of_step != 0) return {};
  refused.resize(static_cast<size_t>(counts.refused));
  std::sort(refused.begin(), refused.end(),
            [](const RefusedLine& a, const RefusedLine& b) { return a.slot < b.slot; });
  Told told;
  CsvOptions alone = scan.options();
  alone.header = CsvHeader::kNo;
  alone.names = state.layout.names;
  alone.dtypes.clear();
  for (size_t f = 0; f < num_fields; ++f)
    alone.dtypes.emplace_back(state.layout.names[f], state.layout.dtypes[f]);
  auto next = refused.begin();
  for (int64_t line = 0; line < counts.lines; ++line) {
    if (next != refused.end() && next->slot == line) {
      const std::string row =
          text.substr(static_cast<size_t>(next->begin), static_cast<size_t>(next->size));
      std::string nulls = "NA";  // a first row that surely fits
      for (size_t f = 1; f < num_fields; ++f) nulls += std::string{syntax.delimiter} + "NA";
      const Told one = tell(read_csv(text_source(nulls + "\n" + row + "\n"), alone),
                            state.layout.first_line + next->ends - 2);
      told.rows += one.rows.substr(2 * num_fields);
      told.rejects += one.rejects;
      ++next;
      continue;
    }
    for (size_t f = 0; f < num_fields; ++f) {
      const Dtype dtype = state.layout.dtypes[f];
      const auto at = static_cast<size_t>(line);
      if ((validity[f][at / 32] >> (at % 32) & 1) == 0) {
        told.rows += "n;";
        continue;
      }
      if (dtype.is_bool()) {
        told.rows += (std::to_integer<int>(values[f][at / 8]) >> (at % 8) & 1) != 0 ? "1;" : "0;";
        continue;
      }
      const auto width = static_cast<size_t>(dtype.size_bytes());
      if (!dtype.is_string()) {
        told.rows.append(reinterpret_cast<const char*>(values[f].data()) + at * width, width);
        continue;
      }
      StringView view;
      std::memcpy(&view, values[f].data() + at * width, sizeof view);
      told.rows += view.size <= sizeof view.inlined
                       ? std::string(view.inlined, view.size)
                       : blocks[view.indirect.buffer].substr(view.indirect.offset, view.size);
      told.rows += ";";
    }
  }
  return told;
}

// A field for a column, mostly one that fits.
std::string field_text(std::mt19937_64& random, Dtype dtype, uint64_t odd_of_1000) {
  if (random() % 1000 < odd_of_1000) return kOdd[random() % std::size(kOdd)];
  if (random() % 50 == 0) return kPlain[random() % std::size(kPlain)];
  if (random() % 20 == 0) return "";
  if (dtype.is_bool()) return random() % 2 ? "true" : "False";
  if (dtype.is_floating()) return number_text(random);
  char text[64];
  const auto year = static_cast<int>(1900 + random() % 300),
             month = static_cast<int>(1 + random() % 12), day = static_cast<int>(1 + random() % 28);
  if (dtype.is_date()) {
    std::snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
    return text;
  }
  if (dtype.is_timestamp()) {
    std::snprintf(text, sizeof text, "%04d-%02d-%02d%c%02d:%02d:%02d", year, month, day,
                  random() % 2 ? ' ' : 'T', static_cast<int>(random() % 24),
                  static_cast<int>(random() % 60), static_cast<int>(random() % 60));
    return text;
  }
  if (dtype.is_string()) {
    if (random() % 3 == 0) return kTexts[random() % std::size(kTexts)];
    return std::string(random() % 30, static_cast<char>('a' + random() % 26));
  }
  return std::to_string(random() % 120);
}

struct RandomText {
  std::string text{};
  CsvOptions options{};
};

RandomText random_text(std::mt19937_64& random, int round) {
  constexpr const char* kEnds[] = {"\n", "\r\n", "\r"};
  constexpr char kDelimiters[] = {',', ';', '\t', ' '};
  RandomText made;
  auto& [text, options] = made;
  options.delimiter = kDelimiters[round % 5 == 2 ? random() % 4 : 0];
  if (round % 23 == 7) options.quote = random() % 2 ? std::optional('\'') : std::nullopt;
  if (round % 19 == 3) options.null_words = {"NA", "7", "true", "2020-05-05", "abc", "  blanks  "};
  const std::string delimiter(1, options.delimiter);
  const size_t columns = 1 + random() % 5;
  const char* const line_end = kEnds[round % 7 == 0 ? 2 : round % 3 == 0];
  for (size_t c = 0; c < columns; ++c) {
    const std::string name(1, static_cast<char>('a' + c));
    text += (c ? delimiter : "") + name;
    options.dtypes.emplace_back(name, dtypes()[random() % dtypes().size()]);
  }
  text += line_end;
  if (round % 13 == 0) text = "\xEF\xBB\xBF" + text;
  if (round % 9 == 0) options.comment = '#';
  const auto odd = round % 2 ? 0 : random() % 20;
  const size_t rows = random() % (round % 10 == 0 ? 4000 : 400);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t c = 0; c < columns; ++c)
      text +=
          field_text(random, options.dtypes[c].second, odd) + (c + 1 < columns ? delimiter : "");
    if (random() % 1000 < odd) text += delimiter + "ragged";
    if (options.comment && random() % 50 == 0) text += "# a \"comment\", or two";
    text += line_end;
    if (random() % 1000 < odd) text += line_end;
    if (random() % 3000 == 0) text += std::string(20'000, 'x') + line_end;
  }
  if (round % 5 == 0) text.resize(text.size() - std::min(text.size() / 2, std::strlen(line_end)));
  return made;
}

}  // namespace

TEST(CsvDeviceRows, TilesGiveTheRowsOfTheReader) {
  std::mt19937_64 random(5);
  int in_step = 0;
  for (int round = 0; round < 400; ++round) {
    auto [text, options] = random_text(random, round);
    options.on_bad = BadRows::kReject;
    const CsvScan scan(text_source(text), options);
    std::vector<int64_t> cuts(random() % 5);
    for (int64_t& cut : cuts) cut = static_cast<int64_t>(random() % (text.size() + 1));
    const std::optional<Told> ours = by_blocks(text, scan, cuts, round % 2 == 1);
    if (!ours) continue;
    ++in_step;
    const Told theirs = tell(scan.read());
    ASSERT_EQ(ours->rows, theirs.rows) << "round " << round;
    ASSERT_EQ(ours->rejects, theirs.rejects) << "round " << round;
  }
  EXPECT_GT(in_step, 200);
}

TEST(CsvDeviceRows, TilesTellQuotesOutOfStep) {
  const auto is_in_step = [](const std::string& rows) {
    const std::string text = "a,b,c\n" + rows;
    const CsvScan scan(text_source(text), {.dtype = TypeId::kString, .on_bad = BadRows::kReject});
    return by_blocks(text, scan, {}, false).has_value();
  };
  EXPECT_TRUE(is_in_step("x,\"1\n2\",y\n"));
  EXPECT_TRUE(is_in_step("x \"y\" z,1,2\n3,4,5\n"));
  EXPECT_TRUE(is_in_step("\"x\"y\"\",1,2\n3,4,5\n"));
  EXPECT_FALSE(is_in_step("5\" pipe,1,2\n3,4,5\n"));
  EXPECT_FALSE(is_in_step("x\"y,\"a\nb\",z\"\n"));
  EXPECT_FALSE(is_in_step("1,2,\"never closed\n3,4,5\n"));
  EXPECT_FALSE(is_in_step("1,2,\"\n" + std::string(40'000, 'x')));
}

namespace {

// Everything a read tells: bits, nulls, rejects or the error.
std::string outcome(const CsvScan& scan, int64_t max_rows, int64_t chunk, Place place) {
  std::string told;
  try {
    const CsvResult result = read_in_chunks(scan, {}, max_rows, chunk, place);
    const Table table = std::get<Table>(to_place(result.table, host));
    for (int64_t c = 0; c < table.num_columns(); ++c) {
      const Column& column = table.column(c);
      told += table.names()[static_cast<size_t>(c)] + std::string(column.dtype().name()) +
              std::to_string(column.null_count()) + ":";
      const auto width = static_cast<size_t>(column.dtype().size_bytes());
      for (int64_t i = 0; i < column.num_rows(); ++i) {
        told += column.is_null(i) ? 'n' : 'v';
        if (column.dtype().is_string())
          told += column.is_null(i) ? "" : std::string(column.string(i));
        else if (column.dtype().is_bool())
          told += column.bit(i) ? '1' : '0';
        else
          told.append(column.values_buffer().as<char>() + static_cast<size_t>(i) * width, width);
      }
    }
    for (int64_t i = 0; i < result.rejects.num_rows(); ++i) {
      for (const char* name : {"line", "column"})
        told +=
            std::to_string(result.rejects.column(name).values<int64_t>()[static_cast<size_t>(i)]) +
            ' ';
      told += std::string(result.rejects.column("text").string(i)) +
              std::string(result.rejects.column("reason").string(i));
    }
  } catch (const InputError& error) {
    told += error.what();
  }
  return told;
}

class CsvReaderDevices : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam().is_simulated()) testing::stream_at(simulated);
    clear_fallbacks();
  }

  void TearDown() override { clear_fallbacks(); }

  static void expect_same(const std::string& text, const CsvOptions& options, int64_t chunk,
                          int64_t max_rows = -1) {
    const CsvScan scan(text_source(text), options);
    EXPECT_EQ(outcome(scan, max_rows, 1 << 20, host), outcome(scan, max_rows, chunk, GetParam()))
        << "text " << text.substr(0, 200) << ", chunk " << chunk << ", rows " << max_rows;
  }

  static std::string last_fallback() {
    return fallbacks().empty() ? "" : fallbacks().back().reason;
  }
};

INSTANTIATE_TEST_SUITE_P(Device, CsvReaderDevices, ::testing::ValuesIn(testing::device_places()),
                         [](const auto& at) { return at.param.is_gpu() ? "Cuda" : "Simulated"; });

}  // namespace

TEST_P(CsvReaderDevices, ColumnsOfEverySize) {
  std::mt19937_64 random(3);
  for (const int64_t rows : {0, 1, 31, 32, 33, 63, 64, 65, 1000, 131'071, 131'073}) {
    std::string text = "x\n";
    char line[40];
    for (int64_t i = 0; i < rows; ++i) {
      std::snprintf(
          line, sizeof line, "%.18e\n",
          std::ldexp(static_cast<double>(random()) - 9e18, static_cast<int>(random() % 200) - 160));
      text += line;
    }
    for (const Dtype dtype : {Dtype(TypeId::kFloat64), Dtype(TypeId::kFloat32)})
      for (const int64_t chunk : {1000, 1 << 16, 1 << 24})
        expect_same(text, {.dtype = dtype}, chunk);
    expect_same(text.substr(0, text.size() - 1), {}, 1 << 16);
    expect_same(text, {.num_rows = 40}, 1 << 16);
    expect_same(text, {}, 4096, 7);
  }
  if (built_with_cuda || !GetParam().is_gpu()) {
    EXPECT_EQ(last_fallback(), "");
  }
}

TEST_P(CsvReaderDevices, RandomTextOfEveryKind) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 300; ++round) {
    auto [text, options] = random_text(random, round);
    if (round % 4 != 3) options.on_bad = BadRows::kReject;
    if (round % 11 == 0) options.num_rows = static_cast<int64_t>(random() % 2000);
    if (round % 6 == 0 && options.dtypes.size() > 1) options.columns = {"b"};
    if (round % 8 == 1) options.null_padding = options.truncate_ragged_lines = true;
    expect_same(text, options, int64_t{1} << (10 + random() % 12));
  }
}

TEST_P(CsvReaderDevices, SeveralTextsAsOne) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 100; ++round) {
    const auto [text, options] = random_text(random, round);
    const CsvScan whole_scan(text_source(text), options);
    const CsvScan::State& state = whole_scan.state();
    std::vector<CsvScan> scans;
    for (size_t k = 1 + random() % 5; k > 0; --k) {
      // Rows from the first on, so that all have the header; some have no end of the last line.
      const auto most = static_cast<size_t>(random() % (text.size() + 1));
      const int64_t whole = whole_rows(state.syntax, std::string_view(text).substr(0, most));
      const auto size = static_cast<size_t>(std::max(whole, state.layout.data_begin));
      const bool is_cut = round % 3 == 0 && whole > state.layout.data_begin;
      scans.emplace_back(text_source(text.substr(0, size - is_cut)), options);
    }
    const auto told = [&](Place place) -> std::string {
      try {
        const CsvFilesResult result = read_csv_files(scans, scans[0].schema().dtypes, place);
        std::string rows;
        for (const int64_t count : result.rows) rows += std::to_string(count) + " ";
        return rows + tell({std::get<Table>(to_place(result.table, host)), {}}).rows;
      } catch (const InputError& error) {
        return error.what();
      }
    };
    EXPECT_EQ(told(host), told(GetParam())) << "round " << round;
  }
}

TEST_P(CsvReaderDevices, WhatHasNoKernelIsReadOnTheHost) {
  const auto expect_fallback = [&](const std::string& text, const CsvOptions& options,
                                   const std::string& why, int64_t chunk = 1 << 20) {
    clear_fallbacks();
    expect_same(text, options, chunk);
    if (!built_with_cuda || !GetParam().is_gpu()) return;
    EXPECT_NE(last_fallback().find(why), std::string::npos) << last_fallback();
  };
  expect_fallback("a,b\n1,x\n2,y\n", {.dtypes = {{"b", Dtype::category(TypeId::kString)}}},
                  "category");
  expect_fallback("a\n1\n2\" 3\n", {.on_bad = BadRows::kReject}, "whole fields");
  expect_fallback("a\n1\nyes\n2\n", {.null_words = {"a null word that is long"}}, "null words");
  expect_fallback("a\n1\n" + std::string(5000, ' ') + "2\n", {}, "longer than a block", 1000);
  std::string text = "a\n";
  for (int i = 0; i < 70'000; ++i) text += "infinity\n";
  expect_fallback(text, {}, "not plain");
  if (!GetParam().is_gpu()) return;
  set_strict(true);
  EXPECT_THROW(CsvScan(text_source("a\n1\nx\"\n")).read({}, -1, GetParam()), DeviceError);
  set_strict(false);
}

}  // namespace hr
