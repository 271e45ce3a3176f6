// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/metadata.h"

#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/thrift.h"

#include <algorithm>
#include <limits>
#include <string>

namespace hr::parquet {

namespace {

using Type = ThriftType;

// Reads a field of this id into `into` when it has the type that it should have.
bool take(ThriftReader& in, Type type, int64_t& into) {
  if (type != Type::kInt16 && type != Type::kInt32 && type != Type::kInt64) return false;
  into = in.integer();
  return true;
}

bool take(ThriftReader& in, Type type, std::string_view& into) {
  if (type != Type::kBinary) return false;
  into = in.binary();
  return true;
}

bool take(ThriftReader& in, Type type, std::optional<std::string_view>& into) {
  if (type != Type::kBinary) return false;
  into = in.binary();
  return true;
}

bool take(Type type, bool& into) {
  if (type != Type::kTrue && type != Type::kFalse) return false;
  into = type == Type::kTrue;
  return true;
}

int64_t at_least_0(int64_t value, const char* what) {
  if (value < 0) damaged(std::string(what) + " is negative");
  return value;
}

template <class Enum>
Enum checked_enum(int64_t value, Enum last, const char* what) {
  if (value < 0 || value > static_cast<int64_t>(last))
    unsupported(std::string(what) + " has the unknown number " + std::to_string(value));
  return static_cast<Enum>(value);
}

TimeUnit parse_time_unit(ThriftReader& in) {
  TimeUnit unit = TimeUnit::kMicro;
  for_each_field(in, [&](int64_t id, Type) {
    if (id >= 1 && id <= 3) unit = static_cast<TimeUnit>(id);
    return false;
  });
  return unit;
}

// The fields of the one member of the union LogicalType.
void parse_logical_member(ThriftReader& in, LogicalType& logical) {
  for_each_field(in, [&](int64_t id, Type type) {
    int64_t number = 0;
    switch (logical.kind) {
      case LogicalKind::kDecimal:
        if ((id != 1 && id != 2) || !take(in, type, number)) return false;
        (id == 1 ? logical.scale : logical.precision) =
            static_cast<int>(std::clamp<int64_t>(number, -1, 1000));
        return true;
      case LogicalKind::kTime:
      case LogicalKind::kTimestamp:
        if (id == 1) return take(type, logical.is_utc);
        if (id != 2 || type != Type::kStruct) return false;
        logical.unit = parse_time_unit(in);
        return true;
      case LogicalKind::kInteger:
        if (id == 2) return take(type, logical.is_signed);
        if (id != 1 || type != Type::kByte) return false;
        logical.bits = in.small();
        return true;
      default:
        return false;
    }
  });
}

LogicalType parse_logical(ThriftReader& in) {
  constexpr LogicalKind kKinds[] = {
      LogicalKind::kOther,     LogicalKind::kString,  LogicalKind::kMap,     LogicalKind::kList,
      LogicalKind::kEnum,      LogicalKind::kDecimal, LogicalKind::kDate,    LogicalKind::kTime,
      LogicalKind::kTimestamp, LogicalKind::kOther,   LogicalKind::kInteger, LogicalKind::kNull,
      LogicalKind::kJson,      LogicalKind::kBson,    LogicalKind::kUuid,    LogicalKind::kFloat16};
  LogicalType logical;
  for_each_field(in, [&](int64_t id, Type type) {
    logical = {};
    logical.kind = id < static_cast<int64_t>(std::size(kKinds)) ? kKinds[id] : LogicalKind::kOther;
    if (type != Type::kStruct) return false;
    parse_logical_member(in, logical);
    return true;
  });
  return logical;
}

LogicalType integer_of(int bits, bool is_signed) {
  return {.kind = LogicalKind::kInteger, .is_signed = is_signed, .bits = bits};
}

// The old words. Their timestamps are clocks: writers of that time did not say what they meant.
LogicalType logical_of_converted(int64_t converted, int precision, int scale) {
  switch (converted) {
    case 0:
      return {.kind = LogicalKind::kString};
    case 1:
    case 2:
      return {.kind = LogicalKind::kMap};
    case 3:
      return {.kind = LogicalKind::kList};
    case 4:
      return {.kind = LogicalKind::kEnum};
    case 5:
      return {.kind = LogicalKind::kDecimal, .precision = precision, .scale = scale};
    case 6:
      return {.kind = LogicalKind::kDate};
    case 7:
    case 8:
      return {.kind = LogicalKind::kTime,
              .unit = converted == 7 ? TimeUnit::kMilli : TimeUnit::kMicro};
    case 9:
    case 10:
      return {.kind = LogicalKind::kTimestamp,
              .unit = converted == 9 ? TimeUnit::kMilli : TimeUnit::kMicro};
    case 11:
    case 12:
    case 13:
    case 14:
      return integer_of(8 << (converted - 11), false);
    case 15:
    case 16:
    case 17:
    case 18:
      return integer_of(8 << (converted - 15), true);
    case 19:
      return {.kind = LogicalKind::kJson};
    case 20:
      return {.kind = LogicalKind::kBson};
    case 21:
      return {.kind = LogicalKind::kInterval};
    default:
      return {};
  }
}

SchemaElement parse_element(ThriftReader& in) {
  SchemaElement element;
  int64_t physical = -1, converted = -1, repetition = 0, scale = 0, precision = 0;
  for_each_field(in, [&](int64_t id, Type type) {
    switch (id) {
      case 1:
        return take(in, type, physical);
      case 2:
        return take(in, type, element.type_length);
      case 3:
        return take(in, type, repetition);
      case 4:
        return take(in, type, element.name);
      case 5:
        return take(in, type, element.num_children);
      case 6:
        return take(in, type, converted);
      case 7:
        return take(in, type, scale);
      case 8:
        return take(in, type, precision);
      case 10:
        if (type != Type::kStruct) return false;
        element.logical = parse_logical(in);
        return true;
      default:
        return false;
    }
  });
  element.repetition = checked_enum(repetition, Repetition::kRepeated, "a repetition");
  at_least_0(element.num_children, "a number of children");
  if (physical >= 0) element.type = checked_enum(physical, PhysicalType::kFixed, "a type");
  if (element.type && element.num_children > 0) damaged("a column of the schema has children");
  if (element.type == PhysicalType::kFixed &&
      (element.type_length < 1 || element.type_length > std::numeric_limits<int32_t>::max()))
    damaged("the width of a column's values is out of range");
  if (element.logical.kind == LogicalKind::kNone && converted >= 0)
    element.logical =
        logical_of_converted(converted, static_cast<int>(std::clamp<int64_t>(precision, -1, 1000)),
                             static_cast<int>(std::clamp<int64_t>(scale, -1, 1000)));
  return element;
}

Statistics parse_statistics(ThriftReader& in) {
  Statistics found;
  for_each_field(in, [&](int64_t id, Type type) {
    int64_t count = 0;
    switch (id) {
      case 1:
        return take(in, type, found.old_most);
      case 2:
        return take(in, type, found.old_least);
      case 3:
        if (!take(in, type, count)) return false;
        if (count >= 0) found.null_count = count;
        return true;
      case 5:
        return take(in, type, found.most);
      case 6:
        return take(in, type, found.least);
      default:
        return false;
    }
  });
  return found;
}

// Calls `f` for each element of a list of structs; false for another field.
bool for_each_struct(ThriftReader& in, Type type, const auto& f) {
  if (type != Type::kList) return false;
  const int64_t count = in.list_size(type);
  if (count > 0 && type != Type::kStruct) damaged("a list of the metadata has no structs");
  for (int64_t i = 0; i < count; ++i) f();
  return true;
}

// Whether pages of a kind with this encoding leave all data pages as indices.
bool keeps_coded(ThriftReader& in) {
  int64_t kind = -1, encoding = -1, count = 0;
  for_each_field(in, [&](int64_t id, Type type) {
    return id >= 1 && id <= 3 && take(in, type, id == 1 ? kind : id == 2 ? encoding : count);
  });
  const bool is_data = kind == static_cast<int64_t>(PageKind::kData) ||
                       kind == static_cast<int64_t>(PageKind::kDataV2);
  return !is_data || count == 0 || encoding == static_cast<int64_t>(Encoding::kRleDictionary) ||
         encoding == static_cast<int64_t>(Encoding::kPlainDictionary);
}

// Whether a list of encodings says that all data pages are indices: by their old name, since by the
// new one the dictionary is plain, as data pages may be.
bool lists_coded_alone(ThriftReader& in, Type element, int64_t count) {
  bool has_indices = false, has_others = false;
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = -1;
    if (!take(in, element, number)) in.skip(element, true);
    const auto is = [&](Encoding encoding) { return number == static_cast<int64_t>(encoding); };
    if (is(Encoding::kPlainDictionary))
      has_indices = true;
    else if (!is(Encoding::kRle) && !is(Encoding::kBitPacked))  // of levels
      has_others = true;
  }
  return has_indices && !has_others;
}

void parse_chunk_metadata(ThriftReader& in, ColumnChunk& chunk) {
  int64_t type_number = -1, codec = -1, values = -1, data_page = -1;
  for_each_field(in, [&](int64_t id, Type type) {
    switch (id) {
      case 1:
        return take(in, type, type_number);
      case 2: {
        if (type != Type::kList) return false;
        const int64_t count = in.list_size(type);
        chunk.is_all_coded = lists_coded_alone(in, type, count);
        return true;
      }
      case 4:
        return take(in, type, codec);
      case 5:
        return take(in, type, values);
      case 6:
        return take(in, type, chunk.uncompressed_bytes);
      case 7:
        return take(in, type, chunk.compressed_bytes);
      case 9:
        return take(in, type, data_page);
      case 11:
        return take(in, type, chunk.dictionary_page_offset);
      case 12:
        if (type != Type::kStruct) return false;
        chunk.statistics = parse_statistics(in);
        return true;
      case 13: {
        bool is_all_coded = true;
        const bool is_list = for_each_struct(in, type, [&] { is_all_coded &= keeps_coded(in); });
        chunk.is_all_coded = is_list && is_all_coded;
        return is_list;
      }
      case 14:
        return take(in, type, chunk.filter.offset);
      case 15:
        return take(in, type, chunk.filter.bytes);
      default:
        return false;
    }
  });
  chunk.type = checked_enum(type_number, PhysicalType::kFixed, "the type of a column");
  chunk.codec = checked_enum(codec, Codec::kLz4Raw, "the compression of a column");
  chunk.num_values = at_least_0(values, "the number of values of a column");
  chunk.data_page_offset = at_least_0(data_page, "the place of a page");
  at_least_0(chunk.dictionary_page_offset, "the place of a dictionary");
  at_least_0(chunk.compressed_bytes, "the size of a column");
  at_least_0(chunk.uncompressed_bytes, "the size of a column");
  at_least_0(chunk.filter.offset, "the place of a filter");
  at_least_0(chunk.filter.bytes, "the size of a filter");
}

ColumnChunk parse_chunk(ThriftReader& in) {
  ColumnChunk chunk;
  bool has_metadata = false;
  for_each_field(in, [&](int64_t id, Type type) {
    if (id == 1 && type == Type::kBinary) {
      chunk.is_elsewhere = !in.binary().empty();
      return true;
    }
    if (id == 3 && type == Type::kStruct) {
      parse_chunk_metadata(in, chunk);
      return has_metadata = true;
    }
    if (id == 4) return take(in, type, chunk.offset_index.offset);
    if (id == 5) return take(in, type, chunk.offset_index.bytes);
    if (id == 6) return take(in, type, chunk.column_index.offset);
    if (id == 7) return take(in, type, chunk.column_index.bytes);
    if (id == 8 || id == 9) chunk.is_encrypted = true;
    return false;
  });
  if (!has_metadata && !chunk.is_encrypted) damaged("a column has no metadata");
  for (const FileRange& range : {chunk.column_index, chunk.offset_index}) {
    at_least_0(range.offset, "the place of a page index");
    at_least_0(range.bytes, "the size of a page index");
  }
  return chunk;
}

RowGroupMetadata parse_row_group(ThriftReader& in) {
  RowGroupMetadata group;
  group.num_rows = -1;
  for_each_field(in, [&](int64_t id, Type type) {
    if (id == 3) return take(in, type, group.num_rows);
    if (id != 1 || type != Type::kList) return false;
    const int64_t count = in.list_size(type);
    if (type != Type::kStruct) damaged("a row group has no list of columns");
    for (int64_t i = 0; i < count; ++i) group.chunks.push_back(parse_chunk(in));
    return true;
  });
  at_least_0(group.num_rows, "the number of rows of a row group");
  return group;
}

void parse_key_value(ThriftReader& in, FileMetadata& file) {
  std::string_view key, value;
  for_each_field(in, [&](int64_t id, Type type) {
    if (id == 1) return take(in, type, key);
    return id == 2 && take(in, type, value);
  });
  if (key == "ARROW:schema") file.arrow_schema = value;
}

// Counts of children add up to the list of elements, and the leaves have types.
void check_schema(FileMetadata& file) {
  if (file.schema.empty()) damaged("there is no schema");
  if (file.schema[0].type) damaged("the root of the schema is a column");
  int64_t open = 1;  // elements that are announced
  for (const SchemaElement& element : file.schema) {
    if (open == 0) damaged("the schema has more elements than children");
    open += element.num_children - 1;
    if (open > std::ssize(file.schema)) damaged("the schema has more children than elements");
    file.num_leaves += element.type.has_value();
  }
  if (open != 0) damaged("the schema has more children than elements");
}

void check_row_groups(const FileMetadata& file) {
  int64_t rows = 0;
  for (const RowGroupMetadata& group : file.row_groups) {
    if (std::ssize(group.chunks) != file.num_leaves)
      damaged("a row group has another number of columns than the schema");
    if (__builtin_add_overflow(rows, group.num_rows, &rows))
      damaged("the number of rows is out of range");
  }
  if (rows != file.num_rows) damaged("the row groups have other rows than the file");
}

}  // namespace

