// SPDX-License-Identifier: Apache-2.0
// For tests: tensors from and to vectors, and runs with several thread counts.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/exec/workers.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace hr::testing {

/// A 1-D tensor of these values; with another stride they lie that far apart, from the end when it
/// is negative.
template <class T>
Tensor tensor_of(const std::vector<T>& values, int64_t stride = 1) {
  const auto count = static_cast<int64_t>(values.size());
  const int64_t step = stride < 0 ? -stride : stride;
  const int64_t size = count == 0 ? 0 : (count - 1) * step + 1;
  Buffer buffer = Buffer::allocate(size * static_cast<int64_t>(sizeof(T)));
  T* out = size > 0 ? buffer.mutable_as<T>() : nullptr;
  std::fill(out, out + size, T{});
  const int64_t first = stride < 0 ? size - 1 : 0;
  for (int64_t i = 0; i < count; ++i) out[first + i * stride] = values[static_cast<size_t>(i)];
  const int64_t offset = count == 0 ? 0 : first * static_cast<int64_t>(sizeof(T));
  return Tensor(dtype_of<T>(), {count}, {stride}, std::move(buffer), offset);
}

/// A contiguous tensor of these values. Not another `tensor_of`: `{n}` would be its stride.
template <class T>
Tensor tensor_with_shape(const std::vector<T>& values, Shape shape) {
  const Tensor flat = tensor_of(values);
  return Tensor(flat.dtype(), std::move(shape), flat.buffer());
}

/// Rows of `columns` values each.
template <class T>
Tensor matrix_of(const std::vector<T>& values, int64_t columns) {
  return tensor_with_shape(values, {static_cast<int64_t>(values.size()) / columns, columns});
}

/// `make(state)` of `count` states of a linear congruential generator.
template <class T, class Make>
std::vector<T> random_values(int64_t count, uint64_t seed, Make&& make) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<T>(make(seed)));
  }
  return values;
}

/// The elements of a contiguous tensor (bools as bytes).
template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  std::vector<T> values(static_cast<size_t>(tensor.num_elements()));
  if (!values.empty()) std::memcpy(values.data(), tensor.data(), values.size() * sizeof(T));
  return values;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  const auto bytes = static_cast<size_t>(a.num_elements() * a.dtype().size_bytes());
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0);
}

/// Runs `make()` with 1, 2 and 4 threads; true when the three tensors have the same bits.
template <class F>
bool same_for_any_threads(F&& make) {
  const int before = threads();
  set_threads(1);
  const Tensor one = make();
  bool same = true;
  for (const int count : {2, 4}) {
    set_threads(count);
    same = same && same_bits(one, make());
  }
  set_threads(before);
  return same;
}

/// The sizes at which vectors, blocks and morsels end.
inline std::vector<int64_t> edge_sizes() {
  return {0,
          1,
          2,
          3,
          63,
          64,
          65,
          1023,
          1024,
          1025,
          kMorselRows - 1,
          kMorselRows,
          kMorselRows + 1,
          3 * kMorselRows + 77};
}

}  // namespace hr::testing
