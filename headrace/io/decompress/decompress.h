// SPDX-License-Identifier: Apache-2.0
// Decompression of gzip, zstd, bz2, xz and lz4 streams, piece by piece.
#pragma once
#include "headrace/io/source.h"

#include <string>
#include <string_view>

namespace hr {

inline constexpr int64_t kMagicBytes = 8;

/// What the first bytes say. Throws UnsupportedError for a known codec that Headrace does not read.
Compression detect_compression(std::string_view op, std::string_view head, const std::string& name);

/// A reader of what `packed` holds. Members and frames that follow each other are joined, as the
/// programs gzip, zstd, bzip2, xz and lz4 do. It throws InputError, naming `name`, when the data is
/// damaged or ends early, and trusts no size that the data declares. Throws UnsupportedError for a
/// codec that this build lacks.
ReadBytes decompress(std::string_view op, Compression compression, ReadBytes packed,
                     std::string name);

}  // namespace hr
