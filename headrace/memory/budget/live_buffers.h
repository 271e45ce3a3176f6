// SPDX-License-Identifier: Apache-2.0
// All live buffers, for reports. For this room only.
#pragma once
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer_rep.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace hr {

/// Under a lock, so `visit` neither makes nor ends buffers.
void for_each_buffer(const std::function<void(const Buffer::Rep&)>& visit);

/// Memory made after `serial` that no buffer stands for.
std::vector<Holder> other_holders(uint64_t serial);

}  // namespace hr
