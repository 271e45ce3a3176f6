// SPDX-License-Identifier: Apache-2.0
// Spectra of segments on the CPU: short segments kLanes side by side, longer ones one by one.
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_batched.h"
#include "headrace/signal/spectral_segments_kernels.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hr::cpu {

namespace {

/// Takes the trend from `count` samples of `lanes` sequences, the next of each `pitch` further on,
/// and multiplies them by the window. Sums are cut into blocks, so that long ones stay exact.
template <class T, int64_t lanes>
void prepare(Detrend detrend, const T* window, int64_t count, int64_t pitch, T* x) {
  constexpr int64_t block = 256;
  const T middle = static_cast<T>(count - 1) / 2;
  T mean[lanes] = {};
  T slope[lanes] = {};
  const auto add_up = [&](T* sums, const auto& of) {
    for (int64_t begin = 0; begin < count; begin += block) {
      T part[lanes] = {};
      for (int64_t i = begin; i < std::min(count, begin + block); ++i)
        for (int64_t lane = 0; lane < lanes; ++lane) part[lane] += of(i, lane);
      for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] += part[lane];
    }
  };
  if (detrend != Detrend::kNone) {
    add_up(mean, [&](int64_t i, int64_t lane) { return x[i * pitch + lane]; });
    for (T& each : mean) each /= static_cast<T>(count);
  }
  if (detrend == Detrend::kLinear && count > 1) {
    add_up(slope, [&](int64_t i, int64_t lane) {
      return (static_cast<T>(i) - middle) * (x[i * pitch + lane] - mean[lane]);
    });
    const T squares =
        static_cast<T>(count) * (static_cast<T>(count) * static_cast<T>(count) - 1) / 12;
    for (T& each : slope) each /= squares;
  }
  for (int64_t i = 0; i < count; ++i) {
    const T at = static_cast<T>(i) - middle;
    const T weight = window[i];
    T* values = x + i * pitch;
    if (detrend == Detrend::kLinear)
      for (int64_t lane = 0; lane < lanes; ++lane)
        values[lane] = (values[lane] - mean[lane] - slope[lane] * at) * weight;
    else
      for (int64_t lane = 0; lane < lanes; ++lane)
        values[lane] = (values[lane] - mean[lane]) * weight;
  }
}

/// A job in T; a complex sample is two numbers. One-sided spectra of an even length are transformed
/// as half as many pairs.
template <class T>
class SegmentsJob {
 public:
  SegmentsJob(const Tensor& x, const Tensor* y, const Tensor& window,
              const SpectralSegments& options, Buffer& out)
      : x_(x),
        y_(y),
        window_(window.as<T>()),
        length_(window.num_elements()),
        options_(options),
        out_(out.mutable_as<T>()) {
    for (size_t axis = 0; axis + 1 < x.shape().size(); ++axis) rows_ *= x.shape()[axis];
    parts_ = x.dtype().is_complex() ? 2 : 1;
    halved_ = options.one_sided && options.n % 2 == 0;
    terms_ = num_terms(options);
    values_ = options.spectrum == Spectrum::kPower ? 1 : 2;
    plan_ = fft_plan<T>(halved_ ? options.n / 2 : options.n);
    if (halved_) circle_ = half_circle<T>(options.n);
    // Borders of tasks follow from the data, so the order of sums does too.
    constexpr int64_t task_elements = kMorselRows / 4;
    constexpr int64_t most_tasks = 64;
    part_ = std::max({int64_t{1}, task_elements / options.n,
                      options.mean && options.n > task_elements / most_tasks
                          ? divide_up(options.segments, most_tasks)
                          : 1});
    if (plan_->is_short()) part_ = divide_up(part_, kLanes<T>) * kLanes<T>;
    tasks_ = divide_up(options.segments, part_);
  }

  void run() const {
    Buffer sums;
    const int64_t size = terms_ * values_;
    if (options_.mean) sums = room_for<T>(rows_ * tasks_ * size);
    T* partial = options_.mean ? sums.mutable_as<T>() : nullptr;
    const auto run_part = [&](int64_t task) {
      const int64_t begin = task % tasks_ * part_;
      run_task(task / tasks_, begin, std::min(options_.segments, begin + part_),
               partial ? partial + task * size : nullptr);
    };
    if (plan_->n >= kLongSegment)
      for (int64_t task = 0; task < rows_ * tasks_; ++task) run_part(task);
    else
      parallel_for(rows_ * tasks_, run_part);
    if (options_.mean) combine(partial);
  }

 private:
  /// The factor on the results of term k.
  T factor(int64_t k) const {
    const bool mirrored =
        options_.spectrum != Spectrum::kTerms && options_.one_sided && k > 0 && 2 * k != options_.n;
    return static_cast<T>(mirrored ? 2 * options_.scale : options_.scale);
  }

