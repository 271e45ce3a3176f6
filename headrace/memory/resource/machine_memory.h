// SPDX-License-Identifier: Apache-2.0
// How much memory there is.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hr {

/// Bytes that this process may have at all: a container's share, or all of the machine's.
HR_API int64_t machine_memory();

/// The least limit of memory in the folders of control groups; INT64_MAX where none is.
HR_API int64_t memory_quota(const std::vector<std::string>& folders);

}  // namespace hr
