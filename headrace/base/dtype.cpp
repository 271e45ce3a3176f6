// SPDX-License-Identifier: Apache-2.0
// Names of element types.
#include "headrace/base/dtype.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kNames[] = {
    "bool",       "int8",   "int16",  "int32",          "int64",    "uint8",
    "uint16",     "uint32", "uint64", "float32",        "float64",  "complex64",
    "complex128", "string", "date",   "datetime64[us]", "category", "timedelta64[us]"};
constexpr std::string_view kTimestamps[] = {"datetime64[s]", "datetime64[ms]", "datetime64[us]",
                                            "datetime64[ns]"};
constexpr std::string_view kDurations[] = {"timedelta64[s]", "timedelta64[ms]", "timedelta64[us]",
                                           "timedelta64[ns]"};
constexpr std::string_view kUnits[] = {"s", "ms", "us", "ns"};

constexpr int kMostDigits = 38;  // of a decimal

// Zones, dtypes of items of lists and categories, and structs that this process has heard of, by
// number. They are few and are never forgotten.
constexpr size_t kMostZones = 4096, kLongestZone = 64, kMostNested = 65'535;

struct Zone {
  std::string name;
  std::string dtypes[std::size(kUnits)];
};

struct ItemType {
  Dtype item;
  std::string list_name;
  std::string map_name;  // of structs of two fields
  int levels;            // of the item
};

struct StructType {
  std::vector<Field> fields;
  std::string name;
  int levels;
};

struct Known {
  std::mutex mutex;
  std::deque<Zone> zones;
  std::deque<ItemType> items;
  std::deque<StructType> structs;
  std::unordered_map<std::string, uint16_t> numbers;  // of structs, by their fields
};

// A fork waits until no thread searches, and the child goes on searching.
Known& known() {
  return process_global([] {
    pthread_atfork([] { known().mutex.lock(); }, [] { known().mutex.unlock(); },
                   [] { known().mutex.unlock(); });
    return Known{};
  });
}

bool can_be_zone(std::string_view name) {
  constexpr std::string_view kOthers = "/_+-:";
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && kOthers.find(c) == kOthers.npos) return false;
  }
  return !name.empty() && name.size() <= kLongestZone;
}

uint16_t number_of_zone(std::string_view name) {
  if (!can_be_zone(name))
    throw_error<InvalidArgumentError>("dtype", "unknown time zone",
                                      {{"zone", name.substr(0, kLongestZone)}},
                                      "use a name such as Europe/Berlin, UTC or +05:30");
  const std::lock_guard lock(known().mutex);
  std::deque<Zone>& zones = known().zones;
  for (size_t i = 0; i < zones.size(); ++i)
    if (zones[i].name == name) return static_cast<uint16_t>(i + 1);
  if (zones.size() == kMostZones)
    throw_error<UnsupportedError>("dtype", "too many time zones in one process",
                                  {{"zone", name}, {"zones", kMostZones}});
  Zone& zone = zones.emplace_back();
  zone.name = name;
  for (size_t unit = 0; unit < std::size(kUnits); ++unit)
    zone.dtypes[unit] = "datetime64[" + std::string(kUnits[unit]) + ", " + std::string(name) + "]";
  return static_cast<uint16_t>(zones.size());
}

std::string_view name_of_decimal(int precision, int scale) {
  const auto& names = process_global([] {
    std::vector<std::string> all;
    for (int p = 0; p <= kMostDigits; ++p)
      for (int s = 0; s <= kMostDigits; ++s)
        all.push_back("decimal128(" + std::to_string(p) + ", " + std::to_string(s) + ")");
    return all;
  });
  return names[static_cast<size_t>(precision * (kMostDigits + 1) + scale)];
}

