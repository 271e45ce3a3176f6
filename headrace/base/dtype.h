// SPDX-License-Identifier: Apache-2.0
// Element types, shared by columns, arrays and every exchange protocol.
#pragma once
#include "headrace/base/api.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hr {

struct Field;

enum class TypeId : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kString,
  kDate,
  kTimestamp,
  kCategory,
  kDuration,
  kDecimal,
  kList,
  kStruct,
  kMap,
};

/// Levels of lists, structs and maps in each other.
inline constexpr int kMostNestedLevels = 32;

/// What timestamps and durations count.
enum class TimeUnit : uint8_t { kSecond, kMilli, kMicro, kNano };

constexpr int64_t units_per_second(TimeUnit unit) {
  constexpr int64_t kUnits[] = {1, 1'000, 1'000'000, 1'000'000'000};
  return kUnits[static_cast<size_t>(unit)];
}

/// The type of one element. A bool takes one bit in a column and one byte in a tensor; a string is
/// a 16-byte Arrow Utf8View in a column and cannot stand in a tensor. A date is an int32 of days
/// and a timestamp an int64 of its unit, both since 1970-01-01 in the proleptic Gregorian calendar
/// without leap seconds. A timestamp with a zone counts in UTC and is shown by the clocks of its
/// zone (`data/timezone_rules.h`). A duration is an int64 of its unit. A decimal is a 128-bit
/// integer of units of 10^-scale, of at most `precision` digits. A category is an int32 code into
/// the column's dictionary, a list a span of the column's items; each value there has the dtype
/// `item`. A struct has a value for each of its named fields; a map is a list of structs of two
/// fields, "key" and "value". Dates, decimals, categories, timestamps with a zone and what is
/// nested stand in columns only.
class Dtype {
 public:
  constexpr Dtype() = default;

  /// Timestamps and durations count microseconds; `timestamp(unit)` and `duration(unit)` make the
  /// others.
  constexpr Dtype(TypeId id) : id_(id) {}  // NOLINT(google-explicit-constructor)

  static constexpr Dtype timestamp(TimeUnit unit) {
    Dtype dtype(TypeId::kTimestamp);
    dtype.unit_ = unit;
    return dtype;
  }

  /// An instant, shown in the zone of this name. Throws InvalidArgumentError for what can be no
  /// name of a zone.
  HR_API static Dtype timestamp(TimeUnit unit, std::string_view zone);

  static constexpr Dtype duration(TimeUnit unit) {
    Dtype dtype(TypeId::kDuration);
    dtype.unit_ = unit;
    return dtype;
  }

  /// Throws InvalidArgumentError unless 1 <= precision <= 38 and 0 <= scale <= precision.
  HR_API static Dtype decimal(int precision, int scale);

  /// Categories of this dtype; TypeId::kCategory itself are those of strings. Throws
  /// UnsupportedError for categories of other than strings, numbers, dates, times and durations.
  HR_API static Dtype category(Dtype item);

  /// Lists of this dtype. Throws UnsupportedError for what is nested in more than 32 levels.
  HR_API static Dtype list(Dtype item);

  /// Structs of these fields, in their order. Throws InvalidArgumentError for two fields of one
  /// name or a name that is not UTF-8, UnsupportedError as `list` does and for more than 65,535
  /// fields.
  HR_API static Dtype structure(const std::vector<Field>& fields);

  /// Maps: lists of structs of "key" and "value". Throws as `list` does.
  HR_API static Dtype map(Dtype key, Dtype value);

  constexpr TypeId id() const { return id_; }

  /// Of a timestamp or duration.
  constexpr TimeUnit unit() const { return unit_; }

  /// The name of a timestamp's zone; empty for one without.
  HR_API std::string_view zone() const;

  /// The number of that name in this process, from 1; 0 without a zone.
  constexpr uint16_t zone_number() const { return parameter_; }

  /// What tells dtypes of one TypeId and unit in this process.
  constexpr uint16_t number() const { return parameter_; }

  /// Digits of a decimal, and those of them behind the point.
  constexpr int precision() const { return parameter_ >> 8; }

