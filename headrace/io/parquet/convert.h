// SPDX-License-Identifier: Apache-2.0
// Values as they are stored to values of our dtypes.
#pragma once
#include "headrace/io/parquet/schema.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hr::parquet {

/// Of `count` stored values of `leaf.stored_bytes` each, as a conversion to a fixed width (all but
/// kText, kCategory, kUuid, kBit and kNull) has it. `stored` and `out` may be the same where the
/// conversion is kNone. Throws Refusal for a value that does not fit.
void convert(const Leaf& leaf, const std::byte* stored, int64_t count, std::byte* out);

/// Moves values of `width` bytes that follow each other to the slots that are valid, from the last
/// one on, and zeros the others.
void spread(std::byte* values, int64_t width, const uint8_t* valid, int64_t first, int64_t slots,
            int64_t dense);

/// A decimal in big-endian two's complement of any length, to 16 bytes.
void decimal_of_bytes(std::string_view bytes, std::byte* out);

/// Throws Refusal unless these values of 16 bytes have at most as many digits as the dtype.
void check_digits(Dtype dtype, const std::byte* decimals, int64_t count);

/// The usual 36 characters of a UUID of 16 bytes.
void format_uuid(const std::byte* bytes, char* out);

inline constexpr int64_t kUuidCharacters = 36;

/// The UUID that `format_uuid` makes this text of; nothing for any other text.
std::optional<std::array<std::byte, 16>> parse_uuid(std::string_view text);

}  // namespace hr::parquet
