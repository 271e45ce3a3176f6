// SPDX-License-Identifier: Apache-2.0
// Small blocks for other libraries, out of slabs. For this room only.
#pragma once
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/tag.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hr {

/// Larger requests are blocks of their own.
inline constexpr size_t kLargestInSlab = size_t{128} << 10;

struct Slab;

/// Right in front of every block for another library.
struct BlockHeader {
  union {
    Slab* slab = nullptr;    // of a block out of a slab
    BlockHeader* next_free;  // of a free one
  };
  Tag tag = 0;
  uint32_t serial = 0;  // the low half of the last serial when it was made
};
static_assert(sizeof(BlockHeader) == 16);

/// The tag in the header of a block of its own.
inline constexpr Tag kOwnBlock = ~Tag{0};

/// Throws OutOfMemoryError. The header of a block of at least `bytes`.
BlockHeader* allocate_in_slab(size_t bytes, Tag tag);
void free_in_slab(BlockHeader* block) noexcept;
size_t slab_block_bytes(const BlockHeader* block) noexcept;

/// Blocks in slabs, summed by tag, of those made after `serial`.
std::vector<Holder> slab_holders(uint64_t serial);

}  // namespace hr
