// SPDX-License-Identifier: Apache-2.0
// String views that another library or process made: judged before anything reads them.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace hr {

/// Text of one column, cut into buffers that a view's 32-bit offset can reach. The cuts lie every
/// 2^30 bytes and the parts overlap, so any string up to 2^30 bytes lies in the part it begins in.
struct TextParts {
  const char* text = nullptr;
  int64_t size_bytes = 0;
};
inline constexpr int64_t kTextPart = int64_t{1} << 30;

/// Where strings come from, for messages.
struct TextOrigin {
  std::string_view op{};
  std::string_view column{};
  int64_t first_row = 0;
  std::string_view row_word = "row";
  std::string_view fix{};  ///< for what is wrong; empty for a producer that broke Arrow's rules
};

/// What becomes of views of null rows: all are made empty, or only those that fail the checks.
enum class NullViews : uint8_t { kEmpty, kChecked };

/// The column with views that are safe to read: each stays inside its text, which is UTF-8, and
/// repeats the text's first four bytes or ends in zeros, as comparisons assume. Throws
/// InvalidArgumentError for a row that is not null and leaves its text or is not UTF-8. Other
/// faults are mended in a copy of the views, recorded as "null strings become empty" or "string
/// views get their prefixes"; without any the column comes back as it is.
Column check_string_views(const TextOrigin& origin, const Column& column,
                          NullViews nulls = NullViews::kEmpty);

/// Text of a string column that a task has at hand.
struct TextPiece {
  const char* bytes = nullptr;
  int64_t first = 0;     ///< what offsets call the first byte
  int64_t size = 0;      ///< bytes that offsets may mean
  int64_t readable = 0;  ///< bytes that may be read: `size` or more
  uint32_t buffer = 0;   ///< that views name for byte 0
  int part_bits = 32;    ///< each 2^part_bits bytes later views name the next buffer
};

/// Writes the views of strings that `offsets` (rows + 1 of them, int32_t or int64_t) cut from
/// `text`; null rows get an empty view. Throws InvalidArgumentError for offsets that fall or leave
/// the text, and for text of a row that is not null and not UTF-8: it names column, row and byte.
/// True when a view is longer than 12 bytes, so that it needs the text.
template <class Offset>
bool write_views(const TextOrigin& origin, int64_t num_rows, const Offset* offsets,
                 const TextPiece& text, const uint8_t* validity, int64_t validity_offset,
                 StringView* views);

/// Text that views point into, and where it is from now on.
struct ViewedText {
  std::string_view bytes{};
  bool is_ascii = false;  ///< known to be
  uint32_t buffer = 0;    ///< that views shall name
  uint32_t begin = 0;     ///< of the text in that buffer
};

/// Makes views good that this program may write: null rows are empty, prefixes and zeros are as
/// comparisons assume, and each of `texts` is where it says. Throws InvalidArgumentError as
/// `check_string_views` does.
void mend_views(const TextOrigin& origin, int64_t num_rows, std::span<const ViewedText> texts,
                const uint8_t* validity, int64_t validity_offset, StringView* views);

/// One view a row over strings that `offsets` (rows + 1 of them, int32_t or int64_t) cut from
/// `text`; null rows get an empty view. Recorded in the ledger as "string offsets become views".
/// Throws InvalidArgumentError for offsets that fall or leave the text, and for text of a row that
/// is not null and not UTF-8: it names column, row and byte. Reads every byte, about 10 GB/s a
/// core.
template <class Offset>
Buffer views_from_offsets(const TextOrigin& origin, int64_t num_rows, const Offset* offsets,
                          TextParts text, const uint8_t* validity, int64_t validity_offset);

}  // namespace hr
