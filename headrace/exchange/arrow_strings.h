// SPDX-License-Identifier: Apache-2.0
// Categories made from Arrow's dictionaries, and the way back.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace hr {

/// Throws InvalidArgumentError for a name, as of a column, that is not UTF-8.
void check_name(std::string_view op, std::string_view name);

/// Strings in Arrow's layout "u".
struct StringOffsets {
  Buffer offsets{};  ///< int32, rows + 1
  Buffer text{};
};

/// The strings of a column without nulls, copied: in the ledger as "dictionary strings get
/// offsets". Throws UnsupportedError for more than 2 GiB of text.
StringOffsets offsets_of(std::string_view op, const Column& strings);

/// The codes of rows from the indices of an Arrow dictionary: int32, one per row from row 0 on,
/// each looked up in `codes` (int32, -1 for null) unless that is empty; recorded as "dictionary
/// indices become codes". Throws InvalidArgumentError for an index outside the dictionary.
template <class Index>
Column categories_from_indices(std::string_view op, int64_t num_rows, const Index* indices,
                               const DictionaryPtr& dictionary, int64_t num_entries,
                               const Buffer& codes, const uint8_t* validity,
                               int64_t validity_offset);

/// Checks that each index of a row that is not null lies in a dictionary of `num_entries`.
void check_indices(std::string_view op, const Column& indices, int64_t num_entries);

}  // namespace hr
