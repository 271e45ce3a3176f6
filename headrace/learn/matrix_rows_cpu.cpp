// SPDX-License-Identifier: Apache-2.0
// Reads rows, and distances of a point to many; loops that the compiler turns into vectors.
#define HWY_TARGET_INCLUDE "headrace/learn/matrix_rows_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/learn/matrix_rows.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#ifndef HEADRACE_LEARN_MATRIX_ROWS_CONVERSION
#define HEADRACE_LEARN_MATRIX_ROWS_CONVERSION
namespace hr {

template <class F, class T>
struct RowConversion {
  using From = F;
  using To = T;
};

}  // namespace hr
#endif

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

template <class Pair>
void convert_row(const typename Pair::From* row, int64_t columns, int64_t stride,
                 const double* shift, double scale, typename Pair::To* out) {
  using T = typename Pair::To;
  if (shift == nullptr) {
    for (int64_t j = 0; j < columns; ++j)
      out[j] = static_cast<T>(static_cast<double>(row[j * stride]) * scale);
  } else if (stride == 1) {
    for (int64_t j = 0; j < columns; ++j)
      out[j] = static_cast<T>((static_cast<double>(row[j]) - shift[j]) * scale);
  } else {
    for (int64_t j = 0; j < columns; ++j)
      out[j] = static_cast<T>((static_cast<double>(row[j * stride]) - shift[j]) * scale);
  }
}

/// float32 to float32 for a shift of such numbers: rounded once, as by way of float64.
void subtract_rows(const float* rows, int64_t count, int64_t columns, int64_t row_stride,
                   int64_t stride, const double* shift, float scale, float* out) {
  std::vector<float> shifts(shift, shift + columns);
  for (int64_t i = 0; i < count; ++i) {
    const float* row = rows + i * row_stride;
    float* to = out + i * columns;
    if (stride == 1)
      for (int64_t j = 0; j < columns; ++j)
        to[j] = (row[j] - shifts[static_cast<size_t>(j)]) * scale;
    else
      for (int64_t j = 0; j < columns; ++j)
        to[j] = (row[j * stride] - shifts[static_cast<size_t>(j)]) * scale;
  }
}

template <class Pair>
void convert_rows(const typename Pair::From* rows, int64_t count, int64_t columns,
                  int64_t row_stride, int64_t stride, const double* shift, double scale,
                  typename Pair::To* out) {
  using Kind = typename Pair::To;
  if constexpr (std::is_same_v<typename Pair::From, float> && std::is_same_v<Kind, float>)
    if (shift != nullptr && std::all_of(shift, shift + columns, [](double value) {
          return value == static_cast<double>(static_cast<float>(value));
        })) {
      subtract_rows(rows, count, columns, row_stride, stride, shift, static_cast<float>(scale),
                    out);
      return;
    }
  for (int64_t i = 0; i < count; ++i)
    convert_row<Pair>(rows + i * row_stride, columns, stride, shift, scale, out + i * columns);
}

void squared_distances(const double* point, const double* columns, int64_t dimensions,
                       int64_t count, double* out) {
  std::fill_n(out, count, 0.0);
  for (int64_t j = 0; j < dimensions; ++j)
    for (int64_t c = 0; c < count; ++c) {
      const double apart = point[j] - columns[j * count + c];
      out[c] += apart * apart;
    }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

template <class T>
void read_rows(const Tensor& x, int64_t first, int64_t count, const double* shift, double scale,
               T* out) {
  visit_floating(x.dtype(), [&]<class F>(std::type_identity<F>) {
    using Pair = RowConversion<F, T>;
    HR_SIMD(convert_rows<Pair>)
    (x.as<F>() + first * x.strides()[0], count, x.shape()[1], x.strides()[0], x.strides()[1], shift,
     scale, out);
  });
}

template void read_rows(const Tensor&, int64_t, int64_t, const double*, double, float*);
template void read_rows(const Tensor&, int64_t, int64_t, const double*, double, double*);

void squared_distances(const double* point, const double* columns, int64_t dimensions,
                       int64_t count, double* out) {
  HR_SIMD(squared_distances)(point, columns, dimensions, count, out);
}

}  // namespace hr::cpu

#endif
