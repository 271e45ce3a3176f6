// SPDX-License-Identifier: Apache-2.0
// A small number for each thread, to spread threads over shards.
#pragma once
#include <cstdint>

namespace hr {

/// 1 is the first thread that asked. Numbers are not used again.
uint32_t thread_number();

}  // namespace hr
