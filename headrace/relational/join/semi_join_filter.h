// SPDX-License-Identifier: Apache-2.0
// Rows of which a join further on keeps few: whether it pays to leave the others out before.
#pragma once
#include "headrace/algo/select/filter.h"
#include "headrace/data/column.h"

#include <optional>

namespace hr {

/// Keys of rows, and those to keep.
struct KeyColumns {
  Column keys{};
  Column wanted{};
};

/// Whether at most one in `share` rows has a wanted key, by a sample of the rows. False where there
/// are less than `smaller` times as many rows as keys to keep, for which a filter does not pay.
bool is_selective(const KeyColumns& columns, int64_t share, int64_t smaller);

/// A bool a row: whether it has a wanted key, where few have, and more than very few have one of
/// the join that comes before; else true. False where the mask is not true.
Column semi_join_mask(const KeyColumns& asked, const std::optional<KeyColumns>& first,
                      const Mask* where);

}  // namespace hr
