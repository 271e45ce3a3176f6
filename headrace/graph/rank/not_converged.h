// SPDX-License-Identifier: Apache-2.0
// Steps of ranks until they converge, and what happens if they do not: an error, or advice.
#pragma once
#include "headrace/base/convergence.h"
#include "headrace/exec/interrupt.h"
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

/// Calls `step`, which gives the sum of changes, until that is small enough.
template <class Options, class Step>
void step_until_still(std::string_view op, const Options& options, int64_t vertices, Step&& step) {
  const auto count = static_cast<double>(vertices);
  double change = 0;
  for (int64_t i = 0; i < options.max_iter; ++i) {
    report_progress(i, options.max_iter);
    change = step();
    if (change < count * options.tolerance) return;
  }
  not_converged(op, options.max_iter, change / count, options.tolerance, options.strict);
}

}  // namespace hr
