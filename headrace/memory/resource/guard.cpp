// SPDX-License-Identifier: Apache-2.0
// Guard pages around every block.
#include "headrace/memory/resource/guard.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <cstring>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

namespace hr {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostFreed = 4096;
constexpr unsigned char kFill = 0xDF;

// [begin, end) may be touched, a page at `end` may not; the block ends there, but for what its
// alignment asks.
struct Layout {
  size_t size;  // of the block, a multiple of its alignment
  size_t body;  // of its pages

  Layout(size_t bytes, size_t alignment) {
    const auto up = [](size_t n, size_t unit) { return (n + unit - 1) / unit * unit; };
    size = up(std::max(bytes, size_t{1}), alignment);
    body = up(size, kPage);
  }
};

bool is_filled(const unsigned char* begin, const unsigned char* end) {
  return std::all_of(begin, end, [](unsigned char byte) { return byte == kFill; });
}

// Called from what may not throw, so it ends the process and says why (inlined, it would not say).
[[gnu::noinline]] void check_edges(const unsigned char* block, size_t bytes, const Layout& layout) {
  const unsigned char* const end = block + layout.size;
  if (!is_filled(block + bytes, end) || !is_filled(end - layout.body, block))
    throw_error<InternalError>("guard", "bytes outside of a block were overwritten",
                               {{"bytes", bytes}},
                               "run it under the address sanitizer to see where");
}

}  // namespace

GuardResource::~GuardResource() {
  forget(0);
}

void* GuardResource::allocate(Stream, size_t bytes, size_t alignment) {
  check_request(bytes, alignment);
  const Layout layout(bytes, alignment);
  const size_t unit = std::max(alignment, kPage);
  const size_t whole = layout.body + kPage + unit;
  void* base = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    forget(0);
    base = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (base != MAP_FAILED) {
    auto* const first = static_cast<char*>(base);
    const uintptr_t last = reinterpret_cast<uintptr_t>(first) + layout.body + unit - 1;
    char* const end = first + (last / unit * unit - reinterpret_cast<uintptr_t>(first));
    char* const begin = end - layout.body;
    if (begin > first) munmap(first, static_cast<size_t>(begin - first));
    if (first + whole > end + kPage)
      munmap(end + kPage, static_cast<size_t>(first + whole - end) - kPage);
    if (mprotect(begin, layout.body, PROT_READ | PROT_WRITE) == 0) {
      std::memset(begin, kFill, layout.body);
      return end - layout.size;
    }
    munmap(begin, layout.body + kPage);
  }
  throw OutOfMemoryError(
      error_message("guard", "the system refused memory", {{"bytes", bytes}},
                    "unset HEADRACE_DEBUG_MEMORY: each block takes two pages and two mappings"),
      static_cast<int64_t>(bytes));
}

void GuardResource::deallocate(Stream, void* pointer, size_t bytes, size_t alignment) noexcept {
  const Layout layout(bytes, alignment);
  auto* const block = static_cast<unsigned char*>(pointer);
  check_edges(block, bytes, layout);
  void* const begin = block + layout.size - layout.body;
  ASAN_POISON_MEMORY_REGION(begin, layout.body);
  // New pages without access: the old ones go back to the system.
  mmap(begin, layout.body, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  try {
    const std::lock_guard lock(mutex_);
    freed_.emplace_back(begin, layout.body + kPage);
  } catch (...) {  // no memory to remember it: the range is never used again
  }
  forget(kMostFreed);
}

void GuardResource::forget(size_t most) noexcept {
  const std::lock_guard lock(mutex_);
  for (; freed_.size() > most; freed_.pop_front()) {
    const auto [begin, size] = freed_.front();
    ASAN_UNPOISON_MEMORY_REGION(begin, size);
    munmap(begin, size);
  }
}

}  // namespace hr
