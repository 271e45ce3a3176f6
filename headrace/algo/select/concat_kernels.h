// SPDX-License-Identifier: Apache-2.0
// Kernel of concat for a CUDA device.
#pragma once
#include "headrace/data/column.h"

#include <span>
#include <string_view>

namespace hr::cuda {

/// The rows of all chunks, at least two, on one device, in order; categories have one dictionary.
/// Waits for nothing.
Column concatenate(std::string_view op, Dtype dtype, std::span<const Column> chunks);

/// Rows of the column's dtype that are all null.
Column null_rows(std::string_view op, const Column& like, int64_t rows);

}  // namespace hr::cuda
