// SPDX-License-Identifier: Apache-2.0
// Pins: what a task is about to read or write is in memory, is charged, and stays.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace hr {

/// Bytes [begin, end) of a buffer that a task reads or writes. The buffer outlives the pin.
struct PinnedRange {
  const Buffer* buffer;
  int64_t begin;
  int64_t end;
  bool write = false;
};

/// Holds ranges in memory while it lives, in chunks of up to 2 MiB; what is on disk is fetched
/// first. Takes all its ranges or none, and waits while other tasks hold what it needs room for, so
/// one task should take one pin. Throws OutOfMemoryError when there will be no room. Buffers
/// without chunks (small, foreign, of other resources) cost nothing. About 20 ns a range.
///
/// Published bytes can be read without a pin: they come from the page cache then, slower and not
/// in the budget. Bytes of `allocate_spillable` are written under pins only, until they are sealed.
class HR_API Pin {
 public:
  explicit Pin(std::span<const PinnedRange> ranges);

  Pin(std::initializer_list<PinnedRange> ranges)
      : Pin(std::span<const PinnedRange>(ranges.begin(), ranges.size())) {}

  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  std::vector<PinnedRange> ranges_;  // those that have chunks
};

/// Bytes that leave and come back together, of a buffer of this many bytes allocated now: a 16th of
/// it, but no more than about a 128th of the limit and 2 MiB, and at least 64 KiB.
HR_API int64_t chunk_bytes_of(int64_t buffer_bytes);

/// What the rows of a job have of one buffer: `items` of `item_bits`, item i at bit
/// first_bit + i * step_bits. Row r of the job needs items r - before to r + after, as far as there
/// are such.
struct BufferAccess {
  const Buffer* buffer;
  int64_t first_bit;
  int64_t step_bits;
  int64_t item_bits;
  int64_t items;
  int64_t before = 0;
  int64_t after = 0;
  bool write = false;
};

/// The ranges that rows [begin, end) of a job need.
HR_API std::vector<PinnedRange> ranges_of(std::span<const BufferAccess> accesses, int64_t begin,
                                          int64_t end);

}  // namespace hr
