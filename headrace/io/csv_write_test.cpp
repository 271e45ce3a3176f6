// SPDX-License-Identifier: Apache-2.0
// The CSV writer: printf's bytes, round trips, files that appear whole or not at all.
#include "headrace/io/csv_write.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace hr {
namespace {

namespace fs = std::filesystem;

Column doubles(const std::vector<double>& values) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size() * 8));
  if (!values.empty()) std::memcpy(buffer.mutable_data(), values.data(), values.size() * 8);
  return Column(TypeId::kFloat64, static_cast<int64_t>(values.size()), std::move(buffer));
}

std::string written(const Table& table, const CsvWriteOptions& options = {}) {
  std::string text;
  write_csv(table, [&](std::string_view piece) { text += piece; }, options);
  return text;
}

Table read_text(const std::string& text, const CsvOptions& options = {}) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
  if (!text.empty()) std::memcpy(buffer.mutable_data(), text.data(), text.size());
  return read_csv(Source::bytes(std::move(buffer)), options).table;
}

std::vector<double> awkward_doubles() {
  std::vector<double> values = {0.0,
                                -0.0,
                                1.0,
                                -1.5,
                                0.1,
                                1e22,
                                1e23,
                                5e-324,
                                2.2250738585072014e-308,
                                1.7976931348623157e308,
                                123456789.0,
                                9007199254740993.0,
                                0.5,
                                2.5};
  std::mt19937_64 random(1);
  while (values.size() < 100000) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
    values.push_back(static_cast<double>(static_cast<int64_t>(random())) * 1e-17);
    values.push_back(static_cast<double>(random() % 1000000) / 1000);
  }
  return values;
}

TEST(CsvWrite, WritesWhatPrintfWrites) {
  const std::vector<double> values = awkward_doubles();
  const Table table({"x"}, {doubles(values)});
  for (const char* format : {"%.18e", "%.17g", "%.3f", "%.0e", "%.6g"}) {
    std::istringstream lines(written(table, {.header = false, .float_format = format}));
    std::string line;
    char expected[512];
    for (const double value : values) {
      std::getline(lines, line);
      std::snprintf(expected, sizeof expected, format, value);
      ASSERT_EQ(line, expected);
    }
  }
}

TEST(CsvWrite, ShortestReadsBackEqual) {
  std::vector<double> values = awkward_doubles();
  values.insert(values.end(), {INFINITY, -INFINITY});
  const Table back = read_text(written(Table({"x"}, {doubles(values)})));
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint64_t>(back.column(0).values<double>()[i]),
              std::bit_cast<uint64_t>(values[i]));
}

TEST(CsvWrite, EverythingReadsBackEqual) {
  const std::string text =
      "i,u8,s,b,f,f32\n"
      "1,255,\"a,b\",True,1.0,0.1\n"
      ",,,,,\n"
      "-9223372036854775808,0,\"say \"\"x\"\"\",False,nan,inf\n"
      "3,4,\"\",True,1e+300,1.5\n"
      "4,5,\"NA\",True,0.1,2.0\n"
      "5,6,\"two\nlines\",True,-0.0,3.0\n"
      "6,7,\"  \",True,5e-324,1e+10\n";
  const CsvOptions options{
      .dtypes = {{"u8", TypeId::kUInt8}, {"s", TypeId::kString}, {"f32", TypeId::kFloat32}}};
  EXPECT_EQ(written(read_text(text, options)), text);
}

TEST(CsvWrite, ALoneColumnHasNoEmptyLines) {
  const Table table = read_text("a\n1\nNA\n", {});
  EXPECT_EQ(written(table), "a\n1\nNA\n");
  EXPECT_EQ(read_text(written(table)).column(0).null_count(), 1);
}

TEST(CsvWrite, TakesOptions) {
  const Table table = read_text("a,b\n1,\n2,x;y\n", {.dtypes = {{"b", TypeId::kString}}});
  EXPECT_EQ(
      written(table, {.delimiter = ';', .header = false, .null_word = "?", .line_end = "\r\n"}),
      "1;?\r\n2;\"x;y\"\r\n");
  for (const char* format : {"", "%.e", "%.3", "%5.3f", "%.65e", "%.3d", "%.3ee"})
    EXPECT_THROW(written(table, {.float_format = format}), InvalidArgumentError) << format;
  EXPECT_THROW(written(table, {.delimiter = '"'}), InvalidArgumentError);
}

TEST(CsvWrite, AnyThreadsGiveTheSameBytes) {
  std::vector<double> values;
  for (int i = 0; i < 500000; ++i) values.push_back(i / 3.0);
  const Table table({"x", "y"}, {doubles(values), doubles(values)});
  const int before = threads();
  set_threads(1);
  const std::string expected = written(table);
  for (const int count : {2, 4}) {
    set_threads(count);
    EXPECT_TRUE(written(table) == expected);
  }
  set_threads(before);
}

class CsvWriteFile : public testing::Test {
 protected:
  CsvWriteFile()
      : folder_(fs::temp_directory_path() / ("csv_write_test_" + std::to_string(::getpid()))) {
    fs::create_directory(folder_);
  }

  ~CsvWriteFile() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  int64_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(CsvWriteFile, ReplacesAFileAndKeepsItsMode) {
  const fs::path path = folder_ / "x.csv";
  std::ofstream(path) << "old";
  ::chmod(path.c_str(), 0640);
  fs::create_symlink("x.csv", folder_ / "link.csv");
  write_csv(Table({"a"}, {doubles({1, 2})}), folder_ / "link.csv");
  EXPECT_EQ(content(path), "a\n1.0\n2.0\n");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.csv"));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 2);
}

TEST_F(CsvWriteFile, LeavesTheOldFileOnError) {
  const fs::path path = folder_ / "x.csv";
  std::ofstream(path) << "old";
  const Table table({"a"}, {doubles({1, 2})});
  EXPECT_THROW(write_csv(table, path, {.float_format = "%d"}), InvalidArgumentError);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1);
  EXPECT_THROW(write_csv(table, folder_), InputError);
  EXPECT_THROW(write_csv(table, folder_ / "no" / "x.csv"), InputError);
  EXPECT_THROW(write_csv(table, ""), InputError);
  EXPECT_THROW(write_csv(table, "/dev/full"), InputError);
  write_csv(table, "/dev/null");
}

}  // namespace
}  // namespace hr