FileMetadata parse_file_metadata(std::string_view footer) {
  FileMetadata file;
  file.num_rows = -1;
  ThriftReader in(footer);
  for_each_field(in, [&](int64_t id, Type type) {
    switch (id) {
      case 2:
        return for_each_struct(in, type, [&] { file.schema.push_back(parse_element(in)); });
      case 3:
        return take(in, type, file.num_rows);
      case 4:
        return for_each_struct(in, type, [&] { file.row_groups.push_back(parse_row_group(in)); });
      case 5:
        return for_each_struct(in, type, [&] { parse_key_value(in, file); });
      default:
        return false;
    }
  });
  at_least_0(file.num_rows, "the number of rows");
  check_schema(file);
  check_row_groups(file);
  return file;
}

namespace {

Encoding encoding_of(int64_t number) {
  return checked_enum(number, Encoding::kByteStreamSplit, "the encoding of a page");
}

void parse_page_of_kind(ThriftReader& in, int64_t id, PageHeader& page) {
  int64_t values = -1, encoding = -1, third = 3, fourth = 3;
  int64_t definition = 0, repetition = 0;
  const bool v2 = id == 8;
  for_each_field(in, [&](int64_t field, Type type) {
    if (field == 1) return take(in, type, values);
    if (v2) {
      if (field == 4) return take(in, type, encoding);
      if (field == 5) return take(in, type, definition);
      if (field == 6) return take(in, type, repetition);
      return field == 7 && take(type, page.is_compressed);
    }
    if (field == 2) return take(in, type, encoding);
    if (id != 5) return false;
    if (field == 3) return take(in, type, third);
    return field == 4 && take(in, type, fourth);
  });
  page.num_values = at_least_0(values, "the number of values of a page");
  page.encoding = encoding_of(encoding);
  page.definition_encoding = encoding_of(third);
  page.repetition_encoding = encoding_of(fourth);
  page.definition_bytes = at_least_0(definition, "the size of a page's levels");
  page.repetition_bytes = at_least_0(repetition, "the size of a page's levels");
  const int64_t most = std::min(page.compressed_bytes, page.uncompressed_bytes);
  if (v2 && (page.definition_bytes > most || page.repetition_bytes > most - page.definition_bytes))
    damaged("the levels of a page are longer than the page");
}

}  // namespace

