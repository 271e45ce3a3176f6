// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/arrow_schema_writer.h"

#include "headrace/data/dictionary.h"
#include "headrace/io/flat_builder.h"

#include <string_view>

namespace hr::parquet {

namespace {

using flat::FlatBuilder;
using flat::FlatPlace;

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
  kStruct = 13,
  kMap = 17,
  kDuration = 18,
};

constexpr int16_t kVersion5 = 4;
constexpr uint8_t kSchemaMessage = 1;

struct Type {
  ArrowType number;
  FlatPlace details;
};

template <class Fill>
FlatPlace table(FlatBuilder& out, Fill fill) {
  out.begin_table();
  fill();
  return out.finish_table();
}

Type type_of(FlatBuilder& out, Dtype dtype) {
  const auto type = [&](ArrowType number, auto... fields) {
    return Type{number, table(out, [&] {
                  int field = 0;
                  (out.number(field++, fields), ...);
                })};
  };
  const auto unit = static_cast<int16_t>(dtype.unit());
  switch (dtype.id()) {
    case TypeId::kBool:
      return type(kBool);
    case TypeId::kFloat32:
      return type(kFloatingPoint, int16_t{1});
    case TypeId::kFloat64:
      return type(kFloatingPoint, int16_t{2});
    case TypeId::kDate:
      return type(kDate, int16_t{0});
    case TypeId::kTimestamp: {
      if (!dtype.has_zone()) return type(kTimestamp, unit);
      const FlatPlace zone = out.text(dtype.zone());
      return {kTimestamp, table(out, [&] {
                out.number(0, unit);
                out.refer(1, zone);
              })};
    }
    case TypeId::kDuration:
      return type(kDuration, unit);
    case TypeId::kDecimal:
      return type(kDecimal, int32_t{dtype.precision()}, int32_t{dtype.scale()}, int32_t{128});
    case TypeId::kList:
      return type(kList);
    case TypeId::kStruct:
      return type(kStruct);
    case TypeId::kMap:
      return type(kMap, uint8_t{0});  // the keys are in any order
    case TypeId::kString:
      return type(kUtf8);
    default:
      return type(kInt, static_cast<int32_t>(8 * dtype.size_bytes()),
                  static_cast<uint8_t>(dtype.is_signed()));
  }
}

// The entries of maps and their keys are never null.
enum class FieldKind : uint8_t { kNullable, kEntries, kKey };

FlatPlace write_field(FlatBuilder& out, std::string_view name, const Column& column,
                      FieldKind kind = FieldKind::kNullable) {
  const bool is_category = column.dtype().is_category();
  const Dtype dtype = is_category ? column.dtype().item() : column.dtype();
  std::vector<FlatPlace> children;
  if (dtype.is_list()) children.push_back(write_field(out, "element", *column.items()));
  if (dtype.is_map())
    children.push_back(write_field(out, "key_value", *column.items(), FieldKind::kEntries));
  if (dtype.is_struct())
    for (size_t f = 0; f < dtype.fields().size(); ++f)
      children.push_back(write_field(
          out, dtype.fields()[f].name, (*column.fields())[f],
          kind == FieldKind::kEntries && f == 0 ? FieldKind::kKey : FieldKind::kNullable));
  const FlatPlace items = out.tables(children), label = out.text(name);
  const Type type = type_of(out, dtype);
  FlatPlace encoding = 0;
  if (is_category) {
    const Type codes = type_of(out, TypeId::kInt32);
    encoding = table(out, [&] {
      out.number(0, int64_t{0});
      out.refer(1, codes.details);
      out.number(2, static_cast<uint8_t>(column.dictionary()->is_ordered()));
    });
  }
  return table(out, [&] {
    out.refer(0, label);
    out.number(1, static_cast<uint8_t>(kind == FieldKind::kNullable));
    out.number(2, static_cast<uint8_t>(type.number));
    out.refer(3, type.details);
    if (is_category) out.refer(4, encoding);
    out.refer(5, items);
  });
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
  FlatBuilder out;
  std::vector<FlatPlace> places;
  for (size_t c = 0; c < names.size(); ++c)
    places.push_back(write_field(out, names[c], columns[c]));
  const FlatPlace fields = out.tables(places);
  const FlatPlace schema = table(out, [&] {
    out.number(0, int16_t{0});  // little-endian
    out.refer(1, fields);
  });
  const std::string body = out.finish(table(out, [&] {
    out.number(0, kVersion5);
    out.number(1, kSchemaMessage);
    out.refer(2, schema);
    out.number(3, int64_t{0});
  }));
  const uint32_t head[] = {0xFFFFFFFF, static_cast<uint32_t>(body.size())};
  return encode_base64(std::string(reinterpret_cast<const char*>(head), sizeof head) + body);
}

}  // namespace hr::parquet
