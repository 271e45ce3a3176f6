// SPDX-License-Identifier: Apache-2.0
// Spans and points to pixels.
#include "headrace/exec/workers.h"
#include "headrace/plot/raster_kernels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

namespace hr::cpu {
namespace {

/// A vertical span in pixels from the upper edge; `upper > lower` where there is none.
struct Span {
  double upper;
  double lower;
};

template <class T>
class SpanReader {
 public:
  SpanReader(const Envelope& envelope, double top, double scale)
      : low_(envelope.low.as<T>()),
        high_(envelope.high.as<T>()),
        low_stride_(envelope.low.strides()[0]),
        high_stride_(envelope.high.strides()[0]),
        width_(envelope.low.num_elements()),
        top_(top),
        scale_(scale) {}

  /// The span of column `x` alone, empty beyond the sides and for NaN.
  Span alone(int64_t x) const {
    if (x < 0 || x >= width_) return {1, 0};
    const auto low = static_cast<double>(low_[x * low_stride_]);
    const auto high = static_cast<double>(high_[x * high_stride_]);
    if (!(low <= high)) return {1, 0};
    return {(top_ - high) * scale_, (top_ - low) * scale_};
  }

  /// With half of the gaps to both neighbours, and at least one pixel thick.
  Span joined(int64_t x) const {
    const Span own = alone(x);
    if (own.upper > own.lower) return own;
    Span span = own;
    for (const Span& other : {alone(x - 1), alone(x + 1)}) {
      if (other.upper > other.lower) continue;
      if (other.lower < own.upper) span.upper = std::min(span.upper, (other.lower + own.upper) / 2);
      if (other.upper > own.lower) span.lower = std::max(span.lower, (other.upper + own.lower) / 2);
    }
    const double missing = 1 - (span.lower - span.upper);
    if (missing > 0) span = {span.upper - missing / 2, span.lower + missing / 2};
    return span;
  }

 private:
  const T* low_;
  const T* high_;
  int64_t low_stride_;
  int64_t high_stride_;
  int64_t width_;
  double top_;
  double scale_;
};

/// The cell of `value` among `cells` of equal width, or -1 outside.
int64_t cell_of(double value, double low, double high, int64_t cells) {
  if (!(value >= low && value <= high)) return -1;
  const auto cell = static_cast<int64_t>((value - low) / (high - low) * static_cast<double>(cells));
  return std::min(cell, cells - 1);
}

void count_one(int64_t& cell) {
  std::atomic_ref<int64_t>(cell).fetch_add(1, std::memory_order_relaxed);
}

/// A line in cells, from the left and the upper edge.
struct Line {
  double x;
  double y;
  double dx;
  double dy;

