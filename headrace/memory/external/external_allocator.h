// SPDX-License-Identifier: Apache-2.0
// Memory for other libraries: under our budget, in our statistics, log and leak checks, never
// moved.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/log/tag.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// New bytes, uninitialised, that stay where they are until `external_free`; null when the budget
/// or the system refuses (`last_refusal` says why). Beyond 128 KiB a block is charged by itself,
/// with 64 bytes more than asked, logged, and a holder by its tag. Smaller ones share slabs of at
/// least 64 KiB and seven blocks, and the slabs are charged and logged. Beyond 1 KiB blocks are
/// 64-byte aligned, smaller ones 16-byte. Any thread.
HR_API void* external_allocate(size_t bytes, Tag tag) noexcept;

/// The same, all zero. From 4 MiB on the pages are new ones of the system and not touched,
/// unless another resource is current.
HR_API void* external_allocate_zeroed(size_t bytes, Tag tag) noexcept;

/// Grows or shrinks, in place or by a copy. When it returns null, the old block is as it was.
HR_API void* external_reallocate(void* pointer, size_t bytes, Tag tag) noexcept;

HR_API void external_free(void* pointer) noexcept;

/// What may be written from `pointer` on: at least what was asked for.
HR_API size_t external_usable_bytes(const void* pointer) noexcept;

/// The out-of-memory text of the last request of any thread that was refused here, or empty.
HR_API std::string last_refusal();

/// Keeps a message as the last refusal.
HR_API void keep_refusal(std::string_view text) noexcept;

/// Gives slabs back that hold no block: up to four of each size wait for the next request, or for
/// an allocation that needs the memory. Their bytes.
HR_API int64_t trim_external() noexcept;

/// Live blocks that are no buffers, made after `serial`: those in slabs are summed by tag.
HR_API std::vector<Holder> external_holders(uint64_t serial = 0);

}  // namespace hr
