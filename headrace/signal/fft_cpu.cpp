// SPDX-License-Identifier: Apache-2.0
// Transforms of the rows of a tensor on the CPU: short rows side by side, long ones one by one.
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_batched.h"
#include "headrace/signal/fft_kernels.h"

#include <algorithm>
#include <complex>
#include <type_traits>
#include <utility>

namespace hr::cpu {

namespace {

/// The first element of row `index` (all axes but the last, row-major).
int64_t row_offset(const Tensor& x, int64_t index) {
  int64_t offset = 0;
  for (size_t axis = x.shape().size() - 1; axis-- > 1;) {
    offset += index % x.shape()[axis] * x.strides()[axis];
    index /= x.shape()[axis];
  }
  if (x.shape().size() > 1) offset += index * x.strides()[0];
  return offset;
}

/// A job whose input elements are S and which computes in T. A real row of even length is
/// transformed as half as many pairs; of odd length, as pairs with imaginary part 0.
template <class T, class S>
class RowsJob {
 public:
  RowsJob(const FftJob& job, const Tensor& x, Buffer& out)
      : job_(job),
        x_(x),
        stride_(x.strides().back()),
        out_(reinterpret_cast<T*>(out.mutable_data())),
        scale_(static_cast<T>(job.scale)) {
    from_real_ = job.transform == Transform::kRealForward;
    to_real_ = job.transform == Transform::kRealInverse;
    const int64_t terms = job.n / 2 + 1;
    halved_ = (from_real_ || to_real_) && job.n % 2 == 0;
    odd_real_ = (from_real_ || to_real_) && !halved_;
    inverse_ = to_real_ || job.transform == Transform::kInverse;
    elements_ = to_real_ ? terms : job.n;
    out_numbers_ = to_real_ ? job.n : 2 * (from_real_ ? terms : job.n);
    out_pitch_ = to_real_ ? job.pitch : 2 * job.pitch;
    borrows_ = stride_ == 1 && x.shape().back() >= elements_ &&
               (from_real_ ? std::is_same_v<S, T> : std::is_same_v<S, std::complex<T>>);
    if (halved_) circle_ = half_circle<T>(job.n);
    plan_ = fft_plan<T>(halved_ ? job.n / 2 : job.n);
  }

  void run() const {
    constexpr int64_t worth_lanes = 3;
    if (plan_->is_short() && job_.rows >= worth_lanes) return run_short();
    // All workers share a row when there are few rows, or long ones.
    constexpr int64_t worth_sharing = int64_t{1} << 13;
    constexpr int64_t long_row = int64_t{1} << 20;
    if (plan_->n >= long_row || (plan_->n >= worth_sharing && job_.rows < 2 * threads())) {
      for (int64_t k = 0; k < job_.rows; ++k) transform_alone(k, nullptr);
      return;
    }
    const int64_t part = std::max<int64_t>(1, kTaskElements / job_.n);
    parallel_for(divide_up(job_.rows, part), [&](int64_t task) {
      Buffer work = room_for<T>(row_work(*plan_) + 2 * plan_->n);
      const int64_t end = std::min(job_.rows, (task + 1) * part);
      for (int64_t k = task * part; k < end; ++k) transform_alone(k, work.mutable_as<T>());
    });
  }

 private:
  static constexpr int64_t kTaskElements = kMorselRows / 4;

  const S* row(int64_t k) const { return x_.as<S>() + row_offset(x_, k); }

  /// Elements [begin, end) of a row as pairs or as numbers, zeros beyond its end.
  void convert(const S* from, int64_t begin, int64_t end, bool pairs, T* to) const {
    const int64_t last = std::clamp(x_.shape().back(), begin, end);
    const int64_t step = pairs ? 2 : 1;
    to += begin * step;
    for (int64_t i = begin; i < last; ++i, to += step) {
      const S value = from[i * stride_];
      if constexpr (std::is_arithmetic_v<S>) {
        to[0] = static_cast<T>(value);
        if (pairs) to[1] = 0;
      } else {
        to[0] = static_cast<T>(value.real());
        to[1] = static_cast<T>(value.imag());
      }
    }
    std::fill(to, to + (end - last) * step, T{0});
  }

  /// The terms of a real row of odd length beyond the middle.
  void mirror(T* pairs) const {
    pairs[1] = 0;
    for (int64_t k = 1; k < elements_; ++k) {
      pairs[2 * (job_.n - k)] = pairs[2 * k];
      pairs[2 * (job_.n - k) + 1] = -pairs[2 * k + 1];
    }
  }

  /// The result of a real row of odd length from all its pairs.
  void keep(const T* pairs, T* to) const {
    if (!inverse_)
      std::copy(pairs, pairs + out_numbers_, to);
    else
      for (int64_t i = 0; i < job_.n; ++i) to[i] = pairs[2 * i];
  }

  void run_short() const {
    const int64_t part = kLanes<T> * std::max<int64_t>(1, kTaskElements / kLanes<T> / job_.n);
    parallel_for(divide_up(job_.rows, part), [&](int64_t task) {
      const int64_t blocks = lane_blocks(*plan_) + 1;
      const int64_t converted = borrows_ ? 0 : numbers_of_row();
      Buffer work = room_for<T>(2 * blocks * kBlock<T> + kLanes<T> * converted);
      T* a = work.mutable_as<T>();
      T* rows = a + 2 * blocks * kBlock<T>;
      const int64_t end = std::min(job_.rows, (task + 1) * part);
      for (int64_t k = task * part; k < end; k += kLanes<T>)
        transform_short(k, std::min(kLanes<T>, end - k), a, a + blocks * kBlock<T>, rows);
    });
  }

