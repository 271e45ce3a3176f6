// SPDX-License-Identifier: Apache-2.0
// Builders of all pieces to columns: which dtype holds the values of a key, and the columns of it.
#pragma once
#include "headrace/io/json/builder.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hr::json {

/// Of each part the member of this key; null where it has none.
std::vector<const Builder*> members_of(std::span<const Builder* const> parts,
                                       const std::string& key);

/// Whether `parts` (null where a piece does not have the key) hold values of two kinds, here or
/// further inside.
bool have_clashes(std::span<const Builder* const> parts);

/// The dtype that holds the values of parts without clashes. Throws UnsupportedError for objects
/// without keys.
Dtype infer(std::string_view key, std::span<const Builder* const> parts);

/// A builder without rows of the kinds of `parts`, fixed.
std::unique_ptr<Builder> join_prototypes(std::span<const Builder* const> parts);

/// The keys of all parts in order of first appearance; then those that are given.
std::vector<std::string> keys_of(std::span<const Builder* const> parts);

/// The column of a builder (null: only nulls) with `rows` rows, which is used up. `text` is that of
/// the piece. `dtype` must hold what the builder has.
Column finish(Builder* builder, int64_t rows, Dtype dtype, const Buffer& text);

}  // namespace hr::json
