// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: the memory that the threads of a block share.
#pragma once
#include "headrace/memory/device/cuda_driver.h"

namespace hr::cuda {

/// Bytes that a block may have if its kernel asks for them, by the device's generation: 99 KiB or
/// more from compute capability 8 on.
inline int shared_bytes_of(int device) {
  constexpr int kOptIn = 97;  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
  return cuda_device_attribute(device, kOptIn);
}

}  // namespace hr::cuda
