// SPDX-License-Identifier: Apache-2.0
// Overlap-add on the CPU: each task makes a stretch of the result from all segments that meet it,
// in their order; the few at its borders are transformed by its neighbours too.
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_batched.h"
#include "headrace/signal/spectral_synthesis_kernels.h"

#include <algorithm>
#include <memory>

namespace hr::cpu {

namespace {

template <class T>
class SynthesisJob {
 public:
  SynthesisJob(const Tensor& spectra, const Tensor& window, const SpectralSynthesis& options,
               Buffer& out)
      : spectra_(spectra.as<T>()),
        segments_(spectra.shape()[spectra.shape().size() - 2]),
        given_(spectra.shape().back()),
        window_(window.as<T>()),
        length_(window.num_elements()),
        options_(options),
        out_(out.mutable_as<T>()) {
    for (size_t axis = 0; axis + 2 < spectra.shape().size(); ++axis) rows_ *= spectra.shape()[axis];
    parts_ = options.one_sided ? 1 : 2;
    halved_ = options.one_sided && options.n % 2 == 0;
    terms_ = options.one_sided ? options.n / 2 + 1 : options.n;
    plan_ = fft_plan<T>(halved_ ? options.n / 2 : options.n);
    if (halved_) circle_ = half_circle<T>(options.n);
    side_by_side_ = halved_ && plan_->is_short();
    stretch_ = std::max(kMorselRows / 4, 8 * length_);
    tasks_ = divide_up(options.count, stretch_);
  }

  void run() const {
    const auto run_task = [&](int64_t task) {
      const int64_t begin = task % tasks_ * stretch_;
      run_stretch(task / tasks_, begin, std::min(options_.count, begin + stretch_));
    };
    if (plan_->n < kLongSegment) return parallel_for(rows_ * tasks_, run_task);
    for (int64_t task = 0; task < rows_ * tasks_; ++task) run_task(task);
  }

 private:
  static constexpr int64_t kLongSegment = int64_t{1} << 18;  // which all workers share

  /// Samples [begin, end) of a row of the result.
  void run_stretch(int64_t row, int64_t begin, int64_t end) const {
    constexpr int64_t B = kLanes<T>;
    T* out = out_ + (row * options_.count + begin) * parts_;
    std::fill_n(out, (end - begin) * parts_, T{0});
    const int64_t batch = side_by_side_ ? B : 1;
    const int64_t pairs = 2 * std::max(plan_->n, terms_);
    const bool alone = plan_->n < kLongSegment;
    const int64_t blocks = (std::max(lane_blocks(*plan_), terms_) + 1) * kBlock<T>;
    const int64_t scratch =
        side_by_side_ ? 2 * blocks + 2 * B * terms_ : 2 * pairs + (alone ? row_work(*plan_) : 0);
    Buffer work = room_for<T>(end - begin + batch * options_.n * parts_ + scratch);
    T* norms = work.mutable_as<T>();
    T* samples = norms + (end - begin);
    T* rest = samples + batch * options_.n * parts_;
    std::fill_n(norms, end - begin, T{0});
    const int64_t from = options_.first + begin;  // where the stretch begins in the sum
    const int64_t to = options_.first + end;
    const int64_t before = std::max<int64_t>(0, from - length_ + 1);
    const int64_t last = std::min(segments_, divide_up(to, options_.step));
    for (int64_t k = divide_up(before, options_.step); k < last; k += batch) {
      const int64_t count = std::min(batch, last - k);
      if (side_by_side_)
        transform_lanes_of(row, k, count, rest, blocks, samples);
      else
        transform_segment(row, k, rest, pairs, alone ? rest + 2 * pairs : nullptr, samples);
      for (int64_t each = 0; each < count; ++each) {
        const int64_t start = (k + each) * options_.step;
        const int64_t first = std::max<int64_t>(0, from - start);
        add(samples + each * options_.n * parts_, first, std::min(length_, to - start),
            start - from, out, norms);
      }
    }
    for (int64_t i = 0; i < end - begin; ++i) {
      const T norm = norms[i] > T{1e-10} ? norms[i] : T{1};
      for (int64_t part = 0; part < parts_; ++part) out[i * parts_ + part] /= norm;
    }
  }

