// SPDX-License-Identifier: Apache-2.0
// Where words are in an ASCII string.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Bit i of `bits` (size / 64 + 1 numbers): byte i is a digit, a letter or an underscore; 0 beyond
/// the string. False for a string with bytes that are no ASCII, whose bits say nothing.
bool word_bits(const char* text, int64_t size, uint64_t* bits);

}  // namespace hr::cpu
