// SPDX-License-Identifier: Apache-2.0
// What the allocator for other libraries does for the budget. For this room only.
#pragma once
#include "headrace/memory/budget/budget.h"

#include <cstdint>
#include <vector>

namespace hr {

/// What other libraries hold of the host's memory; their allocator enters it.
struct ExternalMemory {
  int64_t (*trim)() noexcept = nullptr;                       ///< gives back what is free: bytes
  std::vector<Holder> (*holders)(uint64_t serial) = nullptr;  ///< that are no buffers
};
void set_external_memory(const ExternalMemory& memory);

int64_t trim_external_memory() noexcept;

}  // namespace hr
