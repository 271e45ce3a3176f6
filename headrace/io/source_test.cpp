// SPDX-License-Identifier: Apache-2.0
// Sources: files and what is wrong with them, streams, compressed text, text that changes.
#include "headrace/io/source.h"

#include "headrace/base/error.h"
#include "headrace/io/csv.h"
#include "headrace/io/gzip_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#ifdef HR_WITH_ZSTD
#include <zstd.h>
#endif

namespace hr {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SourceTest : public testing::Test {
 protected:
  SourceTest()
      : folder_(fs::temp_directory_path() / ("source_test_" + std::to_string(::getpid()))) {
    fs::create_directory(folder_);
    for (int i = 0; i < 300000; ++i) numbers_ += std::to_string(i) + "\n";
  }

  ~SourceTest() override { fs::remove_all(folder_); }

  std::string file(std::string_view content) const {
    const fs::path path = folder_ / "x.csv";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static Source bytes(std::string_view text) {
    Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
    if (!text.empty()) std::memcpy(buffer.mutable_data(), text.data(), text.size());
    return Source::bytes(std::move(buffer));
  }

  static Source stream(std::string text, int64_t step) {
    return Source::stream(
        [text = std::move(text), step, at = size_t{0}](char* into, int64_t size) mutable {
          const size_t count =
              std::min({text.size() - at, static_cast<size_t>(step), static_cast<size_t>(size)});
          std::memcpy(into, text.data() + at, count);
          at += count;
          return static_cast<int64_t>(count);
        });
  }

  void expect_numbers(const Source& source) const {
    const Table table = read_csv(source).table;
    ASSERT_EQ(table.num_rows(), 300000);
    for (int64_t i = 0; i < 300000; ++i)
      ASSERT_EQ(table.column(0).values<int64_t>()[static_cast<size_t>(i)], i);
  }

  static int error_code(const std::string& path) {
    try {
      Source::path(path);
    } catch (const InputError& error) {
      EXPECT_EQ(error.path, path);
      EXPECT_THAT(error.what(), HasSubstr(path));
      return error.code;
    }
    return 0;
  }

  fs::path folder_;
  std::string numbers_ = "x\n";
};

TEST_F(SourceTest, ReadsFilesStreamsAndPipes) {
  expect_numbers(Source::path(file(numbers_)));
  expect_numbers(bytes(numbers_));
  for (const int64_t step : {1000, 1 << 20}) expect_numbers(stream(numbers_, step));
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe) << numbers_; });
  expect_numbers(Source::path(pipe));
}

TEST_F(SourceTest, AStreamIsKeptForAnotherLook) {
  const CsvScan scan(stream(numbers_, 5000));
  EXPECT_EQ(scan.read({}, 5).table.num_rows(), 5);
  EXPECT_EQ(scan.read().table.num_rows(), 300000);
  EXPECT_EQ(scan.read().table.num_rows(), 300000);
}

TEST_F(SourceTest, SaysWhatIsWrongWithAPath) {
  EXPECT_EQ(error_code(folder_ / "missing.csv"), ENOENT);
  EXPECT_EQ(error_code(folder_), EISDIR);
  EXPECT_EQ(error_code(""), ENOENT);
  const std::string path = file("x\n1\n");
  ::chmod(path.c_str(), 0);
  if (::geteuid() != 0) {
    EXPECT_EQ(error_code(path), EACCES);
  }
}

TEST_F(SourceTest, AChangedFileIsAnError) {
  const CsvScan scan(Source::path(file(numbers_)));
  EXPECT_EQ(scan.read().table.num_rows(), 300000);
  file(numbers_ + "300000\n");
  EXPECT_THROW(scan.read(), InputError);
  file("x\n");
  EXPECT_THROW(scan.read(), InputError);
}

TEST_F(SourceTest, AFileIsTheOneThatWasOpened) {
  const std::string path = file(numbers_);
  const Source source = Source::path(path);
  std::ofstream(folder_ / "other.csv") << "x\n-1\n";
  fs::rename(folder_ / "other.csv", path);
  expect_numbers(source);  // still whole, though its path is another file's
  EXPECT_THAT([&] { read_csv(source); },
              testing::ThrowsMessage<InputError>(HasSubstr("names another file")));
  const CsvScan scan(Source::path(path));
  file("x\n-1\n");
  fs::remove(path);
  EXPECT_THROW(scan.read(), InputError);
}

