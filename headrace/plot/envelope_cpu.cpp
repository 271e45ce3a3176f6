// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum for each pixel, morsel by morsel.
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/plot/envelope.h"
#include "headrace/plot/envelope_kernels.h"
#include "headrace/plot/envelope_math.h"

#include <algorithm>

namespace hr::cpu {
namespace {

/// What a morsel found in its first and its last pixel, which neighbours may share.
template <class T>
struct Edges {
  int64_t first_pixel;
  int64_t last_pixel;
  Range<T> first;
  Range<T> last;
};

int64_t pixel_of_row(int64_t row, int64_t rows, int64_t width) {
  int64_t below = 0;
  int64_t above = width;
  while (above - below > 1) {
    const int64_t middle = below + (above - below) / 2;
    (envelope_first_row(middle, rows, width) <= row ? below : above) = middle;
  }
  return below;
}

/// Fewer rows than pixels: each pixel shows one row.
template <class T>
void repeat_rows(const T* x, int64_t stride, int64_t rows, int64_t width, T* low, T* high) {
  parallel_morsels(width, [&](const Morsel& morsel) {
    for (int64_t pixel = morsel.begin; pixel < morsel.end; ++pixel) {
      Range<T> range;
      range.include(x[envelope_first_row(pixel, rows, width) * stride]);
      low[pixel] = envelope_value(range, range.low);
      high[pixel] = envelope_value(range, range.high);
    }
  });
}

template <class T>
void accumulate_rows(const T* x, int64_t stride, int64_t rows, int64_t width, T* low, T* high,
                     const BufferAccess& access) {
  Buffer slots = Buffer::allocate(num_morsels(rows) * static_cast<int64_t>(sizeof(Edges<T>)));
  auto* edges = slots.mutable_as<Edges<T>>();
  parallel_morsels(rows, {access}, [&](const Morsel& morsel) {
    Edges<T>& edge = edges[morsel.index];
    edge = {pixel_of_row(morsel.begin, rows, width), -1, {}, {}};
    int64_t row = morsel.begin;
    for (int64_t pixel = edge.first_pixel; row < morsel.end; ++pixel) {
      const int64_t end = std::min(envelope_first_row(pixel + 1, rows, width), morsel.end);
      const Range<T> range = range_of(x + row * stride, stride, end - row);
      if (pixel == edge.first_pixel) {
        edge.first = range;
      } else if (end == morsel.end) {
        edge.last_pixel = pixel;
        edge.last = range;
      } else {
        low[pixel] = range.low;
        high[pixel] = range.high;
      }
      row = end;
    }
  });
  // A pixel that morsels share is an edge of each of them, and inside none.
  for (int64_t k = 0; k < num_morsels(rows); ++k)
    for (const int64_t pixel : {edges[k].first_pixel, edges[k].last_pixel})
      if (pixel >= 0) low[pixel] = Range<T>::kTop, high[pixel] = Range<T>::kBottom;
  const auto merge = [&](int64_t pixel, const Range<T>& part) {
    Range<T> range{low[pixel], high[pixel]};
    range.include(part);
    low[pixel] = range.low;
    high[pixel] = range.high;
  };
  for (int64_t k = 0; k < num_morsels(rows); ++k) {
    merge(edges[k].first_pixel, edges[k].first);
    if (edges[k].last_pixel >= 0) merge(edges[k].last_pixel, edges[k].last);
  }
  for (int64_t pixel = 0; pixel < width; ++pixel) {
    const Range<T> range{low[pixel], high[pixel]};
    low[pixel] = envelope_value(range, range.low);
    high[pixel] = envelope_value(range, range.high);
  }
}

}  // namespace

void envelope(const Tensor& x, int64_t start, int64_t stop, int64_t width, Buffer& low,
              Buffer& high) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t stride = x.strides()[0];
    const T* first = x.as<T>() + start * stride;
    auto* lows = low.mutable_as<T>();
    auto* highs = high.mutable_as<T>();
    if (stop - start < width)
      repeat_rows(first, stride, stop - start, width, lows, highs);
    else
      accumulate_rows(first, stride, stop - start, width, lows, highs, reads(x, -start, start));
  });
}

}  // namespace hr::cpu
