// SPDX-License-Identifier: Apache-2.0
// Where the text of rows may be cut: behind line ends, and behind commas of the outer array.
#pragma once
#include "headrace/io/source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr::json {

/// Rows that begin in [begin, end) of the text.
struct Range {
  int64_t begin;
  int64_t end;
};

/// Cuts text into ranges of whole rows. The borders follow from the text and `chunk_bytes` alone.
/// They are right for text that is JSON; of other text, each byte is still in one range, so that
/// parsing all ranges finds what is wrong.
class RowSplitter {
 public:
  /// Rows begin at `begin`: the first line, or behind the bracket of the array.
  RowSplitter(std::string_view op, ByteSource& text, std::string name, bool is_array, int64_t begin,
              int64_t chunk_bytes);

  /// The next `most` ranges; fewer at the end. Loads the text up to there. Throws InputError for a
  /// row of more than 1 GiB.
  std::vector<Range> next(int64_t most);

  bool is_done() const { return is_done_; }

 private:
  int64_t behind_line(int64_t from);
  int64_t behind_comma(int64_t from, int64_t least);

  std::string op_;
  ByteSource& text_;
  std::string name_;
  bool is_array_;
  int64_t chunk_bytes_;
  int64_t at_;
  bool is_done_ = false;
  Buffer window_;  // of text that is searched for the next border
};

}  // namespace hr::json
