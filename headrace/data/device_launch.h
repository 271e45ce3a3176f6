// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: what kernels read, and how many blocks run them.
#pragma once
#include "headrace/data/device.h"

#include <algorithm>
#include <cstdint>
#include <cuda_runtime.h>

namespace hr::cuda {

/// The elements of a 1-D tensor on a device, of any stride.
template <class T>
struct View {
  const T* data;
  int64_t stride;
  int64_t size;

  __device__ T operator[](int64_t i) const { return data[i * stride]; }
};

template <class T>
View<T> view_of(const Tensor& x) {
  return {x.as<T>(), x.is_contiguous() ? 1 : x.strides()[0], x.num_elements()};
}

/// The elements of a 2-D tensor on a device, of any strides, as float64.
template <class T>
struct Matrix {
  const T* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;

  __device__ double operator()(int64_t row, int64_t column) const {
    return static_cast<double>(data[row * row_stride + column * column_stride]);
  }
};

template <class T>
Matrix<T> matrix_of(const Tensor& x) {
  return {x.as<T>(), x.shape()[0], x.shape()[1], x.strides()[0], x.strides()[1]};
}

/// Blocks that each take `per_block` items, one after the other.
inline unsigned blocks_of(int64_t items, int64_t per_block) {
  return static_cast<unsigned>(std::max<int64_t>(1, (items + per_block - 1) / per_block));
}

/// Blocks that take items in turn: enough to fill the device, few enough that what each does once
/// costs little.
inline unsigned blocks_in_turn(int64_t items, int64_t per_block, int device, int a_processor) {
  constexpr int kProcessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
  const int64_t most = int64_t{a_processor} * cuda_device_attribute(device, kProcessors);
  return static_cast<unsigned>(std::min<int64_t>(most, blocks_of(items, per_block)));
}

}  // namespace hr::cuda
