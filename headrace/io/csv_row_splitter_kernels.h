// SPDX-License-Identifier: Apache-2.0
// Kernel of the first pass over CSV text.
#pragma once
#include "headrace/io/csv_row_splitter.h"

namespace hr::cpu {

/// Follows `size` bytes from `state`. One byte before and 64 behind must be readable; the one
/// before is the text's own (a line end at its beginning), the one behind the text's own or 0.
ChunkOutcome follow_chunk(const CsvSyntax& syntax, const char* text, int64_t size,
                          QuoteState state);

}  // namespace hr::cpu
