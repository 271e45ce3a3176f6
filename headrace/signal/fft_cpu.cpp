// SPDX-License-Identifier: Apache-2.0
// Transforms of rows on the CPU: load a row into planes, run its plan, store it scaled.
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_kernels.h"
#include "headrace/signal/fft_plan.h"

#include <algorithm>
#include <complex>
#include <type_traits>

namespace hr::cpu {

namespace {

/// A row of the input, cut or padded with zeros to any length.
template <class S>
struct Row {
  const S* data;
  int64_t stride;
  int64_t size;

  /// Elements [0, count) step `every` from `first` on, as real and imaginary part.
  template <class T>
  void load(int64_t first, int64_t every, int64_t count, T* re, T* im) const {
    const int64_t present = std::clamp<int64_t>((size - first + every - 1) / every, 0, count);
    const S* from = data + first * stride;
    for (int64_t i = 0; i < present; ++i) {
      const S value = from[i * every * stride];
      if constexpr (std::is_arithmetic_v<S>) {
        re[i] = static_cast<T>(value);
      } else {
        re[i] = static_cast<T>(value.real());
        if (im) im[i] = static_cast<T>(value.imag());
      }
    }
    std::fill(re + present, re + count, T{0});
    if (im) std::fill(im + (std::is_arithmetic_v<S> ? 0 : present), im + count, T{0});
  }
};

/// The first element of row `index` (all axes but the last, row-major).
int64_t row_offset(const Tensor& x, int64_t index) {
  int64_t offset = 0;
  for (size_t axis = x.shape().size() - 1; axis-- > 0;) {
    offset += index % x.shape()[axis] * x.strides()[axis];
    index /= x.shape()[axis];
  }
  return offset;
}

/// What the rows of one job share.
template <class T>
struct RowPlan {
  FftJob job;
  std::shared_ptr<const FftPlan<T>> plan;
  std::shared_ptr<const HalfCircle<T>> circle;  // for real transforms of even length

  explicit RowPlan(const FftJob& j) : job(j) {
    const bool real =
        job.transform == Transform::kRealForward || job.transform == Transform::kRealInverse;
    if (real && job.n % 2 == 0) circle = half_circle<T>(job.n);
    plan = fft_plan<T>(circle ? job.n / 2 : job.n);
  }

