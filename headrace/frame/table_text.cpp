// SPDX-License-Identifier: Apache-2.0
// A table as text for people.
#include "headrace/frame/table_text.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/base/error.h"
#include "headrace/data/struct_fields.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/functions/cast/format_values.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

namespace hr {

namespace {

constexpr size_t kWidth = 30;

struct TextColumn {
  bool is_number = false;  // to the right
  size_t width = 0;
  std::vector<std::string> cells{};  // name and dtype, a row each
};

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, begins_character));
}

std::string printf_of(const char* format, double value) {
  std::array<char, 64> text{};
  return {text.data(), static_cast<size_t>(std::snprintf(text.data(), text.size(), format, value))};
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else if (c == '\r')
      line += "\\r";
    else if (byte < 0x20 || byte == 0x7F)
      line += {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    else
      line += c;
  }
  if (characters(line) <= kWidth) return line;
  size_t end = 0, count = 0;
  for (; count < kWidth - 1 || !begins_character(line[end]); ++end)
    count += begins_character(line[end]);
  return line.substr(0, end) + "…";
}

// Floats as pandas shows a column of them: fixed notation without common zeros at the end,
// scientific where that hides digits.
std::vector<std::string> float_texts(const std::vector<double>& values) {
  constexpr double kSmall = 1e-6, kLarge = 1e6;  // what six digits hide, and what is long
  constexpr size_t kLongest = 11;
  const auto texts_of = [&](const char* format) {
    std::vector<std::string> texts;
    for (const double value : values)
      texts.push_back(std::isnan(value)      ? "NaN"
                      : std::isfinite(value) ? printf_of(format, value)
                      : value < 0            ? "-inf"
                                             : "inf");
    return texts;
  };
  std::vector<std::string> texts = texts_of("%.6f");
  size_t zeros = std::string::npos;
  for (const std::string& text : texts)
    if (text.find('.') != std::string::npos)
      zeros = std::min(zeros, text.size() - 1 - text.find_last_not_of('0'));
  size_t longest = 0;
  for (std::string& text : texts) {
    if (text.find('.') != std::string::npos) text.resize(text.size() - zeros);
    if (text.ends_with('.')) text += '0';
    longest = std::max(longest, text.size() + (text[0] != '-'));  // pandas keeps a place for it
  }
  bool is_small = false, is_large = false;
  for (const double value : values) {
    is_small |= value != 0 && std::abs(value) < kSmall;
    is_large |= std::isfinite(value) && std::abs(value) > kLarge;
  }
  return is_small || (longest > kLongest && is_large) ? texts_of("%.6e") : texts;
}

// As Python's timedelta has it; of nanoseconds as many digits as are needed.
std::string duration_text(int64_t count, TimeUnit unit) {
  const int64_t second = units_per_second(unit), day = 86'400 * second;
  const int64_t rest = (count % day + day) % day, days = (count - rest) / day;
  std::string text;
  if (days != 0) text = std::to_string(days) + (std::abs(days) == 1 ? " day, " : " days, ");
  const auto clock = static_cast<int>(rest / second), fraction = static_cast<int>(rest % second);
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%d:%02d:%02d", clock / 3600, clock / 60 % 60,
                clock % 60);
  text += buffer.data();
  if (fraction == 0) return text;
  const bool is_nano = unit == TimeUnit::kNano;
  const auto digits = is_nano ? fraction : fraction * static_cast<int>(1'000'000 / second);
  std::snprintf(buffer.data(), buffer.size(), is_nano ? ".%09d" : ".%06d", digits);
  text += buffer.data();
  if (is_nano) text.erase(text.find_last_not_of('0') + 1);
  return text;
}

// Digits of the second as Python's datetime has them, of nanoseconds as NumPy's datetime64.
std::string time_text(std::string text, TimeUnit unit) {
  constexpr size_t kSeconds = std::string_view("2024-02-29 09:30:00").size();
  const bool is_nano = unit == TimeUnit::kNano;
  const bool has_fraction = text.size() > kSeconds && text[kSeconds] == '.';
  if (!has_fraction && !is_nano) return text;
  if (!has_fraction) text.insert(kSeconds, ".");
  const size_t first = kSeconds + 1, wanted = is_nano ? 9 : 6;
  const size_t end = std::min(text.find_first_not_of("0123456789", first), text.size());
  if (end < first + wanted) text.insert(end, first + wanted - end, '0');
  return text;
}

bool is_known(Dtype zoned) {
  try {
    return timezone_rules("to_string", zoned) != nullptr;
  } catch (const UnsupportedError&) {
    return false;
  }
}

void add_cells(const Column& given, std::vector<std::string>& cells);

// "[1, 2]" of each list, as far as it is shown.
void add_lists(const Column& column, std::vector<std::string>& cells) {
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    const Column items = column.list(row);
    std::vector<std::string> texts;
    add_cells(items.slice(0, std::min(items.num_rows(), static_cast<int64_t>(kWidth))), texts);
    std::string text = "[";
    for (const std::string& each : texts) text += (&each == texts.data() ? "" : ", ") + each;
    cells.push_back(column.is_null(row) ? "null" : one_line(text + "]"));
  }
}

std::vector<std::string> cells_of(const Column& column) {
  std::vector<std::string> cells;
  add_cells(column, cells);
  return cells;
}

