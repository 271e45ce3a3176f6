// SPDX-License-Identifier: Apache-2.0
// Kernels of changed strings.
#pragma once
#include "headrace/data/column.h"
#include "headrace/functions/strings/string_transform.h"

#include <cstdint>
#include <vector>

namespace hr::cuda {

/// Each string without the characters `gone` (empty: white space) at its ends.
Column strip_text(const Column& column, StripEnds ends, const std::vector<uint32_t>& gone);

/// Why `change_case` does not take a string column; empty: it does. Reads all strings; waits.
std::string why_no_case_kernel(const Column& column);

/// Upper or lower case of ASCII.
Column change_case(LetterCase wanted, const Column& column);

}  // namespace hr::cuda