  constexpr int scale() const { return parameter_ & 0xFF; }

  /// Of the items of a list, of the structs of a map, or of the values that categories stand for.
  HR_API Dtype item() const;

  /// Of a struct; empty for others. They live as long as the process.
  HR_API const std::vector<Field>& fields() const;

  /// 0 for what is not nested, 1 for structs and lists of such, ...; a map counts as its structs.
  HR_API int levels() const;

  /// The dtype of the integers that dates, times, durations and categories are kept in; else the
  /// dtype itself.
  constexpr Dtype storage() const {
    switch (id_) {
      case TypeId::kDate:
      case TypeId::kCategory:
        return TypeId::kInt32;
      case TypeId::kTimestamp:
      case TypeId::kDuration:
        return TypeId::kInt64;
      default:
        return *this;
    }
  }

  /// Bytes of one tensor element (bool: 1), of one string view or span of a list or map (16), or of
  /// the place of a struct in its fields (8).
  constexpr int64_t size_bytes() const {
    switch (id_) {
      case TypeId::kBool:
      case TypeId::kInt8:
      case TypeId::kUInt8:
        return 1;
      case TypeId::kInt16:
      case TypeId::kUInt16:
        return 2;
      case TypeId::kInt32:
      case TypeId::kUInt32:
      case TypeId::kFloat32:
      case TypeId::kDate:
      case TypeId::kCategory:
        return 4;
      case TypeId::kInt64:
      case TypeId::kUInt64:
      case TypeId::kFloat64:
      case TypeId::kComplex64:
      case TypeId::kTimestamp:
      case TypeId::kDuration:
      case TypeId::kStruct:
        return 8;
      case TypeId::kComplex128:
      case TypeId::kString:
      case TypeId::kDecimal:
      case TypeId::kList:
      case TypeId::kMap:
        return 16;
    }
    return 0;
  }

  constexpr bool is_bool() const { return id_ == TypeId::kBool; }

  constexpr bool is_signed() const { return id_ >= TypeId::kInt8 && id_ <= TypeId::kInt64; }

  constexpr bool is_unsigned() const { return id_ >= TypeId::kUInt8 && id_ <= TypeId::kUInt64; }

  constexpr bool is_integer() const { return is_signed() || is_unsigned(); }

  constexpr bool is_floating() const { return id_ == TypeId::kFloat32 || id_ == TypeId::kFloat64; }

  constexpr bool is_complex() const {
    return id_ == TypeId::kComplex64 || id_ == TypeId::kComplex128;
  }

  /// True for integers and floats: what arithmetic, sorting and parsing of numbers work on.
  constexpr bool is_real() const { return is_integer() || is_floating(); }

  /// What the evaluator computes with: integers, floats and bools.
  constexpr bool is_number() const { return is_real() || is_bool(); }

  constexpr bool is_string() const { return id_ == TypeId::kString; }

  constexpr bool is_date() const { return id_ == TypeId::kDate; }

  constexpr bool is_timestamp() const { return id_ == TypeId::kTimestamp; }

  constexpr bool has_zone() const { return is_timestamp() && parameter_ != 0; }

  constexpr bool is_category() const { return id_ == TypeId::kCategory; }

  /// True for strings and categories of strings.
  constexpr bool has_text() const { return is_string() || (is_category() && parameter_ == 0); }

  constexpr bool is_decimal() const { return id_ == TypeId::kDecimal; }

  constexpr bool is_list() const { return id_ == TypeId::kList; }

  constexpr bool is_struct() const { return id_ == TypeId::kStruct; }

  constexpr bool is_map() const { return id_ == TypeId::kMap; }

  /// True for lists and maps: spans of items.
  constexpr bool has_items() const { return is_list() || is_map(); }

  /// True for lists, maps and structs.
  constexpr bool is_nested() const { return has_items() || is_struct(); }

  constexpr bool is_duration() const { return id_ == TypeId::kDuration; }

  /// True for timestamps and durations: an int64 of a unit, and NumPy's NaT where it is null.
  constexpr bool has_unit() const { return is_timestamp() || is_duration(); }