  /// The part of it inside, as Y.-D. Liang and B. A. Barsky cut it (ACM TOG 3, 1984); false: none.
  bool cut(double width, double height, double& begin, double& end) const {
    begin = 0;
    end = 1;
    for (const auto& [towards, room] : {std::pair{-dx, x}, std::pair{dx, width - x},
                                        std::pair{-dy, y}, std::pair{dy, height - y}}) {
      if (towards == 0 && room < 0) return false;
      if (towards < 0) begin = std::max(begin, room / towards);
      if (towards > 0) end = std::min(end, room / towards);
    }
    return begin <= end;
  }
};

int64_t clamped_cell(double at, int64_t cells) {
  return std::clamp<int64_t>(static_cast<int64_t>(at), 0, cells - 1);
}

/// Counts one cell in each column, or with x and y exchanged in each row, from `begin` to `end`.
template <class Cell>
void step_along(double from, double d, double other, double other_d, double begin, double end,
                int64_t cells, int64_t others, Cell&& cell) {
  int64_t first = clamped_cell(from + begin * d, cells);
  int64_t last = clamped_cell(from + end * d, cells);
  if (last < first) std::swap(first, last);
  const double slope = d == 0 ? 0 : other_d / d;
  const double one = other + begin * other_d, two = other + end * other_d;
  for (int64_t i = first; i <= last; ++i) {
    const double at = other + (static_cast<double>(i) + 0.5 - from) * slope;
    cell(i, clamped_cell(std::clamp(at, std::min(one, two), std::max(one, two)), others));
  }
}

}  // namespace

void raster_envelope(const Envelope& envelope, double bottom, double top, int64_t height, Color ink,
                     uint8_t* pixels) {
  constexpr int64_t kStrip = 64;  // columns of a task: 256 bytes of each row, whole cache lines
  const int64_t width = envelope.low.num_elements();
  const auto rows = static_cast<double>(height);
  visit_real(envelope.low.dtype(), [&]<class T>(std::type_identity<T>) {
    const SpanReader<T> reader(envelope, top, rows / (top - bottom));
    parallel_for((width + kStrip - 1) / kStrip, [&](int64_t strip) {
      const int64_t begin = strip * kStrip;
      const int64_t end = std::min(begin + kStrip, width);
      for (int64_t y = 0; y < height; ++y)
        std::memset(pixels + (y * width + begin) * 4, 0, static_cast<size_t>(end - begin) * 4);
      for (int64_t x = begin; x < end; ++x) {
        Span span = reader.joined(x);
        span = {std::max(span.upper, 0.0), std::min(span.lower, rows)};
        if (!(span.upper < span.lower)) continue;
        const auto first = static_cast<int64_t>(span.upper);
        const auto last = std::min(static_cast<int64_t>(std::ceil(span.lower)), height);
        for (int64_t y = first; y < last; ++y) {
          const auto edge = static_cast<double>(y);
          const double covered = std::min(span.lower, edge + 1) - std::max(span.upper, edge);
          uint8_t* pixel = pixels + (y * width + x) * 4;
          pixel[0] = ink.red;
          pixel[1] = ink.green;
          pixel[2] = ink.blue;
          pixel[3] = static_cast<uint8_t>(covered * ink.alpha + 0.5);
        }
      }
    });
  });
}

void raster_points(const Tensor& x, const Tensor& y, double left, double right, double bottom,
                   double top, int64_t width, int64_t height, int64_t* counts) {
  visit_real(x.dtype(), [&]<class X>(std::type_identity<X>) {
    visit_real(y.dtype(), [&]<class Y>(std::type_identity<Y>) {
      const int64_t x_stride = x.strides()[0];
      const int64_t y_stride = y.strides()[0];
      parallel_morsels(x.num_elements(), [&](const Morsel& morsel) {
        for (int64_t i = morsel.begin; i < morsel.end; ++i) {
          const int64_t column =
              cell_of(static_cast<double>(x.as<X>()[i * x_stride]), left, right, width);
          const int64_t row =
              cell_of(static_cast<double>(y.as<Y>()[i * y_stride]), bottom, top, height);
          if (column < 0 || row < 0) continue;
          count_one(counts[(height - 1 - row) * width + column]);
        }
      });
    });
  });
}

void raster_segments(const LineEnds& lines, double left, double right, double bottom, double top,
                     int64_t width, int64_t height, int64_t* counts) {
  const auto wide = static_cast<double>(width), high = static_cast<double>(height);
  visit_real(lines.x0.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto value = [](const Tensor& ends, int64_t i) {
      return static_cast<double>(ends.as<T>()[i * ends.strides()[0]]);
    };
    parallel_morsels(lines.x0.num_elements(), int64_t{1} << 12, {}, [&](const Morsel& morsel) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const double x = (value(lines.x0, i) - left) / (right - left) * wide;
        const double y = (top - value(lines.y0, i)) / (top - bottom) * high;
        const Line line{x, y, (value(lines.x1, i) - left) / (right - left) * wide - x,
                        (top - value(lines.y1, i)) / (top - bottom) * high - y};
        double begin, end;
        if (!std::isfinite(line.dx) || !std::isfinite(line.dy) || !line.cut(wide, high, begin, end))
          continue;
        if (std::abs(line.dx) >= std::abs(line.dy))
          step_along(line.x, line.dx, line.y, line.dy, begin, end, width, height,
                     [&](int64_t column, int64_t row) { count_one(counts[row * width + column]); });
        else
          step_along(line.y, line.dy, line.x, line.dx, begin, end, height, width,
                     [&](int64_t row, int64_t column) { count_one(counts[row * width + column]); });
      }
    });
  });
}

}  // namespace hr::cpu
