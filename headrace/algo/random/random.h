// SPDX-License-Identifier: Apache-2.0
// Random numbers: a draw depends on its key and its place alone, so the same for any threads.
#pragma once
#include "headrace/algo/random/philox.h"
#include "headrace/data/tensor.h"

namespace hr {

/// Numbers are made where `place` says, on the host or on a CUDA device, with the same bits.

/// `count` numbers in [0, 1), float64 (53 bits) or float32 (24 bits). About 1 ns each and core.
HR_API Tensor random_uniform(int64_t count, Dtype dtype, RandomKey key, Place place = host);
/// Of the standard normal distribution (G. E. P. Box and M. E. Muller, Annals of Mathematical
/// Statistics 29, 1958), float64 or float32.
HR_API Tensor random_normal(int64_t count, Dtype dtype, RandomKey key, Place place = host);
/// Of the exponential distribution with mean 1, float64 or float32.
HR_API Tensor random_exponential(int64_t count, Dtype dtype, RandomKey key, Place place = host);
/// `low` + [0, range), each equally likely (D. Lemire, ACM Transactions on Modeling and Computer
/// Simulation 29, 2019), as int64 or uint64; a range of 0 means 2^64. Sums wrap.
HR_API Tensor random_integers(int64_t count, Dtype dtype, uint64_t low, uint64_t range,
                              RandomKey key, Place place = host);
/// Of the Poisson distribution, int64: by inversion below a mean of 10, else by transformed
/// rejection (W. Hörmann, Insurance: Mathematics and Economics 12, 1993).
/// InvalidArgumentError unless 0 <= mean <= 2^62.
HR_API Tensor random_poisson(int64_t count, double mean, RandomKey key);
/// `count` of the numbers 0 ... `rows` - 1, each at most once, in random order, int64: those with
/// the smallest random keys, ties in their order. InvalidArgumentError when count > rows.
HR_API Tensor random_sample(int64_t rows, int64_t count, RandomKey key, Place place = host);

}  // namespace hr
