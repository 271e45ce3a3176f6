// SPDX-License-Identifier: Apache-2.0
// The structure of JSON text: strings and brackets, 64 bytes at a time.
#pragma once
#include <cstdint>

namespace hr::json {

/// Where a reader stands in the text.
struct Nesting {
  int64_t depth = 1;  ///< open brackets
  bool in_string = false;
  bool is_escaped = false;  ///< a backslash stands before
};

namespace cpu {

/// Follows `size` bytes, behind which 64 more are readable, up to the first comma of depth 1 at
/// `least` or later. Returns the place behind it, or -1 when there is none.
int64_t find_comma(const char* text, int64_t size, int64_t least, Nesting& nesting);

}  // namespace cpu
}  // namespace hr::json
