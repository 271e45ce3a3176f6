// SPDX-License-Identifier: Apache-2.0
// Table: checks and look-ups by name.
#include "headrace/data/table.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <unordered_set>

namespace hr {

namespace {

char folded(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
}

// Share of the letters of two names that stand in both in this order, for "did you mean".
double likeness(std::string_view a, std::string_view b) {
  std::vector<size_t> common(b.size() + 1);
  for (const char letter : a) {
    size_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = common[j];
      const bool same = folded(letter) == folded(b[j - 1]);
      common[j] = same ? diagonal + 1 : std::max(above, common[j - 1]);
      diagonal = above;
    }
  }
  return 2.0 * static_cast<double>(common.back()) / static_cast<double>(a.size() + b.size());
}

// The least likeness of a name that may be meant; one letter says little of a short name.
double least_likeness(std::string_view name) {
  return name.size() <= 2 ? 0.75 : 0.6;
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
      throw_error<InvalidArgumentError>("table", "duplicate column name", {{"name", names_[i]}},
                                        "give each column a unique name");
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
  double best = 0;
  for (const std::string& known : names)
    if (const double like = likeness(name, known); like > best && like >= least_likeness(name)) {
      best = like;
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
