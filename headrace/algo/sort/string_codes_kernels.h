// SPDX-License-Identifier: Apache-2.0
// Kernels of string_codes for a CUDA device.
#pragma once
#include "headrace/algo/sort/row_codes.h"
#include "headrace/data/device.h"

#include <array>

namespace hr::cuda {

/// By first appearance; the strings have rows.
RowCodes encode_strings(const Column& strings);

/// The same by the order of bytes.
RowCodes encode_in_order(const Column& strings);

/// Of `left` the first equal row of `right`, or the number of rows there.
std::array<Column, 2> encode_strings(const Column& left, const Column& right);

/// Rows of distinct strings, none of them null, in the order of their bytes: uint32.
Buffer order_of_distinct(const Column& strings);

}  // namespace hr::cuda
