// SPDX-License-Identifier: Apache-2.0
// Kernels of text tests.
#pragma once
#include <string_view>

namespace hr::cpu {

/// The place of the first `part` in `text`; npos: there is none.
using FindText = size_t (*)(std::string_view text, std::string_view part);

/// The search for this machine: by the first and the last byte of the part, a vector of places at
/// once. For strings of tens of bytes memmem takes several times as long.
FindText find_text();

}  // namespace hr::cpu
