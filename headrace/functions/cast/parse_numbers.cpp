// SPDX-License-Identifier: Apache-2.0
// Numbers from strings by the standard library's parser, which rounds correctly.
#include "headrace/functions/cast/parse_numbers.h"

#include "headrace/algo/select/map_rows.h"
#include "headrace/functions/strings/string_builder.h"

#include <charconv>
#include <limits>
#include <type_traits>

namespace hr {

namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";

std::string_view stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

template <class T>
bool parse(std::string_view text, T& value) {
  text = stripped(text);
  if (text.starts_with('+') && !text.substr(1).starts_with('-')) text.remove_prefix(1);
  if (text.empty()) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if constexpr (std::is_floating_point_v<T>) {
    if (stop == end && error == std::errc::result_out_of_range) {
      // Too large or too small: what it rounds to.
      const size_t digits = text.find_first_of("123456789");
      const size_t power = text.find_first_of("eE");
      const bool small = power != std::string_view::npos && text.substr(power + 1).starts_with('-');
      const bool tiny = small || text.starts_with("0.") || text.starts_with("-0.") ||
                        digits == std::string_view::npos;
      value = tiny ? T{0} : std::numeric_limits<T>::infinity();
      if (text.starts_with('-')) value = -value;
      return true;
    }
    if (text.find('(') != std::string_view::npos) return false;  // nan(...)
  }
  return stop == end && error == std::errc();
}

template <class T>
Column numbers(const Column& texts, bool or_null) {
  return map_rows_or_null<T>(texts, dtype_of<T>(), [&](int64_t row, T* value) {
    const bool there = parse(texts.string(row), *value);
    if (!there && !or_null)
      throw_error<InvalidArgumentError>(
          "astype", "cannot parse a string as a number",
          {{"row", row},
           {"text", texts.string(row).substr(0, 40)},
           {"dtype", Dtype(dtype_of<T>()).name()}},
          "use hr.to_numeric(series, errors='coerce') to turn such strings into nulls");
    return there;
  });
}

}  // namespace

Column parse_numbers(const Column& column, Dtype dtype, bool or_null) {
  const Column texts = text_of(column);
  return visit_real(dtype,
                    [&]<class T>(std::type_identity<T>) { return numbers<T>(texts, or_null); });
}

namespace {

struct ParseNumbers final : OperatorOf<ParseNumbers> {
  Dtype dtype{};
  bool or_null = false;

  std::string_view name() const override { return "astype"; }

  std::string arguments() const override { return std::string(dtype.name()); }

  Value execute(std::span<const Value> inputs) const override {
    return parse_numbers(std::get<Column>(inputs[0]), dtype, or_null);
  }

  static auto parameters(auto& self) { return std::tie(self.dtype, self.or_null); }
};

}  // namespace

NodePtr parse_numbers(const NodePtr& column, Dtype dtype, bool or_null) {
  Signature signature = text_signature(column, dtype);
  if (!dtype.is_real()) refuse_unreal(dtype);
  signature.nullable |= or_null;
  return apply_operator(ParseNumbers::make(dtype, or_null), std::move(signature), {column});
}

}  // namespace hr
