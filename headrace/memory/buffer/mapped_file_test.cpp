// SPDX-License-Identifier: Apache-2.0
// Mapped files: shared bytes, and files that are cut or written to meanwhile.
#include "headrace/memory/buffer/mapped_file.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace hr {
namespace {

namespace fs = std::filesystem;

class MappedFile : public testing::Test {
 protected:
  MappedFile() : path_(fs::temp_directory_path() / ("mapped-" + std::to_string(::getpid()))) {
    write(std::string(100'000, 'x'));
  }

  ~MappedFile() override { fs::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }

  fs::path path_;
};

TEST_F(MappedFile, SharesTheBytes) {
  const Buffer bytes = map_file("test", path_);
  EXPECT_EQ(bytes.size_bytes(), 100'000);
  EXPECT_TRUE(bytes.is_foreign());
  EXPECT_EQ(bytes.as<char>()[99'999], 'x');
  EXPECT_NO_THROW(check_mapped_files());
}

TEST_F(MappedFile, ACutFileIsAnError) {
  {
    const Buffer bytes = map_file("test", path_);
    fs::resize_file(path_, 5000);
    EXPECT_EQ(bytes.as<char>()[4999], 'x');
    EXPECT_EQ(bytes.as<char>()[99'999], 0);  // no signal
    EXPECT_EQ(bytes.as<char>()[50'000], 0);
    EXPECT_THROW(check_mapped_files(), InputError);
    EXPECT_THROW(check_mapped_files(), InputError);
  }
  EXPECT_NO_THROW(check_mapped_files());
  EXPECT_EQ(map_file("test", path_).size_bytes(), 5000);
}

TEST_F(MappedFile, AFileThatTakesItsNameChangesNothing) {
  const Buffer bytes = map_file("test", path_);
  const fs::path other = path_.string() + "-new";
  std::ofstream(other) << "new";
  fs::rename(other, path_);
  EXPECT_EQ(bytes.as<char>()[99'999], 'x');
  EXPECT_NO_THROW(check_mapped_files());
}

TEST_F(MappedFile, OtherFilesAreRefused) {
  EXPECT_THROW(map_file("test", path_.string() + "-no"), InputError);
  EXPECT_THROW(map_file("test", "/dev/null"), UnsupportedError);
  write("");
  EXPECT_EQ(map_file("test", path_).size_bytes(), 0);
}

TEST_F(MappedFile, ManyFiles) {
  std::vector<Buffer> many;
  for (int i = 0; i < 256; ++i) many.push_back(map_file("test", path_));
  EXPECT_THROW(map_file("test", path_), UnsupportedError);
  many.pop_back();
  EXPECT_NO_THROW(map_file("test", path_));
}

}  // namespace
}  // namespace hr
