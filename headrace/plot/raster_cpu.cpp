// SPDX-License-Identifier: Apache-2.0
// Spans and points to pixels. Compiled once for each SIMD level.
#define HWY_TARGET_INCLUDE "headrace/plot/raster_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/plot/raster_kernels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Lower than any place by more than all cells: what is added to it stays negative.
constexpr double kOutside = -1e300;

/// The part of one side in the places of points.
void add_cells(const double* values, int64_t count, const cpu::RasterSide& side, double* places) {
  const hn::ScalableTag<double> d;
  const double cells = static_cast<double>(side.cells), step = static_cast<double>(side.step);
  const double span = side.high - side.low;
  const auto low = hn::Set(d, side.low), high = hn::Set(d, side.high), wide = hn::Set(d, span);
  const auto all = hn::Set(d, cells), last = hn::Set(d, cells - 1), by = hn::Set(d, step);
  const auto outside = hn::Set(d, kOutside);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    const auto inside = hn::And(hn::Ge(value, low), hn::Le(value, high));
    auto cell = hn::IfThenElseZero(inside, hn::Mul(hn::Div(hn::Sub(value, low), wide), all));
    cell = hn::Mul(hn::Floor(hn::Min(cell, last)), by);
    const auto place = hn::Add(hn::LoadU(d, places + i), hn::IfThenElse(inside, cell, outside));
    hn::StoreU(place, d, places + i);
  }
  for (; i < count; ++i) {
    const bool inside = values[i] >= side.low && values[i] <= side.high;
    const double cell = inside ? (values[i] - side.low) / span * cells : 0.0;
    places[i] += inside ? std::floor(std::min(cell, cells - 1)) * step : kOutside;
  }
}

template <class T>
void read_values(const T* values, int64_t stride, int64_t count, double* read) {
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i) read[i] = static_cast<double>(values[i]);
  else
    for (int64_t i = 0; i < count; ++i) read[i] = static_cast<double>(values[i * stride]);
}

/// The first cell of each point's group; those of no group are outside.
void add_groups(const uint16_t* groups, int64_t count, double group_cells, double cells,
                double* places) {
  for (int64_t i = 0; i < count; ++i) {
    const double first = static_cast<double>(groups[i]) * group_cells;
    places[i] += first < cells ? first : kOutside;
  }
}

void place_points(int64_t count, double spare, double* places) {
  for (int64_t i = 0; i < count; ++i) places[i] = places[i] >= 0 ? places[i] : spare;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {
namespace {

constexpr int64_t kBlock = 2048;  // its values and places stay in L1

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

/// Reads the values of one side where they are.
void add_side(const RasterSide& side, int64_t row, int64_t count, double* places) {
  visit_real(side.values.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t stride = side.values.strides()[0];
    double read[kBlock];
    HR_SIMD(read_values<T>)(side.values.as<T>() + row * stride, stride, count, read);
    HR_SIMD(add_cells)(read, count, side, places);
  });
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

void raster_points(const PointsJob& job, int64_t slots, int64_t* counts, int64_t* others) {
  const int64_t points = job.x.values.num_elements(), table = job.cells + 1;
  std::vector<BufferAccess> accesses{reads(job.x.values), reads(job.y.values)};
  if (job.groups) accesses.push_back(reads(*job.groups));
  const auto base = static_cast<double>((job.y.cells - 1) * job.x.cells);
  const auto spare = static_cast<double>(job.cells);
  std::atomic<int64_t> next{0};
  parallel_for(slots, [&](int64_t slot) {
    int64_t* own = slot == 0 ? counts : others + (slot - 1) * table;
    double places[kBlock];
    for (int64_t k; (k = next.fetch_add(1)) < num_morsels(points);) {
      const Morsel morsel = morsel_at(k, points);
      const Pin pin(ranges_of(accesses, morsel.begin, morsel.end));
      for (int64_t row = morsel.begin; row < morsel.end; row += kBlock) {
        const int64_t count = std::min(kBlock, morsel.end - row);
        std::fill_n(places, count, base);
        for (const RasterSide* side : {&job.x, &job.y}) add_side(*side, row, count, places);
        if (job.groups) HR_SIMD(add_groups)
        (job.groups->as<uint16_t>() + row, count, static_cast<double>(job.group_cells), spare,
         places);
        HR_SIMD(place_points)(count, spare, places);
        for (int64_t i = 0; i < count; ++i) ++own[static_cast<int64_t>(places[i])];
      }
    }
  });
  parallel_for(slots > 1 ? num_morsels(job.cells) : 0, [&](int64_t k) {
    const Morsel part = morsel_at(k, job.cells);
    for (int64_t slot = 0; slot < slots - 1; ++slot)
      for (int64_t i = part.begin; i < part.end; ++i) counts[i] += others[slot * table + i];
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
#endif
