// SPDX-License-Identifier: Apache-2.0
// Transforms along an axis that is not the last: kLanes columns side by side, read and written in
// runs of whole cache lines. Long ones take two steps, as long rows do.
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_batched.h"
#include "headrace/signal/fft_kernels.h"

#include <algorithm>

namespace hr::cpu {

namespace {

template <class T>
class ColumnsJob {
 public:
  ColumnsJob(const FftColumnsJob& job, const T* in, T* out)
      : job_(job),
        in_(in),
        out_(out),
        scale_(static_cast<T>(job.scale)),
        strides_(row_major(job.shape)),
        n_(job.shape[job.axis]),
        pitch_(strides_[job.axis]),
        groups_(divide_up(job.run, kLanes<T>)),
        plan_(fft_plan<T>(n_)) {
    if (plan_->is_short()) {
      blocks_ = lane_blocks(*plan_);
    } else if (plan_->inner) {
      blocks_ = n_;
      row_work_ = 2 * n_ * kLanes<T> + cpu::row_work(*plan_);
    } else {
      blocks_ = std::max(plan_->n1, plan_->n2);
      middle_pitch_ = (plan_->n2 + 1) * kBlock<T>;  // apart, or they meet in the same sets
      make_roots();
    }
  }

  void run() const {
    const int64_t lines = num_elements(job_.shape) / (n_ * job_.shape.back());
    // What groups mirror begins and ends within cache lines of their neighbours: with 4 by one
    // thread 4096 x 4096 numbers take 64 to 76 ms, one by one 77 to 79.
    const int64_t most = job_.mirrored.empty() ? 1 : 4;
    const int64_t together = std::clamp<int64_t>(lines * groups_ / (8 * threads()), 1, most);
    const int64_t part = std::max(together, kTaskSize / (n_ * kLanes<T>));
    parallel_for(divide_up(lines * groups_, part), [&](int64_t task) {
      Buffer work = room_for<T>(2 * blocks_ * kBlock<T> + row_work_ + plan_->n1 * middle_pitch_);
      T* a = work.mutable_as<T>();
      const int64_t end = std::min(lines * groups_, (task + 1) * part);
      for (int64_t group = task * part; group < end; ++group)
        transform(group / groups_, group % groups_ * kLanes<T>, a);
    });
  }

 private:
  /// Where some columns side by side begin, and where those that mirror them do.
  struct Place {
    int64_t width;
    const T* in;
    T* out;
    T* mirror = nullptr;  ///< of the last lane that is mirrored
    int64_t first = 0;    ///< lane that is mirrored
    int64_t last = -1;    ///< and the last one
  };

  /// Roots between the steps of a long plan: those of each of n2 columns together.
  void make_roots() {
    const int64_t n1 = plan_->n1;
    roots_ = room_for<T>(2 * n_);
    T* const roots = roots_.mutable_as<T>();
    const int64_t part = std::max<int64_t>(1, kTaskSize / n1);
    parallel_for(divide_up(plan_->n2, part), [&](int64_t task) {
      for (int64_t j = task * part; j < std::min(plan_->n2, (task + 1) * part); ++j)
        for (int64_t k = 0; k < n1; ++k) {
          const Complex<double> root = plan_->roots[j * k];
          roots[2 * (j * n1 + k)] = static_cast<T>(root.re);
          roots[2 * (j * n1 + k) + 1] = static_cast<T>(root.im);
        }
    });
  }

  Place place_of(int64_t line, int64_t column) const {
    int64_t offset = column, mirror = 0;
    for (size_t axis = job_.shape.size() - 1; axis-- > 0;) {
      if (axis == job_.axis) continue;
      const int64_t size = job_.shape[axis], at = line % size;
      line /= size;
      offset += at * strides_[axis];
      const bool turned = !job_.mirrored.empty() && job_.mirrored[axis] && at > 0;
      mirror += (turned ? size - at : at) * strides_[axis];
    }
    Place place{std::min(kLanes<T>, job_.run - column), in_ + 2 * offset, out_ + 2 * offset};
    if (!job_.mirrored.empty()) {
      const int64_t size = job_.shape.back();
      place.first = column == 0 ? 1 : 0;
      place.last = std::min(kLanes<T> - 1, (size - 1) / 2 - column);
      if (place.first <= place.last)
        place.mirror = out_ + 2 * (mirror + size - column - place.last);
    }
    return place;
  }

