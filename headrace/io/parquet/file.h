// SPDX-License-Identifier: Apache-2.0
// Parquet files as tables: now, or as sources of plans.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/table.h"
#include "headrace/io/row_groups.h"
#include "headrace/io/source.h"
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hr {

/// A file whose footer was read. What is damaged raises InputError, what Headrace does not read
/// UnsupportedError, each with the file's name and as far as known the column and the row group. No
/// size that the file says is believed: memory is taken for what its bytes can hold.
class HR_API ParquetFile {
 public:
  /// Gives the bytes; called on the thread of the caller for the footer and for each reading of a
  /// scan. It throws when they are others than before.
  using Open = std::function<std::shared_ptr<ByteSource>()>;

  /// `op` and `name`: of messages and plans. `stays_open`: `read` reads what was opened for the
  /// footer, whatever becomes of the file. `begin` and `end`: only these row groups; InputError for
  /// a file without them.
  ParquetFile(std::string op, std::string name, Open open, bool stays_open = true,
              int64_t begin = 0, std::optional<int64_t> end = {});

  /// Those of several paths, which do not stay open: all workers read footers. Of several errors
  /// that of the first path is thrown.
  static std::vector<ParquetFile> open_paths(const std::string& op,
                                             const std::vector<std::string>& paths);

  /// Of all columns, those that cannot be read too.
  const std::vector<std::string>& names() const;

  /// Rows and compressed bytes of each row group.
  std::vector<std::pair<int64_t, int64_t>> row_group_sizes() const;

  /// The columns of these places, of all rows: all workers decode, each a column of a row group.
  Table read(const std::vector<int64_t>& columns) const;

  /// The same as the source of a plan: it reads what a query needs of them, skips row groups by
  /// their statistics, and a page at a time where it filters.
  NodePtr scan(const std::vector<int64_t>& columns) const;

  /// The same of several files, one file after the other, of which `columns` has the places in
  /// each, in one order: by name, dtypes are compared here (InputError). Few files are open at a
  /// time. Behind the columns stand those of `values`, which has a row a file. The plan calls the
  /// files `name`.
  static Table read_files(std::span<const ParquetFile> files,
                          const std::vector<std::vector<int64_t>>& columns, const Table& values);
  static NodePtr scan_files(std::span<const ParquetFile> files,
                            const std::vector<std::vector<int64_t>>& columns, Table values,
                            std::string name);

 private:
  struct State;
  struct Scan;

  static RowGroups row_groups(std::span<const ParquetFile> files,
                              const std::vector<std::vector<int64_t>>& columns, Table values,
                              std::string name);

  std::shared_ptr<const State> state_;
};

}  // namespace hr
