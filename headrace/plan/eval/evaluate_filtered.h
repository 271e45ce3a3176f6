// SPDX-License-Identifier: Apache-2.0
// Reductions over the rows for which a program is true, in one pass.
#pragma once
#include "headrace/plan/eval/evaluate.h"

namespace hr {

/// Which of `rows` rows are read: a program whose one output is bool (a `kBlock`; null counts as
/// false), and its inputs.
struct RowFilter {
  const Program& program;
  std::span<const Value> inputs;
  int64_t rows;
};

/// Whether `evaluate_filtered` takes these: reductions alone, of columns and arrays that have as
/// many rows as the filter, or of single values.
HR_API bool takes_filter(const Program& program, std::span<const Value> inputs, int64_t rows);

/// `evaluate(program, inputs, mask)` with the mask that `filter` computes: the same bits, without a
/// pass or a column for the mask. Inputs on the host that `takes_filter` takes.
HR_API std::vector<Value> evaluate_filtered(const RowFilter& filter, const Program& program,
                                            std::span<const Value> inputs);

}  // namespace hr
