// SPDX-License-Identifier: Apache-2.0
// Frame: named, lazy columns of one row set, for C++ users.
#pragma once
#include "headrace/data/table.h"
#include "headrace/frame/group_by.h"
#include "headrace/frame/names.h"
#include "headrace/frame/series.h"
#include "headrace/io/csv.h"
#include "headrace/io/csv_write.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hr {

struct MergeOptions {
  /// "inner", "left", "right", "outer", "semi", "anti" or "cross".
  std::string how = "inner";
  Names left_on{};  ///< keys that are named differently, instead of `on`
  Names right_on{};
  /// Appended to other column names that both frames have.
  std::pair<std::string, std::string> suffixes = {"_x", "_y"};
  /// Name of a last column that says where each row is from: "left_only", "right_only", "both".
  std::string indicator{};
  /// "1:1", "1:m", "m:1" or "m:m": the side whose keys must be unique, checked on evaluation.
  std::string validate = "m:m";
  bool sort = false;  ///< by the keys
};

struct GroupByOptions {
  bool sort = true;    ///< groups by key, else by first appearance
  bool dropna = true;  ///< leave out rows with null or NaN in a key, else these are keys
};

struct SortOptions {
  std::vector<bool> ascending = {true};  ///< one for all keys, or one per key
  std::string na_position = "last";      ///< where missing keys go: "last" or "first"
};

/// A table of named columns, each a lazy series over the same rows. Methods are those of Python's
/// `hr.DataFrame`, with its words and results; they make new frames and run nothing unless they say
/// so. Copies share the columns. Every method that takes a column name throws ColumnNotFoundError,
/// naming a similar one, for one that is not there.
class HR_API Frame {
 public:
  /// No columns, no rows.
  Frame() = default;

  /// Throws InvalidArgumentError for a repeated name, or columns with other rows than the first.
  Frame(const std::vector<std::pair<std::string, Series>>& columns);  // NOLINT: implicit on purpose

  explicit Frame(const Table& table);

  /// The columns of a table node.
  explicit Frame(const NodePtr& table);

  const std::vector<std::string>& columns() const { return names_; }

  const std::vector<NodePtr>& nodes() const { return nodes_; }

  /// Runs what is needed where the data decide about it.
  int64_t num_rows() const;

  int64_t num_columns() const { return static_cast<int64_t>(names_.size()); }

  bool contains(std::string_view name) const;

  Series operator[](std::string_view name) const;

  // ---- columns ----

  /// These columns, in this order.
  Frame select(const Names& names) const;

  Frame drop(const Names& names) const;

  /// Throws InvalidArgumentError when there is a column `to`.
  Frame rename(std::string_view from, std::string to) const;

  /// With a column added or replaced; a number stands in every row. Throws InvalidArgumentError for
  /// a series with other rows.
  Frame assign(std::string_view name, const Series& values) const;

  // ---- rows ----

  /// The rows where `mask`, a bool series of this frame, is true; null is false. Throws
  /// TypeMismatchError for another dtype, InvalidArgumentError for another frame's series.
  Frame filter(const Series& mask) const;

  /// The first `n` rows, computed from no more than these where the plan allows it; all but the
  /// last `-n` if `n` is negative.
  Frame head(int64_t n = 5) const;

  /// Stable. Throws InvalidArgumentError when `ascending` has neither one value nor one per key.
  Frame sort_values(const Names& by, const SortOptions& options = {}) const;

  /// Without the rows that are equal to an earlier one in the columns `subset` (all columns).
  Frame drop_duplicates(const Names& subset = {}) const;

  // ---- several rows, several frames ----

  GroupBy group_by(const Names& keys, const GroupByOptions& options = {}) const;

  /// Joins the rows of two frames on equal keys: `on`, or `left_on` and `right_on` of the options,
  /// or all names that both have. Rows follow the left frame, matches of one row the right frame;
  /// those of an outer join their keys, as with `sort`.
  /// Throws InvalidArgumentError for options that contradict each other or a name that would be
  /// repeated, TypeMismatchError for keys that are not compared.
  Frame merge(const Frame& right, const Names& on = {}, const MergeOptions& options = {}) const;

  // ---- values ----

  /// Runs the plan; columns on the host.
  Table table() const;

  /// Runs the plan: all rows and columns in a box, as Python's `to_string`.
  std::string to_string() const;

  /// The steps that evaluating all columns would take.
  std::string explain() const { return hr::explain(nodes_).text; }

  /// Runs the plan and writes all columns; see `write_csv`.
  void to_csv(const std::string& path, const CsvWriteOptions& options = {}) const;

 private:
  Frame(std::vector<std::string> names, std::vector<NodePtr> nodes)
      : names_(std::move(names)), nodes_(std::move(nodes)) {}

  size_t find(std::string_view name) const;
  std::vector<NodePtr> nodes_of(const Names& names) const;
  void put(std::string_view op, std::string_view name, const NodePtr& node);
  Frame in_row_set(const std::vector<NodePtr>& nodes, uint64_t domain) const;

  std::vector<std::string> names_{};
  std::vector<NodePtr> nodes_{};  // one a name, of one row set
};

/// Reads a CSV file straight into columns, on all cores. Throws as `read_csv` of a Source, which
/// also gives rejected rows; InvalidArgumentError for BadRows::kReject.
HR_API Frame read_csv(const std::string& path, const CsvOptions& options = {});

/// A lazy frame over a CSV file: sniffed now, read on use as far as needed.
HR_API Frame scan_csv(const std::string& path, const CsvOptions& options = {});

/// The rows of frames with the same column names, one frame after the other, columns in the order
/// of the first. Throws InvalidArgumentError for no frame, ColumnNotFoundError for a column that a
/// frame lacks, TypeMismatchError for dtypes without a common one.
HR_API Frame concat(const std::vector<Frame>& frames);

}  // namespace hr
