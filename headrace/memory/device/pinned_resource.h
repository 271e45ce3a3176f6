// SPDX-License-Identifier: Apache-2.0
// Host memory that devices reach.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/resource/resource.h"

namespace hr {

/// Host memory that devices copy from and to without the processor's help. Blocks of at least 64
/// KiB are kept for the next taker. Throws DeviceError without a driver.
HR_API AnyResource pinned_resource();

}  // namespace hr
