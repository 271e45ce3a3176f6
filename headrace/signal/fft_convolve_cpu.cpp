// SPDX-License-Identifier: Apache-2.0
// Overlap-save on the CPU: two blocks of the signal are the real and the imaginary part of one
// complex transform; since the taps are real, their convolutions stay apart. Vectors may have any
// width: each element sees the same operations, so every SIMD level gives the same bits.
#define HWY_TARGET_INCLUDE "headrace/signal/fft_convolve_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_convolve_input.h"
#include "headrace/signal/fft_convolve_kernels.h"
#include "headrace/signal/fft_math.h"
#include "headrace/signal/plan_cache.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed to inlined functions only
#endif

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX3
constexpr int64_t kVectorBytes = 64;
#elif HWY_TARGET == HWY_AVX2
constexpr int64_t kVectorBytes = 32;
#else
constexpr int64_t kVectorBytes = 16;
#endif

template <class T, int64_t V>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * V)));
};

template <class T, int64_t V>
using Vector = typename VectorOf<T, V>::type;

template <class T>
inline constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));

template <class V, class T>
__attribute__((always_inline)) inline V load(const T* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

template <class V, class T>
__attribute__((always_inline)) inline void store(const V& value, T* to) {
  __builtin_memcpy(to, &value, sizeof(V));
}

/// Decimation in frequency: butterflies over the rows, then factors. Exchange the planes (and so
/// run it backwards) with `after` false: factors first, then butterflies.
template <int R, bool after, int64_t V, class T>
void pass_rows(int64_t rows, const T* twiddles, const ConvolveRows<const T, R>& in,
               const ConvolveRows<T, R>& out) {
  using Vec = Vector<T, V>;
  constexpr int64_t run = kTwiddleRun<T>;
  for (int64_t i = 0; i < rows; i += V) {
    const T* factor = twiddles + i / run * (R - 1) * 2 * run + i % run;
    Complex<Vec> a[R];
#pragma GCC unroll 8
    for (int k = 0; k < R; ++k) {
      a[k] = {load<Vec>(in.re[k] + i), load<Vec>(in.im[k] + i)};
      if constexpr (!after)
        if (k > 0)
          a[k] = a[k] * Complex<Vec>{load<Vec>(factor + (k - 1) * 2 * run),
                                     load<Vec>(factor + (k - 1) * 2 * run + run)};
    }
    butterfly<R, T>(a, nullptr, nullptr);
#pragma GCC unroll 8
    for (int k = 0; k < R; ++k) {
      if constexpr (after)
        if (k > 0)
          a[k] = a[k] * Complex<Vec>{load<Vec>(factor + (k - 1) * 2 * run),
                                     load<Vec>(factor + (k - 1) * 2 * run + run)};
      store(a[k].re, out.re[k] + i);
      store(a[k].im, out.im[k] + i);
    }
  }
}

template <int R, bool after, class T>
void pass_any_width(int64_t rows, const T* twiddles, const ConvolveRows<const T, R>& in,
                    const ConvolveRows<T, R>& out) {
  if constexpr (kLanes<T> > 8)
    if (rows < kLanes<T>) return pass_rows<R, after, 8>(rows, twiddles, in, out);
  pass_rows<R, after, kLanes<T>>(rows, twiddles, in, out);
}

/// One pass in place over the sub-block at `re`, `im`.
template <int R, bool after, class T>
void pass_in_place(const ConvolvePass& pass, const T* twiddles, T* re, T* im) {
  ConvolveRows<const T, R> in;
  ConvolveRows<T, R> out;
  for (int k = 0; k < R; ++k) {
    in.re[k] = out.re[k] = re + k * pass.rows;
    in.im[k] = out.im[k] = im + k * pass.rows;
  }
  pass_any_width<R, after>(pass.rows, twiddles + pass.twiddles, in, out);
}

template <bool after, class T>
void pass_sub_blocks(const ConvolvePass& pass, const T* twiddles, int64_t size, T* re, T* im) {
  const int64_t length = pass.radix * pass.rows;
  for (int64_t first = 0; first < size; first += length) {
    if (pass.radix == 8)
      pass_in_place<8, after>(pass, twiddles, re + first, im + first);
    else
      pass_in_place<4, after>(pass, twiddles, re + first, im + first);
  }
}

/// Lane `l` of the result of exchanging bit `d` of the lane with the choice between `a` and `b`.
template <int64_t V, int64_t d, bool second>
constexpr int exchanged_lane(int64_t l) {
  if (second) return static_cast<int>((l & d) != 0 ? V + l : (l ^ d));
  return static_cast<int>((l & d) != 0 ? V + (l ^ d) : l);
}

template <int64_t V, int64_t d, class Vec, size_t... lane>
__attribute__((always_inline)) inline void exchange(Vec& a, Vec& b, std::index_sequence<lane...>) {
  const Vec first = __builtin_shufflevector(a, b, exchanged_lane<V, d, false>(lane)...);
  b = __builtin_shufflevector(a, b, exchanged_lane<V, d, true>(lane)...);
  a = first;
}

/// Eight vectors of consecutive elements become eight vectors that hold element 0, 1, ... 7 of
// each group of eight; a second call undoes it. Which lane holds which group does not matter.
template <int64_t V, class Vec>
__attribute__((always_inline)) inline void regroup(Vec* x) {
  constexpr auto lanes = std::make_index_sequence<static_cast<size_t>(V)>{};
  constexpr int stages = V >= 8 ? 3 : V == 4 ? 2 : 1;
#pragma GCC unroll 8
  for (int u = 0; u < 8; ++u)
    if ((u >> (3 - stages) & 1) == 0) exchange<V, 1>(x[u], x[u | 1 << (3 - stages)], lanes);
  if constexpr (stages >= 2) {
#pragma GCC unroll 8
    for (int u = 0; u < 8; ++u)
      if ((u >> (4 - stages) & 1) == 0) exchange<V, 2>(x[u], x[u | 1 << (4 - stages)], lanes);
  }
  if constexpr (stages >= 3) {
#pragma GCC unroll 8
    for (int u = 0; u < 8; ++u)
      if ((u >> (5 - stages) & 1) == 0) exchange<V, 4>(x[u], x[u | 1 << (5 - stages)], lanes);
  }
}

/// The element of a group that vector `u` holds after `regroup`.
template <int64_t V>
constexpr int element_of(int u) {
  constexpr int stages = V >= 8 ? 3 : V == 4 ? 2 : 1;
  return u >> (3 - stages) | (u & ((1 << (3 - stages)) - 1)) << stages;
}

/// Eight vectors of each plane at `re`, `im`, regrouped and transformed by groups.
template <int64_t V, class T>
__attribute__((always_inline)) inline void load_groups(const T* re, const T* im,
                                                       Complex<Vector<T, V>>* a) {
  using Vec = Vector<T, V>;
  Vec x[8];
  Vec y[8];
#pragma GCC unroll 8
  for (int u = 0; u < 8; ++u) {
    x[u] = load<Vec>(re + u * V);
    y[u] = load<Vec>(im + u * V);
  }
  regroup<V>(x);
  regroup<V>(y);
#pragma GCC unroll 8
  for (int u = 0; u < 8; ++u) a[element_of<V>(u)] = {x[u], y[u]};
  butterfly<8, T>(a, nullptr, nullptr);
}

/// The last transforms in registers, the product with the spectrum, and the way back.
template <class T>
void multiply_spectrum(int64_t size, const T* spectrum, T* re, T* im) {
  constexpr int64_t V = kLanes<T>;
  using Vec = Vector<T, V>;
  for (int64_t i = 0; i < size; i += 8 * V) {
    Complex<Vec> a[8];
    load_groups<V>(re + i, im + i, a);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      const T* factor = spectrum + 2 * i + 2 * k * V;
      const Complex<Vec> product = a[k] * Complex<Vec>{load<Vec>(factor), load<Vec>(factor + V)};
      a[k] = {product.im, product.re};  // planes exchanged: the next butterfly is the inverse
    }
    butterfly<8, T>(a, nullptr, nullptr);
    Vec x[8];
    Vec y[8];
#pragma GCC unroll 8
    for (int u = 0; u < 8; ++u) {
      x[u] = a[element_of<V>(u)].im;
      y[u] = a[element_of<V>(u)].re;
    }
    regroup<V>(x);
    regroup<V>(y);
#pragma GCC unroll 8
    for (int u = 0; u < 8; ++u) {
      store(x[u], re + i + u * V);
      store(y[u], im + i + u * V);
    }
  }
}

