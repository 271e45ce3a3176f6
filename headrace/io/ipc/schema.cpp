// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/ipc/schema.h"

#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"

#include <array>

namespace hr::ipc {

namespace {

constexpr int kMostLevels = 64;
constexpr size_t kMostFields = size_t{1} << 16;

// Numbers of Arrow's union of types.
enum Type : uint8_t {
  kNull = 1,
  kInt,
  kFloat,
  kBinary,
  kUtf8,
  kBool,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kInterval,
  kList,
  kStruct,
  kUnion,
  kFixedBinary,
  kFixedList,
  kMap,
  kDuration,
  kLargeBinary,
  kLargeUtf8,
  kLargeList,
  kRunEnd,
  kBinaryView,
  kUtf8View,
  kListView,
  kLargeListView,
};

void set(Field& field, std::string format, Layout layout, int64_t bits = 0) {
  field.format = std::move(format);
  field.layout = layout;
  field.bits = bits;
}

void set_integer(const FlatTable& type, Field& field) {
  const auto bits = type.number<int32_t>(0, 0);
  const bool is_signed = type.number<uint8_t>(1, 0) != 0;
  const std::string_view formats = is_signed ? "csil" : "CSIL";
  constexpr std::array kBits{8, 16, 32, 64};
  for (size_t i = 0; i < kBits.size(); ++i)
    if (bits == kBits[i]) return set(field, {formats[i]}, Layout::kFixed, bits);
  throw Damage("an integer has an unknown width");
}

char unit_of(const FlatTable& type, int16_t otherwise) {
  const auto unit = type.number<int16_t>(0, otherwise);
  if (unit < 0 || unit > 3) throw Damage("a time has an unknown unit");
  return "smun"[unit];
}

void set_number(uint8_t kind, const FlatTable& type, Field& field) {
  switch (kind) {
    case kInt:
      return set_integer(type, field);
    case kFloat: {
      const auto precision = type.number<int16_t>(0, 0);
      if (precision < 0 || precision > 2) throw Damage("a float has an unknown width");
      return set(field, {"efg"[precision]}, Layout::kFixed, 16 << precision);
    }
    case kDecimal: {
      const auto bits = type.number<int32_t>(2, 128);
      if (bits != 32 && bits != 64 && bits != 128 && bits != 256)
        throw Damage("a decimal has an unknown width");
      return set(field,
                 "d:" + std::to_string(type.number<int32_t>(0, 0)) + "," +
                     std::to_string(type.number<int32_t>(1, 0)) +
                     (bits == 128 ? "" : "," + std::to_string(bits)),
                 Layout::kFixed, bits);
    }
    case kDate: {
      const bool is_days = type.number<int16_t>(0, 1) == 0;
      return set(field, is_days ? "tdD" : "tdm", Layout::kFixed, is_days ? 32 : 64);
    }
    case kTime: {
      const char unit = unit_of(type, 1);
      return set(field, {'t', 't', unit}, Layout::kFixed, unit == 's' || unit == 'm' ? 32 : 64);
    }
    case kTimestamp:
      return set(field, std::string{'t', 's', unit_of(type, 0), ':'} + std::string(type.text(1)),
                 Layout::kFixed, 64);
    case kDuration:
      return set(field, {'t', 'D', unit_of(type, 1)}, Layout::kFixed, 64);
    default: {  // kInterval
      const auto unit = type.number<int16_t>(0, 0);
      if (unit < 0 || unit > 2) throw Damage("an interval has an unknown unit");
      return set(field, {'t', 'i', "MDn"[unit]}, Layout::kFixed, 32 << unit);
    }
  }
}

void set_type(uint8_t kind, const FlatTable& type, Field& field) {
  switch (kind) {
    case kNull:
      return set(field, "n", Layout::kNone);
    case kBinary:
      return set(field, "z", Layout::kOffsets32);
    case kUtf8:
      return set(field, "u", Layout::kOffsets32);
    case kBool:
      return set(field, "b", Layout::kFixed, 1);
    case kList:
      return set(field, "+l", Layout::kList32);
    case kStruct:
      return set(field, "+s", Layout::kValidity);
    case kUnion:
      return type.number<int16_t>(0, 0) == 0 ? set(field, "+us:", Layout::kSparseUnion)
                                             : set(field, "+ud:", Layout::kDenseUnion);
    case kFixedBinary: {
      const auto bytes = type.number<int32_t>(0, 0);
      if (bytes < 0) throw Damage("binary values have a negative size");
      return set(field, "w:" + std::to_string(bytes), Layout::kFixed, int64_t{8} * bytes);
    }
    case kFixedList: {
      const auto items = type.number<int32_t>(0, 0);
      if (items < 0) throw Damage("lists have a negative size");
      return set(field, "+w:" + std::to_string(items), Layout::kValidity);
    }
    case kMap:
      field.has_sorted_keys = type.number<uint8_t>(0, 0) != 0;
      return set(field, "+m", Layout::kList32);
    case kLargeBinary:
      return set(field, "Z", Layout::kOffsets64);
    case kLargeUtf8:
      return set(field, "U", Layout::kOffsets64);
    case kLargeList:
      return set(field, "+L", Layout::kList64);
    case kRunEnd:
      return set(field, "+r", Layout::kNone);
    case kBinaryView:
      return set(field, "vz", Layout::kViews);
    case kUtf8View:
      return set(field, "vu", Layout::kViews);
    case kListView:
      return set(field, "+vl", Layout::kListView32);
    case kLargeListView:
      return set(field, "+vL", Layout::kListView64);
    case kInt:
    case kFloat:
    case kDecimal:
    case kDate:
    case kTime:
    case kTimestamp:
    case kInterval:
    case kDuration:
      return set_number(kind, type, field);
    default:
      throw Unsupported("a field has a type that Headrace does not know: type=" +
                        std::to_string(kind));
  }
}

// How many children a field of a format has; -1: any number.
int64_t children_of(const std::string& format) {
  if (format[0] != '+') return 0;
  if (format == "+r") return 2;
  return format == "+s" || format[1] == 'u' ? -1 : 1;
}

Field parse_field(const FlatTable& table, int level, size_t& count) {
  if (level > kMostLevels) throw Damage("fields are nested in more than 64 levels");
  if (++count > kMostFields) throw Damage("the schema has more than 65,536 fields");
  Field field{.name = std::string(table.text(0))};
  const auto kind = table.number<uint8_t>(2, 0);
  const std::optional<FlatTable> type = table.table(3);
  if (!type) throw Damage("a field has no type");
  set_type(kind, *type, field);
  for (const FlatTable& child : table.tables(5))
    field.children.push_back(parse_field(child, level + 1, count));
  const int64_t wanted = children_of(field.format);
  if (wanted >= 0 && std::ssize(field.children) != wanted)
    throw Damage("a field has a wrong number of children");
  const std::optional<FlatTable> dictionary = table.table(4);
  if (!dictionary) return field;
  Field coded{.name = field.name,
              .is_ordered = dictionary->number<uint8_t>(2, 0) != 0,
              .dictionary_id = dictionary->number<int64_t>(0, 0)};
  if (const std::optional<FlatTable> index = dictionary->table(1))
    set_integer(*index, coded);
  else
    set(coded, "i", Layout::kFixed, 32);
  coded.dictionary = std::make_unique<Field>(std::move(field));
  return coded;
}

}  // namespace

std::vector<Field> parse_schema(const FlatTable& schema) {
  if (schema.number<int16_t>(0, 0) != 0) throw Unsupported("the data is big-endian");
  std::vector<Field> fields;
  size_t count = 0;
  for (const FlatTable& field : schema.tables(1)) fields.push_back(parse_field(field, 0, count));
  return fields;
}

// ---- writing
// -------------------------------------------------------------------------------------
namespace {

Field plain_field(const std::string& name, Dtype dtype) {
  Field field{.name = name};
  const int64_t bits = 8 * dtype.size_bytes();
  const char unit = "smun"[static_cast<size_t>(dtype.unit())];
  switch (dtype.id()) {
    case TypeId::kBool:
      set(field, "b", Layout::kFixed, 1);
      break;
    case TypeId::kString:
      set(field, "u", Layout::kOffsets32);
      break;
    case TypeId::kDate:
      set(field, "tdD", Layout::kFixed, bits);
      break;
    case TypeId::kTimestamp:
      set(field, std::string{'t', 's', unit, ':'} + std::string(dtype.zone()), Layout::kFixed,
          bits);
      break;
    case TypeId::kDuration:
      set(field, {'t', 'D', unit}, Layout::kFixed, bits);
      break;
    case TypeId::kDecimal:
      set(field, "d:" + std::to_string(dtype.precision()) + "," + std::to_string(dtype.scale()),
          Layout::kFixed, bits);
      break;
    case TypeId::kList:
      set(field, "+L", Layout::kList64);
      break;
    case TypeId::kCategory:
      set(field, "i", Layout::kFixed, bits);
      break;
    case TypeId::kComplex64:
    case TypeId::kComplex128:
      throw_error<UnsupportedError>("to_ipc", "Arrow has no complex numbers",
                                    {{"column", name}, {"dtype", dtype.name()}},
                                    "write the real and the imaginary part as two columns");
    case TypeId::kStruct:
      set(field, "+s", Layout::kValidity);
      break;
    case TypeId::kMap:
      set(field, "+m", Layout::kList32);
      break;
    default: {
      constexpr std::string_view kFormats = "csilCSILfg";
      const auto place = static_cast<size_t>(dtype.id()) - static_cast<size_t>(TypeId::kInt8);
      set(field, {kFormats[place]}, Layout::kFixed, bits);
    }
  }
  return field;
}

struct FlatType {
  uint8_t kind;
  FlatPlace place;
};

template <class Fill>
FlatType flat_type(FlatBuilder& out, uint8_t kind, Fill fill) {
  out.begin_table();
  fill();
  return {kind, out.finish_table()};
}

FlatType flat_type(FlatBuilder& out, uint8_t kind) {
  return flat_type(out, kind, [] {});
}

FlatType flat_integer(FlatBuilder& out, const std::string& format, int64_t bits) {
  return flat_type(out, kInt, [&] {
    out.number(0, static_cast<int32_t>(bits));
    out.number(1, static_cast<uint8_t>(format[0] >= 'a'));
  });
}

int16_t unit_number(char unit) {
  return static_cast<int16_t>(std::string_view("smun").find(unit));
}

FlatType build_type(FlatBuilder& out, const Field& field) {
  const std::string& format = field.format;
  if (format == "b") return flat_type(out, kBool);
  if (format == "u") return flat_type(out, kUtf8);
  if (format == "+L") return flat_type(out, kLargeList);
  if (format == "+s") return flat_type(out, kStruct);
  if (format == "+m") return flat_type(out, kMap, [&] { out.number(0, uint8_t{0}); });
  if (format == "f" || format == "g")
    return flat_type(out, kFloat,
                     [&] { out.number(0, int16_t{format == "f" ? int16_t{1} : int16_t{2}}); });
  if (format == "tdD") return flat_type(out, kDate, [&] { out.number(0, int16_t{0}); });
  if (format.starts_with("tD"))
    return flat_type(out, kDuration, [&] { out.number(0, unit_number(format[2])); });
  if (format.starts_with("ts")) {
    const std::string zone = format.substr(4);
    const FlatPlace name = zone.empty() ? 0 : out.text(zone);
    return flat_type(out, kTimestamp, [&] {
      if (name) out.refer(1, name);
      out.number(0, unit_number(format[2]));
    });
  }
  if (format.starts_with("d:")) {
    const size_t comma = format.find(',');
    return flat_type(out, kDecimal, [&] {
      out.number(2, int32_t{128});
      out.number(1, static_cast<int32_t>(std::stoi(format.substr(comma + 1))));
      out.number(0, static_cast<int32_t>(std::stoi(format.substr(2))));
    });
  }
  return flat_integer(out, format, field.bits);
}

FlatPlace build_field(FlatBuilder& out, const Field& field) {
  const Field& shown = field.dictionary ? *field.dictionary : field;
  std::vector<FlatPlace> children;
  for (const Field& child : shown.children) children.push_back(build_field(out, child));
  const FlatPlace list = out.tables(children);
  FlatPlace dictionary = 0;
  if (field.dictionary) {
    const FlatType index = flat_integer(out, field.format, field.bits);
    out.begin_table();
    out.number(0, field.dictionary_id);
    out.refer(1, index.place);
    out.number(2, static_cast<uint8_t>(field.is_ordered));
    dictionary = out.finish_table();
  }
  const FlatType type = build_type(out, shown);
  const FlatPlace name = out.text(field.name);
  out.begin_table();
  out.refer(0, name);
  out.refer(3, type.place);
  if (dictionary) out.refer(4, dictionary);
  out.refer(5, list);
  out.number(2, type.kind);
  out.number(1, static_cast<uint8_t>(field.is_nullable));
  return out.finish_table();
}

}  // namespace

Field field_of(const std::string& name, const Column& column, int64_t& next_dictionary) {
  const Dtype dtype = column.dtype();
  Field field = plain_field(name, dtype);
  if (dtype.has_items()) {
    Field items = field_of(dtype.is_map() ? "entries" : "item", *column.items(), next_dictionary);
    if (dtype.is_map()) items.is_nullable = items.children[0].is_nullable = false;
    field.children.push_back(std::move(items));
  }
  for (size_t f = 0; f < dtype.fields().size(); ++f)
    field.children.push_back(
        field_of(dtype.fields()[f].name, (*column.fields())[f], next_dictionary));
  if (dtype.is_category()) {
    field.is_ordered = column.dictionary()->is_ordered();
    field.dictionary_id = next_dictionary++;
    field.dictionary =
        std::make_unique<Field>(plain_field(name, column.dictionary()->values().dtype()));
  }
  return field;
}

FlatPlace build_schema(FlatBuilder& out, const std::vector<Field>& fields) {
  std::vector<FlatPlace> places;
  for (const Field& field : fields) places.push_back(build_field(out, field));
  const FlatPlace list = out.tables(places);
  out.begin_table();
  out.refer(1, list);
  out.number(0, int16_t{0});
  return out.finish_table();
}

}  // namespace hr::ipc
