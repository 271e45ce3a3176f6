// SPDX-License-Identifier: Apache-2.0
// Convolution of matrices with large kernels by transforms: two tiles at a time are the real and
// the imaginary parts of one, as the kernel is real.
#define HWY_TARGET_INCLUDE "headrace/signal/convolve2d_fft_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/base/simd_vectors.h"
//
#include "headrace/exec/workers.h"
#include "headrace/signal/convolve2d_kernels.h"
#include "headrace/signal/fft_batched.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// kLanes blocks, `pitch` apart, with places and lanes exchanged.
template <class T>
void transpose_blocks(const T* in, int64_t pitch, T* out, int64_t out_pitch) {
  constexpr int64_t B = kLanes<T>;
  constexpr int64_t V = kWidth<T>;
  for (int64_t part = 0; part < 2 * B; part += B)
    for (int64_t i = 0; i < B; i += V)
      for (int64_t lane = 0; lane < B; lane += V) {
        Vector<T> x[V];
#pragma GCC unroll 16
        for (int64_t u = 0; u < V; ++u) x[u] = load(in + (i + u) * pitch + part + lane);
        transpose<T>(x);
#pragma GCC unroll 16
        for (int64_t u = 0; u < V; ++u) store(x[u], out + (lane + u) * out_pitch + part + i);
      }
}

