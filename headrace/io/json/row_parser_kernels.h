// SPDX-License-Identifier: Apache-2.0
// Rows of JSON text to builders.
#pragma once
#include "headrace/io/json/builder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hr::json {

inline constexpr int64_t kPadding = 64;
inline constexpr int kMostLevels = 64;

/// A row that is not stored. Offsets are within the piece.
struct BadRow {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t at = 0;  ///< of what is wrong
  std::string what{};
  std::string key{};  ///< whose value does not fit
  std::string fix{};
  bool is_syntax = false;  ///< the text is not JSON: of an array nothing behind it can be trusted
};

struct RowJob {
  bool is_array = false;  ///< rows are separated by commas and may span lines
  bool begins_array = false;
  bool rejects = false;  ///< bad rows are noted, and parsing goes on
  int64_t max_rows = 0;
  bool is_careful = false;  ///< each row is checked before any of it is stored
};

/// What one piece of the text holds.
struct Piece {
  Builder root{};  ///< objects: the rows
  Buffer text{};   ///< of strings that are longer than their views
  int64_t text_size = 0;
  std::vector<BadRow> bad_rows{};
  bool needs_care = false;  ///< parsing stopped where it must begin anew, carefully
  bool is_closed = false;   ///< the array ended here
};

namespace cpu {

/// Parses `size` bytes, behind which kPadding zero bytes stand. Without `rejects` it stops behind
/// the first bad row. Keys that an object repeats need a careful job, as do rejects.
void parse_rows(const RowJob& job, const char* text, int64_t size, Piece& piece);

}  // namespace cpu
}  // namespace hr::json
