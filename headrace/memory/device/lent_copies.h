// SPDX-License-Identifier: Apache-2.0
// Buffers of a device that the host has, too.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

namespace hr {

/// Tells that a buffer of the host has the bytes of one of a device: that leaves without a copy
/// then. Both are sealed, and the device's is written. Ignored where it has such a copy already, is
/// foreign, or has another size.
HR_API void lend_copy(const Buffer& there, const Buffer& here);

/// Whether bytes of a device have left it.
HR_API bool is_away(const Buffer& buffer);

}  // namespace hr
