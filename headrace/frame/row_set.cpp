// SPDX-License-Identifier: Apache-2.0
// The row set that the columns of a frame share.
#include "headrace/frame/row_set.h"

#include "headrace/base/error.h"

namespace hr {

NodePtr align_check(std::string_view op, std::string_view name, const NodePtr& frame,
                    const NodePtr& column) {
  const Signature& rows = frame->signature();
  const Signature& own = column->signature();
  if (own.domain == rows.domain && own.same_rows(rows)) return column;
  if ((own.domain == 0 || rows.domain == 0) && own.rows() == rows.rows() && own.rows() != kUnknown)
    return in_domain(column, rows.domain);
  throw_error<InvalidArgumentError>(
      op, "a column and its frame have different rows",
      {{"column", name}, own.rows_detail("rows"), rows.rows_detail("frame_rows")},
      "match labels with align, or bring them into one frame with merge or join first");
}

}  // namespace hr