  /// True for dates and timestamps.
  constexpr bool is_temporal() const { return is_date() || is_timestamp(); }

  /// The word of NumPy and pandas: "float64", "bool", "string", "date", "datetime64[us]",
  /// "datetime64[us, Europe/Berlin]", "timedelta64[us]", "decimal128(15, 2)", "list[int64]",
  /// "struct[x: int64, "a b": string]", "map[string, int64]". All categories are "category".
  HR_API std::string_view name() const;

  friend constexpr bool operator==(Dtype, Dtype) = default;

 private:
  TypeId id_ = TypeId::kFloat64;
  TimeUnit unit_ = TimeUnit::kMicro;  // as it is here for all but timestamps and durations
  uint16_t parameter_ = 0;            // the number of a zone, item or struct; precision and scale
};

/// A field of a struct.
struct Field {
  std::string name;
  Dtype dtype{};

  friend bool operator==(const Field&, const Field&) = default;
};

/// The dtype with the word `name` ("float" and "int" mean 64 bits, "str" means string). Throws
/// TypeMismatchError, naming the known words, for any other; also for "datetime64", which as in
/// pandas needs its unit.
HR_API Dtype dtype_from_name(std::string_view name);

template <class T>
constexpr Dtype dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) return TypeId::kBool;
  if constexpr (std::is_same_v<U, int8_t>) return TypeId::kInt8;
  if constexpr (std::is_same_v<U, int16_t>) return TypeId::kInt16;
  if constexpr (std::is_same_v<U, int32_t>) return TypeId::kInt32;
  if constexpr (std::is_same_v<U, int64_t>) return TypeId::kInt64;
  if constexpr (std::is_same_v<U, uint8_t>) return TypeId::kUInt8;
  if constexpr (std::is_same_v<U, uint16_t>) return TypeId::kUInt16;
  if constexpr (std::is_same_v<U, uint32_t>) return TypeId::kUInt32;
  if constexpr (std::is_same_v<U, uint64_t>) return TypeId::kUInt64;
  if constexpr (std::is_same_v<U, float>) return TypeId::kFloat32;
  if constexpr (std::is_same_v<U, double>) return TypeId::kFloat64;
  if constexpr (std::is_same_v<U, std::complex<float>>) return TypeId::kComplex64;
  if constexpr (std::is_same_v<U, std::complex<double>>) return TypeId::kComplex128;
}

/// Throws TypeMismatchError for a dtype that is not an integer or a float.
[[noreturn]] HR_API void refuse_unreal(Dtype dtype);

/// Calls `f(std::type_identity<T>{})` with the C++ type of an integer or float dtype. Operators
/// refuse other dtypes before, with an error that names the fix; one that slips through throws.
template <class F>
decltype(auto) visit_real(Dtype dtype, F&& f) {
  switch (dtype.id()) {
    case TypeId::kInt8:
      return f(std::type_identity<int8_t>{});
    case TypeId::kInt16:
      return f(std::type_identity<int16_t>{});
    case TypeId::kInt32:
      return f(std::type_identity<int32_t>{});
    case TypeId::kInt64:
      return f(std::type_identity<int64_t>{});
    case TypeId::kUInt8:
      return f(std::type_identity<uint8_t>{});
    case TypeId::kUInt16:
      return f(std::type_identity<uint16_t>{});
    case TypeId::kUInt32:
      return f(std::type_identity<uint32_t>{});
    case TypeId::kUInt64:
      return f(std::type_identity<uint64_t>{});
    case TypeId::kFloat32:
      return f(std::type_identity<float>{});
    case TypeId::kFloat64:
      return f(std::type_identity<double>{});
    default:
      refuse_unreal(dtype);
  }
}

/// The same for the two float dtypes alone.
template <class F>
decltype(auto) visit_floating(Dtype dtype, F&& f) {
  if (dtype.id() == TypeId::kFloat32) return f(std::type_identity<float>{});
  return f(std::type_identity<double>{});
}

}  // namespace hr
