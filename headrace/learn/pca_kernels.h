// SPDX-License-Identifier: Apache-2.0
// Kernels of pca. Inputs are checked, outputs are allocated. Matrices of the model are float64 with
// rows of `padded` values, a multiple of 16; what lies beyond the features is zero.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

constexpr int64_t pca_padded(int64_t features) {
  return (features + 15) / 16 * 16;
}

/// The float64 values of a row, and of its result, that the kernel for CUDA of a projection takes.
inline constexpr int64_t kMostProjected = 3072;

}  // namespace hr

namespace hr::cpu {

/// latent[row, component], in the dtype of `x`.
void pca_transform(const Tensor& x, const double* mean, const double* components, int64_t count,
                   int64_t padded, void* latent);

/// Rows from latent coordinates, in the dtype of `latent`.
void pca_inverse_transform(const Tensor& latent, const double* mean, const double* components,
                           int64_t features, int64_t padded, void* rows);

void pca_reconstruction_error(const Tensor& x, const double* mean, const double* components,
                              int64_t count, int64_t padded, double* error);

}  // namespace hr::cpu

namespace hr::cuda {

// The same of rows on a device, the model with them as it was fitted: contiguous, not padded.

void pca_transform(const Tensor& x, const Tensor& mean, const Tensor& components, Buffer& latent);
void pca_inverse_transform(const Tensor& latent, const Tensor& mean, const Tensor& components,
                           Buffer& rows);
void pca_reconstruction_error(const Tensor& x, const Tensor& mean, const Tensor& components,
                              Buffer& error);

}  // namespace hr::cuda
