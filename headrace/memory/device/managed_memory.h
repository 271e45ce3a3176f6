// SPDX-License-Identifier: Apache-2.0
// Managed memory of CUDA: one address for the host and a device, pages that move. Only for those
// who ask for it.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/device/cuda_driver.h"
#include "headrace/memory/resource/resource.h"

#include <cstddef>
#include <cstdint>

namespace hr {

/// Managed memory that prefers `device` and is charged to its budget. What is beyond the card's
/// free memory is refused with OutOfMemoryError: pages that are moved on faults take more than ten
/// times as long as whole values that the device tier moves. New blocks are fetched to the device
/// at once. Throws DeviceError without such a device.
HR_API AnyResource managed_resource(int device = 0);

/// Moves the pages of a managed buffer to a place ahead of use, in the order of `stream` (null: the
/// default one). Throws InvalidArgumentError for other memory.
HR_API void prefetch_managed(const Buffer& buffer, Place to, void* stream);

/// What is known of the use of a managed buffer, with the numbers of `CUmem_advise`.
enum class ManagedAdvice : int {
  kReadMostly = 1,
  kNotReadMostly = 2,
  kPreferred = 3,
  kNotPreferred = 4,
  kAccessed = 5,
  kNotAccessed = 6,
};

/// `by`: the place that the advice is about.
HR_API void advise_managed(const Buffer& buffer, ManagedAdvice advice, Place by);

}  // namespace hr
