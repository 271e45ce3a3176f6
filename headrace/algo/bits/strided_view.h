// SPDX-License-Identifier: Apache-2.0
// StridedView: the elements of a 1-D tensor in order, whatever its stride.
#pragma once
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string_view>

namespace hr {

/// Throws TypeMismatchError, naming `op`, unless `x` has one dimension.
inline void check_one_dimension(std::string_view op, const Tensor& x) {
  if (x.num_dimensions() != 1)
    throw_error<TypeMismatchError>(op, "the input must have one dimension",
                                   {{"dimensions", x.num_dimensions()}}, "reshape or select a row");
}

/// Borrows the tensor's memory. Kernels take blocks from it, so a strided input needs no copy of
/// its full size.
template <class T>
struct StridedView {
  const T* data;
  int64_t stride;
  int64_t size;
  BufferAccess source;  ///< for the pins of a job over the elements

  explicit StridedView(const Tensor& x)
      : data(x.as<T>()),
        stride(x.is_contiguous() ? 1 : x.strides()[0]),
        size(x.num_elements()),
        source(reads(x)) {
    if (!x.place().is_host())
      throw_error<UnsupportedError>("device", "this operator has no kernel on this device",
                                    {{"place", x.place().name()}},
                                    "move the values first: x.to('cpu')");
  }

  T operator[](int64_t i) const { return data[i * stride]; }

  /// What row r needs that works on elements r - before to r + after.
  BufferAccess access(int64_t before, int64_t after) const {
    BufferAccess with = source;
    with.before = before;
    with.after = after;
    return with;
  }

  /// Elements [begin, begin + count) in a row: where they lie, or gathered into `block`.
  const T* load(int64_t begin, int64_t count, T* block) const {
    if (stride == 1) return data + begin;
    for (int64_t i = 0; i < count; ++i) block[i] = data[(begin + i) * stride];
    return block;
  }
};

}  // namespace hr
