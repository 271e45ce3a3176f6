// SPDX-License-Identifier: Apache-2.0
// Lines of plain fields: what they take they take as the reader of all fields does, on the host and
// on every device.
#include "headrace/io/csv_device_reader.h"

#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/io/csv_device_reader_math.h"
#include "headrace/io/csv_reader_testing.h"
#include "headrace/io/csv_testing.h"
#include "headrace/plan/graph/placement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
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
constexpr const char* kOdd[] = {
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

// One line by one lane: 'x' when it is refused, else the value's bits or "null".
std::string taken(const std::string& field, Dtype dtype) {
  LineSyntax syntax;
  syntax.nulls[0] = line_word_of("", 0);
  syntax.nulls[1] = line_word_of("NA", 2);
  syntax.nulls[2] = line_word_of("null", 4);
  alignas(8) std::byte values[8] = {};
  uint32_t validity = ~0U, has_null = 0;
  const LineField fields[] = {{}, {true, dtype.id(), values, &validity, &has_null}};
  const std::string line = "1," + field + "\n" + std::string(64, '\0');
  if (!parse_line(syntax, fields, 2, fast_float::powers::power_of_five_128, line.data(), 0,
                  HostBits{}))
    return "x";
  if ((validity & 1) == 0) return "null";
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
  static const std::vector<Dtype> all{TypeId::kFloat64, TypeId::kFloat32, TypeId::kInt64,
                                      TypeId::kUInt64,  TypeId::kInt32,   TypeId::kUInt16,
                                      TypeId::kInt8,    TypeId::kUInt8,   TypeId::kBool};
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
  for (const char* field : kOdd) check(field);
  for (int i = 0; i < 3000; ++i) check(number_text(random));
}

TEST(CsvDeviceRows, ALaneTakesThePlain) {
  for (const char* field : kPlain) {
    bool any = false;
    for (const Dtype dtype : dtypes()) any |= taken(field, dtype) != "x";
    EXPECT_TRUE(any) << field;
  }
  EXPECT_NE(taken("1.234567890123456789012345", TypeId::kFloat64), "x");
  EXPECT_EQ(taken("256", TypeId::kUInt8), "x");
  EXPECT_EQ(taken("1.5", TypeId::kInt64), "x");
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
  constexpr const char* kEnds[] = {"\n", "\r\n", "\r"};
  for (int round = 0; round < 150; ++round) {
    const size_t columns = 1 + random() % 4;
    const char* const line_end = kEnds[round % 7 == 0 ? 2 : round % 3 == 0];
    CsvOptions options;
    std::string text;
    for (size_t c = 0; c < columns; ++c) {
      const std::string name(1, static_cast<char>('a' + c));
      text += (c ? "," : "") + name;
      options.dtypes.emplace_back(name, dtypes()[random() % dtypes().size()]);
    }
    text += line_end;
    const auto odd = round % 2 ? 0 : random() % 20;
    const size_t rows = random() % 4000;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t c = 0; c < columns; ++c) {
        const Dtype dtype = options.dtypes[c].second;
        if (random() % 1000 < odd)
          text += kOdd[random() % std::size(kOdd)];
        else if (random() % 50 == 0)
          text += kPlain[random() % std::size(kPlain)];
        else if (dtype.is_bool())
          text += random() % 2 ? "true" : "False";
        else if (dtype.is_floating())
          text += number_text(random);
        else
          text += std::to_string(random() % 120);
        text += c + 1 < columns ? "," : line_end;
      }
      if (random() % 1000 < odd) text += line_end;
    }
    if (round % 5 == 0) text.resize(text.size() - std::min(text.size() / 2, std::strlen(line_end)));
    if (round % 4 != 3) options.on_bad = BadRows::kReject;
    if (round % 11 == 0) options.num_rows = static_cast<int64_t>(random() % 2000);
    if (round % 6 == 0 && columns > 1) options.columns = {"b"};
    expect_same(text, options, int64_t{1} << (10 + random() % 12));
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
  expect_fallback("a,b\n1,x\n2,y\n", {}, "string");
  expect_fallback("a\n1\n\"2\"\n", {}, "quotes");
  expect_fallback("a\n1\n2 # two\n", {.comment = '#'}, "comments");
  expect_fallback("a\n1\n-1\n2\n", {.null_words = {"-1"}}, "looks like a number");
  expect_fallback("a\n1\n" + std::string(5000, ' ') + "2\n", {}, "longer than a block", 1000);
  std::string text = "a\n";
  for (int i = 0; i < 70'000; ++i) text += "infinity\n";
  expect_fallback(text, {}, "not plain");
  if (!GetParam().is_gpu()) return;
  set_strict(true);
  EXPECT_THROW(CsvScan(text_source("a\nx\n")).read({}, -1, GetParam()), DeviceError);
  set_strict(false);
}

}  // namespace hr
