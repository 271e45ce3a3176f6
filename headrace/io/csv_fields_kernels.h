// SPDX-License-Identifier: Apache-2.0
// Kernels over a tile of CSV text: where its fields end, and what stands in them, column by column.
#pragma once
#include "headrace/data/column.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/csv_syntax.h"

#include <cstdint>
#include <type_traits>

namespace hr {

/// Bytes of a tile: text and index stay in the first two caches.
inline constexpr int64_t kCsvTileBytes = int64_t{1} << 15;

/// The fields of whole rows at the beginning of some text, each row with the right number of fields
/// and the same kind of line end. Fields in quotes keep them.
struct CsvFields {
  const char* text = nullptr;  ///< where the first row begins
  int64_t fields = 0;          ///< a row
  int64_t rows = 0;
  const char* next = nullptr;    ///< behind the last of these rows
  const char* looked = nullptr;  ///< rows from `next` to here are irregular
  int32_t line_end = 1;          ///< bytes of a line end
  bool ascii = true;             ///< what was read is
  bool quotes = false;           ///< and holds quotes
  int32_t* ends = nullptr;  ///< first byte behind each field, from `text`; one more is before them

  /// Begin of the field of a row, an offset from `text`.
  int64_t begin(int64_t row, int64_t field) const {
    return ends[row * fields + field - 1] + (field == 0 ? line_end : 1);
  }

  int64_t end(int64_t row, int64_t field) const { return ends[row * fields + field]; }
};

namespace cpu {

/// False where SIMD is not worth it: then the kernels below do nothing.
bool has_field_kernels();

/// Most numbers that `index_fields` puts into a half of its room for text of this many bytes.
constexpr int64_t csv_fields_most(int64_t text_bytes) {
  return (text_bytes < kCsvTileBytes ? text_bytes : kCsvTileBytes) + 128;
}

/// Size of the room for `ends` of `index_fields`, in bytes.
constexpr int64_t csv_fields_room(int64_t text_bytes) {
  return 2 * csv_fields_most(text_bytes) * static_cast<int64_t>(sizeof(int32_t));
}

/// Finds the fields of at most `most` rows in [text, end), where a row begins at `text` and a line
/// end stands before `end`, perhaps with kCsvPadding bytes after it; reads at most one tile.
/// `room` has csv_fields_room(end - text) bytes.
CsvFields index_fields(const CsvSyntax& syntax, int64_t fields, const char* text, const char* end,
                       int64_t most, int32_t* room);

/// Parses the field `field` of each row to `values`: numbers with no blanks and quotes, integers of
/// up to 16 bytes, others of up to 19 digits in 32 bytes and an exponent of two digits, correctly
/// rounded. Rows with
/// anything else are listed in `others` in order, and their number is returned; their values mean
/// nothing. 64 bytes before the text must be readable.
template <class T>
int64_t parse_number_fields(const CsvFields& fields, int64_t field, T* values, int32_t* others);

/// Makes views of the field `field` of each row; text of more than 12 bytes is copied to `arena`,
/// which is the column's buffer `buffer`. Rows that are null, hold doubled quotes, are not UTF-8
/// or are empty lines are listed in `others` in order, and their number is returned.
int64_t parse_string_fields(const CsvSyntax& syntax, const CsvFields& fields, int64_t field,
                            uint32_t buffer, ByteBuffer& arena, StringView* values,
                            int32_t* others);

}  // namespace cpu

}  // namespace hr
