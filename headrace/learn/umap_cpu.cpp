// SPDX-License-Identifier: Apache-2.0
// What pulls and pushes a row, eight at a time whatever the registers hold.
#define HWY_TARGET_INCLUDE "headrace/learn/umap_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/learn/umap_kernels.h"

#include <algorithm>
#include <vector>

#ifndef HEADRACE_LEARN_UMAP_OTHERS
#define HEADRACE_LEARN_UMAP_OTHERS
namespace hr {

inline constexpr int64_t kUmapSums = 8;

/// The rows that one row is compared with.
struct UmapOthers {
  std::vector<int32_t> row;
  std::vector<float> weight, square, slope;
  std::vector<float> apart;  ///< coordinate k of number i at [k * size + i]
  int64_t count = 0;         ///< with padding, a multiple of kUmapSums
  int64_t size = 0;

  void resize(int64_t wanted, int64_t dimensions) {
    count = (wanted + kUmapSums - 1) / kUmapSums * kUmapSums;
    if (count > size) {
      size = 2 * count;
      for (auto* each : {&weight, &square, &slope}) each->resize(static_cast<size_t>(size));
      row.resize(static_cast<size_t>(size));
      apart.resize(static_cast<size_t>(size * dimensions));
    }
    std::fill(row.begin() + wanted, row.begin() + count, 0);
    std::fill(weight.begin() + wanted, weight.begin() + count, 0.0F);
  }
};

/// Random words of blocks that follow each other, made many at a time: rows of a fit use those that
/// follow the row before.
class UmapWords {
 public:
  explicit UmapWords(RandomKey key) : key_(key) {}

  /// Four words a block, from block `first` on.
  const uint32_t* of(int64_t first, int64_t count) {
    if (first < first_ || first + count > first_ + count_) {
      constexpr int64_t kTogether = 128;
      first_ = first;
      count_ = std::max(count, kTogether);
      wide_.resize(static_cast<size_t>(2 * count_));
      words_.resize(static_cast<size_t>(4 * count_));
      cpu::philox_words(key_, static_cast<uint64_t>(first), count_, wide_.data());
      for (size_t i = 0; i < wide_.size(); ++i) {
        words_[2 * i] = static_cast<uint32_t>(wide_[i]);
        words_[2 * i + 1] = static_cast<uint32_t>(wide_[i] >> 32);
      }
    }
    return words_.data() + 4 * (first - first_);
  }

 private:
  RandomKey key_;
  int64_t first_ = 0;
  int64_t count_ = 0;
  std::vector<uint64_t> wide_;
  std::vector<uint32_t> words_;
};

/// Sums over others.
struct UmapForce {
  std::vector<float> along;  ///< [dimensions]
  float strength = 0;
};

}  // namespace hr
#endif

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, kUmapSums>;
using V = hn::Vec<Tag>;
constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));

HWY_INLINE V all(float value) {
  return hn::Set(Tag(), value);
}

/// x^b for x >= 2^-40 and |b log2(x)| up to 126, beyond which it stays: relative error below 1e-6.
HWY_INLINE V power(V x, V b) {
  const hn::RebindToSigned<Tag> integers;
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)); log2(m) by the series of the area tangent.
  const auto half = hn::Set(integers, 0x3F3504F3);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(hn::BitCast(integers, x), half));
  const V m = hn::BitCast(Tag(), hn::Sub(hn::BitCast(integers, x), hn::ShiftLeft<23>(exponent)));
  const V s = hn::Div(hn::Sub(m, all(1)), hn::Add(m, all(1))), square = hn::Mul(s, s);
  V series = all(0.32059889F);  // 2 / (9 ln 2), 2 / (7 ln 2), ...
  series = fused(series, square, all(0.41219858F));
  series = fused(series, square, all(0.57707802F));
  series = fused(series, square, all(0.96179669F));
  series = fused(series, square, all(2.88539008F));
  const V log = fused(series, s, hn::ConvertTo(Tag(), exponent));
  const V y = hn::Max(hn::Min(hn::Mul(b, log), all(126)), all(-126));
  // 2^y = 2^n 2^r with r in [-1/2, 1/2]; 2^r by Taylor's series.
  const V whole = hn::Round(y), r = hn::Sub(y, whole);
  V made = all(1.5403530e-4F);
  made = fused(made, r, all(1.3333558e-3F));
  made = fused(made, r, all(9.6181291e-3F));
  made = fused(made, r, all(5.5504109e-2F));
  made = fused(made, r, all(0.24022651F));
  made = fused(made, r, all(0.69314718F));
  made = fused(made, r, all(1));
  const auto scale = hn::ShiftLeft<23>(hn::ConvertTo(integers, whole));
  return hn::BitCast(Tag(), hn::Add(hn::BitCast(integers, made), scale));
}

/// The sum of `term(i)`, vectors from i on, in 8 sums and one tree.
template <class F>
HWY_INLINE float sum_of(int64_t count, F&& term) {
  constexpr int64_t kVectors = kUmapSums / kLanes;
  V sums[kVectors];
  for (V& each : sums) each = hn::Zero(Tag());
  for (int64_t i = 0; i < count; i += kUmapSums)
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) sums[v] = hn::Add(sums[v], term(i + v * kLanes));
  float parts[kUmapSums];
  for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], Tag(), parts + v * kLanes);
  return ((parts[0] + parts[4]) + (parts[2] + parts[6])) +
         ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

