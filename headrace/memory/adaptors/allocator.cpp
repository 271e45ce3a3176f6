// SPDX-License-Identifier: Apache-2.0
// Blocks for containers: a buffer whose first bytes hold its own handle.
#include "headrace/memory/adaptors/allocator.h"

#include "headrace/base/process_global.h"
#include "headrace/memory/buffer/buffer.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace hr {

namespace {

constexpr size_t kHeader = 64;
static_assert(sizeof(Buffer) <= kHeader && alignof(Buffer) <= kHeader);

}  // namespace

void* allocate_bytes(size_t bytes, size_t alignment) {
  check_request(bytes, alignment);
  // Buffers are aligned to 64 bytes; the handle lies in the 64 before the block.
  const size_t more = alignment > kHeader ? alignment : 0;
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(kHeader + bytes + more));
  const auto first = reinterpret_cast<uintptr_t>(buffer.mutable_data());
  const uintptr_t unit = std::max(alignment, kHeader);
  const uintptr_t block = (first + kHeader + unit - 1) / unit * unit;
  new (reinterpret_cast<void*>(block - kHeader)) Buffer(std::move(buffer));
  return reinterpret_cast<void*>(block);
}

void deallocate_bytes(void* pointer) noexcept {
  if (!pointer) return;
  auto* const header = reinterpret_cast<Buffer*>(static_cast<std::byte*>(pointer) - kHeader);
  // Out of the block first: it goes with its last handle.
  const Buffer last = std::move(*std::launder(header));
  header->~Buffer();
}

std::pmr::memory_resource* polymorphic_resource() {
  return &process_global<PolymorphicResource>();
}

}  // namespace hr
