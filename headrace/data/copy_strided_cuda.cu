// SPDX-License-Identifier: Apache-2.0
// Copies between layouts on a CUDA device: one thread for each element, or tiles in shared memory
// where the fastest axes differ.
#include "headrace/base/error.h"
#include "headrace/data/copy_strided_kernels.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kTile = 32;
constexpr int kMostAxes = 64;

/// Axes of which the kernel knows an element by its number: those of the result, slowest first.
struct Layout {
  int count = 0;
  int64_t size[kMostAxes];
  int64_t in[kMostAxes];
  int64_t out[kMostAxes];
};

struct Place2 {
  int64_t in;
  int64_t out;
};

/// Number is uint32_t where all elements have one: divisions of 64 bits are slow.
template <class Number>
__device__ Place2 place_of(const Layout& layout, Number number) {
  Place2 place{0, 0};
  for (int d = layout.count - 1; d > 0; --d) {
    const auto size = static_cast<Number>(layout.size[d]);
    const Number rest = number / size;
    const auto at = static_cast<int64_t>(number - rest * size);
    place.in += at * layout.in[d];
    place.out += at * layout.out[d];
    number = rest;
  }
  if (layout.count > 0) {
    place.in += static_cast<int64_t>(number) * layout.in[0];
    place.out += static_cast<int64_t>(number) * layout.out[0];
  }
  return place;
}

/// Complex numbers, which foreign memory aligns to their parts.
struct Wide {
  uint64_t re;
  uint64_t im;
};

template <class T, class Number>
__global__ void rows_kernel(const T* __restrict__ in, T* __restrict__ out,
                            const __grid_constant__ Layout layout, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const Place2 place = place_of(layout, static_cast<Number>(i));
    out[place.out] = in[place.in];
  }
}

/// A tile of 32 x 32: read along `column`, where the source lies closest, written along `row`.
template <class T>
__global__ void __launch_bounds__(kThreads)
    tiles_kernel(const T* __restrict__ in, T* __restrict__ out,
                 const __grid_constant__ Layout outer, CopyAxis row, CopyAxis column, int64_t bands,
                 int64_t bars, int64_t tiles) {
  __shared__ T tile[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
  constexpr int kRows = kThreads / kTile;
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t first_row = t % bars * kTile;
    const int64_t first_column = t / bars % bands * kTile;
    const Place2 start = place_of(outer, static_cast<uint64_t>(t / bars / bands));
    __syncthreads();
    for (int k = y; k < kTile; k += kRows)
      if (first_row + k < row.size && first_column + x < column.size)
        tile[k][x] = in[start.in + (first_row + k) * row.in + (first_column + x) * column.in];
    __syncthreads();
    for (int k = y; k < kTile; k += kRows)
      if (first_column + k < column.size && first_row + x < row.size)
        out[start.out + (first_row + x) * row.out + (first_column + k) * column.out] = tile[x][k];
  }
}

Layout layout_of(const std::vector<CopyAxis>& axes) {
  Layout layout;
  for (const CopyAxis& axis : axes) {
    layout.size[layout.count] = axis.size;
    layout.in[layout.count] = axis.in;
    layout.out[layout.count++] = axis.out;
  }
  return layout;
}

template <class T>
void copy(DeviceCall& call, Place place, const Tensor& from, std::byte* to,
          std::vector<CopyAxis> axes) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const T* const in = reinterpret_cast<const T*>(from.data());
  T* const out = reinterpret_cast<T*>(to);
  const size_t across = closest_axis(axes);
  if (across + 1 < axes.size()) {
    const CopyAxis row = axes.back(), column = axes[across];
    axes.pop_back();
    axes.erase(axes.begin() + static_cast<int64_t>(across));
    const int64_t bars = (row.size + kTile - 1) / kTile, bands = (column.size + kTile - 1) / kTile;
    int64_t tiles = bars * bands;
    for (const CopyAxis& axis : axes) tiles *= axis.size;
    tiles_kernel<T><<<blocks_in_turn(tiles, 1, place.index, 64), kThreads, 0, stream>>>(
        in, out, layout_of(axes), row, column, bands, bars, tiles);
    return;
  }
  const int64_t count = from.num_elements();
  const unsigned blocks = blocks_in_turn(count, kThreads, place.index, 64);
  if (count <= UINT32_MAX)
    rows_kernel<T, uint32_t><<<blocks, kThreads, 0, stream>>>(in, out, layout_of(axes), count);
  else
    rows_kernel<T, uint64_t><<<blocks, kThreads, 0, stream>>>(in, out, layout_of(axes), count);
}

}  // namespace

void copy_strided(std::string_view op, const Tensor& from, const Buffer& out, int64_t offset,
                  const Shape& out_strides) {
  std::vector<CopyAxis> axes = copy_axes(from, out_strides);
  if (axes.size() > kMostAxes)
    throw_error<UnsupportedError>(op, "too many axes for a kernel", {{"axes", axes.size()}},
                                  "move the values first: x.to('cpu')");
  DeviceCall call(op, from.place());
  call.reads(from.buffer());
  std::byte* const to = call.writes(out) + offset;
  const Place place = from.place();
  switch (from.dtype().size_bytes()) {
    case 1:
      copy<uint8_t>(call, place, from, to, std::move(axes));
      break;
    case 2:
      copy<uint16_t>(call, place, from, to, std::move(axes));
      break;
    case 4:
      copy<uint32_t>(call, place, from, to, std::move(axes));
      break;
    case 8:
      copy<uint64_t>(call, place, from, to, std::move(axes));
      break;
    default:
      copy<Wide>(call, place, from, to, std::move(axes));
  }
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
