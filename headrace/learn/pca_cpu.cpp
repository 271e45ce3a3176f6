// SPDX-License-Identifier: Apache-2.0
// Projections in float64. No sum depends on the vector width or the threads.
#define HWY_TARGET_INCLUDE "headrace/learn/pca_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/algo/linalg/row_simd.h"
//
#include "headrace/exec/workers.h"
#include "headrace/learn/pca_kernels.h"
#include "headrace/memory/buffer/buffer.h"

#include <algorithm>

#if HWY_ONCE

namespace hr::cpu {
namespace {

/// Row `row` of a matrix less `mean` (none: null) as float64; the padding of `out` is left alone.
template <class T>
void load_row(const Tensor& x, int64_t row, const double* mean, double* out) {
  const T* values = x.as<T>() + row * x.strides()[0];
  const int64_t columns = x.shape()[1];
  const int64_t stride = x.strides()[1];
  if (mean == nullptr)
    for (int64_t j = 0; j < columns; ++j) out[j] = static_cast<double>(values[j * stride]);
  else if (stride == 1)
    for (int64_t j = 0; j < columns; ++j) out[j] = static_cast<double>(values[j]) - mean[j];
  else
    for (int64_t j = 0; j < columns; ++j)
      out[j] = static_cast<double>(values[j * stride]) - mean[j];
}

/// Runs `body(row, scratch)` for all rows, `scratch` being `doubles` zeroed values of the task.
template <class F>
void for_rows(int64_t rows, int64_t doubles, F body) {
  constexpr int64_t kRows = 1024;
  parallel_for((rows + kRows - 1) / kRows, [&](int64_t k) {
    Buffer scratch = Buffer::allocate_zeroed(doubles * static_cast<int64_t>(sizeof(double)));
    auto* values = scratch.mutable_as<double>();
    for (int64_t row = k * kRows; row < std::min(rows, (k + 1) * kRows); ++row) body(row, values);
  });
}

}  // namespace

void pca_transform(const Tensor& x, const double* mean, const double* components, int64_t count,
                   int64_t padded, void* latent) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    for_rows(x.shape()[0], padded, [&](int64_t row, double* centered) {
      load_row<T>(x, row, mean, centered);
      T* out = static_cast<T*>(latent) + row * count;
      for (int64_t c = 0; c < count; ++c)
        out[c] = static_cast<T>(HR_SIMD(dot)(centered, components + c * padded, padded));
    });
  });
}

void pca_inverse_transform(const Tensor& latent, const double* mean, const double* components,
                           int64_t features, int64_t padded, void* rows) {
  visit_floating(latent.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t count = latent.shape()[1];
    for_rows(latent.shape()[0], padded + count, [&](int64_t row, double* sums) {
      double* coordinates = sums + padded;
      load_row<T>(latent, row, nullptr, coordinates);
      std::copy(mean, mean + padded, sums);
      for (int64_t c = 0; c < count; ++c)
        HR_SIMD(add_scaled)(sums, coordinates[c], components + c * padded, padded);
      T* out = static_cast<T*>(rows) + row * features;
      for (int64_t j = 0; j < features; ++j) out[j] = static_cast<T>(sums[j]);
    });
  });
}

void pca_reconstruction_error(const Tensor& x, const double* mean, const double* components,
                              int64_t count, int64_t padded, double* error) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t features = x.shape()[1];
    for_rows(x.shape()[0], padded + count, [&](int64_t row, double* rest) {
      double* coordinates = rest + padded;
      load_row<T>(x, row, mean, rest);
      for (int64_t c = 0; c < count; ++c)
        coordinates[c] = HR_SIMD(dot)(rest, components + c * padded, padded);
      for (int64_t c = 0; c < count; ++c)
        HR_SIMD(add_scaled)(rest, -coordinates[c], components + c * padded, padded);
      error[row] = HR_SIMD(dot)(rest, rest, padded) / static_cast<double>(features);
    });
  });
}

}  // namespace hr::cpu

#endif
