// SPDX-License-Identifier: Apache-2.0
// Elements by positions on a CUDA device: one thread for each element of the result.
#include "headrace/algo/bits/value_width.h"
#include "headrace/data/device_launch.h"
#include "headrace/tensor/element_index_kernels.h"

#include <algorithm>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

/// An array of positions: where the one of element k lies.
struct Index {
  const int64_t* data;
  int64_t size;  // of the axis
  int64_t step;  // of it, in elements
  bool flat;
  int64_t stride[kMostIndexAxes];
};

struct Indices {
  int count;
  int axes;
  int64_t shape[kMostIndexAxes];
  Index index[kMostIndices];
};

/// The axes behind the indexed ones: `size` elements.
struct Row {
  int axes;
  bool whole;
  int64_t size;
  int64_t shape[kMostIndexAxes];
  int64_t stride[kMostIndexAxes];

  __device__ int64_t offset(int64_t at) const {
    if (whole) return at;
    int64_t element = 0;
    for (int d = axes - 1; d >= 0; --d) {
      const int64_t rest = at / shape[d];
      element += (at - rest * shape[d]) * stride[d];
      at = rest;
    }
    return element;
  }
};

/// Of the k-th positions, in elements; the first ones that are out of range are noted.
__device__ int64_t offset_of(const Indices& indices, int64_t k, unsigned long long* bad) {
  int64_t offset = 0;
  for (int i = 0; i < indices.count; ++i) {
    const Index& index = indices.index[i];
    int64_t element = k;
    if (!index.flat) {
      element = 0;
      int64_t rest = k;
      for (int d = indices.axes - 1; d >= 0; --d) {
        const int64_t outer = rest / indices.shape[d];
        element += (rest - outer * indices.shape[d]) * index.stride[d];
        rest = outer;
      }
    }
    const int64_t position = index.data[element];
    const int64_t row = position < 0 ? position + index.size : position;
    if (row < 0 || row >= index.size) {
      atomicMin(bad, static_cast<unsigned long long>(k * kMostIndices + i));
      return -1;
    }
    offset += row * index.step;
  }
  return offset;
}

template <class T>
__global__ void gather_kernel(const T* __restrict__ from, const __grid_constant__ Indices indices,
                              const __grid_constant__ Row row, int64_t count, T* __restrict__ out,
                              unsigned long long* bad) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const int64_t k = row.size == 1 ? i : i / row.size;
    const int64_t offset = offset_of(indices, k, bad);
    if (offset >= 0) out[i] = from[offset + (row.size == 1 ? 0 : row.offset(i - k * row.size))];
  }
}

/// The same for elements that no axes follow, by positions that lie one after the other: `kCount`
/// arrays of them. A thread has some under way at a time.
template <int kCount, class T>
__global__ void __launch_bounds__(kThreads)
    gather_flat_kernel(const T* __restrict__ from, const __grid_constant__ Indices indices,
                       int64_t count, T* __restrict__ out, unsigned long long* bad) {
  constexpr int kItems = 4;
  const int64_t begin = int64_t{blockIdx.x} * (kThreads * kItems) + threadIdx.x;
  int64_t offset[kItems] = {};
  bool fits[kItems];
#pragma unroll
  for (int u = 0; u < kItems; ++u) fits[u] = begin + u * kThreads < count;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const Index& index = indices.index[i];
    int64_t position[kItems];
#pragma unroll
    for (int u = 0; u < kItems; ++u)
      position[u] = begin + u * kThreads < count ? __ldcs(index.data + begin + u * kThreads) : 0;
#pragma unroll
    for (int u = 0; u < kItems; ++u) {
      const int64_t row = position[u] < 0 ? position[u] + index.size : position[u];
      if (static_cast<uint64_t>(row) < static_cast<uint64_t>(index.size)) {
        offset[u] += row * index.step;
      } else {
        if (fits[u])
          atomicMin(bad,
                    static_cast<unsigned long long>((begin + u * kThreads) * kMostIndices + i));
        fits[u] = false;
      }
    }
  }
  T value[kItems];
#pragma unroll
  for (int u = 0; u < kItems; ++u)
    if (fits[u]) value[u] = from[offset[u]];
#pragma unroll
  for (int u = 0; u < kItems; ++u)
    if (fits[u]) out[begin + u * kThreads] = value[u];
}

/// Which of the positions of a place comes last.
__global__ void last_kernel(const __grid_constant__ Indices indices, int64_t row, int64_t count,
                            unsigned long long* __restrict__ last, unsigned long long* bad) {
  const int64_t k = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (k >= count) return;
  const int64_t offset = offset_of(indices, k, bad);
  if (offset >= 0) atomicMax(last + offset / row, static_cast<unsigned long long>(k + 1));
}

template <class T>
__global__ void scatter_kernel(const T* __restrict__ values,
                               const __grid_constant__ Indices indices, int64_t row, int64_t count,
                               const unsigned long long* __restrict__ last, T* __restrict__ out,
                               unsigned long long* bad) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const int64_t k = i / row;
    const int64_t offset = offset_of(indices, k, bad);
    if (offset >= 0 && last[offset / row] == static_cast<unsigned long long>(k + 1))
      out[offset + i - k * row] = values[i];
  }
}

