// SPDX-License-Identifier: Apache-2.0
// Inputs that a table node computes while it reads them.
#pragma once
#include "headrace/algo/select/filter.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/eval/value.h"

#include <optional>
#include <string>
#include <vector>

namespace hr {

/// Rows of a base, all or those that a mask picks, and a program over them.
struct RowInputs {
  int64_t rows = 0;             ///< of the base
  std::optional<Value> mask{};  ///< a bool a row of the base; none: all rows are picked
  std::vector<Value> given{};   ///< by input; those at `keys` have the rows of the base
  std::vector<int64_t> keys{};
  std::vector<int> computed{};  ///< by input: its value of the program; -1: it is given
  Program program{};            ///< without outputs
  std::vector<Value> values{};  ///< its inputs, of the rows of the base

  /// The inputs as if they had been made before: the picked rows. On a CUDA device only where
  /// `why_unsupported` has nothing against it.
  HR_API std::vector<Value> made() const;

  /// Why no kernel for CUDA makes them; empty: one does.
  std::string why_unsupported() const;

  Mask picks() const { return mask_of(*mask); }
};

}  // namespace hr
