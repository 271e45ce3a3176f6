// SPDX-License-Identifier: Apache-2.0
// Lines of CSV text that hold one number in the shape of "%.18e" and nothing else.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Parses lines from `p` on, each "-1.234567890123456789e-01" with or without the sign and with LF
/// or CRLF behind it, to `values`: until a line has another shape, `most` are parsed, or the text
/// ends at `end` (64 readable bytes follow). Correctly rounded, float32 from the text. Returns the
/// first byte of the first line that was not parsed; `*count` gets their number.
const char* parse_number_lines(const char* p, const char* end, int64_t most, double* values,
                               int64_t* count);
const char* parse_number_lines(const char* p, const char* end, int64_t most, float* values,
                               int64_t* count);

}  // namespace hr::cpu
