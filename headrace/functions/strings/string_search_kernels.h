// SPDX-License-Identifier: Apache-2.0
// Kernels of text tests.
#pragma once
#include "headrace/data/column.h"
#include "headrace/functions/strings/string_search.h"

#include <cstdint>
#include <string_view>

namespace hr::cpu {

/// The place of the first `part` in `text`; npos: there is none.
using FindText = size_t (*)(std::string_view text, std::string_view part);

/// The search for this machine: by the first and the last byte of the part, a vector of places at
/// once. For strings of tens of bytes memmem takes several times as long.
FindText find_text();

}  // namespace hr::cpu

namespace hr::cuda {

/// Whether each string contains, begins or ends with `part`; null where it is.
Column test_text(TextTest test, const Column& column, std::string_view part);

/// The bit of each row's code, null where the row is; `bits`: one for each code, on the host.
Column test_codes(const Column& column, const Buffer& bits);

/// As hr::slice_text and hr::text_length, of string columns.
Column slice_text(const Column& column, int64_t begin, int64_t end);
Column text_length(const Column& column);

}  // namespace hr::cuda
