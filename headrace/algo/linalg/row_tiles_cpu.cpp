// SPDX-License-Identifier: Apache-2.0
// Conversion, shift and scale of a tile in one pass.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/row_tiles_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/algo/linalg/row_tiles_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

/// Whether shifts are float32 and scales powers of two in its range: then float32 rounds once, as
/// float64 on the way does.
bool fit_floats(const double* shift, const double* scale, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    int exponent = 0;
    if (shift[j] != static_cast<double>(static_cast<float>(shift[j])) ||
        std::frexp(scale[j], &exponent) != 0.5 || std::abs(exponent) > 120)
      return false;
  }
  return true;
}

void subtract_rows(const float* from, const AnyMatrix& x, const double* shift, const double* scale,
                   const MatrixView<float>& to) {
  constexpr int64_t kColumns = 512;
  float less[kColumns], times[kColumns];
  for (int64_t first = 0; first < x.columns; first += kColumns) {
    const int64_t columns = std::min(kColumns, x.columns - first);
    for (int64_t j = 0; j < columns; ++j) {
      less[j] = static_cast<float>(shift[first + j]);
      times[j] = static_cast<float>(scale[first + j]);
    }
    for (int64_t i = 0; i < x.rows; ++i) {
      const float* row = from + i * x.row_stride + first;
      float* out = to.data + i * to.row_stride + first;
      for (int64_t j = 0; j < columns; ++j) out[j] = (row[j] - less[j]) * times[j];
    }
  }
}

template <class Pair>
void read_tile(const AnyMatrix& x, const double* shift, const double* scale,
               const MatrixView<typename Pair::To>& to) {
  using T = typename Pair::To;
  const auto* from = reinterpret_cast<const typename Pair::From*>(x.data);
  if (x.column_stride == 1 && to.column_stride == 1) {
    if constexpr (std::is_same_v<typename Pair::From, float> && std::is_same_v<T, float>)
      if (shift != nullptr && scale != nullptr && fit_floats(shift, scale, x.columns))
        return subtract_rows(from, x, shift, scale, to);
    for (int64_t i = 0; i < x.rows; ++i) {
      const auto* row = from + i * x.row_stride;
      T* out = to.data + i * to.row_stride;
      if (shift != nullptr && scale != nullptr)
        for (int64_t j = 0; j < x.columns; ++j)
          out[j] = static_cast<T>((static_cast<double>(row[j]) - shift[j]) * scale[j]);
      else if (shift != nullptr)
        for (int64_t j = 0; j < x.columns; ++j)
          out[j] = static_cast<T>(static_cast<double>(row[j]) - shift[j]);
      else if (scale != nullptr)
        for (int64_t j = 0; j < x.columns; ++j)
          out[j] = static_cast<T>(static_cast<double>(row[j]) * scale[j]);
      else
        for (int64_t j = 0; j < x.columns; ++j) out[j] = static_cast<T>(row[j]);
    }
    return;
  }
  for (int64_t j = 0; j < x.columns; ++j) {
    const auto* column = from + j * x.column_stride;
    T* out = to.data + j * to.column_stride;
    const double less = shift != nullptr ? shift[j] : 0, times = scale != nullptr ? scale[j] : 1;
    if (x.row_stride == 1 && to.row_stride == 1)
      for (int64_t i = 0; i < x.rows; ++i)
        out[i] = static_cast<T>((static_cast<double>(column[i]) - less) * times);
    else
      for (int64_t i = 0; i < x.rows; ++i)
        out[i * to.row_stride] =
            static_cast<T>((static_cast<double>(column[i * x.row_stride]) - less) * times);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

template <class T>
void read_tile(const AnyMatrix& x, const double* shift, const double* scale,
               const MatrixView<T>& to) {
  visit_real(x.dtype, [&]<class F>(std::type_identity<F>) {
    using Pair = Conversion<F, T>;
    HR_SIMD(read_tile<Pair>)(x, shift, scale, to);
  });
}

template void read_tile(const AnyMatrix&, const double*, const double*, const MatrixView<float>&);
template void read_tile(const AnyMatrix&, const double*, const double*, const MatrixView<double>&);

}  // namespace hr::cpu

#endif
