// SPDX-License-Identifier: Apache-2.0
// Where words are in a text of ASCII.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Bit i of `bits` (size / 64 + 1 numbers): byte i is a digit, a letter or an underscore; 0 beyond
/// the text. False for a text with bytes that are no ASCII, whose bits say nothing.
bool word_bits(const char* text, int64_t size, uint64_t* bits);

}  // namespace hr::cpu