#ifdef __linux__
TEST_F(SourceTest, AFileThatDoesNotSayItsSizeIsReadToItsEnd) {
  for (const std::string path : {"/proc/self/limits", "/sys/devices/system/cpu/online"}) {
    if (!fs::exists(path)) continue;
    std::ifstream opened(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(opened, line);) lines.push_back(line);
    const CsvOptions options{.delimiter = '|', .names = {"line"}, .dtype = TypeId::kString};
    const CsvScan scan(Source::path(path), options);
    for (int look = 0; look < 2; ++look) {
      const Table table = scan.read().table;
      ASSERT_EQ(table.num_rows(), std::ssize(lines)) << path;
      EXPECT_EQ(table.column(0).string(table.num_rows() - 1), lines.back());
    }
    EXPECT_EQ(read_csv(Source::path(path), options).table.num_rows(), std::ssize(lines));
  }
  const std::string empty = file("");
  EXPECT_EQ(read_csv(Source::path(empty), {.names = {"x"}}).table.num_rows(), 0);
  const CsvScan scan(Source::path(empty), {.names = {"x"}});
  file("1\n");
  EXPECT_THROW(scan.read(), InputError);
}
#endif

TEST_F(SourceTest, AThrowingStreamPassesItsError) {
  const Source source = Source::stream([](char*, int64_t) -> int64_t { throw InputError("stop"); });
  EXPECT_THROW(read_csv(source), InputError);
  EXPECT_THAT([&] { read_csv(source); },
              testing::ThrowsMessage<InputError>(HasSubstr("earlier read")));
  EXPECT_THROW(read_csv(Source::stream([](char*, int64_t size) { return size + 1; })),
               InvalidArgumentError);
}

TEST_F(SourceTest, OtherCodecsAreNamed) {
  EXPECT_THROW(read_csv(bytes("BZh91AY&SY")), InputError);
  EXPECT_THROW(read_csv(bytes("PK\x03\x04xxxx")), UnsupportedError);
  EXPECT_THROW(compression_from_name("rar"), InvalidArgumentError);
}

#ifdef HR_WITH_ZLIB
TEST_F(SourceTest, ReadsGzip) {
  const std::string packed = gzip(numbers_);
  expect_numbers(bytes(packed));
  expect_numbers(Source::path(file(packed)));
  expect_numbers(stream(packed, 100));
  // Members that follow each other are one text; zeros behind them are padding.
  const size_t half = numbers_.size() / 2;
  expect_numbers(
      bytes(gzip(numbers_.substr(0, half)) + gzip(numbers_.substr(half)) + std::string(600, '\0')));
}

TEST_F(SourceTest, DamagedGzipIsAnErrorWithItsPath) {
  const std::string packed = gzip(numbers_);
  for (const size_t size :
       {size_t{3}, size_t{10}, size_t{100}, packed.size() / 2, packed.size() - 1}) {
    const std::string path = file(packed.substr(0, size));
    try {
      read_csv(Source::path(path));
      ADD_FAILURE() << size;
    } catch (const InputError& error) {
      EXPECT_EQ(error.path, path);
      EXPECT_THAT(error.what(), HasSubstr("ends early"));
    }
  }
  std::string damaged = packed;
  for (size_t i = packed.size() / 2; i < packed.size() / 2 + 20; ++i) damaged[i] ^= 0x55;
  EXPECT_THROW(read_csv(bytes(damaged)), InputError);
  EXPECT_THROW(read_csv(bytes(packed + "tail")), InputError);
}
#endif

#ifdef HR_WITH_ZSTD
std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST_F(SourceTest, ReadsZstd) {
  const std::string packed = zstd(numbers_);
  expect_numbers(bytes(packed));
  expect_numbers(stream(packed, 77));
  const size_t half = numbers_.size() / 2;
  expect_numbers(bytes(zstd(numbers_.substr(0, half)) + zstd(numbers_.substr(half))));
  for (const size_t size : {size_t{5}, packed.size() / 2, packed.size() - 1})
    EXPECT_THROW(read_csv(bytes(packed.substr(0, size))), InputError) << size;
}
#endif

}  // namespace
}  // namespace hr
