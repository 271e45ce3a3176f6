// SPDX-License-Identifier: Apache-2.0
// Strings, and categories of strings, to the pages of a chunk.
#pragma once
#include "headrace/io/parquet/value_writer.h"

namespace hr::parquet {

/// `column`: of strings or of categories of strings, without nulls.
std::unique_ptr<ValueWriter> write_texts(const Column& column, bool front_codes);

/// Bounds of strings between these two: cut where they are long. Nothing when an upper bound cannot
/// be cut and is too long.
std::optional<ValueBounds> text_bounds(std::string_view least, std::string_view most);

}  // namespace hr::parquet
