// SPDX-License-Identifier: Apache-2.0
// Every `up` outputs use the same taps, `down` samples later. So the samples are sorted by their
// place in such a period, and the outputs of one place are sums of weighted stretches of them.
#define HWY_TARGET_INCLUDE "headrace/signal/polyphase_filter_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_vectors.h"
//
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/line_offsets.h"
#include "headrace/signal/polyphase_filter_kernels.h"

#include <algorithm>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// out[i] = sum over k of weights[k] from[k][i], k in order; `count` is a multiple of 64.
void weighted_sums(const double* const* from, const double* weights, int64_t terms, int64_t count,
                   double* out) {
  constexpr int64_t kSums = 8;
  constexpr int64_t V = kWidth<double>;
  for (int64_t i = 0; i < count; i += kSums * V) {
    Vector<double> sum[kSums] = {};
    for (int64_t k = 0; k < terms; ++k) {
      const double* at = from[k] + i;
      const double weight = weights[k];
#pragma GCC unroll 8
      for (int64_t u = 0; u < kSums; ++u) sum[u] += load(at + u * V) * weight;
    }
#pragma GCC unroll 8
    for (int64_t u = 0; u < kSums; ++u) store(sum[u], out + i + u * V);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

constexpr int64_t kTile = 64;
/// About this many samples or outputs a block.
constexpr int64_t kBlockSamples = 4096;

int64_t floor_divide(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/// A tap of the outputs of one place: which plane of samples, and how far from the output's period.
struct Term {
  int64_t plane;
  int64_t offset;
  double weight;
};

class Polyphase {
 public:
  explicit Polyphase(const PolyphaseJob& job)
      : job_(job),
        terms_(static_cast<size_t>(job.up)),
        periods_(std::max<int64_t>(1, kBlockSamples / std::max(job.up, job.down) / kTile) * kTile) {
    const auto taps = static_cast<int64_t>(job.taps.size());
    for (int64_t place = 0; place < job.up; ++place) {
      const int64_t at = place * job.down + job.shift;
      for (int64_t j = at % job.up, k = 0; j < taps; j += job.up, ++k) {
        const int64_t sample = at / job.up - k;
        const int64_t offset = floor_divide(sample, job.down);
        terms_[static_cast<size_t>(place)].push_back(
            {sample - offset * job.down, offset, job.taps[static_cast<size_t>(j)]});
        before_ = std::max(before_, -offset);
        after_ = std::max(after_, offset);
      }
    }
    room_ = periods_ + before_ + after_;
  }

  int64_t blocks() const { return divide_up(divide_up(job_.count, job_.up), periods_); }

  template <class In, class Out>
  void run(const In* x, int64_t stride, int64_t samples, int64_t block, Out* out) const {
    const int64_t first = block * periods_;
    Buffer scratch = Buffer::allocate(
        checked_multiply("polyphase_filter", job_.down * room_ + job_.up * periods_, 8));
    double* const planes = scratch.mutable_as<double>();
    double* const sums = planes + job_.down * room_;
    for (int64_t plane = 0; plane < job_.down; ++plane)
      fill(x, stride, samples, plane, first - before_, planes + plane * room_);
    std::vector<const double*> from;
    std::vector<double> weights;
    for (int64_t place = 0; place < job_.up; ++place) {
      from.clear();
      weights.clear();
      for (const Term& term : terms_[static_cast<size_t>(place)]) {
        from.push_back(planes + term.plane * room_ + before_ + term.offset);
        weights.push_back(term.weight);
      }
      HR_SIMD(weighted_sums)
      (from.data(), weights.data(), static_cast<int64_t>(from.size()), periods_,
       sums + place * periods_);
    }
    const int64_t begin = first * job_.up;
    const int64_t count = std::min(periods_ * job_.up, job_.count - begin);
    for (int64_t place = 0; place < job_.up; ++place) {
      const double* sum = sums + place * periods_;
      for (int64_t m = place, q = 0; m < count; m += job_.up, ++q)
        out[begin + m] = static_cast<Out>(sum[q]);
    }
  }

 private:
  /// Samples plane + down u for u from `first` on, zeros beyond the ends.
  template <class In>
  void fill(const In* x, int64_t stride, int64_t samples, int64_t plane, int64_t first,
            double* to) const {
    const int64_t u_end = plane < samples ? (samples - 1 - plane) / job_.down + 1 : 0;
    const int64_t begin = std::clamp<int64_t>(-first, 0, room_);
    const int64_t end = std::clamp<int64_t>(u_end - first, begin, room_);
    std::fill(to, to + begin, 0.0);
    const In* from = x + (plane + (first + begin) * job_.down) * stride;
    const int64_t step = job_.down * stride;
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<double>(from[(i - begin) * step]);
    std::fill(to + end, to + room_, 0.0);
  }

  const PolyphaseJob& job_;
  std::vector<std::vector<Term>> terms_;
  int64_t periods_;  // of a block
  int64_t before_ = 0;
  int64_t after_ = 0;
  int64_t room_ = 0;
};

template <class In, class Out>
void filter_rows(const PolyphaseJob& job, const Tensor& x, Out* out) {
  const Polyphase filter(job);
  const int64_t samples = x.shape().back();
  const int64_t rows = x.num_elements() / samples;
  const LineOffsets rows_at{x.shape(), x.strides(), x.num_dimensions() - 1};
  const int64_t blocks = filter.blocks();
  parallel_for(rows * blocks, [&](int64_t task) {
    const int64_t row = task / blocks;
    filter.run(x.as<In>() + rows_at[row], x.strides().back(), samples, task % blocks,
               out + row * job.count);
  });
}

}  // namespace

void polyphase_filter(const PolyphaseJob& job, const Tensor& x, Dtype result, Buffer& out) {
  if (x.dtype() == Dtype(TypeId::kFloat64))
    filter_rows<double>(job, x, out.mutable_as<double>());
  else if (result == Dtype(TypeId::kFloat64))
    filter_rows<float>(job, x, out.mutable_as<double>());
  else
    filter_rows<float>(job, x, out.mutable_as<float>());
}

}  // namespace hr::cpu
#endif
