// SPDX-License-Identifier: Apache-2.0
// Keys of groups that another one of them determines: names next to the number of a customer.
#pragma once
#include "headrace/relational/aggregate/aggregate.h"

#include <optional>
#include <vector>

namespace hr {

/// A key whose equal values stand next to equal values of all other keys.
struct DeterminingKey {
  size_t key = 0;       ///< among the keys
  int64_t least = 0;    ///< of its values
  Buffer first_rows{};  ///< uint32 by value - least: the first row that has it
};

/// An integer key without nulls, of a range that is not much longer than the rows, which determines
/// the others; nothing where there is none, or where strings are no keys, which cost most. For
/// groups in the order of keys only the first one. Cost: about 2 ns a row and key where there is
/// one, mostly a few thousand rows where there is none.
std::optional<DeterminingKey> find_determining_key(const std::vector<Column>& keys,
                                                   GroupOptions options);

/// Whether the first rows of keys on a device leave it possible that `find_determining_key` finds
/// one. Cost: a copy of 4096 rows a key.
bool may_be_determined(const std::vector<Column>& keys, GroupOptions options);

/// The groups of all keys, by those of the determining one.
Grouped with_determined_keys(Grouped grouped, const std::vector<Column>& keys,
                             const DeterminingKey& known);

}  // namespace hr