  /// Adds samples [first, last) of a segment that begins at `start` of the stretch.
  void add(const T* samples, int64_t first, int64_t last, int64_t start, T* out, T* norms) const {
    if (parts_ == 1)
      for (int64_t i = first; i < last; ++i) out[start + i] += samples[i] * window_[i];
    else
      for (int64_t i = first; i < last; ++i) {
        out[2 * (start + i)] += samples[2 * i] * window_[i];
        out[2 * (start + i) + 1] += samples[2 * i + 1] * window_[i];
      }
    for (int64_t i = first; i < last; ++i) norms[start + i] += window_[i] * window_[i];
  }

  T scale() const { return static_cast<T>(options_.scale / static_cast<double>(options_.n)); }

  /// The terms of a segment where they lie, or copied to `to` with zeros for missing ones.
  const T* terms_of(int64_t row, int64_t segment, T* to) const {
    const T* from = spectra_ + (row * segments_ + segment) * given_ * 2;
    if (given_ >= terms_) return from;
    std::copy_n(from, 2 * given_, to);
    std::fill_n(to + 2 * given_, 2 * (terms_ - given_), T{0});
    return to;
  }

  void transform_lanes_of(int64_t row, int64_t segment, int64_t count, T* a, int64_t blocks,
                          T* samples) const {
    constexpr int64_t B = kLanes<T>;
    T* b = a + blocks;
    T* copies = b + blocks;
    const T* in[B];
    T* out[B];
    for (int64_t lane = 0; lane < B; ++lane) {
      in[lane] = lane < count ? terms_of(row, segment + lane, copies + 2 * lane * terms_) : in[0];
      out[lane] = samples + lane * options_.n;
    }
    rows_to_lanes(in, 2 * terms_, B, a);
    tangle_lanes(circle_->roots, plan_->n, a, b);
    const T* result = transform_lanes(*plan_, true, b, a);
    lanes_to_rows(result, options_.n, B, scale(), count, out);
  }

  void transform_segment(int64_t row, int64_t segment, T* terms, int64_t pairs, T* rest,
                         T* samples) const {
    T* work = terms + pairs;
    const T* from = terms_of(row, segment, terms);
    if (halved_) {
      const int64_t half = plan_->n;
      tangle_row(circle_->roots, half, 0, half / 2 + 1, from, work);
      return transform_row(*plan_, true, scale(), work, samples, rest);
    }
    if (parts_ == 2) {
      std::copy_n(from, 2 * options_.n, work);
      return transform_row(*plan_, true, scale(), work, samples, rest);
    }
    std::copy_n(from, 2 * terms_, work);  // the terms of a real segment of odd length
    work[1] = 0;
    for (int64_t k = 1; k < terms_; ++k) {
      work[2 * (options_.n - k)] = work[2 * k];
      work[2 * (options_.n - k) + 1] = -work[2 * k + 1];
    }
    transform_row(*plan_, true, scale(), work, work, rest);
    for (int64_t i = 0; i < length_; ++i) samples[i] = work[2 * i];
  }

  const T* spectra_;
  int64_t rows_ = 1;
  int64_t segments_;
  int64_t given_;  // terms of a segment
  const T* window_;
  int64_t length_;
  const SpectralSynthesis& options_;
  T* out_;
  int64_t parts_;  // numbers in a sample
  bool halved_;
  int64_t terms_;  // that the transform takes
  bool side_by_side_;
  int64_t stretch_;  // samples of a task
  int64_t tasks_;
  std::shared_ptr<const FftPlan<T>> plan_;
  std::shared_ptr<const HalfCircle<T>> circle_;
};

}  // namespace

void spectral_synthesis(const Tensor& spectra, const Tensor& window,
                        const SpectralSynthesis& options, Buffer& out) {
  if (spectra.dtype() == TypeId::kComplex64)
    SynthesisJob<float>(spectra, window, options, out).run();
  else
    SynthesisJob<double>(spectra, window, options, out).run();
}

}  // namespace hr::cpu
