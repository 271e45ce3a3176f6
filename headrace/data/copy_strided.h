// SPDX-License-Identifier: Apache-2.0
// One copy between layouts: transposes, slices and their like.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <string_view>

namespace hr {

/// Writes each element of `from` to its place in `out`, whose strides count elements and which has
/// room for all of them, each place once; on the host. By all workers; where the fastest axes of
/// both differ, in tiles of 32 x 32 elements. The ledger does not see it: callers record.
HR_API void copy_strided(const Tensor& from, std::byte* out, const Shape& out_strides);

/// The same into a buffer that is where `from` is, on the host or on a CUDA device, from byte
/// `offset` on. Throws UnsupportedError, naming `op`, where there is no kernel.
HR_API void copy_strided(std::string_view op, const Tensor& from, Buffer& out, int64_t offset,
                         const Shape& out_strides);

/// Room for a result where `place` says, which kernels or this thread fill.
HR_API Buffer allocate_at(Place place, int64_t size_bytes);

}  // namespace hr