  void combine(const T* partial) const {
    const int64_t size = terms_ * values_;
    for (int64_t row = 0; row < rows_; ++row) {
      T* to = out_ + row * size;
      std::fill_n(to, size, T{0});
      for (int64_t task = 0; task < tasks_; ++task)
        for (int64_t i = 0; i < size; ++i) to[i] += partial[(row * tasks_ + task) * size + i];
      for (int64_t i = 0; i < size; ++i)
        to[i] = to[i] * factor(i / values_) / static_cast<T>(options_.segments);
    }
  }

  static constexpr int64_t kLongSegment = int64_t{1} << 18;  // which all workers share

  /// Segments [begin, end) of a row; `partial` has room for the sums of a mean.
  void run_task(int64_t row, int64_t begin, int64_t end, T* partial) const {
    if (plan_->is_short()) return run_lanes_task(row, begin, end, partial);
    const int64_t size = 2 * plan_->n;
    const bool alone = plan_->n < kLongSegment;
    const int64_t pairs = std::max(size, 2 * terms_);
    Buffer work = room_for<T>((y_ ? 3 : 2) * pairs + (alone ? row_work(*plan_) : 0));
    T* samples = work.mutable_as<T>();
    T* x = samples + pairs;
    T* y = y_ ? x + pairs : nullptr;
    T* rest = alone ? samples + (y_ ? 3 : 2) * pairs : nullptr;
    if (partial) std::fill_n(partial, terms_ * values_, T{0});
    for (int64_t segment = begin; segment < end; ++segment) {
      transform_segment(x_, row, segment, samples, x, rest);
      if (y_) transform_segment(*y_, row, segment, samples, y, rest);
      T* to = partial ? partial : out_ + (row * options_.segments + segment) * terms_ * values_;
      for (int64_t k = 0; k < terms_; ++k) {
        const T re = x[2 * k];
        const T im = x[2 * k + 1];
        const T by = partial ? T{1} : factor(k);
        T* value = to + k * values_;
        if (!partial) std::fill_n(value, values_, T{0});
        if (options_.spectrum == Spectrum::kPower) {
          value[0] += (re * re + im * im) * by;
        } else if (options_.spectrum == Spectrum::kCross) {
          value[0] += (re * y[2 * k] + im * y[2 * k + 1]) * by;
          value[1] += (re * y[2 * k + 1] - im * y[2 * k]) * by;
        } else {
          value[0] += re * by;
          value[1] += im * by;
        }
      }
    }
  }

  /// The samples of a segment where they lie, or copied to `to` with zeros outside of the signal.
  const T* samples_of(const Tensor& x, int64_t row, int64_t segment, T* to) const {
    const int64_t size = x.shape().back();
    const int64_t begin = options_.first + segment * options_.step;
    const T* from = x.as<T>() + row * size * parts_;
    if (begin >= 0 && begin + length_ <= size) return from + begin * parts_;
    const int64_t first = std::clamp<int64_t>(-begin, 0, length_);
    const int64_t last = std::clamp<int64_t>(size - begin, first, length_);
    std::fill_n(to, first * parts_, T{0});
    if (first < last)
      std::copy_n(from + (begin + first) * parts_, (last - first) * parts_, to + first * parts_);
    std::fill_n(to + last * parts_, (length_ - last) * parts_, T{0});
    return to;
  }

  /// One segment's terms as pairs at `to`.
  void transform_segment(const Tensor& x, int64_t row, int64_t segment, T* samples, T* to,
                         T* rest) const {
    const T* from = samples_of(x, row, segment, samples);
    const bool pairs = !halved_;
    const int64_t pitch = pairs ? 2 : 1;
    if (pairs && parts_ == 1) {
      for (int64_t i = length_; i-- > 0;) {  // backwards: `from` may be `samples`
        samples[2 * i] = from[i];
        samples[2 * i + 1] = 0;
      }
    } else if (from != samples) {
      std::copy_n(from, length_ * parts_, samples);
    }
    for (int64_t part = 0; part < parts_; ++part)
      prepare<T, 1>(options_.detrend, window_, length_, pitch, samples + part);
    std::fill_n(samples + length_ * pitch, (options_.n - length_) * pitch, T{0});
    transform_row(*plan_, false, T{1}, samples, halved_ ? samples : to, rest);
    if (!halved_) return;
    untangle_row(circle_->roots, plan_->n, 0, plan_->n / 2 + 1, T{1}, samples, to);
  }

