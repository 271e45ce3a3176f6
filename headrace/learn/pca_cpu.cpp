// SPDX-License-Identifier: Apache-2.0
// Sums, products and projections in float64. No sum depends on the vector width or the threads.
#define HWY_TARGET_INCLUDE "headrace/learn/pca_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/exec/workers.h"
#include "headrace/learn/pca_kernels.h"
#include "headrace/memory/buffer/buffer.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE void add_pair(D tag, double* place, V low, V high) {
  const auto lanes = hn::Lanes(tag);
  hn::StoreU(hn::Add(hn::LoadU(tag, place), low), tag, place);
  hn::StoreU(hn::Add(hn::LoadU(tag, place + lanes), high), tag, place + lanes);
}

/// Adds to the 4 x 16 tile of `products` the products of columns i.. and j.. of a panel of `rows`
/// rows, row after row in each element.
void add_tile(const double* panel, int64_t rows, int64_t padded, int64_t i, int64_t j,
              double* products) {
  const hn::CappedTag<double, 8> tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t step = 0; step < 16; step += 2 * lanes) {
    auto a0 = hn::Zero(tag), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
    const double* left = panel + i;
    const double* right = panel + j + step;
    for (int64_t row = 0; row < rows; ++row, left += padded, right += padded) {
      const auto r0 = hn::LoadU(tag, right);
      const auto r1 = hn::LoadU(tag, right + lanes);
      a0 = hn::Add(a0, hn::Mul(hn::Set(tag, left[0]), r0));
      a1 = hn::Add(a1, hn::Mul(hn::Set(tag, left[0]), r1));
      b0 = hn::Add(b0, hn::Mul(hn::Set(tag, left[1]), r0));
      b1 = hn::Add(b1, hn::Mul(hn::Set(tag, left[1]), r1));
      c0 = hn::Add(c0, hn::Mul(hn::Set(tag, left[2]), r0));
      c1 = hn::Add(c1, hn::Mul(hn::Set(tag, left[2]), r1));
      d0 = hn::Add(d0, hn::Mul(hn::Set(tag, left[3]), r0));
      d1 = hn::Add(d1, hn::Mul(hn::Set(tag, left[3]), r1));
    }
    double* out = products + i * padded + j + step;
    add_pair(tag, out, a0, a1);
    add_pair(tag, out + padded, b0, b1);
    add_pair(tag, out + 2 * padded, c0, c1);
    add_pair(tag, out + 3 * padded, d0, d1);
  }
}

/// The lower triangle, in tiles.
void add_products(const double* panel, int64_t rows, int64_t padded, double* products) {
  for (int64_t i = 0; i < padded; i += 4)
    for (int64_t j = 0; j <= i; j += 16) add_tile(panel, rows, padded, i, j, products);
}

/// Sum of products in 16 virtual lanes and one tree; `padded` is a multiple of 16.
double dot(const double* a, const double* b, int64_t padded) {
  double sums[16] = {};
  for (int64_t j = 0; j < padded; j += 16)
    for (int lane = 0; lane < 16; ++lane) sums[lane] += a[j + lane] * b[j + lane];
  for (int half = 8; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

void add_scaled(double* a, double scale, const double* b, int64_t padded) {
  for (int64_t j = 0; j < padded; ++j) a[j] += scale * b[j];
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {
namespace {

constexpr int64_t kPanelRows = 64;

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

template <class F>
void for_parts(int64_t rows, F body) {
  const int64_t size = pca_part_rows(rows);
  parallel_for((rows + size - 1) / size,
               [&](int64_t k) { body(k, k * size, std::min(rows, (k + 1) * size)); });
}

}  // namespace

void pca_sums(const Tensor& x, double* sums, int64_t padded) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    for_parts(x.shape()[0], [&](int64_t part, int64_t begin, int64_t end) {
      Buffer scratch = Buffer::allocate_zeroed(padded * static_cast<int64_t>(sizeof(double)));
      auto* row = scratch.mutable_as<double>();
      double* out = sums + part * padded;
      std::fill(out, out + padded, 0.0);
      for (int64_t i = begin; i < end; ++i) {
        load_row<T>(x, i, nullptr, row);
        for (int64_t j = 0; j < padded; ++j) out[j] += row[j];
      }
    });
  });
}

void pca_products(const Tensor& x, const double* mean, double* products, int64_t padded) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    for_parts(x.shape()[0], [&](int64_t part, int64_t begin, int64_t end) {
      Buffer scratch =
          Buffer::allocate_zeroed(kPanelRows * padded * static_cast<int64_t>(sizeof(double)));
      auto* panel = scratch.mutable_as<double>();
      double* out = products + part * padded * padded;
      std::fill(out, out + padded * padded, 0.0);
      for (int64_t first = begin; first < end; first += kPanelRows) {
        const int64_t rows = std::min(kPanelRows, end - first);
        for (int64_t i = 0; i < rows; ++i) load_row<T>(x, first + i, mean, panel + i * padded);
        HR_SIMD(add_products)(panel, rows, padded, out);
      }
    });
  });
}

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
