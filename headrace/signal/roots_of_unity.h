// SPDX-License-Identifier: Apache-2.0
// exp(2 pi i k / n), exact to the last place: the twiddle factors of the transforms.
#pragma once
#include "headrace/signal/double_double_math.h"

#include <cstdint>
#include <vector>

namespace hr {

/// The n-th roots of unity. An index is folded into the first eighth of the circle and its root
/// multiplied from two tables of about sqrt(n) entries, all in double-double arithmetic: the same
/// bits on every machine.
class RootsOfUnity {
 public:
  struct Root {
    double cos;
    double sin;
  };

  explicit RootsOfUnity(int64_t n);

  /// Root number k, 0 <= k < n < 2^59, rounded to double.
  Root operator[](int64_t k) const;

 private:
  /// sin and cos of `index` * pi / (4 n), 0 <= index <= n.
  Root first_eighth(int64_t index) const;

  int64_t n_;
  int64_t fine_size_;
  std::vector<SinCos> fine_;    // multiples 0 ... fine_size - 1
  std::vector<SinCos> coarse_;  // multiples of fine_size
};

}  // namespace hr
