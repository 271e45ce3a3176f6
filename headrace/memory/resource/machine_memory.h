// SPDX-License-Identifier: Apache-2.0
// How much memory there is.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Bytes that this process may have at all: a container's share, or all of the machine's.
HR_API int64_t machine_memory();

}  // namespace hr