PageHeader parse_page_header(std::string_view bytes, int64_t& size) {
  PageHeader page;
  ThriftReader in(bytes);
  int64_t kind = -1, compressed = -1, uncompressed = -1;
  bool is_described = false;
  for_each_field(in, [&](int64_t id, Type type) {
    int64_t checksum = 0;
    switch (id) {
      case 1:
        return take(in, type, kind);
      case 2:
        return take(in, type, uncompressed);
      case 3:
        if (!take(in, type, compressed)) return false;
        page.compressed_bytes = compressed;
        page.uncompressed_bytes = uncompressed;
        return true;
      case 4:
        if (!take(in, type, checksum)) return false;
        page.checksum = static_cast<uint32_t>(checksum);
        return true;
      case 5:
      case 7:
      case 8:
        if (type != Type::kStruct) return false;
        parse_page_of_kind(in, id, page);
        return is_described = true;
      default:
        return false;
    }
  });
  size = static_cast<int64_t>(in.at());
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (compressed < 0 || compressed > kMost || uncompressed < 0 || uncompressed > kMost)
    damaged("the size of a page is out of range");
  page.kind = checked_enum(kind, PageKind::kDataV2, "a page");
  if (page.kind != PageKind::kIndex && !is_described) damaged("the header of a page is incomplete");
  return page;
}