// "{x: 1, y: a}" of each struct.
void add_structs(const Column& column, std::vector<std::string>& cells) {
  std::vector<std::vector<std::string>> fields;
  for (const Column& field : struct_fields("to_string", column)) fields.push_back(cells_of(field));
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    std::string text = "{";
    for (size_t f = 0; f < fields.size() && text.size() <= 4 * kWidth; ++f)
      text += (f == 0 ? "" : ", ") + column.dtype().fields()[f].name + ": " +
              fields[f][static_cast<size_t>(row)];
    cells.push_back(column.is_null(row) ? "null" : one_line(text + "}"));
  }
}

// "{a: 1, b: 2}" of each map, as far as it is shown.
void add_maps(const Column& column, std::vector<std::string>& cells) {
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    const Column all = column.list(row);
    const std::vector<Column> entries = struct_fields(
        "to_string", all.slice(0, std::min(all.num_rows(), static_cast<int64_t>(kWidth))));
    const std::vector<std::string> keys = cells_of(entries[0]), values = cells_of(entries[1]);
    std::string text = "{";
    for (size_t i = 0; i < keys.size(); ++i)
      text += (i == 0 ? "" : ", ") + keys[i] + ": " + values[i];
    cells.push_back(column.is_null(row) ? "null" : one_line(text + "}"));
  }
}

void add_floats(const Column& column, std::vector<std::string>& cells) {
  std::vector<double> values;
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    if (column.is_null(row)) continue;
    const auto at = static_cast<size_t>(row);
    values.push_back(column.dtype() == Dtype(TypeId::kFloat64) ? column.values<double>()[at]
                                                               : column.values<float>()[at]);
  }
  const std::vector<std::string> texts = float_texts(values);
  for (int64_t row = 0, next = 0; row < column.num_rows(); ++row)
    cells.push_back(column.is_null(row) ? "null" : texts[static_cast<size_t>(next++)]);
}

// Appends the text of each value. Times of a zone whose rules are not known are shown in UTC.
void add_cells(const Column& given, std::vector<std::string>& cells) {
  if (given.dtype().is_category() && !given.dtype().has_text())
    return add_cells(dictionary_decode(given), cells);
  const Dtype own = given.dtype();
  if (own.is_list()) return add_lists(given, cells);
  if (own.is_map()) return add_maps(given, cells);
  if (own.is_struct()) return add_structs(given, cells);
  const bool is_utc = own.has_zone() && !is_known(own);
  const Column column = is_utc ? given.with_dtype(Dtype::timestamp(own.unit())) : given;
  const Dtype dtype = column.dtype();
  const bool has_texts = !dtype.is_floating() && !dtype.is_duration();
  const Column texts = !has_texts           ? column
                       : dtype.is_decimal() ? decimal_cast(column, TypeId::kString)
                                            : format_values(column);
  if (dtype.is_floating()) return add_floats(column, cells);
  const auto cell = [&](int64_t row) -> std::string {
    const auto at = static_cast<size_t>(row);
    if (dtype.is_duration()) return duration_text(column.values<int64_t>()[at], dtype.unit());
    const std::string text(texts.string(row));
    if (dtype.has_text()) return one_line(text);
    return (dtype.is_timestamp() ? time_text(text, dtype.unit()) : text) + (is_utc ? "Z" : "");
  };
  for (int64_t row = 0; row < column.num_rows(); ++row)
    cells.push_back(column.is_null(row) ? "null" : cell(row));
}

TextColumn text_column(const std::string& name, const Column& column) {
  const Dtype dtype = column.dtype();
  TextColumn made;
  made.is_number =
      !(dtype.is_string() || dtype.is_category() || dtype.is_bool() || dtype.is_nested());
  made.cells = {one_line(name), std::string(dtype.name())};
  add_cells(column, made.cells);
  for (const std::string& text : made.cells) made.width = std::max(made.width, characters(text));
  return made;
}

std::string rule(const std::vector<TextColumn>& columns, std::string_view left,
                 std::string_view fill, std::string_view middle, std::string_view right) {
  std::string line(left);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += middle;
    for (size_t k = 0; k < columns[i].width + 2; ++k) line += fill;
  }
  return line.append(right) + "\n";
}

std::string line_of(const std::vector<TextColumn>& columns, size_t row) {
  std::string line = "│";
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& text = columns[i].cells[row];
    const std::string space(columns[i].width - characters(text), ' ');
    const bool to_right = columns[i].is_number && row > 1;
    line += (i > 0 ? "┆ " : " ") + (to_right ? space + text : text + space) + " ";
  }
  return line + "│\n";
}

std::string thousands(int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

}  // namespace

std::string table_text(const Table& table) {
  if (table.num_columns() == 0) return "shape: (0, 0)";
  std::vector<TextColumn> columns;
  for (int64_t i = 0; i < table.num_columns(); ++i)
    columns.push_back(text_column(table.names()[static_cast<size_t>(i)], table.column(i)));
  std::string text =
      "shape: (" + thousands(table.num_rows()) + ", " + std::to_string(table.num_columns()) + ")\n";
  text += rule(columns, "┌", "─", "┬", "┐") + line_of(columns, 0) + line_of(columns, 1) +
          rule(columns, "╞", "═", "╪", "╡");
  for (size_t row = 2; row < columns[0].cells.size(); ++row) text += line_of(columns, row);
  text += rule(columns, "└", "─", "┴", "┘");
  text.pop_back();  // the last line end
  return text;
}

}  // namespace hr
