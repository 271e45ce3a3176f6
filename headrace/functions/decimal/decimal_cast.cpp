// SPDX-License-Identifier: Apache-2.0
// Decimals to and from numbers and strings.
#include "headrace/functions/cast/checked_cast.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/functions/strings/string_builder.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace hr {

namespace {

std::string text_of_units(Int128 units, int scale) {
  char text[kMaxDecimal];
  return {text, write_decimal(units, scale, text)};
}

// The nearest float: of few digits by one division, which rounds once.
double nearest(Int128 units, int scale) {
  constexpr Int128 kExact = Int128{1} << 53;
  static constexpr double kTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (units <= kExact && units >= -kExact && scale < static_cast<int>(std::size(kTens)))
    return static_cast<double>(static_cast<int64_t>(units)) / kTens[scale];
  char text[kMaxDecimal];
  const char* const end = write_decimal(units, scale, text);
  double value = 0;
  std::from_chars(text, end, value);
  return value;
}

bool from_float(double value, Dtype dtype, Int128* units) {
  if (!std::isfinite(value) || std::fabs(value) >= 1e39) return false;
  char text[128];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, dtype.scale());
  return error == std::errc() && fit_decimal(parse_decimal(text, end), dtype, units);
}

Column to_decimals(const Column& from, Dtype dtype) {
  const Dtype own = from.dtype();
  if (own.is_decimal()) {
    const auto in = from.values<Int128>();
    const int up = dtype.scale() - own.scale();
    return checked_cast<Int128>(
        from, dtype,
        [&](int64_t row, Int128* out) {
          const Int128 units = in[static_cast<size_t>(row)];
          if (up >= 0) return scale_up(units, up, out) && has_digits(*out, dtype.precision());
          *out = scale_down(units, -up);
          return has_digits(*out, dtype.precision());
        },
        [&](int64_t row) { return text_of_units(in[static_cast<size_t>(row)], own.scale()); });
  }
  if (own.is_string())
    return checked_cast<Int128>(
        from, dtype,
        [&](int64_t row, Int128* out) {
          std::string_view text = from.string(row);
          constexpr std::string_view kBlanks = " \t\n\r\f\v";
          const size_t begin = text.find_first_not_of(kBlanks);
          if (begin == text.npos) return false;
          text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
          return fit_decimal(parse_decimal(text.data(), text.data() + text.size()), dtype, out);
        },
        [&](int64_t row) { return std::string(from.string(row)); });
  if (own.is_bool())
    return checked_cast<Int128>(
        from, dtype,
        [&](int64_t row, Int128* out) {
          return scale_up(from.bit(row), dtype.scale(), out) && has_digits(*out, dtype.precision());
        },
        [&](int64_t) { return std::string("true"); });
  return visit_real(own, [&]<class T>(std::type_identity<T>) {
    const auto in = from.values<T>();
    return checked_cast<Int128>(
        from, dtype,
        [&](int64_t row, Int128* out) {
          const T value = in[static_cast<size_t>(row)];
          if constexpr (std::is_floating_point_v<T>)
            return from_float(static_cast<double>(value), dtype, out);
          else
            return scale_up(value, dtype.scale(), out) && has_digits(*out, dtype.precision());
        },
        [&](int64_t row) { return std::to_string(in[static_cast<size_t>(row)]); });
  });
}

Column to_texts(const Column& from) {
  const auto in = from.values<Int128>();
  const int scale = from.dtype().scale();
  const Nulls null(from);
  return build_strings(from.num_rows(), {reads(from)}, null, null.bitmap(from.num_rows()), [&] {
    return [&](int64_t row, StringBuilder& builder) {
      char* const text = builder.reserve(kMaxDecimal);
      builder.used(
          static_cast<size_t>(write_decimal(in[static_cast<size_t>(row)], scale, text) - text));
    };
  });
}

}  // namespace

Column decimal_cast(const Column& column, Dtype dtype) {
  if (dtype.is_decimal()) return to_decimals(column, dtype);
  if (dtype.is_string()) return to_texts(column);
  const auto in = column.values<Int128>();
  const int scale = column.dtype().scale();
  if (dtype.is_bool()) {
    const Nulls null(column);
    Buffer bits = bits_of(column.num_rows(), {reads(column)}, [&](int64_t row) {
      return !null(row) && in[static_cast<size_t>(row)] != 0;
    });
    return bool_column(column.num_rows(), std::move(bits), null.any(), null);
  }
  return visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    return checked_cast<T>(
        column, dtype,
        [&](int64_t row, T* out) {
          const Int128 units = in[static_cast<size_t>(row)];
          if constexpr (std::is_floating_point_v<T>) {
            *out = static_cast<T>(nearest(units, scale));
            return true;
          } else {
            const Int128 whole = units / power_of_ten(scale);
            *out = static_cast<T>(whole);
            return whole >= std::numeric_limits<T>::min() && whole <= std::numeric_limits<T>::max();
          }
        },
        [&](int64_t row) { return text_of_units(in[static_cast<size_t>(row)], scale); });
  });
}

namespace {

struct DecimalCast final : OperatorOf<DecimalCast> {
  Dtype dtype{};

  std::string_view name() const override { return "astype"; }

  std::string arguments() const override { return std::string(dtype.name()); }

  Value execute(std::span<const Value> inputs) const override {
    return decimal_cast(std::get<Column>(inputs[0]), dtype);
  }

  static auto parameters(auto& self) { return std::tie(self.dtype); }
};

}  // namespace

NodePtr decimal_to_float(const NodePtr& column) {
  const Dtype dtype = column->signature().dtype;
  return dtype.is_decimal() ? decimal_cast(column, TypeId::kFloat64) : column;
}

NodePtr decimal_cast(const NodePtr& column, Dtype dtype) {
  Signature signature = column->signature();
  const Dtype from = signature.dtype;
  const auto plain = [](Dtype each) {
    return each.is_number() || each.is_string() || each.is_decimal();
  };
  if (signature.form != Form::kColumn || !plain(from) || !plain(dtype) ||
      !(from.is_decimal() || dtype.is_decimal()))
    throw_error<TypeMismatchError>("astype", "no conversion between these dtypes",
                                   {{"from", from.name()}, {"to", dtype.name()}},
                                   "decimals go to and from numbers, bools and strings");
  if (from == dtype) return column;
  signature.dtype = dtype;
  return apply_operator(DecimalCast::make(dtype), std::move(signature), {column});
}

}  // namespace hr
