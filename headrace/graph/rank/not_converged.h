// SPDX-License-Identifier: Apache-2.0
// What ranks do that have not converged: an error, or advice.
#pragma once
#include "headrace/base/convergence.h"
#include "headrace/memory/log/advice.h"

namespace hr {

/// Throws ConvergenceError where that is strict; else says the same as advice.
inline void not_converged(std::string_view op, int64_t iterations, double error, double tolerance,
                          bool strict) {
  try {
    throw_not_converged(op, iterations, error, tolerance);
  } catch (const ConvergenceError& problem) {
    if (strict) throw;
    give_advice(current_tag(), problem.what());
  }
}

}  // namespace hr
