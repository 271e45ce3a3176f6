// SPDX-License-Identifier: Apache-2.0
// Rows that a mask picks on a CUDA device: checks and dispatch.
#include "headrace/algo/select/compact_rows.h"

#include "headrace/algo/select/compact_rows_kernels.h"
#include "headrace/algo/select/filter.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"

#include <bit>
#include <type_traits>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kWidestRow = 16;

// Checked as every mask is.
template <class M>
cuda::DeviceMask mask_on_device(const M& mask, int64_t rows) {
  const Mask checked(mask);
  if (checked.num_rows() != rows)
    throw_error<InvalidArgumentError>("getitem", "mask and rows differ in length",
                                      {{"mask", checked.num_rows()}, {"rows", rows}});
  if constexpr (std::is_same_v<M, Column>)
    return {&mask, nullptr};
  else
    return {nullptr, &mask};
}

template <class M>
Column compact_column(const Column& column, const M& mask) {
  const cuda::DeviceMask by = mask_on_device(mask, column.num_rows());
  if constexpr (built_with_cuda)
    return cuda::compact_rows("getitem", column, by, cuda::mask_offsets("getitem", by));
  check_on_host("getitem", column.place());
  return column;
}

template <class M>
Tensor compact_tensor(const Tensor& tensor, const M& mask) {
  Shape shape = tensor.shape();
  int64_t width = tensor.dtype().size_bytes();
  for (size_t d = 1; d < shape.size(); ++d) width *= shape[d];
  // Longer rows are as fast by their positions.
  if (width > kWidestRow || !std::has_single_bit(static_cast<uint64_t>(width)) ||
      tensor.byte_offset() % width != 0)
    return filter(tensor, Mask(mask));
  const cuda::DeviceMask by = mask_on_device(mask, shape[0]);
  if constexpr (built_with_cuda) {
    const cuda::MaskOffsets offsets = cuda::mask_offsets("getitem", by);
    shape[0] = offsets.picked;
    return Tensor(
        tensor.dtype(), std::move(shape),
        cuda::compact_rows("getitem", tensor.buffer(), tensor.byte_offset(), width, by, offsets));
  }
  check_on_host("getitem", tensor.place());
  return tensor;
}

}  // namespace

Column compact_rows(const Column& column, const Column& mask) {
  return compact_column(column, mask);
}

Column compact_rows(const Column& column, const Tensor& mask) {
  return compact_column(column, mask);
}

Tensor compact_rows(const Tensor& tensor, const Column& mask) {
  return compact_tensor(tensor, mask);
}

Tensor compact_rows(const Tensor& tensor, const Tensor& mask) {
  return compact_tensor(tensor, mask);
}

}  // namespace hr