template <class T>
void store_spectrum(int64_t size, T scale, const T* re, const T* im, T* spectrum) {
  constexpr int64_t V = kLanes<T>;
  for (int64_t i = 0; i < size; i += 8 * V) {
    Complex<Vector<T, V>> a[8];
    load_groups<V>(re + i, im + i, a);
    for (int k = 0; k < 8; ++k) {
      store(a[k].re * scale, spectrum + 2 * i + 2 * k * V);
      store(a[k].im * scale, spectrum + 2 * i + 2 * k * V + V);
    }
  }
}

/// Passes `level` ... of one sub-block forward, product, and backward; depth first while it is
/// long.
template <class T>
void convolve_sub_block(const ConvolvePlan<T>& plan, size_t level, const T* spectrum, T* re,
                        T* im) {
  constexpr int64_t near = 4096;  // elements that the first-level cache about holds
  const T* twiddles = plan.twiddles.template as<T>();
  const ConvolvePass& pass = plan.passes[level];
  const int64_t size = pass.radix * pass.rows;
  if (size > near) {
    pass_sub_blocks<true>(pass, twiddles, size, re, im);
    for (int64_t first = 0; first < size; first += pass.rows)
      convolve_sub_block(plan, level + 1, spectrum + 2 * first, re + first, im + first);
    pass_sub_blocks<false>(pass, twiddles, size, im, re);
    return;
  }
  for (size_t each = level; each < plan.passes.size(); ++each)
    pass_sub_blocks<true>(plan.passes[each], twiddles, size, re, im);
  multiply_spectrum(size, spectrum, re, im);
  for (size_t each = plan.passes.size(); each-- > level;)
    pass_sub_blocks<false>(plan.passes[each], twiddles, size, im, re);
}