FilterHeader parse_filter_header(std::string_view bytes, int64_t& size) {
  FilterHeader header;
  int64_t filter_bytes = -1, known = 0;
  ThriftReader in(bytes);
  for_each_field(in, [&](int64_t id, Type type) {
    if (id == 1) return take(in, type, filter_bytes);
    if (id < 2 || id > 4 || type != Type::kStruct) return false;
    // Of each union, the only member that there is: blocks, xxHash, no compression.
    for_each_field(in, [&](int64_t member, Type) {
      known += member == 1;
      return false;
    });
    return true;
  });
  size = static_cast<int64_t>(in.at());
  header.bytes = at_least_0(filter_bytes, "the size of a filter");
  header.is_known = known == 3;
  return header;
}

std::vector<PagePlace> parse_offset_index(std::string_view bytes, const ColumnChunk& chunk,
                                          int64_t rows) {
  std::vector<PagePlace> pages;
  ThriftReader in(bytes);
  for_each_field(in, [&](int64_t list, Type type) {
    return list == 1 && for_each_struct(in, type, [&] {
             PagePlace page{-1, -1, -1};
             for_each_field(in, [&](int64_t id, Type kind) {
               return id >= 1 && id <= 3 &&
                      take(in, kind,
                           id == 1   ? page.offset
                           : id == 2 ? page.bytes
                                     : page.first_row);
             });
             pages.push_back(page);
           });
  });
  int64_t at = chunk.begin(), row = -1;
  const int64_t end = at + chunk.compressed_bytes;
  for (const PagePlace& page : pages) {
    if (page.offset < at || page.bytes < 1 || page.bytes > end - page.offset)
      damaged("a page index has a page outside of its column");
    if (page.first_row <= row || page.first_row >= rows || (row < 0 && page.first_row != 0))
      damaged("the rows of a page index are out of order");
    at = page.offset + page.bytes;
    row = page.first_row;
  }
  if (pages.empty() && rows > 0) damaged("a page index has no pages");
  return pages;
}

