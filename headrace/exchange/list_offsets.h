// SPDX-License-Identifier: Apache-2.0
// List columns in Arrow's layout with offsets, and the way back.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>

namespace hr {

/// Lists in Arrow's layout "+L": row k has the items from offsets[k] up to offsets[k + 1].
struct ListOffsets {
  Buffer offsets{};  ///< int64, rows + 1
  Column items{};
};

/// The offsets of a list or map column's rows, from its first row on. The items are shared where
/// the rows have them one after the other; else they are copied: in the ledger as "items of lists
/// put in order".
ListOffsets offsets_of_lists(std::string_view op, const Column& lists);

/// The same offsets (rows + 1 of them) as int32: those of Arrow's maps. Throws UnsupportedError for
/// more items than they can count.
Buffer narrow_offsets(std::string_view op, const Buffer& offsets, int64_t num_rows);

/// One span a row over `num_items` items that `offsets` (rows + 1 of them, int32_t or int64_t) cut;
/// null rows get an empty one. Recorded as "list offsets become spans". Throws
/// InvalidArgumentError for offsets that fall or leave the items.
template <class Offset>
Buffer spans_from_offsets(std::string_view op, std::string_view name, int64_t num_rows,
                          const Offset* offsets, int64_t num_items, const uint8_t* validity,
                          int64_t validity_offset);

/// The column, of which every span of a row lies within the items and null rows have an empty one.
/// Throws InvalidArgumentError otherwise.
Column check_lists(std::string_view op, std::string_view name, const Column& lists);

}  // namespace hr
