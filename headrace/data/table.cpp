// SPDX-License-Identifier: Apache-2.0
// Table: checks and look-ups by name.
#include "headrace/data/table.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <unordered_set>

namespace hr {

namespace {

// Levenshtein distance, for "did you mean".
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

Table::Table(std::vector<std::string> names, std::vector<Column> columns)
    : names_(std::move(names)), columns_(std::move(columns)) {
  if (names_.size() != columns_.size())
    throw_error<InvalidArgumentError>("table", "names and columns differ in number",
                                      {{"names", names_.size()}, {"columns", columns_.size()}});
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!seen.insert(names_[i]).second)
      throw_error<InvalidArgumentError>("table", "a column name is repeated", {{"name", names_[i]}},
                                        "give each column a name of its own");
    if (columns_[i].num_rows() != columns_[0].num_rows())
      throw_error<InvalidArgumentError>("table", "columns differ in length",
                                        {{"name", names_[i]},
                                         {"rows", columns_[i].num_rows()},
                                         {"expected", columns_[0].num_rows()}});
  }
  num_rows_ = columns_.empty() ? 0 : columns_[0].num_rows();
}

int64_t Table::column_index(std::string_view name) const {
  return find_column("column", names_, name);
}

Table Table::slice(int64_t begin, int64_t count) const {
  std::vector<Column> columns;
  for (const Column& column : columns_) columns.push_back(column.slice(begin, count));
  return Table(names_, std::move(columns));
}

int64_t find_column(std::string_view op, const std::vector<std::string>& names,
                    std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return it - names.begin();
  std::string fix;
  size_t best = 1 + std::max<size_t>(1, (name.size() + 1) / 3);
  for (const std::string& known : names)
    if (const size_t distance = edit_distance(name, known); distance < best) {
      best = distance;
      fix = "did you mean '" + known + "'?";
    }
  if (fix.empty()) {
    fix = "the columns are ";
    for (size_t i = 0; i < names.size() && i < 20; ++i) fix += (i ? ", " : "") + names[i];
    if (names.empty()) fix = "the frame has no columns";
  }
  throw_error<ColumnNotFoundError>(op, "no such column", {{"name", name}}, fix);
}

}  // namespace hr