  int64_t numbers_of_row() const { return from_real_ ? job_.n : 2 * elements_; }

  /// Rows first ... first + count - 1; with fewer than kLanes, the other lanes repeat the first.
  void transform_short(int64_t first, int64_t count, T* a, T* b, T* converted) const {
    const T* in[kLanes<T>];
    T* out[kLanes<T>];
    for (int64_t k = 0; k < kLanes<T>; ++k) {
      out[k] = out_ + (first + k) * out_pitch_;
      if (k >= count) {
        in[k] = in[0];
      } else if (borrows_) {
        in[k] = reinterpret_cast<const T*>(row(first + k));
      } else {
        T* to = converted + k * numbers_of_row();
        convert(row(first + k), 0, elements_, !from_real_, to);
        in[k] = to;
      }
    }
    const bool real_parts = odd_real_ && from_real_;
    rows_to_lanes(in, numbers_of_row(), real_parts ? kBlock<T> : kLanes<T>, a);
    if (real_parts)
      for (int64_t i = 0; i < job_.n; ++i)
        std::fill_n(a + i * kBlock<T> + kLanes<T>, kLanes<T>, T{0});
    if (odd_real_ && to_real_) mirror_blocks(a);
    if (halved_ && to_real_) {
      tangle_lanes(circle_->roots, plan_->n, a, b);
      std::swap(a, b);
    }
    T* result = transform_lanes(*plan_, inverse_, a, b);
    if (halved_ && from_real_) {
      T* joined = result == a ? b : a;
      untangle_lanes(circle_->roots, plan_->n, scale_, result, joined);
      lanes_to_rows(joined, out_numbers_, kLanes<T>, T{1}, count, out);
    } else {
      lanes_to_rows(result, out_numbers_, odd_real_ && to_real_ ? kBlock<T> : kLanes<T>, scale_,
                    count, out);
    }
  }

  /// As `mirror`, of blocks.
  void mirror_blocks(T* blocks) const {
    std::fill_n(blocks + kLanes<T>, kLanes<T>, T{0});
    for (int64_t k = 1; k < elements_; ++k) {
      const T* from = blocks + k * kBlock<T>;
      T* to = blocks + (job_.n - k) * kBlock<T>;
      for (int64_t lane = 0; lane < kLanes<T>; ++lane) {
        to[lane] = from[lane];
        to[kLanes<T> + lane] = -from[kLanes<T> + lane];
      }
    }
  }

  /// body(begin, end) over [0, count): at once, or in parts on all workers.
  template <class Body>
  static void for_parts(bool alone, int64_t count, const Body& body) {
    if (alone) return body(0, count);
    parallel_for(divide_up(count, kTaskElements), [&](int64_t task) {
      body(task * kTaskElements, std::min(count, (task + 1) * kTaskElements));
    });
  }

  /// Row k with `work` on this thread, or without on all workers.
  void transform_alone(int64_t k, T* work) const {
    T* out = out_ + k * out_pitch_;
    const bool alone = work != nullptr;
    const T* in = reinterpret_cast<const T*>(row(k));
    Buffer converted;
    T* to = out;
    if (!borrows_ || odd_real_) {
      if (odd_real_ || to_real_) {
        converted = room_for<T>(odd_real_ ? 2 * job_.n : 2 * elements_);
        to = converted.mutable_as<T>();
      }
      const bool pairs = !(halved_ && from_real_);
      for_parts(alone, elements_,
                [&](int64_t begin, int64_t end) { convert(row(k), begin, end, pairs, to); });
      in = to;
    }
    if (odd_real_) {
      if (inverse_) mirror(to);
      transform_row(*plan_, inverse_, scale_, to, to, work);
      return keep(to, out);
    }
    if (!halved_) return transform_row(*plan_, inverse_, scale_, in, out, work);
    const int64_t half = plan_->n;
    if (inverse_) {
      for_parts(alone, half / 2 + 1, [&](int64_t begin, int64_t end) {
        tangle_row(circle_->roots, half, begin, end, in, out);
      });
      transform_row(*plan_, true, scale_, out, out, work);
    } else {
      // A row that stays in the cache is joined from there: the result is then written in order.
      T* terms = alone ? work + row_work(*plan_) : out;
      transform_row(*plan_, false, T{1}, in, terms, work);
      for_parts(alone, half / 2 + 1, [&](int64_t begin, int64_t end) {
        untangle_row(circle_->roots, half, begin, end, scale_, terms, out);
      });
    }
  }

  FftJob job_;
  const Tensor& x_;
  int64_t stride_;
  T* out_;
  T scale_;
  bool from_real_;
  bool to_real_;
  bool halved_;
  bool odd_real_;
  bool inverse_;
  bool borrows_;         // rows are read where they lie
  int64_t elements_;     // of a row that are read
  int64_t out_numbers_;  // in a row of the result
  int64_t out_pitch_;    // numbers from row to row of the result
  std::shared_ptr<const HalfCircle<T>> circle_;
  std::shared_ptr<const FftPlan<T>> plan_;
};

}  // namespace

void fft(const FftJob& job, const Tensor& x, Buffer& out) {
  switch (x.dtype().id()) {
    case TypeId::kFloat32:
      return RowsJob<float, float>(job, x, out).run();
    case TypeId::kComplex64:
      return RowsJob<float, std::complex<float>>(job, x, out).run();
    case TypeId::kComplex128:
      return RowsJob<double, std::complex<double>>(job, x, out).run();
    case TypeId::kBool:
      return RowsJob<double, uint8_t>(job, x, out).run();
    default:
      return visit_real(x.dtype(), [&]<class S>(std::type_identity<S>) {
        RowsJob<double, S>(job, x, out).run();
      });
  }
}

}  // namespace hr::cpu
