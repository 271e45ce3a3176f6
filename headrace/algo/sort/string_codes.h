// SPDX-License-Identifier: Apache-2.0
// Strings on a CUDA device as numbers: keys of groups, joins and sorts.
#pragma once
#include "headrace/algo/sort/row_codes.h"
#include "headrace/base/api.h"

#include <array>

namespace hr {

/// A number for each distinct string of a column on a CUDA device, null for null: by the order of
/// their bytes if `ordered`, else by first appearance. Equal hashes are never taken for equal
/// strings. Waits for how many there are, and in order twice for each 32 bytes that some share.
/// Throws UnsupportedError for 2^30 rows and more, and in a build without CUDA.
HR_API RowCodes encode_strings(const Column& strings, bool ordered);

/// Numbers of the strings of two columns on a CUDA device, int32, null for null: the first row of
/// `right` that has the string, or one that no row of `right` has.
HR_API std::array<Column, 2> encode_strings(const Column& left, const Column& right);

/// The columns, of which those of strings are their numbers in order; as they are on the host.
HR_API std::vector<Column> with_string_ranks(const std::vector<Column>& columns);

}  // namespace hr