// The dtype with the name "decimal128(p, s)" or "decimal128(p,s)"; another dtype for other words.
Dtype decimal_from_name(std::string_view name) {
  constexpr std::string_view kBegin = "decimal128(";
  if (!name.starts_with(kBegin) || !name.ends_with(')')) return {};
  name.remove_prefix(kBegin.size());
  const char *at = name.data(), *const end = at + name.size() - 1;
  int precision = 0, scale = 0;
  const auto [comma, bad] = std::from_chars(at, end, precision);
  if (bad != std::errc() || comma == end || *comma != ',') return {};
  at = comma + 1;
  while (at < end && *at == ' ') ++at;
  const auto [stop, also_bad] = std::from_chars(at, end, scale);
  if (also_bad != std::errc() || stop != end) return {};
  return Dtype::decimal(precision, scale);
}

const Zone& zone_of(uint16_t number) {
  const std::lock_guard lock(known().mutex);
  return known().zones[number - 1u];
}

const ItemType& item_of(uint16_t number) {
  const std::lock_guard lock(known().mutex);
  return known().items[number - 1u];
}

const StructType& struct_of(uint16_t number) {
  const std::lock_guard lock(known().mutex);
  return known().structs[number - 1u];
}

void check_nested(int levels, size_t known_dtypes) {
  if (levels > kMostNestedLevels || known_dtypes >= kMostNested)
    throw_error<UnsupportedError>("dtype", "too many levels or dtypes of lists and structs",
                                  {{"levels", levels}, {"dtypes", known_dtypes}});
}

uint16_t number_of_item(Dtype item) {
  const int levels = item.levels();
  std::string list_name = "list[" + std::string(item.name()) + "]", map_name;
  if (const std::vector<Field>& fields = item.fields(); fields.size() == 2)
    map_name = "map[" + std::string(fields[0].dtype.name()) + ", " +
               std::string(fields[1].dtype.name()) + "]";
  const std::lock_guard lock(known().mutex);
  std::deque<ItemType>& items = known().items;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].item == item) return static_cast<uint16_t>(i + 1);
  check_nested(levels + 1, items.size());
  items.push_back({item, std::move(list_name), std::move(map_name), levels});
  return static_cast<uint16_t>(items.size());
}

// A field's name as it stands in the name of a struct: in quotes unless it is a plain word.
std::string quoted(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  if (!name.empty() && std::ranges::all_of(name, is_plain)) return std::string(name);
  std::string text = "\"";
  for (const char c : name) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20)
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    else if (c == '"' || c == '\\')
      text += {'\\', c};
    else
      text += c;
  }
  return text + '"';
}

// What tells structs: names alone do not, as all categories have one.
std::string key_of(const std::vector<Field>& fields) {
  std::string key;
  const auto append = [&](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const Field& field : fields) {
    append(field.name.size());
    key += field.name;
    append(field.dtype.id());
    append(field.dtype.unit());
    append(field.dtype.number());
  }
  return key;
}

uint16_t number_of_struct(const std::vector<Field>& fields) {
  if (fields.size() > kMostNested)
    throw_error<UnsupportedError>("dtype", "too many fields of a struct",
                                  {{"fields", fields.size()}});
  int levels = 1;
  std::string name = "struct[";
  std::unordered_set<std::string_view> seen;
  for (const Field& field : fields) {
    if (!is_valid_utf8(field.name))
      throw_error<InvalidArgumentError>("dtype", "the name of a field is not UTF-8",
                                        {{"field", &field - fields.data()}}, "rename the field");
    if (!seen.insert(field.name).second)
      throw_error<InvalidArgumentError>("dtype", "two fields of a struct have the same name",
                                        {{"name", field.name}}, "rename one of them");
    levels = std::max(levels, field.dtype.levels() + 1);
    name += (seen.size() == 1 ? "" : ", ") + quoted(field.name) + ": ";
    name += field.dtype.name();
  }
  std::string key = key_of(fields);
  const std::lock_guard lock(known().mutex);
  std::deque<StructType>& structs = known().structs;
  if (const auto found = known().numbers.find(key); found != known().numbers.end())
    return found->second;
  check_nested(levels, structs.size());
  structs.push_back({fields, name + "]", levels});
  const auto number = static_cast<uint16_t>(structs.size());
  known().numbers.emplace(std::move(key), number);
  return number;
}

}  // namespace

