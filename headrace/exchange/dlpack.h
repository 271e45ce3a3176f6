// SPDX-License-Identifier: Apache-2.0
// Tensors through DLPack, in its versioned and in its older form.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"
#include "headrace/exchange/dlpack_abi.h"

#include <optional>
#include <string_view>

namespace hr {

/// The tensor for a consumer, who calls the deleter once. Nothing is copied, strides are always
/// filled, and the read-only flag is set; with `copied` the tensor is a copy made for this consumer
/// alone, so it may write. Throws UnsupportedError for strings.
HR_API DLManagedTensorVersioned* to_dlpack(const Tensor& tensor, bool copied = false);

/// The older form has no read-only flag: only for a copy made for the consumer, and for what
/// `detached` gave.
HR_API DLManagedTensor* to_dlpack_legacy(const Tensor& tensor);

/// Hands the bytes of a tensor over for writing: the result is foreign memory for the engine, stays
/// at its address and in memory, and may change at any time; `tensor` is empty then. Nothing, and
/// `tensor` as it was, where another handle holds the bytes, for memory of other libraries or
/// shared with other processes, and for other than contiguous tensors on the host.
HR_API std::optional<Tensor> detached(Tensor& tensor);

/// A tensor over the producer's memory: nothing is copied, and `*writable` tells whether the
/// producer may still write. Calls the deleter when the tensor's last handle goes, also when it
/// throws. Throws UnsupportedError for dtypes we do not have, DeviceError for memory that the host
/// cannot read, InvalidArgumentError for sizes that contradict each other.
HR_API Tensor from_dlpack(std::string_view op, DLManagedTensorVersioned* managed, bool* writable);
HR_API Tensor from_dlpack(std::string_view op, DLManagedTensor* managed, bool* writable);

}  // namespace hr
