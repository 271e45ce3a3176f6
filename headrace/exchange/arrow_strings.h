// SPDX-License-Identifier: Apache-2.0
// String views and categories made from Arrow's other layouts, and the way back.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace hr {

/// Text of one column, cut into buffers that a view's 32-bit offset can reach. The cuts lie every
/// 2^30 bytes and the parts overlap, so any string up to 2^30 bytes lies in the part it begins in.
struct TextParts {
  const char* text = nullptr;
  int64_t size_bytes = 0;
};
inline constexpr int64_t kTextPart = int64_t{1} << 30;

/// Where texts come from, for messages.
struct TextOrigin {
  std::string_view op{};
  std::string_view column{};
  int64_t first_row = 0;
  std::string_view row_word = "row";
};

/// Throws InvalidArgumentError for a name, as of a column, that is not UTF-8.
void check_name(std::string_view op, std::string_view name);

/// One view a row over strings that `offsets` (rows + 1 of them, int32_t or int64_t) cut from
/// `text`; null rows get an empty view. Recorded in the ledger as "string offsets become views".
/// Throws InvalidArgumentError for offsets that fall or leave the text, and for text of a row that
/// is not null and not UTF-8: it names column, row and byte. Reads every byte, about 10 GB/s a
/// core.
template <class Offset>
Buffer views_from_offsets(const TextOrigin& origin, int64_t num_rows, const Offset* offsets,
                          TextParts text, const uint8_t* validity, int64_t validity_offset);

/// Strings in Arrow's layout "u".
struct StringOffsets {
  Buffer offsets{};  ///< int32, rows + 1
  Buffer text{};
};

/// The strings of a column without nulls, copied: in the ledger as "dictionary strings get
/// offsets". Throws UnsupportedError for more than 2 GiB of text.
StringOffsets offsets_of(std::string_view op, const Column& strings);

/// The codes of rows from the indices of an Arrow dictionary: int32, one a row from row 0 on, each
/// looked up in `codes` (int32, -1 for null) unless that is empty; recorded as "dictionary indices
/// become codes". Throws InvalidArgumentError for an index outside the dictionary.
template <class Index>
Column categories_from_indices(std::string_view op, int64_t num_rows, const Index* indices,
                               const DictionaryPtr& dictionary, int64_t num_entries,
                               const Buffer& codes, const uint8_t* validity,
                               int64_t validity_offset);

/// Checks that each index of a row that is not null lies in a dictionary of `num_entries`.
void check_indices(std::string_view op, const Column& indices, int64_t num_entries);

/// Checks that each view of the column stays inside its text, which is UTF-8. Null rows whose views
/// are not empty get new, empty ones (recorded as "null strings become empty"), so that no reader
/// trips on them.
Column checked_views(const TextOrigin& origin, const Column& column);

}  // namespace hr
