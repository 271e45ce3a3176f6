// SPDX-License-Identifier: Apache-2.0
// Kernels of string comparisons.
#pragma once
#include "headrace/data/column.h"
#include "headrace/plan/eval/expression.h"

#include <string_view>

namespace hr::cuda {

/// `op`, a comparison, of each string of a column and `text`, by bytes: a bool, null where the row
/// is.
Column compare_text(Op op, const Column& column, std::string_view text);
/// Row by row of two string columns of equal length.
Column compare_text(Op op, const Column& left, const Column& right);

}  // namespace hr::cuda
