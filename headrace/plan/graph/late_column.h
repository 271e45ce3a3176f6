// SPDX-License-Identifier: Apache-2.0
// Late materialization: columns that are rows of others, of which row numbers flow through the plan
// until an operator needs the values.
#pragma once
#include "headrace/base/api.h"
#include "headrace/plan/eval/value.h"

#include <cstdint>
#include <memory>

namespace hr {

/// Which rows of other columns: those that a mask picks, or numbered ones. All columns of the same
/// rows share one, so that these are numbered once. Not for several threads at a time.
class HR_API RowSelection {
 public:
  explicit RowSelection(Value mask);
  /// `numbers`: int32, as of `join_rows`; -1, if there may be some, is null.
  RowSelection(Tensor numbers, bool may_miss);

  int64_t num_rows();

  bool is_mask() const { return is_mask_; }

  /// The rows of a column, in order.
  Column of(const Column& column) const;

  /// Some rows of these, as numbers of the columns' rows; -1 stays, if there may be some.
  std::shared_ptr<RowSelection> at(const Tensor& rows, bool may_miss);

 private:
  const Tensor& numbers();

  Value mask_{};
  Tensor numbers_{};
  bool is_mask_;
  bool is_numbered_;
  bool may_miss_ = false;
};

/// A column, or some rows of it.
struct LateColumn {
  Column column{};
  std::shared_ptr<RowSelection> rows{};  ///< null: all

  int64_t num_rows() const { return rows ? rows->num_rows() : column.num_rows(); }

  Column made() const { return rows ? rows->of(column) : column; }
};

}  // namespace hr