std::vector<Statistics> parse_column_index(std::string_view bytes, size_t pages) {
  std::vector<Statistics> found(pages);
  std::vector<bool> is_null(pages);
  ThriftReader in(bytes);
  // Calls `f` with the place of each element of a list that has one for each page.
  const auto for_each_page = [&](Type type, const auto& is_right, const auto& f) {
    if (type != Type::kList) return false;
    const int64_t count = in.list_size(type);
    if (count != std::ssize(found) || !is_right(type))
      damaged("a page index has other pages than its column");
    for (size_t page = 0; page < pages; ++page) f(page);
    return true;
  };
  const auto is_binary = [](Type type) { return type == Type::kBinary; };
  for_each_field(in, [&](int64_t id, Type type) {
    switch (id) {
      case 1:
        return for_each_page(
            type, [](Type each) { return each == Type::kTrue || each == Type::kFalse; },
            [&](size_t page) { is_null[page] = in.small() == 1; });
      case 2:
        return for_each_page(type, is_binary,
                             [&](size_t page) { found[page].least = in.binary(); });
      case 3:
        return for_each_page(type, is_binary, [&](size_t page) { found[page].most = in.binary(); });
      case 5:
        return for_each_page(
            type, [](Type each) { return each == Type::kInt64; },
            [&](size_t page) {
              const int64_t nulls = in.integer();
              if (nulls >= 0) found[page].null_count = nulls;
            });
      default:
        return false;
    }
  });
  for (size_t page = 0; page < pages; ++page)
    if (is_null[page]) found[page].least = found[page].most = std::nullopt;
  return found;
}

}  // namespace hr::parquet
