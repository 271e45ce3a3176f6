// SPDX-License-Identifier: Apache-2.0
// The error of methods that come closer step by step, and did not come close enough.
#pragma once
#include "headrace/base/error.h"

#include <cstdint>
#include <utility>

namespace hr {

/// An iteration that ended without reaching its tolerance (Python: also RuntimeError).
class HR_API ConvergenceError : public Error {
 public:
  explicit ConvergenceError(std::string message, int64_t iterations_ = 0, double error_ = 0)
      : Error(std::move(message)), iterations(iterations_), error(error_) {}

  int64_t iterations;
  double error;  ///< what was reached
};

/// `op: no convergence: iterations=..., error=..., tolerance=...`.
[[noreturn]] inline void throw_not_converged(std::string_view op, int64_t iterations, double error,
                                             double tolerance) {
  throw ConvergenceError(
      error_message(op, "no convergence",
                    {{"iterations", iterations}, {"error", error}, {"tolerance", tolerance}},
                    "raise max_iter or tol"),
      iterations, error);
}

}  // namespace hr