  /// Elements of the two planes of a row (one more each for the middle term) and of scratch.
  int64_t work_size() const { return 2 * (job.n + 1) + plan->scratch_size(); }
};

template <class T>
void store_complex(const T* re, const T* im, int64_t count, T scale, std::complex<T>* out) {
  for (int64_t k = 0; k < count; ++k) out[k] = {re[k] * scale, im[k] * scale};
}

template <class T, class S>
void complex_row(const RowPlan<T>& rows, const Row<S>& row, bool inverse, T* work,
                 std::complex<T>* out) {
  const int64_t n = rows.job.n;
  T* re = work;
  T* im = work + n;
  row.load(0, 1, n, re, im);
  run_fft(*rows.plan, inverse ? im : re, inverse ? re : im, work + 2 * (n + 1));
  store_complex(re, im, n, static_cast<T>(rows.job.scale), out);
}

/// Even n: even and odd elements as real and imaginary part of a transform of half the length.
template <class T, class S>
void real_row(const RowPlan<T>& rows, const Row<S>& row, T* work, std::complex<T>* out) {
  const int64_t n = rows.job.n;
  const T scale = static_cast<T>(rows.job.scale);
  T* re = work;
  T* im = work + n;
  T* scratch = work + 2 * (n + 1);
  if (!rows.circle) {
    row.load(0, 1, n, re, im);
    run_fft(*rows.plan, re, im, scratch);
    store_complex(re, im, n / 2 + 1, scale, out);
    return;
  }
  const int64_t half = n / 2;
  row.load(0, 2, half, re, static_cast<T*>(nullptr));
  row.load(1, 2, half, im, static_cast<T*>(nullptr));
  run_fft(*rows.plan, re, im, scratch);
  re[half] = re[0];
  im[half] = im[0];
  const T* cosines = rows.circle->factors.re();
  const T* sines = rows.circle->factors.im();
  const T half_scale = scale / 2;
  for (int64_t k = 0; k <= half; ++k) {
    const T even_re = re[k] + re[half - k];
    const T even_im = im[k] - im[half - k];
    const T odd_re = im[k] + im[half - k];
    const T odd_im = re[half - k] - re[k];
    out[k] = {(even_re + (odd_re * cosines[k] - odd_im * sines[k])) * half_scale,
              (even_im + (odd_re * sines[k] + odd_im * cosines[k])) * half_scale};
  }
}

template <class T, class S>
void real_inverse_row(const RowPlan<T>& rows, const Row<S>& row, T* work, T* out) {
  const int64_t n = rows.job.n;
  const T scale = static_cast<T>(rows.job.scale);
  const int64_t terms = n / 2 + 1;
  T* re = work;
  T* im = work + n + 1;
  T* scratch = work + 2 * (n + 1);
  row.load(0, 1, terms, re, im);
  im[0] = 0;
  if (!rows.circle) {
    for (int64_t k = 1; k < terms; ++k) {
      re[n - k] = re[k];
      im[n - k] = -im[k];
    }
    run_fft(*rows.plan, im, re, scratch);
    for (int64_t i = 0; i < n; ++i) out[i] = re[i] * scale;
    return;
  }
  const int64_t half = n / 2;
  im[half] = 0;
  const T* cosines = rows.circle->factors.re();
  const T* sines = rows.circle->factors.im();
  // Terms k and half - k at once: each needs the other.
  for (int64_t k = 0; k <= half - k; ++k) {
    const int64_t mirror = half - k;
    const T even_re = re[k] + re[mirror];
    const T even_im = im[k] - im[mirror];
    const T difference_re = re[k] - re[mirror];
    const T difference_im = im[k] + im[mirror];
    const T odd_re = difference_re * cosines[k] + difference_im * sines[k];
    const T odd_im = difference_im * cosines[k] - difference_re * sines[k];
    re[k] = even_re - odd_im;
    im[k] = even_im + odd_re;
    re[mirror] = even_re + odd_im;
    im[mirror] = odd_re - even_im;
  }
  run_fft(*rows.plan, im, re, scratch);
  for (int64_t i = 0; i < half; ++i) {
    out[2 * i] = re[i] * scale;
    out[2 * i + 1] = im[i] * scale;
  }
}

template <class T, class S>
void transform_rows(const FftJob& job, const Tensor& x, Buffer& out) {
  const RowPlan<T> rows(job);
  const int64_t stride = x.strides().back();
  const int64_t size = x.shape().back();
  std::byte* result = out.mutable_data();
  const int64_t rows_of_task = std::max<int64_t>(1, kMorselRows / 8 / job.n);
  parallel_for((job.rows + rows_of_task - 1) / rows_of_task, [&](int64_t task) {
    Buffer buffer = Buffer::allocate(rows.work_size() * static_cast<int64_t>(sizeof(T)));
    T* work = buffer.mutable_as<T>();
    const int64_t end = std::min(job.rows, (task + 1) * rows_of_task);
    for (int64_t k = task * rows_of_task; k < end; ++k) {
      const Row<S> row{x.as<S>() + row_offset(x, k), stride, size};
      auto* as_complex = reinterpret_cast<std::complex<T>*>(result);
      switch (job.transform) {
        case Transform::kForward:
        case Transform::kInverse:
          complex_row(rows, row, job.transform == Transform::kInverse, work,
                      as_complex + k * job.n);
          break;
        case Transform::kRealForward:
          real_row(rows, row, work, as_complex + k * (job.n / 2 + 1));
          break;
        case Transform::kRealInverse:
          real_inverse_row(rows, row, work, reinterpret_cast<T*>(result) + k * job.n);
          break;
      }
    }
  });
}

}  // namespace

void fft(const FftJob& job, const Tensor& x, Buffer& out) {
  switch (x.dtype().id()) {
    case TypeId::kFloat32:
      return transform_rows<float, float>(job, x, out);
    case TypeId::kComplex64:
      return transform_rows<float, std::complex<float>>(job, x, out);
    case TypeId::kComplex128:
      return transform_rows<double, std::complex<double>>(job, x, out);
    case TypeId::kBool:
      return transform_rows<double, uint8_t>(job, x, out);
    default:
      return visit_real(x.dtype(), [&]<class S>(std::type_identity<S>) {
        transform_rows<double, S>(job, x, out);
      });
  }
}

}  // namespace hr::cpu
