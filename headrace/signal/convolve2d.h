// SPDX-License-Identifier: Apache-2.0
// Convolution of two matrices.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"
#include "headrace/signal/fft_convolve.h"

namespace hr {

/// What lies beyond the edges of a matrix: a value, the matrix again, or its mirror image.
enum class MatrixBoundary : uint8_t { kFill, kWrap, kSymmetric };

/// As scipy.signal.convolve2d: both 2-D, both float32 or both float64, of any strides. Directly,
/// each output in the row-major order of the turned kernel: O(outputs kernel) time, in parallel by
/// tiles, the same bits for any number of threads and at every SIMD level; scratch is a tile and
/// the kernel's surroundings a worker. In mode same an even kernel has its middle at the first of
/// two places, or with `later_middle` at the second, as scipy.signal.correlate2d turned. Throws
/// TypeMismatchError for other inputs, InvalidArgumentError for an empty kernel, and in mode valid
/// for a kernel that is larger than the matrix.
HR_API Tensor convolve2d(const Tensor& x, const Tensor& kernel, ConvolveMode mode,
                         MatrixBoundary boundary, double fill, bool later_middle);

}  // namespace hr
