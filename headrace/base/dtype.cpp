// SPDX-License-Identifier: Apache-2.0
// Names of element types.
#include "headrace/base/dtype.h"

#include "headrace/base/error.h"

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

}  // namespace

std::string_view Dtype::name() const {
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
  if (name == "datetime64" || name == "timedelta64")
    throw_error<TypeMismatchError>(
        "dtype", std::string(name) + " has no unit", {{"dtype", name}},
        "use " + std::string(name) + "[us], or s, ms or ns for the unit");
  throw_error<TypeMismatchError>("dtype", "unknown dtype", {{"dtype", name}},
                                 "use one of bool, int8 to int64, uint8 to uint64, float32, "
                                 "float64, complex64, complex128, string, date, category, "
                                 "datetime64[s], [ms], [us] or [ns], timedelta64[s], ...");
}

void refuse_unreal(Dtype dtype) {
  throw_error<TypeMismatchError>("dtype", "the operation works on integers and floats only",
                                 {{"dtype", dtype.name()}}, "use astype, or leave the column out");
}

}  // namespace hr