/// Differences from a point to others, and their squares.
void compare(const cpu::UmapEpoch& epoch, const float* point, UmapOthers& others) {
  std::fill_n(others.square.data(), others.count, 1e-12F);  // the power needs more than 0
  float* square = others.square.data();
  for (int64_t k = 0; k < epoch.dimensions; ++k) {
    float* apart = others.apart.data() + k * others.size;
    const int32_t* row = others.row.data();
    const float* at = epoch.fixed + k;
    for (int64_t i = 0; i < others.count; ++i) {
      const float difference = point[k] - at[row[i] * epoch.dimensions];
      apart[i] = difference;
      square[i] += difference * difference;
    }
  }
}

/// Adds sign times weight times the clipped slope along each coordinate.
void add_forces(const UmapOthers& others, float sign, UmapForce& force) {
  const float *slope = others.slope.data(), *weight = others.weight.data();
  const V most = all(4), least = all(-4);
  for (size_t k = 0; k < force.along.size(); ++k) {
    const float* apart = others.apart.data() + static_cast<int64_t>(k) * others.size;
    force.along[k] +=
        sign * sum_of(others.count, [&](int64_t i) HWY_ATTR {
          const V along = hn::Mul(hn::LoadU(Tag(), slope + i), hn::LoadU(Tag(), apart + i));
          return hn::Mul(hn::LoadU(Tag(), weight + i), hn::Min(hn::Max(along, least), most));
        });
  }
}

void attract(const cpu::UmapEpoch& epoch, UmapOthers& others, UmapForce& force) {
  const float *square = others.square.data(), *weight = others.weight.data();
  float* slope = others.slope.data();
  const V a = all(epoch.a), b = all(epoch.b), factor = all(2 * epoch.a * epoch.b);
  force.strength = sum_of(others.count, [&](int64_t i) HWY_ATTR {
    const V x = hn::LoadU(Tag(), square + i), near = power(x, b);
    const V made = hn::Div(hn::Mul(factor, near), hn::Mul(x, fused(a, near, all(1))));
    hn::StoreU(made, Tag(), slope + i);
    return hn::Mul(hn::LoadU(Tag(), weight + i), made);
  });
  add_forces(others, -1, force);
}

void repel(const cpu::UmapEpoch& epoch, UmapOthers& others, UmapForce& force) {
  const V a = all(epoch.a), b = all(epoch.b), factor = all(2 * epoch.repulsion * epoch.b);
  for (int64_t i = 0; i < others.count; i += kLanes) {
    const V x = hn::LoadU(Tag(), others.square.data() + i);
    const V far = hn::Mul(hn::Add(x, all(0.001F)), fused(a, power(x, b), all(1)));
    hn::StoreU(hn::Div(factor, far), Tag(), others.slope.data() + i);
  }
  add_forces(others, 1, force);
}

void move(const cpu::UmapEpoch& epoch, int64_t begin, int64_t end) {
  UmapOthers others;
  UmapWords words(epoch.key);
  UmapForce force;
  for (int64_t row = begin; row < end; ++row) {
    const float* point = epoch.from + row * epoch.dimensions;
    const int64_t first = epoch.begins[row], edges = epoch.begins[row + 1] - first;
    force.along.assign(static_cast<size_t>(epoch.dimensions), 0.0F);
    force.strength = 0;
    if (edges > 0) {
      others.resize(edges, epoch.dimensions);
      for (int64_t i = 0; i < edges; ++i) {
        others.row[static_cast<size_t>(i)] = epoch.others[first + i];
        others.weight[static_cast<size_t>(i)] = epoch.attraction * epoch.weights[first + i];
      }
      compare(epoch, point, others);
      attract(epoch, others, force);
    }
    const float wanted = epoch.samples[row];
    if (wanted > 0) {
      const uint32_t* word = words.of(epoch.draws[row], cpu::umap_blocks(wanted));
      const auto whole = static_cast<int64_t>(wanted);
      const float fraction = wanted - static_cast<float>(whole);
      const int64_t samples = whole + (static_cast<float>(word[0] >> 8) * 0x1p-24F < fraction);
      others.resize(samples, epoch.dimensions);
      const auto rows = static_cast<uint64_t>(epoch.fixed_rows);
      int32_t* drawn = others.row.data();
      for (int64_t i = 0; i < samples; ++i)
        drawn[i] = static_cast<int32_t>(word[i + 1] * rows >> 32);
      std::fill_n(others.weight.data(), samples, 1.0F);
      compare(epoch, point, others);
      repel(epoch, others, force);
    }
    const float step = epoch.rate / (1 + epoch.rate * force.strength);
    for (int64_t k = 0; k < epoch.dimensions; ++k)
      epoch.to[row * epoch.dimensions + k] = point[k] + step * force.along[static_cast<size_t>(k)];
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void umap_move(const UmapEpoch& epoch, int64_t begin, int64_t end) {
  HR_SIMD(move)(epoch, begin, end);
}

}  // namespace hr::cpu

#endif
