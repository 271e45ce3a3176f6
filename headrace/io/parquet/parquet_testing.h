// SPDX-License-Identifier: Apache-2.0
// For tests: Parquet's bytes written by hand, by the plainest means, and files of bytes read.
#pragma once
#include "headrace/io/parquet/file.h"
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/thrift.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hr::parquet::testing {

inline Source source_of(const std::string& file) {
  Buffer bytes = Buffer::allocate(std::ssize(file));
  if (!file.empty()) std::memcpy(bytes.mutable_data(), file.data(), file.size());
  return Source::bytes(std::move(bytes));
}

inline ParquetFile open_file(const std::string& file) {
  return ParquetFile("read_parquet", "x.parquet", [source = source_of(file)] {
    return source.open("read_parquet", Compression::kNone);
  });
}

/// All columns.
inline Table read_file(const std::string& file) {
  const ParquetFile opened = open_file(file);
  std::vector<int64_t> all(opened.names().size());
  std::iota(all.begin(), all.end(), 0);
  return opened.read(all);
}

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}

inline std::string zigzag(int64_t value) {
  return varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

/// The fields of a struct of the compact protocol, in the order of their numbers.
class ThriftStruct {
 public:
  ThriftStruct& number(int id, int64_t value, ThriftType type = ThriftType::kInt64) {
    return field(id, type, zigzag(value));
  }
  ThriftStruct& small(int id, int value) {
    return field(id, ThriftType::kByte, std::string(1, static_cast<char>(value)));
  }
  ThriftStruct& flag(int id, bool value) {
    return field(id, value ? ThriftType::kTrue : ThriftType::kFalse, "");
  }
  ThriftStruct& text(int id, std::string_view value) {
    return field(id, ThriftType::kBinary, varint(value.size()).append(value));
  }
  ThriftStruct& record(int id, const ThriftStruct& value) {
    return field(id, ThriftType::kStruct, value.bytes());
  }
  ThriftStruct& list(int id, const std::vector<ThriftStruct>& values) {
    std::string all(1, static_cast<char>(15 << 4 | static_cast<int>(ThriftType::kStruct)));
    all += varint(values.size());
    for (const ThriftStruct& each : values) all += each.bytes();
    return field(id, ThriftType::kList, all);
  }
  ThriftStruct& numbers(int id, const std::vector<int64_t>& values) {
    std::string all(1, static_cast<char>(15 << 4 | static_cast<int>(ThriftType::kInt32)));
    all += varint(values.size());
    for (const int64_t each : values) all += zigzag(each);
    return field(id, ThriftType::kList, all);
  }

  std::string bytes() const { return bytes_ + '\0'; }

 private:
  ThriftStruct& field(int id, ThriftType type, std::string_view value) {
    const int step = id - last_;
    if (step >= 1 && step <= 15)
      bytes_ += static_cast<char>(step << 4 | static_cast<int>(type));
    else
      bytes_.append(1, static_cast<char>(type)).append(zigzag(id));
    last_ = id;
    bytes_ += value;
    return *this;
  }

  std::string bytes_{};
  int last_ = 0;
};

/// Packed integers, the lowest bits first.
inline std::string packed(const std::vector<uint64_t>& values, int width) {
  std::string out((values.size() * static_cast<size_t>(width) + 7) / 8, '\0');
  size_t bit = 0;
  for (const uint64_t value : values)
    for (int i = 0; i < width; ++i, ++bit)
      if (value >> i & 1) out[bit / 8] = static_cast<char>(out[bit / 8] | 1 << (bit % 8));
  return out;
}

/// A packed run of the hybrid, filled up with zeros to whole groups of 8.
inline std::string packed_run(std::vector<uint64_t> values, int width) {
  values.resize((values.size() + 7) / 8 * 8);
  return varint(values.size() / 8 << 1 | 1) + packed(values, width);
}

inline std::string repeated_run(uint64_t count, uint32_t value, int width) {
  std::string out = varint(count << 1);
  for (int i = 0; i < (width + 7) / 8; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

/// DELTA_BINARY_PACKED in blocks of 128 with four miniblocks.
inline std::string delta_packed(const std::vector<int64_t>& values) {
  std::string out =
      varint(128) + varint(4) + varint(values.size()) + zigzag(values.empty() ? 0 : values[0]);
  for (size_t begin = 1; begin < values.size(); begin += 128) {
    std::vector<uint64_t> steps;
    for (size_t i = begin; i < std::min(begin + 128, values.size()); ++i)
      steps.push_back(static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(values[i - 1]));
    int64_t least = INT64_MAX;
    for (const uint64_t step : steps) least = std::min(least, static_cast<int64_t>(step));
    const size_t count = steps.size();
    steps.resize(128, static_cast<uint64_t>(least));
    std::string widths, miniblocks;
    for (size_t m = 0; m < 4; ++m) {
      std::vector<uint64_t> part;
      int width = 0;
      for (size_t i = 32 * m; i < 32 * (m + 1); ++i) {
        part.push_back(steps[i] - static_cast<uint64_t>(least));
        while (width < 64 && part.back() >> width != 0) ++width;
      }
      if (32 * m >= count) width = 0;
      widths += static_cast<char>(width);
      miniblocks += packed(part, width);
    }
    out += zigzag(least) + widths + miniblocks;
  }
  return out;
}

template <class T>
std::string plain(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

inline std::string plain_texts(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& each : values)
    out += plain<uint32_t>({static_cast<uint32_t>(each.size())}) + each;
  return out;
}

/// A page of version 1 with its header. `levels` stand before the values, behind their size.
inline std::string data_page(int64_t values, Encoding encoding, const std::string& bytes) {
  ThriftStruct kind;
  kind.number(1, values).number(2, static_cast<int>(encoding)).number(3, 3).number(4, 3);
  ThriftStruct header;
  const auto size = static_cast<int64_t>(bytes.size());
  header.number(1, 0).number(2, size).number(3, size).record(5, kind);
  return header.bytes() + bytes;
}

inline std::string dictionary_page(int64_t values, const std::string& bytes) {
  ThriftStruct kind;
  kind.number(1, values).number(2, 0);
  ThriftStruct header;
  const auto size = static_cast<int64_t>(bytes.size());
  header.number(1, 2).number(2, size).number(3, size).record(7, kind);
  return header.bytes() + bytes;
}

inline std::string levels(const std::string& runs) {
  return plain<uint32_t>({static_cast<uint32_t>(runs.size())}) + runs;
}

/// A file of one row group. Each column has its elements of the schema, its pages, its number of
/// values, and what more is in its metadata.
struct FileColumn {
  std::vector<ThriftStruct> elements{};
  PhysicalType type = PhysicalType::kInt64;
  std::string pages{};
  int64_t values = 0;
  bool has_dictionary = false;
  ThriftStruct statistics{};
};

inline ThriftStruct element(const std::string& name, PhysicalType type,
                            Repetition repetition = Repetition::kRequired) {
  ThriftStruct made;
  made.number(1, static_cast<int>(type)).number(3, static_cast<int>(repetition)).text(4, name);
  return made;
}

inline std::string file_of(int64_t rows, const std::vector<FileColumn>& columns) {
  std::string file = "PAR1";
  ThriftStruct root;
  root.text(4, "schema").number(5, static_cast<int64_t>(columns.size()));
  std::vector<ThriftStruct> schema{root}, chunks;
  for (const FileColumn& column : columns) {
    schema.insert(schema.end(), column.elements.begin(), column.elements.end());
    const auto begin = static_cast<int64_t>(file.size());
    const auto size = static_cast<int64_t>(column.pages.size());
    ThriftStruct metadata;
    metadata.number(1, static_cast<int>(column.type)).number(4, 0).number(5, column.values);
    metadata.number(6, size).number(7, size).number(9, begin + column.has_dictionary);
    if (column.has_dictionary) metadata.number(11, begin);
    metadata.record(12, column.statistics);
    ThriftStruct chunk;
    chunk.number(2, 0).record(3, metadata);
    chunks.push_back(chunk);
    file += column.pages;
  }
  ThriftStruct group;
  group.list(1, chunks).number(2, 0).number(3, rows);
  ThriftStruct footer;
  footer.number(1, 2).list(2, schema).number(3, rows).list(4, {group});
  const std::string bytes = footer.bytes();
  return file + bytes + plain<uint32_t>({static_cast<uint32_t>(bytes.size())}) + "PAR1";
}

}  // namespace hr::parquet::testing
