// SPDX-License-Identifier: Apache-2.0
// A permutation of row numbers as a function of a key: any part of it, without a list of them.
#pragma once
#include "headrace/algo/random/philox.h"
#include "headrace/data/tensor.h"

namespace hr {

/// Elements `first`, `first + step`, ... of a permutation of 0 ... `rows` - 1, `count` of them, as
/// int64; those past its end begin again at its front. Up to 2^16 rows each permutation is equally
/// likely; more are permuted by a Feistel network (M. Luby and C. Rackoff, SIAM Journal on
/// Computing 17, 1988) of six rounds, whose results outside of the rows go through it again (J.
/// Black and P. Rogaway, CT-RSA 2002). Parallel; the same for any threads. InvalidArgumentError for
/// negative numbers, and for elements of no rows.
HR_API Tensor permuted_rows(int64_t rows, RandomKey key, int64_t first, int64_t step,
                            int64_t count);

/// Where the permutation has row `first`, `first + 1`, ..., `count` of them, as int64: its inverse.
HR_API Tensor permuted_places(int64_t rows, RandomKey key, int64_t first, int64_t count);

}  // namespace hr
