// SPDX-License-Identifier: Apache-2.0
// Counts of terms weighed by how few documents have a term, rows brought to length 1.
#pragma once
#include "headrace/data/sparse.h"

#include <optional>
#include <string_view>

namespace hr {

/// The length that rows get.
enum class RowNorm : uint8_t { kNone, kL1, kL2, kMax };

/// "l1", "l2", "max"; throws InvalidArgumentError for another word.
HR_API RowNorm row_norm_from_name(std::string_view name);

/// Each value becomes its logarithm plus 1 (`sublinear`), times the weight of its column (if there
/// are any), then over the norm of its row; rows of norm 0 stay. Sums go along the row in order.
/// float32 or float64; weights are of the same dtype, one for each column: else TypeMismatchError
/// or InvalidArgumentError.
HR_API Sparse weigh_terms(const Sparse& counts, bool sublinear,
                          const std::optional<Tensor>& weights, RowNorm norm);

}  // namespace hr
