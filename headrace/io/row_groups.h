// SPDX-License-Identifier: Apache-2.0
// Sources whose rows come in groups, of which something is known before they are read.
#pragma once
#include "headrace/data/table.h"
#include "headrace/plan/graph/node.h"
#include "headrace/plan/optimize/zone_map.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hr {

/// Rows [begin, end) of a group.
struct RowRange {
  int64_t begin;
  int64_t end;
};

/// Rows of a group: those of its first ones for which `test` is true.
struct PickedGroup {
  int64_t group;
  Column test;
};

/// A source that is opened but not read. Its functions may be called again and again; those that
/// read throw when the source changed since.
struct RowGroups {
  /// The next rows of a group, of the columns that it was opened for; nothing at its end.
  using Batches = std::function<std::optional<Table>()>;

  std::string op;                         ///< "scan_parquet"
  std::string name;                       ///< of the source
  Table none{};                           ///< all columns, without rows
  std::vector<int64_t> rows{};            ///< of each group
  int64_t bytes = 0;                      ///< of the source
  std::function<int64_t()> bytes_read{};  ///< by all readings so far
  std::function<ColumnBounds(int64_t column)> bounds{};
  /// The columns with true in `wanted`, of the groups with true in `groups`; none of these: of all.
  /// At the place where files go; nested columns stay on the host.
  std::function<Table(const std::vector<bool>& wanted, const std::vector<bool>& groups)> read{};
  /// The same, on the host, of one group, in batches of about `rows`.
  std::function<Batches(int64_t group, const std::vector<bool>& wanted, int64_t rows)> read_group{};
  /// The same of picked rows of some groups, one group after the other.
  std::function<Table(std::span<const PickedGroup> groups, const std::vector<bool>& wanted)>
      read_picked{};
  /// Whether a group may have one of these values in a column, as MembershipTest has them, by a
  /// filter; true if in doubt.
  std::function<bool(int64_t group, int64_t column, const Column& values)> may_have{};
  /// All values of a column in a group and a null, where a few bytes of the source tell them.
  std::function<std::optional<Column>(int64_t group, int64_t column)> distinct_values{};
  /// A bit for each row of a group: whether `test`, a bool for each of its `distinct_values`, is
  /// true of the row's own.
  std::function<Buffer(int64_t group, int64_t column, const Column& test)> test_rows{};
  /// Where more is known of parts of a group, all of these: the rows at which something else is
  /// known of one of the columns, the first and the end among them (none: nothing is known),
  std::function<std::vector<int64_t>(int64_t group, const std::vector<bool>& columns)> borders{};
  /// what is known of a column between neighbours of these rows,
  std::function<ColumnBounds(int64_t group, int64_t column, const std::vector<int64_t>& borders)>
      part_bounds{};
  /// and what `read_group` gives of some ranges, in order, each batch in one range.
  std::function<Batches(int64_t group, const std::vector<bool>& wanted, int64_t rows,
                        const std::vector<RowRange>& ranges)>
      read_ranges{};
};

/// The table of a source. A plan reads only the columns that it needs; where it wants the first
/// rows, or those that a filter picks, only the groups that may have some, batch by batch.
HR_API NodePtr scan_row_groups(RowGroups source);

}  // namespace hr
