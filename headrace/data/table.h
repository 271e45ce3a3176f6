// SPDX-License-Identifier: Apache-2.0
// Table: named columns of one length.
#pragma once
#include "headrace/data/column.h"

#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// Immutable, shares its columns' buffers. Names are unique, non-empty only by convention, in
/// order.
class HR_API Table {
 public:
  Table() = default;

  /// Throws InvalidArgumentError for unequal lengths, a repeated name or counts that differ.
  Table(std::vector<std::string> names, std::vector<Column> columns);

  int64_t num_rows() const { return num_rows_; }

  int64_t num_columns() const { return static_cast<int64_t>(columns_.size()); }

  const std::vector<std::string>& names() const { return names_; }

  const std::vector<Column>& columns() const { return columns_; }

  const Column& column(int64_t index) const { return columns_[static_cast<size_t>(index)]; }

  /// Throws ColumnNotFoundError with the nearest name as a suggestion.
  const Column& column(std::string_view name) const { return column(column_index(name)); }

  int64_t column_index(std::string_view name) const;

  Table slice(int64_t begin, int64_t count) const;

 private:
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  int64_t num_rows_ = 0;
};

/// Position of `name` in `names`; throws ColumnNotFoundError "op: no such column: ...; did you
/// mean".
HR_API int64_t find_column(std::string_view op, const std::vector<std::string>& names,
                           std::string_view name);

}  // namespace hr
