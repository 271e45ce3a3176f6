// SPDX-License-Identifier: Apache-2.0
// Files written by hand, whole and in batches; each cut and each flipped bit ends in the same
// table or in an error.
#include "headrace/io/parquet/file.h"

#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/plan/graph/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace hr {
namespace {

using namespace parquet;
using namespace parquet::testing;
using ::testing::HasSubstr;

ThriftStruct text_element(const std::string& name, Repetition repetition = Repetition::kRequired) {
  return element(name, PhysicalType::kByteArray, repetition).number(6, 0);
}

// Two pages of numbers.
FileColumn number_column() {
  return {.elements = {element("n", PhysicalType::kInt64)},
          .pages = data_page(3, Encoding::kPlain, plain<int64_t>({1, 2, 3})) +
                   data_page(2, Encoding::kDeltaBinaryPacked, delta_packed({4, -5})),
          .values = 5};
}

// A dictionary, a page of indices with nulls, and one that went back to plain text.
FileColumn text_column() {
  const std::string far = "a text that no view can hold";
  return {.elements = {text_element("s", Repetition::kOptional)},
          .type = PhysicalType::kByteArray,
          .pages = dictionary_page(2, plain_texts({"a", far})) +
                   data_page(3, Encoding::kRleDictionary,
                             levels(packed_run({1, 0, 1}, 1)) + "\x01" + packed_run({1, 0}, 1)) +
                   data_page(2, Encoding::kPlain,
                             levels(repeated_run(2, 1, 1)) + plain_texts({far + "!", "b"})),
          .values = 5,
          .has_dictionary = true};
}

// [[1, 2], null, [], [null, 3], [4]] in two pages, of which the second goes on with a list.
FileColumn list_column() {
  ThriftStruct group, items;
  group.number(3, 1).text(4, "l").number(5, 1).number(6, 3);
  items.number(3, 2).text(4, "list").number(5, 1);
  return {
      .elements = {group, items, element("element", PhysicalType::kInt32, Repetition::kOptional)},
      .type = PhysicalType::kInt32,
      .pages = data_page(5, Encoding::kPlain,
                         levels(packed_run({0, 1, 0, 0, 0}, 1)) +
                             levels(packed_run({3, 3, 0, 1, 2}, 2)) + plain<int32_t>({1, 2})) +
               data_page(2, Encoding::kPlain,
                         levels(packed_run({1, 0}, 1)) + levels(repeated_run(2, 3, 2)) +
                             plain<int32_t>({3, 4})),
      .values = 7};
}

std::string whole() {
  return file_of(5, {number_column(), text_column(), list_column()});
}

std::string told(const Column& column) {
  std::string text;
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    text += row > 0 ? " " : "";
    if (column.is_null(row))
      text += "null";
    else if (column.dtype().is_list())
      text += "[" + told(column.list(row)) + "]";
    else if (column.dtype().has_text())
      text += column.string(row);
    else if (column.dtype().id() == TypeId::kInt32)
      text += std::to_string(column.values<int32_t>()[static_cast<size_t>(row)]);
    else
      text += std::to_string(column.values<int64_t>()[static_cast<size_t>(row)]);
  }
  return text;
}

std::string told(const Table& table) {
  std::string text;
  for (const Column& column : table.columns()) text += told(column) + "\n";
  return text;
}

const char* const kTold =
    "1 2 3 4 -5\n"
    "a text that no view can hold null a a text that no view can hold! b\n"
    "[1 2] null [] [null 3] [4]\n";

class ParquetFileTest : public hr::testing::ThreadsTest {};

TEST_P(ParquetFileTest, IsReadWhole) {
  EXPECT_EQ(told(read_file(whole())), kTold);
}

TEST_P(ParquetFileTest, IsThePlansTable) {
  const ParquetFile file = open_file(whole());
  EXPECT_EQ(file.names(), (std::vector<std::string>{"n", "s", "l"}));
  const NodePtr table = file.scan({2, 0});
  force(std::span(&table, 1));
  EXPECT_EQ(told(std::get<Table>(table->value())), "[1 2] null [] [null 3] [4]\n1 2 3 4 -5\n");
}

INSTANTIATE_TEST_SUITE_P(Threads, ParquetFileTest, ::testing::Values(1, 2, 4));

TEST(ParquetFile, EachCutIsAnError) {
  const std::string file = whole();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW(read_file(file.substr(0, size)), InputError) << size;
    // The same with the end of a whole file.
    const std::string ended = file.substr(0, size) + file.substr(file.size() - 8);
    if (ended == file) continue;
    EXPECT_THROW(read_file(ended), Error) << size;
  }
}

TEST(ParquetFile, EachFlippedBitIsATableOrAnError) {
  const std::string file = whole();
  int64_t errors = 0;
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
    try {
      EXPECT_GE(told(read_file(damaged)).size(), 0u);
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 1000);
}

template <class E>
void expect_error(const std::string& file, const char* what) {
  try {
    read_file(file);
    FAIL() << "no error: " << what;
  } catch (const E& error) {
    EXPECT_THAT(error.what(), HasSubstr(what));
    EXPECT_THAT(error.what(), HasSubstr("path='x.parquet'"));
  }
}

TEST(ParquetFile, ErrorsNameTheColumnAndTheRowGroup) {
  FileColumn column = number_column();
  column.pages = data_page(5, Encoding::kPlain, plain<int64_t>({1, 2, 3}));
  expect_error<InputError>(file_of(5, {column}), "column='n', row_group=0");
  column.pages = data_page(6, Encoding::kPlain, plain<int64_t>({1, 2, 3, 4, 5, 6}));
  expect_error<InputError>(file_of(5, {column}), "more values than its row group has rows");
  column = text_column();
  column.pages.replace(column.pages.find("hold!"), 1, "\xff");
  expect_error<InputError>(file_of(5, {column}), "is not UTF-8");
  column = number_column();
  column.elements = {element("n", PhysicalType::kInt32)};
  expect_error<InputError>(file_of(5, {column}), "another type than the schema says");
  expect_error<InputError>(file_of(4, {number_column()}), "other values");
  expect_error<InputError>("PAR1 no file PAR1", "footer is longer");
  expect_error<UnsupportedError>("PAR1........PARE", "encrypted");
  column = text_column();
  column.elements = {element("s", PhysicalType::kByteArray, Repetition::kOptional)};
  expect_error<UnsupportedError>(file_of(5, {column}), "type='binary data'");
}

TEST(ParquetFile, MemoryIsForWhatBytesCanHold) {
  FileColumn column = number_column();
  ThriftStruct kind, header;
  kind.number(1, 5).number(2, 0).number(3, 3).number(4, 3);
  header.number(1, 0).number(2, 2'000'000'000).number(3, 8).record(5, kind);
  column.pages = header.bytes() + "12345678";
  expect_error<InputError>(file_of(5, {column}), "two different sizes");
}

TEST(ParquetFile, ADictionaryOfNoUseAndPagesWithoutValues) {
  const FileColumn nulls{
      .elements = {element("n", PhysicalType::kInt64, Repetition::kOptional)},
      .pages = dictionary_page(0, "") + data_page(0, Encoding::kPlain, levels("")) +
               data_page(5, Encoding::kRleDictionary, levels(repeated_run(5, 0, 1))),
      .values = 5,
      .has_dictionary = true};
  EXPECT_EQ(told(read_file(file_of(5, {nulls}))), "null null null null null\n");
}

}  // namespace
}  // namespace hr
