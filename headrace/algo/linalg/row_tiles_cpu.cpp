// SPDX-License-Identifier: Apache-2.0
// Conversion, shift and scale of a tile in one pass.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/row_tiles_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/algo/linalg/row_tiles_kernels.h"

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

template <class Pair>
void read_tile(const AnyMatrix& x, const double* shift, const double* scale,
               const MatrixView<typename Pair::To>& to) {
  using T = typename Pair::To;
  const auto* from = reinterpret_cast<const typename Pair::From*>(x.data);
  if (x.column_stride == 1 && to.column_stride == 1) {
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