Dtype Dtype::timestamp(TimeUnit unit, std::string_view zone) {
  Dtype dtype = timestamp(unit);
  dtype.parameter_ = number_of_zone(zone);
  return dtype;
}

std::string_view Dtype::zone() const {
  if (!has_zone()) return {};
  return zone_of(parameter_).name;
}

Dtype Dtype::decimal(int precision, int scale) {
  if (precision < 1 || precision > kMostDigits || scale < 0 || scale > precision)
    throw_error<InvalidArgumentError>(
        "dtype", "invalid precision or scale", {{"precision", precision}, {"scale", scale}},
        "use a precision of 1 to 38 and a scale of 0 to the precision");
  Dtype dtype(TypeId::kDecimal);
  dtype.parameter_ = static_cast<uint16_t>(precision << 8 | scale);
  return dtype;
}

Dtype Dtype::list(Dtype item) {
  Dtype dtype(TypeId::kList);
  dtype.parameter_ = number_of_item(item);
  return dtype;
}

Dtype Dtype::structure(const std::vector<Field>& fields) {
  Dtype dtype(TypeId::kStruct);
  dtype.parameter_ = number_of_struct(fields);
  return dtype;
}

Dtype Dtype::map(Dtype key, Dtype value) {
  Dtype dtype(TypeId::kMap);
  dtype.parameter_ = number_of_item(structure({{"key", key}, {"value", value}}));
  return dtype;
}

Dtype Dtype::category(Dtype item) {
  if (item.is_string()) return TypeId::kCategory;
  if (!item.is_number() && !item.is_temporal() && !item.is_duration())
    throw_error<UnsupportedError>("category", "categories cannot have this dtype",
                                  {{"dtype", item.name()}}, "use astype('string') first");
  Dtype dtype(TypeId::kCategory);
  dtype.parameter_ = number_of_item(item);
  return dtype;
}

Dtype Dtype::item() const {
  if (has_text()) return TypeId::kString;
  return item_of(parameter_).item;
}

const std::vector<Field>& Dtype::fields() const {
  if (is_struct()) return struct_of(parameter_).fields;
  return process_global([] { return std::vector<Field>(); });
}

int Dtype::levels() const {
  if (has_items()) return item_of(parameter_).levels + (is_list() ? 1 : 0);
  return is_struct() ? struct_of(parameter_).levels : 0;
}

std::string_view Dtype::name() const {
  if (is_list()) return item_of(parameter_).list_name;
  if (is_map()) return item_of(parameter_).map_name;
  if (is_struct()) return struct_of(parameter_).name;
  if (is_decimal()) return name_of_decimal(precision(), scale());
  if (has_zone()) return zone_of(parameter_).dtypes[static_cast<size_t>(unit_)];
  if (is_timestamp()) return kTimestamps[static_cast<size_t>(unit_)];
  if (is_duration()) return kDurations[static_cast<size_t>(unit_)];
  return kNames[static_cast<size_t>(id_)];
}

namespace {

Dtype parse_dtype(std::string_view name, int levels);

// The parts between commas that stand in no brackets and no quotes.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  bool in_quotes = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_quotes) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        in_quotes = false;
      continue;
    }
    if (c == '"') in_quotes = true;
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c != ',' || depth != 0) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  for (std::string_view& part : parts)
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
  return parts;
}

[[noreturn]] void refuse_name(std::string_view name) {
  constexpr size_t kShown = 200;
  throw_error<TypeMismatchError>("dtype", "unknown dtype", {{"dtype", name.substr(0, kShown)}},
                                 "use one of bool, int8 to int64, uint8 to uint64, float32, "
                                 "float64, complex64, complex128, string, date, category, "
                                 "datetime64[s], [ms], [us] or [ns], datetime64[us, UTC], "
                                 "timedelta64[s], list[int64], struct[x: int64], "
                                 "map[string, int64], ...");
}

