// SPDX-License-Identifier: Apache-2.0
// Large buffers of zeros.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>

namespace hr {

/// As Buffer::allocate_zeroed; the workers clear it, so each touches a part of the fresh pages.
HR_API Buffer allocate_zeroed_by_workers(int64_t size_bytes);

}  // namespace hr