  /// Stores results first, first + step, ... of the columns.
  void put(const T* blocks, int64_t first, int64_t step, int64_t count, const Place& to) const {
    store_columns(blocks, step * pitch_, count, to.width, job_.inverse, scale_,
                  to.out + 2 * first * pitch_);
    if (!to.mirror) return;
    const int64_t begin = first == 0 ? 1 : 0;
    if (begin == 1) store_mirrored(blocks, 0, 1, to.first, to.last, scale_, to.mirror);
    if (count > begin)
      store_mirrored(blocks + begin * kBlock<T>, -step * pitch_, count - begin, to.first, to.last,
                     scale_, to.mirror + 2 * (n_ - first - begin * step) * pitch_);
  }

  void transform(int64_t line, int64_t column, T* a) const {
    const Place place = place_of(line, column);
    T* const b = a + blocks_ * kBlock<T>;
    if (plan_->is_short()) {
      load_columns(place.in, pitch_, n_, place.width, job_.inverse, a);
      put(transform_lanes(*plan_, false, a, b), 0, 1, n_, place);
    } else if (plan_->inner) {
      transform_each(place, a, b + blocks_ * kBlock<T>);
    } else {
      transform_long(place, a, b, b + blocks_ * kBlock<T>);
    }
  }

  void transform_long(const Place& place, T* a, T* b, T* middle) const {
    const int64_t n1 = plan_->n1, n2 = plan_->n2;
    const T* const roots = roots_.as<T>();
    for (int64_t j = 0; j < n2; ++j) {
      load_columns(place.in + 2 * j * pitch_, n2 * pitch_, n1, place.width, job_.inverse, a);
      multiply_lanes(n1, roots + 2 * j * n1, false, run_lanes(plan_->columns, false, a, b, a),
                     middle + j * kBlock<T>, middle_pitch_);
    }
    for (int64_t k = 0; k < n1; ++k)
      put(run_lanes(plan_->rows, false, middle + k * middle_pitch_, a, b), k, n1, n2, place);
  }

  /// One column after the other, as rows.
  void transform_each(const Place& place, T* blocks, T* rows) const {
    T* const work = rows + 2 * n_ * kLanes<T>;
    T* each[kLanes<T>];
    for (int64_t lane = 0; lane < kLanes<T>; ++lane) each[lane] = rows + 2 * n_ * lane;
    load_columns(place.in, pitch_, n_, place.width, job_.inverse, blocks);
    lanes_to_rows(blocks, 2 * n_, kLanes<T>, T{1}, kLanes<T>, each);
    for (int64_t lane = 0; lane < place.width; ++lane)
      transform_row(*plan_, false, T{1}, each[lane], each[lane], work);
    rows_to_lanes(each, 2 * n_, kLanes<T>, blocks);
    put(blocks, 0, 1, n_, place);
  }

  const FftColumnsJob& job_;
  const T* in_;
  T* out_;
  T scale_;
  Shape strides_;
  int64_t n_;
  int64_t pitch_;   // complex numbers from one of a column to the next
  int64_t groups_;  // of columns, in a line of the last axis
  std::shared_ptr<const FftPlan<T>> plan_;
  int64_t blocks_ = 0;    // of each of two places to work in
  int64_t row_work_ = 0;  // numbers
  int64_t middle_pitch_ = 0;
  Buffer roots_;
};

}  // namespace

template <class T>
void fft_columns(const FftColumnsJob& job, const T* in, T* out) {
  ColumnsJob<T>(job, in, out).run();
}

template void fft_columns(const FftColumnsJob&, const float*, float*);
template void fft_columns(const FftColumnsJob&, const double*, double*);

}  // namespace hr::cpu
