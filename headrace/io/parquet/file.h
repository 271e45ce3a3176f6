// SPDX-License-Identifier: Apache-2.0
// Parquet files as tables: now, or as sources of plans.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/table.h"
#include "headrace/io/source.h"
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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

  /// `op` and `name`: of messages and plans.
  ParquetFile(std::string op, std::string name, Open open);

  /// Of all columns, those that cannot be read too.
  const std::vector<std::string>& names() const;

  /// The columns of these places, of all rows: all workers decode, each a column of a row group.
  /// Reads what was opened for the footer.
  Table read(const std::vector<int64_t>& columns) const;

  /// The same as the source of a plan: it reads what a query needs of them, skips row groups by
  /// their statistics, and a page at a time where it filters.
  NodePtr scan(const std::vector<int64_t>& columns) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace hr