Indices indices_of(DeviceCall& call, const std::vector<Tensor>& given, const Shape& sizes,
                   const Shape& steps) {
  Indices indices{};
  indices.count = static_cast<int>(given.size());
  indices.axes = static_cast<int>(given[0].shape().size());
  std::copy(given[0].shape().begin(), given[0].shape().end(), indices.shape);
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].num_elements() > 0) call.reads(given[i].buffer());
    Index& index = indices.index[i];
    index = {given[i].as<int64_t>(), sizes[i], steps[i], given[i].is_contiguous(), {}};
    std::copy(given[i].strides().begin(), given[i].strides().end(), index.stride);
  }
  return indices;
}

/// Waits for the kernels; the first positions that are out of range.
BadPosition problem_of(DeviceCall& call, const Buffer& room, const std::vector<Tensor>& given) {
  unsigned long long found = 0;
  call.fetch(&found, room.data(), sizeof found);
  if (found == ~0ULL) return {};
  const auto place = static_cast<int64_t>(found);
  const Tensor& index = given[static_cast<size_t>(place % kMostIndices)];
  int64_t element = 0, rest = place / kMostIndices;
  for (size_t d = index.shape().size(); d-- > 0; rest /= index.shape()[d])
    element += rest % index.shape()[d] * index.strides()[d];
  BadPosition bad{place % kMostIndices, 0};
  call.fetch(&bad.position, index.as<int64_t>() + element, 8);
  return bad;
}

Buffer new_problem(DeviceCall& call) {
  const Buffer room = call.scratch(sizeof(unsigned long long));
  call.fill(call.writes(room), 0xFF, sizeof(unsigned long long));
  return room;
}

}  // namespace

BadPosition gather_elements(const Tensor& from, const std::vector<Tensor>& indices,
                            const Buffer& out) {
  DeviceCall call("getitem", from.place());
  if (from.num_elements() > 0) call.reads(from.buffer());
  const Indices at = indices_of(call, indices, from.shape(), from.strides());
  Row row{};
  row.size = 1;
  int64_t packed = 1;
  row.whole = true;
  row.axes = static_cast<int>(from.shape().size() - indices.size());
  for (int d = row.axes - 1; d >= 0; --d) {
    const size_t axis = indices.size() + static_cast<size_t>(d);
    row.shape[d] = from.shape()[axis];
    row.stride[d] = from.strides()[axis];
    row.whole &= row.shape[d] == 1 || row.stride[d] == packed;
    packed *= row.shape[d];
    row.size *= row.shape[d];
  }
  const int64_t count = indices[0].num_elements() * row.size;
  const Buffer room = new_problem(call);
  if (count == 0) {  // positions of no elements are checked all the same
    const int64_t rows = indices[0].num_elements();
    if (rows > 0) {
      const Buffer last = call.scratch(8);
      last_kernel<<<blocks_of(rows, kThreads), kThreads, 0,
                    static_cast<cudaStream_t>(call.stream())>>>(
          at, INT64_MAX, rows, call.writes_as<unsigned long long>(last),
          call.writes_as<unsigned long long>(room));
    }
  } else {
    const auto stream = static_cast<cudaStream_t>(call.stream());
    auto* const bad = call.writes_as<unsigned long long>(room);
    const bool flat =
        row.size == 1 && at.count <= 2 &&
        std::all_of(at.index, at.index + at.count, [](const Index& index) { return index.flat; });
    visit_width(from.dtype().size_bytes(), [&]<class T>(std::type_identity<T>) {
      const T* const values = reinterpret_cast<const T*>(from.data());
      T* const to = call.writes_as<T>(out);
      if (flat)
        (at.count == 1
             ? gather_flat_kernel<1, T>
             : gather_flat_kernel<2, T>)<<<blocks_of(count, 4 * kThreads), kThreads, 0, stream>>>(
            values, at, count, to, bad);
      else
        gather_kernel<T>
            <<<blocks_in_turn(count, kThreads, from.place().index, 64), kThreads, 0, stream>>>(
                values, at, row, count, to, bad);
    });
  }
  call.finish(cudaGetLastError());
  return problem_of(call, room, indices);
}

BadPosition scatter_elements(const Tensor& values, const std::vector<Tensor>& indices,
                             const Shape& shape, const Buffer& out) {
  DeviceCall call("setitem", values.place());
  if (values.num_elements() > 0) call.reads(values.buffer());
  const Shape steps = row_major(shape);
  const Indices at = indices_of(call, indices, shape, steps);
  int64_t row = 1, places = 1;
  for (size_t d = 0; d < shape.size(); ++d) (d < indices.size() ? places : row) *= shape[d];
  const int64_t rows = indices[0].num_elements();
  const Buffer room = new_problem(call);
  const Buffer last = call.scratch(8 * std::max<int64_t>(places, 1));
  call.fill(call.writes(last), 0, last.size_bytes());
  auto* const lasts = call.writes_as<unsigned long long>(last);
  auto* const bad = call.writes_as<unsigned long long>(room);
  const auto stream = static_cast<cudaStream_t>(call.stream());
  if (rows > 0 && row > 0) {
    last_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream>>>(at, row, rows, lasts, bad);
    visit_width(values.dtype().size_bytes(), [&]<class T>(std::type_identity<T>) {
      scatter_kernel<T>
          <<<blocks_in_turn(rows * row, kThreads, values.place().index, 64), kThreads, 0, stream>>>(
              reinterpret_cast<const T*>(values.data()), at, row, rows * row, lasts,
              call.writes_as<T>(out), bad);
    });
  }
  call.finish(cudaGetLastError());
  return problem_of(call, room, indices);
}

}  // namespace hr::cuda
