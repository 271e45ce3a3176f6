// SPDX-License-Identifier: Apache-2.0
// Copies between layouts: axes in the order of the result, merged, then rows or tiles.
#include "headrace/data/copy_strided.h"

#include "headrace/base/error.h"
#include "headrace/data/copy_strided_kernels.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace hr {

std::vector<CopyAxis> copy_axes(const Tensor& from, const Shape& out_strides) {
  std::vector<CopyAxis> axes;
  for (size_t d = 0; d < out_strides.size(); ++d)
    if (from.shape()[d] != 1) axes.push_back({from.shape()[d], from.strides()[d], out_strides[d]});
  std::stable_sort(axes.begin(), axes.end(), [](const CopyAxis& a, const CopyAxis& b) {
    return std::abs(a.out) > std::abs(b.out);
  });
  std::vector<CopyAxis> merged;
  for (const CopyAxis& axis : axes) {
    if (!merged.empty() && merged.back().in == axis.in * axis.size &&
        merged.back().out == axis.out * axis.size)
      merged.back() = {merged.back().size * axis.size, axis.in, axis.out};
    else
      merged.push_back(axis);
  }
  if (merged.empty()) merged.push_back({1, 1, 1});
  return merged;
}

size_t closest_axis(const std::vector<CopyAxis>& axes) {
  size_t across = axes.size() - 1;
  for (size_t d = 0; d + 1 < axes.size(); ++d)
    if (axes[d].in != 0 && std::abs(axes[d].in) < std::abs(axes[across].in)) across = d;
  return across;
}

namespace {

constexpr int64_t kTile = 32;
constexpr int64_t kTaskElements = int64_t{1} << 15;

using Axis = CopyAxis;

// Where piece number `piece` of the outer axes begins in both.
struct Start {
  int64_t in = 0;
  int64_t out = 0;
};

Start start_of(const std::vector<Axis>& outer, int64_t piece) {
  Start start;
  for (size_t d = outer.size(); d-- > 0; piece /= outer[d].size) {
    const int64_t at = piece % outer[d].size;
    start.in += at * outer[d].in;
    start.out += at * outer[d].out;
  }
  return start;
}

int64_t pieces_of(const std::vector<Axis>& outer) {
  int64_t count = 1;
  for (const Axis& axis : outer) count *= axis.size;
  return count;
}

int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

template <class T>
void copy_row(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t count) {
  if (in_step == 1 && out_step == 1)
    std::memcpy(out, in, static_cast<size_t>(count) * sizeof(T));
  else if (in_step == 0 && out_step == 1)
    std::fill_n(out, count, *in);
  else
    for (int64_t i = 0; i < count; ++i) out[i * out_step] = in[i * in_step];
}

// Rows along the last axis; long ones in several parts.
template <class T>
void copy_rows(const T* in, T* out, std::vector<Axis> axes) {
  const Axis row = axes.back();
  axes.pop_back();
  const int64_t parts = divide_up(row.size, kMorselRows);
  const int64_t count = pieces_of(axes) * parts;
  const int64_t at_once = std::max<int64_t>(1, kTaskElements / row.size);
  parallel_for(divide_up(count, at_once), [&](int64_t task) {
    const int64_t end = std::min(count, (task + 1) * at_once);
    for (int64_t k = task * at_once; k < end; ++k) {
      const Start start = start_of(axes, k / parts);
      const int64_t first = k % parts * kMorselRows;
      copy_row(in + start.in + first * row.in, row.in, out + start.out + first * row.out, row.out,
               std::min(kMorselRows, row.size - first));
    }
  });
}

// `across`: the axis along which the source lies closest.
template <class T>
void copy_tiles(const T* in, T* out, std::vector<Axis> axes, size_t across) {
  const Axis row = axes.back(), column = axes[across];
  axes.pop_back();
  axes.erase(axes.begin() + static_cast<int64_t>(across));
  const int64_t bands = divide_up(column.size, kTile);
  const int64_t count = pieces_of(axes) * bands;
  const int64_t at_once = std::max<int64_t>(1, kTaskElements / (row.size * kTile));
  parallel_for(divide_up(count, at_once), [&](int64_t task) {
    const int64_t end = std::min(count, (task + 1) * at_once);
    for (int64_t k = task * at_once; k < end; ++k) {
      const Start start = start_of(axes, k / bands);
      const int64_t first = k % bands * kTile, last = std::min(column.size, first + kTile);
      for (int64_t begin = 0; begin < row.size; begin += kTile) {
        const int64_t stop = std::min(row.size, begin + kTile);
        for (int64_t c = first; c < last; ++c) {
          const T* from = in + start.in + c * column.in;
          T* to = out + start.out + c * column.out;
          for (int64_t r = begin; r < stop; ++r) to[r * row.out] = from[r * row.in];
        }
      }
    }
  });
}

template <class T>
void copy_values(const std::byte* from, std::byte* to, const std::vector<Axis>& axes) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  const size_t across = closest_axis(axes);
  if (across + 1 == axes.size())
    copy_rows(in, out, axes);
  else
    copy_tiles(in, out, axes, across);
}

}  // namespace

void copy_strided(const Tensor& from, std::byte* out, const Shape& out_strides) {
  if (from.num_elements() == 0) return;
  const std::vector<Axis> axes = copy_axes(from, out_strides);
  switch (from.dtype().size_bytes()) {
    case 1:
      return copy_values<uint8_t>(from.data(), out, axes);
    case 2:
      return copy_values<uint16_t>(from.data(), out, axes);
    case 4:
      return copy_values<uint32_t>(from.data(), out, axes);
    case 8:
      return copy_values<uint64_t>(from.data(), out, axes);
    default:
      return copy_values<std::array<uint64_t, 2>>(from.data(), out, axes);
  }
}

void copy_strided(std::string_view op, const Tensor& from, Buffer& out, int64_t offset,
                  const Shape& out_strides) {
  if (from.num_elements() == 0) return;
  if constexpr (built_with_cuda)
    if (from.place().is_gpu()) return cuda::copy_strided(op, from, out, offset, out_strides);
  if (!from.place().is_host())
    throw_error<UnsupportedError>(op, "non-contiguous arrays cannot be copied on a device",
                                  {{"place", from.place().name()}},
                                  "move the values first: x.to('cpu')");
  copy_strided(from, out.mutable_data() + offset, out_strides);
}

Buffer allocate_at(Place place, int64_t size_bytes) {
  return place.is_host() ? Buffer::allocate(size_bytes) : allocate_result(size_bytes, place);
}

}  // namespace hr
