// SPDX-License-Identifier: Apache-2.0
// The loops of eigh that touch whole rows. No element depends on the vector width.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Angles by which rows k and k + 1 turn, for k from `first` to `last` - 1: cosine and sine.
struct Sweep {
  int64_t first;
  int64_t last;
  const double* angles;
};

/// The columns that `turn_rows` turns.
inline constexpr int64_t kTurnedColumns = 32;

/// Turns the rows of `strip`, each of kTurnedColumns values, by one sweep after the other.
void turn_rows(double* strip, const Sweep* sweeps, int64_t count);

/// Turns vectors of the tridiagonal matrix, `count` rows of `n`, into those of the input.
void reflect_back(const double* a, const double* factors, double* vectors, int64_t count,
                  int64_t n);

/// Makes `x` a unit vector that has no part along the `count` unit vectors before.
void orthogonalize(double* x, const double* before, int64_t count, int64_t n);

}  // namespace hr::cpu
