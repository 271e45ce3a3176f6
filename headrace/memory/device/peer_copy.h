// SPDX-License-Identifier: Apache-2.0
// Copies from one CUDA device to another.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/device/cuda_device.h"

#include <cstddef>
#include <cstdint>

namespace hr {

/// Whether a device reaches the memory of another one without a way through the host.
HR_API bool can_access_peer(int device, int peer);

/// Queues a copy of bytes of device `peer` on a stream of `device`: over the link between the two,
/// which is opened at first use, else through the host as the driver does it. Throws DeviceError.
HR_API void copy_from_peer(int peer, const std::byte* from, int device, std::byte* to,
                           int64_t size_bytes, Stream stream);

}  // namespace hr
