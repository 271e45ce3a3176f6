// SPDX-License-Identifier: Apache-2.0
// Footers of parts, written by hand: places move, all else stays, and no cut of a file is read.
#include "headrace/io/parquet_footer.h"

#include "headrace/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hr {
namespace {

using namespace std::string_literals;

// An integer of one or two bytes.
std::string number(int value) {
  const unsigned bits = static_cast<unsigned>(value) << 1;
  if (bits < 128) return {static_cast<char>(bits)};
  return {static_cast<char>(bits | 128), static_cast<char>(bits >> 7)};
}

// A ColumnChunk: file_offset 0, metadata with a type, statistics (a struct with a binary, a bool
// and a double), the places of a data and a dictionary page; then the place of an index of offsets.
std::string record(int data, int dictionary, int index) {
  const std::string statistics = "\x18\x02xy\x11\x17"s + "12345678" + "\0"s;
  const std::string metadata = "\x15\x04\x19\x35\x00\x06\x10"s + "\x6c"s + statistics + "\x16"s +
                               number(data) + "\x26"s + number(dictionary) + "\0"s;
  return "\x26\x00\x1c"s + metadata + "\x16"s + number(index) + "\0"s;
}

std::string list(int count, char type) {
  return {static_cast<char>(count << 4 | type)};
}

std::string group(const std::vector<std::string>& records, int total, int rows, int offset,
                  int compressed) {
  std::string out = "\x19"s + list(static_cast<int>(records.size()), 12);
  for (const std::string& each : records) out += each;
  return out + "\x16"s + number(total) + "\x16"s + number(rows) + "\x26"s + number(offset) +
         "\x16"s + number(compressed) + "\0"s;
}

// Version, a schema of one element with a name, the number of rows, groups, and who made it.
std::string footer(int rows, const std::vector<std::string>& groups) {
  std::string out = "\x15\x04\x19\x1c\x48\x01s\0\x16"s + number(rows) + "\x19"s +
                    list(static_cast<int>(groups.size()), 12);
  for (const std::string& each : groups) out += each;
  out += "\x28\x02me\0"s;
  const auto size = static_cast<char>(out.size());
  EXPECT_LT(out.size(), 256u);
  return out + size + "\0\0\0PAR1"s;
}

std::string whole(const std::string& pages, const std::string& end) {
  return "PAR1" + pages + end;
}

TEST(ParquetFooter, IsThatOfTheWholeFile) {
  const std::string a = whole("aaaa", footer(3, {group({record(6, 4, 0)}, 50, 3, 4, 40)}));
  const std::string b =
      whole("bbbbbb", footer(3, {group({record(7, 5, 9), record(8, 0, 0)}, 60, 3, 5, 30)}));
  const std::string c = whole("cc", footer(2, {group({record(4, 0, 5)}, 10, 2, 4, 5)}));
  const std::string d =
      whole("d", footer(2, {group({record(4, 0, 0), record(4, 0, 0)}, 7, 2, 4, 8)}));
  const std::string empty = whole("", footer(0, {group({record(0, 0, 0)}, 0, 0, 4, 0)}));

  ParquetFooter made(empty);
  made.add(3, {parquet_chunks(a), parquet_chunks(b)});
  made.add(2, {parquet_chunks(c), parquet_chunks(d)});
  const std::string first =
      group({record(6, 4, 0), record(11, 9, 13), record(12, 0, 0)}, 110, 3, 4, 70);
  const std::string second =
      group({record(14, 0, 15), record(16, 0, 0), record(16, 0, 0)}, 17, 2, 14, 13);
  EXPECT_EQ(made.finish(), footer(5, {first, second}));
  EXPECT_EQ(parquet_chunks(b).pages, "bbbbbb");
  EXPECT_EQ(ParquetFooter(empty).finish(), footer(0, {}));
}

TEST(ParquetFooter, PlacesMayGrowLonger) {
  const std::string far =
      whole(std::string(100, 'x'), footer(1, {group({record(90, 4, 0)}, 1, 1, 4, 1)}));
  ParquetFooter made(far);
  made.add(1, {parquet_chunks(far)});
  made.add(1, {parquet_chunks(far)});
  EXPECT_EQ(made.finish(), footer(2, {group({record(90, 4, 0)}, 1, 1, 4, 1),
                                      group({record(190, 104, 0)}, 1, 1, 104, 1)}));
}

TEST(ParquetFooter, ManyChunksAndGroups) {
  const std::string one = whole("p", footer(1, {group({record(4, 0, 0)}, 1, 1, 4, 1)}));
  const std::vector<ParquetChunks> parts(20, parquet_chunks(one));
  ParquetFooter made(one);
  for (int i = 0; i < 20; ++i) made.add(1, parts);
  const std::string end = made.finish();
  // Lists of 15 and more have their size behind the header.
  EXPECT_THAT(end, ::testing::HasSubstr("\x16\x28\x19\xfc\x14\x19\xfc\x14\x26\x00\x1c"s));
}

TEST(ParquetFooter, RefusesWhatIsNoPart) {
  const std::string file = whole("bbbbbb", footer(3, {group({record(7, 5, 9)}, 60, 3, 5, 30)}));
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW(parquet_chunks(file.substr(0, size)), InternalError) << size;
    EXPECT_THROW(ParquetFooter(file.substr(0, size)), InternalError) << size;
  }
  // The footer cut and its length right; then any byte of it changed.
  const size_t begin = 10, end = file.size() - 8;
  for (size_t at = begin; at < end; ++at) {
    const std::string cut = file.substr(0, at) + static_cast<char>(at - begin) + "\0\0\0PAR1"s;
    EXPECT_THROW(parquet_chunks(cut), InternalError) << at;
    for (const char byte : {'\x00', '\x19', '\x1c', '\x2b', '\x7f', '\xff'}) {
      std::string other = file;
      other[at] = byte;
      try {
        ParquetFooter made(other);
        made.add(1, {parquet_chunks(other)});
      } catch (const InternalError&) {
      }
    }
  }
  EXPECT_THROW(parquet_chunks(whole("", footer(0, {}))), InternalError);
}

}  // namespace
}  // namespace hr