  /// kLanes segments of a row, those beyond `count` repeat the first; the terms lie in the blocks
  /// returned.
  T* transform_lanes_of(const Tensor& x, int64_t row, int64_t segment, int64_t count, T* copies,
                        T* a, T* b) const {
    constexpr int64_t B = kLanes<T>;
    const T* in[B];
    for (int64_t lane = 0; lane < B; ++lane)
      in[lane] = lane < count ? samples_of(x, row, segment + lane, copies + lane * length_ * parts_)
                              : in[0];
    const bool is_real = parts_ == 1;
    const int64_t pitch = halved_ ? B : kBlock<T>;
    rows_to_lanes(in, length_ * parts_, is_real ? pitch : B, a);
    for (int64_t part = 0; part < parts_; ++part)
      prepare<T, B>(options_.detrend, window_, length_, pitch, a + part * B);
    if (!halved_ && is_real)
      for (int64_t i = 0; i < length_; ++i) std::fill_n(a + i * pitch + B, B, T{0});
    std::fill_n(a + length_ * pitch, (options_.n - length_) * pitch, T{0});
    T* result = transform_lanes(*plan_, false, a, b);
    if (!halved_) return result;
    T* joined = result == a ? b : a;
    untangle_lanes(circle_->roots, plan_->n, T{1}, result, joined);
    return joined;
  }

  void run_lanes_task(int64_t row, int64_t begin, int64_t end, T* partial) const {
    constexpr int64_t B = kLanes<T>;
    const int64_t blocks = (std::max(lane_blocks(*plan_), terms_) + 1) * kBlock<T>;
    const int64_t copies = B * length_ * parts_;
    const int64_t sums = partial ? terms_ * values_ * B : 0;
    Buffer work = room_for<T>((y_ ? 4 : 2) * blocks + copies + terms_ * kBlock<T> + sums);
    T* a = work.mutable_as<T>();
    T* rows = a + (y_ ? 4 : 2) * blocks;
    T* products = rows + copies;
    T* total = products + terms_ * kBlock<T>;
    std::fill_n(total, sums, T{0});
    for (int64_t segment = begin; segment < end; segment += B) {
      const int64_t count = std::min(B, end - segment);
      const T* x = transform_lanes_of(x_, row, segment, count, rows, a, a + blocks);
      const T* y = x;
      if (y_)
        y = transform_lanes_of(*y_, row, segment, count, rows, a + 2 * blocks, a + 3 * blocks);
      multiply_terms(x, y, partial == nullptr, products);
      if (partial) {
        for (int64_t i = 0; i < terms_ * values_; ++i)
          for (int64_t lane = 0; lane < B; ++lane)
            total[i * B + lane] += lane < count ? products[i * B + lane] : T{0};
        continue;
      }
      T* out[B];
      for (int64_t lane = 0; lane < B; ++lane)
        out[lane] = out_ + (row * options_.segments + segment + lane) * terms_ * values_;
      lanes_to_rows(products, terms_ * values_, B, T{1}, count, out);
    }
    if (!partial) return;
    for (int64_t i = 0; i < terms_ * values_; ++i) {
      T* lanes = total + i * B;
      for (int64_t half = B / 2; half > 0; half /= 2)
        for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
      partial[i] = lanes[0];
    }
  }

  /// Results of the terms in blocks `x` and `y`, each value of kLanes segments.
  void multiply_terms(const T* x, const T* y, bool scaled, T* to) const {
    constexpr int64_t B = kLanes<T>;
    for (int64_t k = 0; k < terms_; ++k, x += kBlock<T>, y += kBlock<T>, to += values_ * B) {
      const T by = scaled ? factor(k) : T{1};
      if (options_.spectrum == Spectrum::kPower)
        for (int64_t lane = 0; lane < B; ++lane)
          to[lane] = (x[lane] * x[lane] + x[B + lane] * x[B + lane]) * by;
      else if (options_.spectrum == Spectrum::kCross)
        for (int64_t lane = 0; lane < B; ++lane) {
          to[lane] = (x[lane] * y[lane] + x[B + lane] * y[B + lane]) * by;
          to[B + lane] = (x[lane] * y[B + lane] - x[B + lane] * y[lane]) * by;
        }
      else
        for (int64_t lane = 0; lane < kBlock<T>; ++lane) to[lane] = x[lane] * by;
    }
  }

  const Tensor& x_;
  const Tensor* y_;
  const T* window_;
  int64_t length_;
  const SpectralSegments& options_;
  T* out_;
  int64_t rows_ = 1;
  int64_t parts_;   // numbers in a sample
  int64_t values_;  // numbers in a result
  int64_t terms_;
  bool halved_;
  int64_t part_;   // segments of a task
  int64_t tasks_;  // in a row
  std::shared_ptr<const FftPlan<T>> plan_;
  std::shared_ptr<const HalfCircle<T>> circle_;
};

}  // namespace

void spectral_segments(const Tensor& x, const Tensor* y, const Tensor& window,
                       const SpectralSegments& options, Buffer& out) {
  if (x.dtype() == TypeId::kFloat32 || x.dtype() == TypeId::kComplex64)
    SegmentsJob<float>(x, y, window, options, out).run();
  else
    SegmentsJob<double>(x, y, window, options, out).run();
}

}  // namespace hr::cpu
