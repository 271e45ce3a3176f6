// SPDX-License-Identifier: Apache-2.0
// Flatbuffers by hand: each table is written behind its vtable, what it refers to behind the table,
// and the distance is filled in then.
#include "headrace/io/parquet/arrow_schema_writer.h"

#include "headrace/data/dictionary.h"

#include <cstring>
#include <string_view>

namespace hr::parquet {

namespace {

// Numbers of Arrow's union of types.
enum ArrowType : uint8_t {
  kInt = 2,
  kFloatingPoint = 3,
  kUtf8 = 5,
  kBool = 6,
  kDecimal = 7,
  kDate = 8,
  kTimestamp = 10,
  kList = 12,
  kDuration = 18,
};

constexpr int kVersion5 = 4, kSchemaMessage = 1;

class FlatBuilder {
 public:
  // A field of a table that has this many bytes; 0: it is left out. What lies elsewhere is 4 bytes,
  // to be filled in.
  struct Field {
    int bytes = 0;
    int64_t value = 0;
  };
  static constexpr Field kElsewhere{4, 0};

  struct Table {
    size_t at;
    std::vector<size_t> fields;
  };

  FlatBuilder() { bytes_.resize(4); }  // the distance to the root

  Table table(const std::vector<Field>& fields) {
    const size_t vtable = bytes_.size();
    const size_t vtable_size = 4 + 2 * fields.size();
    bytes_.resize(vtable + vtable_size);
    align(8);
    Table made{bytes_.size(), {}};
    put(static_cast<int32_t>(made.at - vtable));
    for (size_t f = 0; f < fields.size(); ++f) {
      const Field& field = fields[f];
      if (field.bytes > 0) align(static_cast<size_t>(field.bytes));
      made.fields.push_back(bytes_.size());
      const auto place = static_cast<uint16_t>(field.bytes > 0 ? bytes_.size() - made.at : 0);
      std::memcpy(bytes_.data() + vtable + 4 + 2 * f, &place, sizeof place);
      bytes_.append(reinterpret_cast<const char*>(&field.value), static_cast<size_t>(field.bytes));
    }
    const uint16_t sizes[] = {static_cast<uint16_t>(vtable_size),
                              static_cast<uint16_t>(bytes_.size() - made.at)};
    std::memcpy(bytes_.data() + vtable, sizes, sizeof sizes);
    align(4);
    return made;
  }

  void text(size_t place, std::string_view text) {
    refer(place);
    put(static_cast<uint32_t>(text.size()));
    bytes_.append(text).append(1, '\0');
    align(4);
  }

  // Gives the places of its elements, which lie elsewhere.
  std::vector<size_t> vector(size_t place, size_t count) {
    refer(place);
    put(static_cast<uint32_t>(count));
    std::vector<size_t> places;
    for (size_t i = 0; i < count; ++i) {
      places.push_back(bytes_.size());
      put(uint32_t{0});
    }
    return places;
  }

  // Fills in where `table` is.
  void refer(size_t place, const Table& table) { set(place, table.at - place); }

  std::string finish() {
    align(8);
    return std::move(bytes_);
  }

 private:
  void refer(size_t place) { set(place, bytes_.size() - place); }

  void set(size_t place, size_t distance) {
    const auto value = static_cast<uint32_t>(distance);
    std::memcpy(bytes_.data() + place, &value, sizeof value);
  }

  void align(size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }

  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string bytes_{};
};

using Field = FlatBuilder::Field;
constexpr Field kElsewhere = FlatBuilder::kElsewhere, kNone{};

struct TypeTable {
  ArrowType type;
  std::vector<Field> fields{};
};

TypeTable type_of(Dtype dtype) {
  const auto integer = [](int bits, bool is_signed) {
    return TypeTable{kInt, {{4, bits}, {1, is_signed}}};
  };
  const Field unit{2, static_cast<int64_t>(dtype.unit())};
  switch (dtype.id()) {
    case TypeId::kBool:
      return {kBool};
    case TypeId::kFloat32:
      return {kFloatingPoint, {{2, 1}}};
    case TypeId::kFloat64:
      return {kFloatingPoint, {{2, 2}}};
    case TypeId::kDate:
      return {kDate, {{2, 0}}};
    case TypeId::kTimestamp:
      return {kTimestamp, {unit, dtype.has_zone() ? kElsewhere : kNone}};
    case TypeId::kDuration:
      return {kDuration, {unit}};
    case TypeId::kDecimal:
      return {kDecimal, {{4, dtype.precision()}, {4, dtype.scale()}, {4, 128}}};
    case TypeId::kList:
      return {kList};
    case TypeId::kString:
      return {kUtf8};
    default:
      return integer(static_cast<int>(8 * dtype.size_bytes()), dtype.is_signed());
  }
}

void write_field(FlatBuilder& to, size_t place, std::string_view name, const Column& column) {
  const bool is_category = column.dtype().is_category();
  const Dtype dtype = is_category ? column.dtype().item() : column.dtype();
  const TypeTable type = type_of(dtype);
  const FlatBuilder::Table field = to.table({kElsewhere,
                                             {1, 1},
                                             {1, type.type},
                                             kElsewhere,
                                             is_category ? kElsewhere : kNone,
                                             kElsewhere});
  to.refer(place, field);
  to.text(field.fields[0], name);
  const FlatBuilder::Table details = to.table(type.fields);
  to.refer(field.fields[3], details);
  if (dtype.has_zone()) to.text(details.fields[1], dtype.zone());
  if (is_category) {
    const bool ordered = column.dictionary()->is_ordered();
    const FlatBuilder::Table encoding = to.table({{8, 0}, kElsewhere, {1, ordered}});
    to.refer(field.fields[4], encoding);
    to.refer(encoding.fields[1], to.table({{4, 32}, {1, 1}}));
  }
  const auto items = to.vector(field.fields[5], dtype.is_list() ? 1 : 0);
  if (dtype.is_list()) write_field(to, items[0], "element", *column.items());
}

std::string encode_base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(bytes.size() - at, 3);
    uint32_t word = 0;
    for (size_t i = 0; i < 3; ++i)
      word = word << 8 | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[word >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string make_arrow_schema(const std::vector<std::string>& names,
                              const std::vector<Column>& columns) {
  FlatBuilder flat;
  const FlatBuilder::Table message =
      flat.table({{2, kVersion5}, {1, kSchemaMessage}, kElsewhere, {8, 0}});
  flat.refer(0, message);
  const FlatBuilder::Table schema = flat.table({{2, 0}, kElsewhere});
  flat.refer(message.fields[2], schema);
  const std::vector<size_t> fields = flat.vector(schema.fields[1], names.size());
  for (size_t c = 0; c < names.size(); ++c) write_field(flat, fields[c], names[c], columns[c]);
  const std::string body = flat.finish();
  const uint32_t head[] = {0xFFFFFFFF, static_cast<uint32_t>(body.size())};
  return encode_base64(std::string(reinterpret_cast<const char*>(head), sizeof head) + body);
}

}  // namespace hr::parquet