template <class T>
void multiply_blocks(int64_t count, const T* factors, T* x) {
  constexpr int64_t B = kLanes<T>;
  for (int64_t k = 0; k < count; ++k)
    for (int64_t lane = 0; lane < B; lane += kWidth<T>) {
      const int64_t at = k * kBlock<T> + lane;
      const Complex<Vector<T>> made =
          Complex<Vector<T>>{load(x + at), load(x + at + B)} *
          Complex<Vector<T>>{load(factors + at), load(factors + at + B)};
      store(made.re, x + at);
      store(made.im, x + at + B);
    }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// Length of the transforms of a tile along an axis where the kernel has `taps` and the result
/// `size` elements.
int64_t length_of(int64_t taps, int64_t size, int64_t times) {
  const auto least = static_cast<uint64_t>(std::max<int64_t>(16, times * (taps - 1)));
  const auto most = static_cast<uint64_t>(std::max<int64_t>(16, size + taps - 1));
  return static_cast<int64_t>(std::min(std::bit_ceil(least), std::bit_ceil(most)));
}

constexpr int kMostElements = 1 << 20;  // of a tile: 16 MB a thread

struct TileShape {
  int64_t rows;
  int64_t columns;
};

/// Some times as long as the kernel, but of few elements, which stay in the nearer caches.
TileShape tile_of(const Convolve2dJob& job, const Tensor& kernel) {
  const int64_t down = kernel.shape()[0], across = kernel.shape()[1];
  TileShape tile{};
  for (const auto& [times, most] : {std::pair{8, 1 << 14}, {4, 1 << 16}, {2, kMostElements}}) {
    tile = {length_of(down, job.rows, times), length_of(across, job.columns, times)};
    if (tile.rows * tile.columns <= most) break;
  }
  return tile;
}

bool is_whole(double x) {
  return x == std::trunc(x);
}

/// Which power of two x is at least; of tiny ones more, since 2 to the minus that must be a number.
template <class T>
int level_of(T x) {
  constexpr int kLeast = sizeof(T) == 8 ? -1000 : -120;
  return x > 0 ? std::max(std::ilogb(x), kLeast) : 0;
}

template <class T>
class Tiles {
 public:
  Tiles(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, T* out)
      : job_(job),
        x_(x),
        out_(out),
        direct_(job, x, kernel, out),
        down_(kernel.shape()[0]),
        across_(kernel.shape()[1]),
        tile_(tile_of(job, kernel)),
        along_columns_(tile_.rows),
        along_rows_(tile_.columns),
        spectrum_(room_for<T>(2 * tile_.rows * tile_.columns)) {
    Work work(*this);
    std::fill_n(work.tile, 2 * tile_.rows * tile_.columns, T{0});
    const auto tap_at = [&](int64_t p, int64_t q) {
      return kernel.as<T>()[p * kernel.strides()[0] + q * kernel.strides()[1]];
    };
    T most = 0;
    for (int64_t p = 0; p < down_; ++p)
      for (int64_t q = 0; q < across_; ++q) {
        const T tap = tap_at(p, q);
        most = std::max(most, std::abs(tap));
        weight_ += std::abs(static_cast<double>(tap));
        whole_ = whole_ && is_whole(tap);
      }
    level_ = std::isfinite(weight_) ? level_of(most) : 0;
    const T scale = std::ldexp(T{1}, -level_), all = static_cast<T>(tile_.rows * tile_.columns);
    for (int64_t p = 0; p < down_; ++p)
      for (int64_t q = 0; q < across_; ++q) work.tile[place(p, q)] = tap_at(p, q) * scale / all;
    T* const spectrum = spectrum_.mutable_as<T>();
    forward_columns(work);
    for (int64_t first = 0; first < tile_.rows; first += kLanes<T>)
      std::copy_n(forward_rows(work, first), tile_.columns * kBlock<T>,
                  spectrum + first / kLanes<T> * tile_.columns * kBlock<T>);
  }

  void run() const {
    const int64_t count = divide_up(job_.rows, high()) * divide_up(job_.columns, wide());
    parallel_for(divide_up(count, 2), [&](int64_t task) {
      Work work(*this);
      convolve(work, 2 * task, std::min<int64_t>(2, count - 2 * task));
    });
  }

 private:
  struct Work {
    explicit Work(const Tiles& of)
        : blocks(std::max(of.tile_.rows, of.tile_.columns) * kBlock<T>),
          room(room_for<T>(2 * of.tile_.rows * of.tile_.columns + 2 * blocks + of.tile_.columns)),
          tile(room.template mutable_as<T>()),
          a(tile + 2 * of.tile_.rows * of.tile_.columns),
          b(a + blocks),
          row(b + blocks) {}

    int64_t blocks;
    Buffer room;
    T* tile;  // columns side by side, kLanes of them one after the other
    T* a;
    T* b;
    T* row;
  };

  /// The part of a result that is made at once.
  int64_t high() const { return tile_.rows - down_ + 1; }
  int64_t wide() const { return tile_.columns - across_ + 1; }

  int64_t place(int64_t i, int64_t j) const {
    return (j / kLanes<T> * tile_.rows + i) * kBlock<T> + j % kLanes<T>;
  }

  /// One of the two results that are made together.
  struct Part {
    int64_t top = 0;
    int64_t left = 0;
    int level = 0;
    bool is_zero = true;   // no input is another
    bool by_sums = false;  // some are not finite, or sums may be too large or not whole
    bool is_whole = false;
  };

  void convolve(Work& work, int64_t first, int64_t count) const {
    const int64_t tiles_across = divide_up(job_.columns, wide());
    Part parts[2];
    std::fill_n(work.tile, 2 * tile_.rows * tile_.columns, T{0});
    for (int64_t k = 0; k < count; ++k) {
      parts[k].top = (first + k) / tiles_across * high();
      parts[k].left = (first + k) % tiles_across * wide();
      load(work, k * kLanes<T>, parts[k]);
    }
    forward_columns(work);
    for (int64_t row = 0; row < tile_.rows; row += kLanes<T>) {
      T* const made = forward_rows(work, row);
      HR_SIMD(multiply_blocks<T>)
      (tile_.columns, spectrum_.as<T>() + row / kLanes<T> * tile_.columns * kBlock<T>, made);
      T* const other = made == work.a ? work.b : work.a;
      T* const back = run_lanes(along_rows_, true, made, other, made);
      for (int64_t j = 0; j < tile_.columns; j += kLanes<T>) HR_SIMD(transpose_blocks<T>)
      (back + j * kBlock<T>, kBlock<T>, work.tile + place(row, j), kBlock<T>);
    }
    for (int64_t j = 0; j < tile_.columns; j += kLanes<T>) {
      T* const from = work.tile + place(0, j);
      T* const made = run_lanes(along_columns_, true, from, work.a, from);
      for (int64_t k = 0; k < count; ++k)
        if (!parts[k].by_sums) store(made + k * kLanes<T>, j, parts[k]);
    }
    for (const Part& part : parts)
      if (part.by_sums)
        direct_.run(part.top, part.left, std::min(part.top + high(), job_.rows),
                    std::min(part.left + wide(), job_.columns));
  }

  /// Results of kLanes columns of a tile from `j` on. Those of zeros are zeros: what is there is
  /// the rounding of the other part.
  void store(const T* made, int64_t j, const Part& part) const {
    const int64_t left = part.left + j - (across_ - 1);
    const int64_t begin = std::max<int64_t>(0, across_ - 1 - j);
    const int64_t end = std::min(kLanes<T>, job_.columns - left);
    const T low = part.is_zero ? T{0} : std::ldexp(T{1}, std::min(part.level, level_));
    const T rest = std::ldexp(T{1}, std::max(part.level, level_));
    for (int64_t i = 0; i < std::min(high(), job_.rows - part.top); ++i) {
      const T* const values = made + (i + down_ - 1) * kBlock<T>;
      T* const to = out_ + (part.top + i) * job_.columns + left;
      for (int64_t lane = begin; lane < end; ++lane)
        to[lane] = values[lane] * low * rest + T{0};  // a zero without a sign
      for (int64_t lane = begin; lane < end && part.is_whole; ++lane)
        to[lane] = std::nearbyint(to[lane]) + T{0};
    }
  }

  /// Inputs of a part, which become lanes of the tile from `lane` on unless sums make its results.
  /// They are about 1, so that neither a sum of the transforms is too large nor one part's rounding
  /// shows in the other. Results of whole numbers are whole: they are rounded where their errors
  /// are small enough for that.
  void load(Work& work, int64_t lane, Part& part) const {
    T most = 0, nothing = 0;
    bool all_whole = whole_;
    each_row(work, part, [&](int64_t) {
      for (int64_t k = 0; k < tile_.columns; ++k) {
        most = std::max(most, std::abs(work.row[k]));
        nothing += work.row[k] * T{0};
      }
      for (int64_t k = 0; k < tile_.columns && all_whole; ++k) all_whole = is_whole(work.row[k]);
    });
    const double largest = weight_ * static_cast<double>(most);
    part.is_zero = most == 0;
    part.is_whole = all_whole && largest < (sizeof(T) == 8 ? 0x1p40 : 0x1p14);
    part.by_sums = nothing != 0 || !(largest < std::numeric_limits<T>::max() / 16) ||
                   (all_whole && !part.is_whole);
    if (part.by_sums) return;
    part.level = level_of(most);
    const T scale = std::ldexp(T{1}, -part.level);
    each_row(work, part, [&](int64_t u) {
      for (int64_t k = 0; k < tile_.columns; k += kLanes<T>) {
        T* const to = work.tile + place(u, k) + lane;
        for (int64_t l = 0; l < kLanes<T>; ++l) to[l] = work.row[k + l] * scale;
      }
    });
  }

  template <class F>
  void each_row(Work& work, const Part& part, const F& f) const {
    for (int64_t u = 0; u < tile_.rows; ++u) {
      fetch_row(job_, x_, part.top + job_.first_row - (down_ - 1) + u,
                part.left + job_.first_column - (across_ - 1), tile_.columns, work.row);
      f(u);
    }
  }

  void forward_columns(Work& work) const {
    for (int64_t j = 0; j < tile_.columns; j += kLanes<T>) {
      T* const from = work.tile + place(0, j);
      T* const made = run_lanes(along_columns_, false, from, work.a, from);
      if (made != from) std::copy_n(made, tile_.rows * kBlock<T>, from);
    }
  }

  /// Rows `first` and the next ones side by side, transformed.
  T* forward_rows(Work& work, int64_t first) const {
    for (int64_t j = 0; j < tile_.columns; j += kLanes<T>) HR_SIMD(transpose_blocks<T>)
    (work.tile + place(first, j), kBlock<T>, work.a + j * kBlock<T>, kBlock<T>);
    return run_lanes(along_rows_, false, work.a, work.b, work.a);
  }

  const Convolve2dJob& job_;
  const Tensor& x_;
  T* out_;
  DirectTiles<T> direct_;
  int64_t down_;
  int64_t across_;
  TileShape tile_;
  LanePlan<T> along_columns_;
  LanePlan<T> along_rows_;
  Buffer spectrum_;
  double weight_ = 0;
  int level_ = 0;  // of the kernel
  bool whole_ = true;
};

}  // namespace

bool convolves_by_fft(const Convolve2dJob& job, const Tensor& kernel) {
  const TileShape tile = tile_of(job, kernel);
  const double taps = static_cast<double>(kernel.num_elements());
  const double of_tile = static_cast<double>(tile.rows * tile.columns);
  const double made = static_cast<double>((tile.rows - kernel.shape()[0] + 1) *
                                          (tile.columns - kernel.shape()[1] + 1));
  const double outputs = static_cast<double>(job.rows) * static_cast<double>(job.columns);
  return of_tile <= kMostElements && outputs * taps > 0x1p22 &&
         taps * made > kProductsOfTransform * of_tile;
}

template <class T>
void convolve2d_by_fft(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, T* out) {
  Tiles<T>(job, x, kernel, out).run();
}

template void convolve2d_by_fft(const Convolve2dJob&, const Tensor&, const Tensor&, float*);
template void convolve2d_by_fft(const Convolve2dJob&, const Tensor&, const Tensor&, double*);

}  // namespace hr::cpu
#endif