int digit_of(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

// Takes the name of a field, and the colon behind it, from the text.
std::string take_name(std::string_view& text) {
  const std::string_view whole = text;
  std::string name;
  if (text.starts_with('"')) {
    size_t at = 1;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\') {
        name += text[at];
      } else if (at + 3 < text.size() && text[at + 1] == 'x') {
        name += static_cast<char>(digit_of(text[at + 2]) << 4 | digit_of(text[at + 3]));
        at += 3;
      } else if (++at < text.size()) {
        name += text[at];
      }
    }
    text.remove_prefix(std::min(at + 1, text.size()));
  } else {
    name = text.substr(0, text.find(':'));
    text.remove_prefix(name.size());
  }
  if (!text.starts_with(':')) refuse_name(whole);
  text.remove_prefix(std::min(text.find_first_not_of(' ', 1), text.size()));
  return name;
}

// Of "list[...]", "struct[...]" and "map[...]"; another dtype for other words.
Dtype nested_from_name(std::string_view name, int levels) {
  if (!name.ends_with(']')) return {};
  const auto inside = [&](std::string_view begin) {
    return name.substr(begin.size(), name.size() - begin.size() - 1);
  };
  if (name.starts_with("list[")) return Dtype::list(parse_dtype(inside("list["), levels));
  if (name.starts_with("map[")) {
    const std::vector<std::string_view> parts = parts_of(inside("map["));
    if (parts.size() != 2) refuse_name(name);
    return Dtype::map(parse_dtype(parts[0], levels), parse_dtype(parts[1], levels));
  }
  if (!name.starts_with("struct[")) return {};
  std::vector<Field> fields;
  for (std::string_view part : parts_of(inside("struct["))) {
    std::string field = take_name(part);
    fields.push_back({std::move(field), parse_dtype(part, levels)});
  }
  return Dtype::structure(fields);
}

Dtype parse_dtype(std::string_view name, int levels) {
  check_nested(levels, 0);
  if (name == "float") return TypeId::kFloat64;
  if (name == "int") return TypeId::kInt64;
  if (name == "str") return TypeId::kString;
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<TypeId>(i);
  for (size_t i = 0; i < std::size(kTimestamps); ++i)
    if (kTimestamps[i] == name) return Dtype::timestamp(static_cast<TimeUnit>(i));
  for (size_t i = 0; i < std::size(kDurations); ++i)
    if (kDurations[i] == name) return Dtype::duration(static_cast<TimeUnit>(i));
  for (size_t i = 0; i < std::size(kUnits); ++i) {
    const std::string begin = "datetime64[" + std::string(kUnits[i]) + ", ";
    if (name.starts_with(begin) && name.ends_with(']'))
      return Dtype::timestamp(static_cast<TimeUnit>(i),
                              name.substr(begin.size(), name.size() - begin.size() - 1));
  }
  if (const Dtype decimal = decimal_from_name(name); decimal.is_decimal()) return decimal;
  if (const Dtype nested = nested_from_name(name, levels + 1); nested.is_nested()) return nested;
  if (name == "datetime64" || name == "timedelta64")
    throw_error<TypeMismatchError>(
        "dtype", std::string(name) + " has no unit", {{"dtype", name}},
        "use " + std::string(name) + "[us], or s, ms or ns for the unit");
  refuse_name(name);
}

}  // namespace

Dtype dtype_from_name(std::string_view name) {
  return parse_dtype(name, 0);
}

void refuse_unreal(Dtype dtype) {
  throw_error<TypeMismatchError>("dtype", "expected integers or floats", {{"dtype", dtype.name()}},
                                 "use astype, or leave the column out");
}

}  // namespace hr
