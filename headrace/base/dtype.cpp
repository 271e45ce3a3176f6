// SPDX-License-Identifier: Apache-2.0
// Names of element types.
#include "headrace/base/dtype.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"

#include <charconv>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
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

// Zones, and dtypes of items of lists and categories, that this process has heard of, by number.
// They are few and are never forgotten.
constexpr size_t kMostZones = 4096, kLongestZone = 64, kMostLists = 65'535;
constexpr int kMostLevels = 32;        // of lists in lists
constexpr size_t kLongestList = 1024;  // name

struct Zone {
  std::string name;
  std::string dtypes[std::size(kUnits)];
};

struct ItemType {
  Dtype item;
  std::string list_name;
};

struct Known {
  std::mutex mutex;
  std::deque<Zone> zones;
  std::deque<ItemType> items;
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

uint16_t number_of_item(Dtype item) {
  const std::string name = "list[" + std::string(item.name()) + "]";
  int levels = 1;
  for (Dtype each = item; each.is_list(); each = each.item()) ++levels;
  const std::lock_guard lock(known().mutex);
  std::deque<ItemType>& items = known().items;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].item == item) return static_cast<uint16_t>(i + 1);
  if (levels > kMostLevels || items.size() == kMostLists)
    throw_error<UnsupportedError>("dtype", "too many levels or dtypes of lists",
                                  {{"levels", levels}, {"dtypes", items.size()}});
  items.push_back({item, name});
  return static_cast<uint16_t>(items.size());
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

std::string_view Dtype::name() const {
  if (is_list()) return item_of(parameter_).list_name;
  if (is_decimal()) return name_of_decimal(precision(), scale());
  if (has_zone()) return zone_of(parameter_).dtypes[static_cast<size_t>(unit_)];
  if (is_timestamp()) return kTimestamps[static_cast<size_t>(unit_)];
  if (is_duration()) return kDurations[static_cast<size_t>(unit_)];
  return kNames[static_cast<size_t>(id_)];
}

Dtype dtype_from_name(std::string_view name) {
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
  if (name.starts_with("list[") && name.ends_with(']') && name.size() <= kLongestList)
    return Dtype::list(dtype_from_name(name.substr(5, name.size() - 6)));
  if (name == "datetime64" || name == "timedelta64")
    throw_error<TypeMismatchError>(
        "dtype", std::string(name) + " has no unit", {{"dtype", name}},
        "use " + std::string(name) + "[us], or s, ms or ns for the unit");
  throw_error<TypeMismatchError>("dtype", "unknown dtype", {{"dtype", name}},
                                 "use one of bool, int8 to int64, uint8 to uint64, float32, "
                                 "float64, complex64, complex128, string, date, category, "
                                 "datetime64[s], [ms], [us] or [ns], datetime64[us, UTC], "
                                 "timedelta64[s], list[int64], ...");
}

void refuse_unreal(Dtype dtype) {
  throw_error<TypeMismatchError>("dtype", "expected integers or floats", {{"dtype", dtype.name()}},
                                 "use astype, or leave the column out");
}

}  // namespace hr