/// A pair of blocks: the outermost pass reads the rows at `in`, its inverse writes those at `out`;
/// between, row k lies at `work`.
template <class T>
void convolve_pair(const ConvolvePlan<T>& plan, const T* spectrum,
                   const ConvolveRows<const T, 8>& in, const ConvolveRows<T, 8>& work,
                   const ConvolveRows<T, 8>& out) {
  const ConvolvePass& pass = plan.passes[0];
  const T* twiddles = plan.twiddles.template as<T>() + pass.twiddles;
  pass_any_width<8, true>(pass.rows, twiddles, in, work);
  for (int k = 0; k < 8; ++k)
    convolve_sub_block(plan, 1, spectrum + 2 * k * pass.rows, work.re[k], work.im[k]);
  ConvolveRows<const T, 8> exchanged_work;
  ConvolveRows<T, 8> exchanged_out;
  for (int k = 0; k < 8; ++k) {
    exchanged_work.re[k] = work.im[k];
    exchanged_work.im[k] = work.re[k];
    exchanged_out.re[k] = out.im[k];
    exchanged_out.im[k] = out.re[k];
  }
  pass_any_width<8, false>(pass.rows, twiddles, exchanged_work, exchanged_out);
}

/// The scrambled spectrum of the taps in `re` (`im` is zero), times `scale`.
template <class T>
void transform_taps(const ConvolvePlan<T>& plan, T scale, T* re, T* im, T* spectrum) {
  for (const ConvolvePass& pass : plan.passes)
    pass_sub_blocks<true>(pass, plan.twiddles.template as<T>(), plan.n, re, im);
  store_spectrum(plan.n, scale, re, im, spectrum);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// The planes of a pair of blocks. Their rows lie a little apart, so that they do not meet in the
/// same sets of the cache.
template <class T>
class Workspace {
 public:
  explicit Workspace(int64_t rows) {
    const int64_t row_step = rows + 2 * kTwiddleRun<T>;
    buffer_ = Buffer::allocate(16 * row_step * static_cast<int64_t>(sizeof(T)));
    T* data = buffer_.mutable_as<T>();
    for (int64_t k = 0; k < 8; ++k) {
      planes_.re[k] = data + k * row_step;
      planes_.im[k] = data + (8 + k) * row_step;
    }
  }

  const ConvolveRows<T, 8>& planes() const { return planes_; }

 private:
  Buffer buffer_;
  ConvolveRows<T, 8> planes_;
};

template <class T>
class OverlapSave {
 public:
  OverlapSave(const ConvolveJob& job, const StridedView<T>& signal, const StridedView<T>& taps,
              Buffer& out)
      : job_(job),
        signal_(signal),
        result_(out),
        out_(out.mutable_as<T>() + job.first_output),
        plan_(PlanCache<ConvolvePlan<T>>::instance().get(
            convolve_block<T>(job.num_taps, job.num_outputs))),
        rows_(plan_->passes[0].rows),
        fresh_((plan_->n - job.num_taps + 1) / kTwiddleRun<T> * kTwiddleRun<T>),
        spectrum_(Buffer::allocate(2 * plan_->n * static_cast<int64_t>(sizeof(T)))) {
    Buffer planes = Buffer::allocate_zeroed(2 * plan_->n * static_cast<int64_t>(sizeof(T)));
    T* re = planes.mutable_as<T>();
    fetch(taps, job.first_tap, job.num_taps, re);
    HR_SIMD(transform_taps<T>)
    (*plan_, T{1} / static_cast<T>(plan_->n), re, re + plan_->n,
     spectrum_.template mutable_as<T>());
  }

  void run() const {
    const int64_t pairs = (job_.num_outputs + 2 * fresh_ - 1) / (2 * fresh_);
    // Several pairs a task, so that a workspace is asked for seldom.
    const int64_t pairs_of_task = std::max<int64_t>(1, kMorselRows / (2 * fresh_));
    const std::vector<BufferAccess> accesses = accesses_of(job_, signal_, result_);
    const int64_t rows_of_task = 2 * fresh_ * pairs_of_task;
    parallel_for((pairs + pairs_of_task - 1) / pairs_of_task, [&](int64_t task) {
      const Pin pin(ranges_of(accesses, task * rows_of_task,
                              std::min((task + 1) * rows_of_task, job_.num_outputs)));
      const Workspace<T> work(rows_);
      const int64_t end = std::min(pairs, (task + 1) * pairs_of_task);
      for (int64_t pair = task * pairs_of_task; pair < end; ++pair) convolve(pair, work.planes());
    });
  }

 private:
  void convolve(int64_t pair, const ConvolveRows<T, 8>& work) const {
    ConvolveRows<const T, 8> in;
    for (int64_t k = 0; k < 8; ++k) {
      in.re[k] = input_row(2 * pair, k, work.re[k]);
      in.im[k] = input_row(2 * pair + 1, k, work.im[k]);
    }
    transform(pair, in, work);
    // A sample that is not finite spoils all outputs of its block.
    if (is_spoilt(2 * pair) || is_spoilt(2 * pair + 1)) mend(pair, work);
  }

  void transform(int64_t pair, const ConvolveRows<const T, 8>& in,
                 const ConvolveRows<T, 8>& work) const {
    ConvolveRows<T, 8> out;
    for (int64_t k = 0; k < 8; ++k) {
      out.re[k] = output_row(2 * pair, k, work.re[k]);
      out.im[k] = output_row(2 * pair + 1, k, work.im[k]);
    }
    HR_SIMD(convolve_pair<T>)(*plan_, spectrum_.template as<T>(), in, work, out);
    for (int64_t k = 0; k < 8; ++k) {
      if (out.re[k] == work.re[k]) keep(2 * pair, k, work.re[k]);
      if (out.im[k] == work.im[k]) keep(2 * pair + 1, k, work.im[k]);
    }
  }

  bool is_spoilt(int64_t block) const {
    return block * fresh_ < job_.num_outputs && !std::isfinite(out_[block * fresh_]);
  }

  /// The same with zeros for samples that are not finite; the outputs of their taps become NaN.
  void mend(int64_t pair, const ConvolveRows<T, 8>& work) const {
    bool all_finite = true;
    ConvolveRows<const T, 8> in;
    for (int64_t k = 0; k < 8; ++k) {
      in.re[k] = work.re[k];
      in.im[k] = work.im[k];
      for (const int64_t plane : {0, 1}) {
        T* row = plane == 0 ? work.re[k] : work.im[k];
        fetch(signal_, input_begin(2 * pair + plane, k), rows_, row);
        for (int64_t i = 0; i < rows_; ++i)
          if (!std::isfinite(row[i])) {
            row[i] = 0;
            all_finite = false;
          }
      }
    }
    if (all_finite) return;  // the taps are not, or a sum overflows
    transform(pair, in, work);
    const int64_t first = 2 * pair * fresh_;
    const int64_t last = std::min(first + 2 * fresh_, job_.num_outputs);
    int64_t next = first;  // the first output that is not read
    for (int64_t i = std::max<int64_t>(job_.first_position + first - (job_.num_taps - 1), 0);
         i < std::min(job_.first_position + last, signal_.size); ++i) {
      if (std::isfinite(signal_[i])) continue;
      const int64_t reached = std::max(i - job_.first_position, next);
      next = std::clamp(i - job_.first_position + job_.num_taps, next, last);
      if (reached < next)
        std::fill(out_ + reached, out_ + next, std::numeric_limits<T>::quiet_NaN());
    }
  }

  int64_t input_begin(int64_t block, int64_t k) const {
    return job_.first_position + block * fresh_ - (job_.num_taps - 1) + k * rows_;
  }

  /// Row k of a block's input: in the signal, or fetched.
  const T* input_row(int64_t block, int64_t k, T* work) const {
    return fetch_or_borrow(signal_, input_begin(block, k), rows_, work);
  }

  /// The outputs that row k of a block's result holds: a range of its elements, and where the first
  /// one belongs. The elements before the block's first num_taps - 1 are spoilt by wrapping round.
  struct Kept {
    int64_t first;
    int64_t last;
    T* to;
  };

  Kept kept(int64_t block, int64_t k) const {
    const int64_t spoilt = job_.num_taps - 1;
    const int64_t outputs = std::clamp<int64_t>(job_.num_outputs - block * fresh_, 0, fresh_);
    const int64_t first = std::clamp<int64_t>(spoilt - k * rows_, 0, rows_);
    const int64_t last = std::clamp<int64_t>(spoilt + outputs - k * rows_, first, rows_);
    return {first, last, out_ + block * fresh_ + k * rows_ + first - spoilt};
  }

  /// Where row k of a block's result is written: to the output when all of it is kept.
  T* output_row(int64_t block, int64_t k, T* work) const {
    const Kept part = kept(block, k);
    return part.first == 0 && part.last == rows_ ? part.to : work;
  }

  void keep(int64_t block, int64_t k, const T* row) const {
    const Kept part = kept(block, k);
    if (part.first < part.last) std::copy(row + part.first, row + part.last, part.to);
  }

  ConvolveJob job_;
  StridedView<T> signal_;
  const Buffer& result_;
  T* out_;
  std::shared_ptr<const ConvolvePlan<T>> plan_;
  int64_t rows_;   // of the outermost pass
  int64_t fresh_;  // outputs of a block: whole runs, so that all blocks begin alike in a cache line
  Buffer spectrum_;
};

}  // namespace

void fft_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out) {
  visit_floating(signal.dtype(), [&]<class T>(std::type_identity<T>) {
    OverlapSave<T>(job, StridedView<T>(signal), StridedView<T>(taps), out).run();
  });
}

}  // namespace hr::cpu
#endif
