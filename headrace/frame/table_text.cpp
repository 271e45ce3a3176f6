// SPDX-License-Identifier: Apache-2.0
// A table as text for people.
#include "headrace/frame/table_text.h"

#include "headrace/functions/cast/format_values.h"

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

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const bool is_whole = value == std::trunc(value) && std::abs(value) < 1e15;
  return printf_of(is_whole ? "%.1f" : "%.6g", value);
}

std::string cell(const Column& column, const Column& texts, int64_t row) {
  if (column.is_null(row)) return "null";
  const auto at = static_cast<size_t>(row);
  if (column.dtype() == Dtype(TypeId::kFloat64)) return float_text(column.values<double>()[at]);
  if (column.dtype() == Dtype(TypeId::kFloat32)) return float_text(column.values<float>()[at]);
  return one_line(texts.string(row));
}

TextColumn text_column(const std::string& name, const Column& column) {
  const Dtype dtype = column.dtype();
  TextColumn made;
  made.is_number = !(dtype.is_string() || dtype.is_category() || dtype.is_bool());
  made.cells = {one_line(name), std::string(dtype.name())};
  const Column texts = dtype.is_floating() ? column : format_values(column);
  for (int64_t row = 0; row < column.num_rows(); ++row)
    made.cells.push_back(cell(column, texts, row));
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
