// SPDX-License-Identifier: Apache-2.0
// Kernels of histogram. The input is checked and 1-D; `counts` is int64, one a bin, on the host
// zeroed. Edges are on the host.
#pragma once
#include "headrace/data/tensor.h"

namespace hr {

/// Bins of equal width, with what numpy.histogram derives from the range.
struct UniformBins {
  int64_t bins;
  double low;  ///< the range, in the dtype in which the values are compared with it
  double high;
  double width;          ///< high - low; exact for integers before it is rounded
  bool divide_in_float;  ///< a float32 range taken from the data: quotients stay float32
};

struct Extremes {
  double low;  ///< rounded to float64
  double high;
  double width;  ///< high - low, exact in integers before it is rounded
};

}  // namespace hr

namespace hr::cpu {
/// Minimum and maximum of a tensor that is not empty; NaN in both if it contains one.
Extremes extremes(const Tensor& x);
/// `edges` is a tensor of float32 for float32 input, else float64.
void count_uniform(const Tensor& x, const UniformBins& bins, const Tensor& edges, Buffer& counts);
/// `edges` is contiguous and ascends.
void count_between(const Tensor& x, const Tensor& edges, Buffer& counts);
}  // namespace hr::cpu
namespace hr::cuda {
Extremes extremes(const Tensor& x);
void count_uniform(const Tensor& x, const UniformBins& bins, const Tensor& edges, Buffer& counts);
void count_between(const Tensor& x, const Tensor& edges, Buffer& counts);
}  // namespace hr::cuda
