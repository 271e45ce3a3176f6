// SPDX-License-Identifier: Apache-2.0
// Bytes between the host and a CUDA device, through pinned blocks that both reach.
#pragma once
#include "headrace/memory/buffer.h"

namespace hr {

/// Queues a copy of bytes [begin, begin + size_bytes) of a host buffer to the begin of `to`, and
/// returns when the host's bytes are read. Throws DeviceError.
void copy_to_cuda(const Buffer& from, int64_t begin, int64_t size_bytes, const Buffer& to,
                  Stream stream);

/// Copies bytes of a device's buffer to the begin of `to` and waits for them.
void copy_from_cuda(const Buffer& from, int64_t begin, int64_t size_bytes, Buffer& to,
                    Stream stream);

}  // namespace hr
