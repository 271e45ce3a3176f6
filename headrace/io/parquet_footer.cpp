// SPDX-License-Identifier: Apache-2.0
// Footers in the compact protocol of Thrift: only row counts and places are read and changed, all
// else is copied as it is.
#include "headrace/io/parquet_footer.h"

#include "headrace/base/error.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/thrift.h"

#include <cstring>

namespace hr {

namespace {

constexpr std::string_view kMagic = "PAR1";

using parquet::for_each_field;
using parquet::ThriftReader;
using Type = parquet::ThriftType;

[[noreturn]] void fail(std::string_view what) {
  throw_error<InternalError>("to_parquet", "the encoded part is no Parquet file",
                             {{"reason", what}});
}

// What `work` gives; bytes that cannot be read are our own bug.
template <class Work>
auto checked(const Work& work) {
  try {
    return work();
  } catch (const parquet::Refusal& refusal) {
    fail(refusal.what());
  }
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

void append_integer(std::string& out, int64_t value) {
  append_varint(out, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

void append_field(std::string& out, int step, Type type) {
  out += static_cast<char>(step << 4 | static_cast<int>(type));
}

void append_list(std::string& out, int64_t size) {
  out += static_cast<char>((size < 15 ? size << 4 : 15 << 4) | static_cast<int>(Type::kStruct));
  if (size >= 15) append_varint(out, static_cast<uint64_t>(size));
}

// Which numbers of a struct are places in the file, and which field is a struct that has more.
struct Places {
  std::string_view ids;
  int64_t inner_id = 0;
  const Places* inner = nullptr;
};

// ColumnMetaData: data, index and dictionary pages, Bloom filter. ColumnChunk: its metadata, the
// indexes of offsets and of columns.
constexpr Places kMetaDataPlaces{"\x09\x0a\x0b\x0e"};
constexpr Places kChunkPlaces{"\x02\x04\x06", 3, &kMetaDataPlaces};

// Copies a struct whose bytes were moved by `shift`. A place of 0 stands for none.
void copy_moved(ThriftReader& in, const Places& places, int64_t shift, std::string& out) {
  Type type;
  size_t begin = in.at();
  for (int64_t id = 0; in.next_field(id, type); begin = in.at()) {
    out += in.since(begin);
    begin = in.at();
    if (type == Type::kInt64 && places.ids.find(static_cast<char>(id)) != std::string_view::npos) {
      const int64_t place = in.integer();
      append_integer(out, place > 0 ? place + shift : place);
    } else if (type == Type::kStruct && places.inner && id == places.inner_id) {
      copy_moved(in, *places.inner, shift, out);
    } else {
      in.skip(type, false);
      out += in.since(begin);
    }
  }
  out += in.since(begin);
}

// Footer and pages of a whole file.
struct File {
  explicit File(std::string_view file) {
    uint32_t size = 0;
    if (file.size() < 12 || !file.starts_with(kMagic) || !file.ends_with(kMagic))
      fail("it has no magic");
    std::memcpy(&size, file.data() + file.size() - 8, sizeof size);
    if (size > file.size() - 12) fail("its footer is too long");
    pages = file.substr(4, file.size() - 12 - size);
    footer = file.substr(file.size() - 8 - size, size);
  }

  std::string_view pages;
  std::string_view footer;
};

}  // namespace

ParquetChunks parquet_chunks(std::string_view bytes) {
  const File file(bytes);
  ParquetChunks chunks{.pages = file.pages};
  int64_t groups = 0;
  ThriftReader in(file.footer);
  const auto read_chunks = [&] {
    Type of;
    chunks.count = in.list_size(of);
    const size_t begin = in.at();
    for (int64_t i = 0; i < chunks.count; ++i) in.skip(of, true);
    chunks.records = in.since(begin);
  };
  const auto read_group = [&](int64_t id, Type type) {
    if (id == 1 && type == Type::kList) return read_chunks(), true;
    if (id == 2 && type == Type::kInt64) return chunks.total_byte_size = in.integer(), true;
    if (id == 6 && type == Type::kInt64) return chunks.total_compressed = in.integer(), true;
    return false;
  };
  checked([&] {
    for_each_field(in, [&](int64_t id, Type type) {
      if (id != 4 || type != Type::kList) return false;
      groups = in.list_size(type);
      for (int64_t g = 0; g < groups; ++g) for_each_field(in, read_group);
      return true;
    });
  });
  if (groups != 1) fail("it has other than one row group");
  return chunks;
}

ParquetFooter::ParquetFooter(std::string_view file) {
  const File whole(file);
  ThriftReader in(whole.footer);
  size_t begin = 0;
  bool has_rows = false, has_groups = false;
  checked([&] {
    for_each_field(in, [&](int64_t id, Type type) {
      if (id != 3 && id != 4) return false;
      std::string& before = id == 3 ? before_rows_ : before_groups_;
      before = in.since(begin);
      (id == 3 ? has_rows : has_groups) = true;
      in.skip(type, false);
      begin = in.at();
      return true;
    });
  });
  if (!has_rows || !has_groups) fail("it has no row groups");
  after_groups_ = in.since(begin);
}

// Fields of RowGroup: columns, total_byte_size, num_rows, file_offset, total_compressed_size.
void ParquetFooter::add(int64_t rows, const std::vector<ParquetChunks>& parts) {
  int64_t count = 0, total = 0, compressed = 0;
  for (const ParquetChunks& part : parts) {
    count += part.count;
    total += part.total_byte_size;
    compressed += part.total_compressed;
  }
  const int64_t begin = offset_;
  append_field(groups_, 1, Type::kList);
  append_list(groups_, count);
  for (const ParquetChunks& part : parts) {
    ThriftReader in(part.records);
    checked([&] {
      for (int64_t i = 0; i < part.count; ++i) copy_moved(in, kChunkPlaces, offset_ - 4, groups_);
    });
    offset_ += static_cast<int64_t>(part.pages.size());
  }
  append_field(groups_, 1, Type::kInt64);
  append_integer(groups_, total);
  append_field(groups_, 1, Type::kInt64);
  append_integer(groups_, rows);
  append_field(groups_, 2, Type::kInt64);
  append_integer(groups_, begin);
  append_field(groups_, 1, Type::kInt64);
  append_integer(groups_, compressed);
  groups_ += '\0';
  ++num_groups_;
  rows_ += rows;
}

std::string ParquetFooter::finish() const {
  std::string out = before_rows_;
  append_integer(out, rows_);
  out += before_groups_;
  append_list(out, num_groups_);
  out += groups_;
  out += after_groups_;
  const auto size = static_cast<uint32_t>(out.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  return out.append(kMagic);
}

}  // namespace hr
