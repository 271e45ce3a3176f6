// SPDX-License-Identifier: Apache-2.0
// Blocks for other libraries: small ones out of slabs, large ones as buffers of their own.
#include "headrace/memory/external.h"

#include "headrace/base/error.h"
#include "headrace/memory/buffer.h"
#include "headrace/memory/buffer_rep.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <thread>

namespace hr {

namespace {

constexpr size_t kLargestSmall = 8192;
constexpr size_t kSlabBytes = size_t{64} << 10;
constexpr size_t kHeaderOfLarge = 64;  // keeps what follows 64-byte aligned
constexpr size_t kFreshPages = size_t{4} << 20;
constexpr size_t kMostBytes = size_t{1} << 47;
constexpr int kClasses = 8 + 4 * 6;  // 16, 32, ... 128, then four to a doubling up to 8 KiB

struct Slab;

// In front of every block. A small block names its slab, a large one holds its buffer; a free block
// holds the next free one.
struct Header {
  union {
    Slab* slab;
    Buffer buffer;
    Header* next_free;
  };
  Tag tag;
  uint32_t serial;  // the low half of the last serial when it was made

  Header() {}   // NOLINT(modernize-use-equals-default): the union has no default of its own
  ~Header() {}  // NOLINT(modernize-use-equals-default)
};
static_assert(sizeof(Header) == 16);

constexpr Tag kFreeTag = ~Tag{0};
constexpr Tag kLargeTag = ~Tag{0} - 1;

// At the start of its own buffer, its blocks behind it.
struct alignas(64) Slab {
  Buffer buffer;
  Slab* previous = nullptr;  // among all slabs of the class
  Slab* next = nullptr;
  Slab* previous_open = nullptr;  // among those with a free block
  Slab* next_open = nullptr;
  Header* free = nullptr;
  int index = 0;
  int used = 0;
  int begun = 0;  // blocks that were handed out at least once
  int count = 0;
};

// Held for a few instructions; a mutex takes 20 ns more for a block and its end.
class SpinLock {
 public:
  void lock() noexcept {
    for (int turn = 0; held_.exchange(true, std::memory_order_acquire); ++turn)
      if (turn > 100) std::this_thread::yield();
  }

  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

struct alignas(64) SizeClass {
  SpinLock lock;
  Slab* all = nullptr;
  Slab* open = nullptr;
};

constinit std::array<SizeClass, kClasses> classes{};

SizeClass& size_class(int index) {
  return classes[static_cast<size_t>(index)];
}

void lock_all() {
  for (SizeClass& sizes : classes) sizes.lock.lock();
}

void unlock_all() {
  for (SizeClass& sizes : classes) sizes.lock.unlock();
}

int class_of(size_t bytes) {
  if (bytes <= 128) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 16);
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes
  const size_t quarter = (size_t{1} << doubling) / 4;
  const size_t steps = (bytes - (size_t{1} << doubling) + quarter - 1) / quarter;
  return 7 + (doubling - 7) * 4 + static_cast<int>(steps);
}

size_t class_bytes(int index) {
  if (index < 8) return 16 * static_cast<size_t>(index + 1);
  const int step = index - 7;
  const size_t base = size_t{128} << (step / 4);
  return base + base / 4 * static_cast<size_t>(step % 4);
}

Header* header_of(void* pointer) {
  return static_cast<Header*>(pointer) - 1;
}

Header* block_of(Slab* slab, int number) {
  const size_t stride = class_bytes(slab->index) + sizeof(Header);
  return reinterpret_cast<Header*>(reinterpret_cast<std::byte*>(slab) + sizeof(Slab) +
                                   stride * static_cast<size_t>(number));
}

std::mutex& refusal_mutex() {
  static std::mutex* const leaked = [] {
    auto* made = new std::mutex;
    lock_over_fork(*made);
    return made;
  }();
  return *leaked;
}

std::string& refusal() {
  static auto* const leaked = new std::string;
  return *leaked;
}

void* refuse(const std::exception& error) noexcept {
  keep_refusal(error.what());
  return nullptr;
}

// ---- slabs -------------------------------------------------------------------------------------
template <Slab* Slab::* previous, Slab* Slab::* next>
void link(Slab*& first, Slab* slab) {
  slab->*previous = nullptr;
  slab->*next = first;
  if (first) first->*previous = slab;
  first = slab;
}

template <Slab* Slab::* previous, Slab* Slab::* next>
void unlink(Slab*& first, Slab* slab) {
  (slab->*previous ? slab->*previous->*next : first) = slab->*next;
  if (slab->*next) slab->*next->*previous = slab->*previous;
}

void open_slab(SizeClass& sizes, Slab* slab) {
  link<&Slab::previous_open, &Slab::next_open>(sizes.open, slab);
}

void close_slab(SizeClass& sizes, Slab* slab) {
  unlink<&Slab::previous_open, &Slab::next_open>(sizes.open, slab);
}

// No lock of ours is held: this may trim, spill and wait.
Slab* new_slab(int index) {
  static const Tag tag = [] {
    refusal_mutex();  // a fork takes what is registered last first: who holds our locks takes none
    pthread_atfork(lock_all, unlock_all, unlock_all);
    return intern_tag("small arrays");
  }();
  const ScopedTag scope(tag);
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(kSlabBytes));
  mark_external(buffer, /*slab=*/true);
  auto* slab = new (buffer.mutable_data()) Slab;
  slab->buffer = std::move(buffer);
  slab->index = index;
  slab->count =
      static_cast<int>((kSlabBytes - sizeof(Slab)) / (class_bytes(index) + sizeof(Header)));
  return slab;
}

void free_slab(Slab* slab) {
  const Buffer last = std::move(slab->buffer);
}

void* allocate_small(size_t bytes, Tag tag) {
  const int index = class_of(bytes);
  SizeClass& sizes = size_class(index);
  std::unique_lock lock(sizes.lock);
  if (!sizes.open) {
    lock.unlock();
    Slab* const made = new_slab(index);
    lock.lock();
    link<&Slab::previous, &Slab::next>(sizes.all, made);
    open_slab(sizes, made);
  }
  Slab* const slab = sizes.open;
  Header* block = slab->free;
  if (block)
    slab->free = block->next_free;
  else
    block = block_of(slab, slab->begun++);
  block->slab = slab;
  block->tag = tag;
  block->serial = static_cast<uint32_t>(present_serial());
  if (++slab->used == slab->count) close_slab(sizes, slab);
  return block + 1;
}

void free_small(Header* block) noexcept {
  Slab* const slab = block->slab;
  SizeClass& sizes = size_class(slab->index);
  std::unique_lock lock(sizes.lock);
  block->tag = kFreeTag;
  block->next_free = slab->free;
  slab->free = block;
  if (slab->used-- == slab->count) open_slab(sizes, slab);
  // The last open slab waits for the next request.
  if (slab->used > 0 || (sizes.open == slab && !slab->next_open)) return;
  close_slab(sizes, slab);
  unlink<&Slab::previous, &Slab::next>(sizes.all, slab);
  lock.unlock();
  free_slab(slab);
}

// ---- blocks of their own -----------------------------------------------------------------------
void* own_block(Buffer buffer) {
  mark_external(buffer, /*slab=*/false);
  std::byte* const data = buffer.mutable_data() + kHeaderOfLarge;
  Header* const header = header_of(data);
  new (&header->buffer) Buffer(std::move(buffer));
  header->tag = kLargeTag;
  return data;
}

int64_t with_header(size_t bytes) {
  // Whole vectors, so that nobody has to clear the padding at the end of untouched pages.
  return static_cast<int64_t>((std::min(bytes, kMostBytes) + kHeaderOfLarge + 63) / 64 * 64);
}

void* allocate_large(size_t bytes, Tag tag) {
  const ScopedTag scope(tag);
  return own_block(Buffer::allocate(with_header(bytes)));
}

}  // namespace

void* external_allocate(size_t bytes, Tag tag) noexcept {
  try {
    return bytes <= kLargestSmall ? allocate_small(bytes, tag) : allocate_large(bytes, tag);
  } catch (const std::exception& error) {
    return refuse(error);
  }
}

void* external_allocate_zeroed(size_t bytes, Tag tag) noexcept {
  if (bytes < kFreshPages || !is_default_resource(current_resource())) {
    void* const pointer = external_allocate(bytes, tag);
    if (pointer) std::memset(pointer, 0, bytes);
    return pointer;
  }
  try {
    const ScopedTag scope(tag);
    return own_block(Buffer::allocate(with_header(bytes), system_resource()));
  } catch (const std::exception& error) {
    return refuse(error);
  }
}

void* external_reallocate(void* pointer, size_t bytes, Tag tag) noexcept {
  if (!pointer) return external_allocate(bytes, tag);
  const size_t usable = external_usable_bytes(pointer);
  // In place, unless it would waste half of the block.
  if (bytes <= usable && (bytes > usable / 2 || usable <= 64)) return pointer;
  void* const moved = external_allocate(bytes, tag);
  if (!moved) return nullptr;
  std::memcpy(moved, pointer, std::min(bytes, usable));
  external_free(pointer);
  return moved;
}

void external_free(void* pointer) noexcept {
  if (!pointer) return;
  Header* const header = header_of(pointer);
  if (header->tag != kLargeTag) return free_small(header);
  const Buffer last = std::move(header->buffer);
}

size_t external_usable_bytes(const void* pointer) noexcept {
  const Header* const header = static_cast<const Header*>(pointer) - 1;
  return header->tag == kLargeTag
             ? static_cast<size_t>(header->buffer.size_bytes()) - kHeaderOfLarge
             : class_bytes(header->slab->index);
}

void keep_refusal(std::string_view text) noexcept {
  try {
    const std::lock_guard lock(refusal_mutex());
    refusal() = text;
  } catch (...) {  // no memory for the text: the null pointer says enough
  }
}

std::string last_refusal() {
  const std::lock_guard lock(refusal_mutex());
  return refusal();
}

void trim_external() noexcept {
  for (int index = 0; index < kClasses; ++index) {
    SizeClass& sizes = size_class(index);
    std::unique_lock lock(sizes.lock);
    Slab* slab = sizes.open;
    while (slab && slab->used > 0) slab = slab->next_open;
    if (!slab) continue;
    close_slab(sizes, slab);
    unlink<&Slab::previous, &Slab::next>(sizes.all, slab);
    lock.unlock();
    free_slab(slab);
  }
}

std::vector<Holder> small_external_holders(uint64_t serial) {
  std::map<Tag, int64_t> sums;
  for (int index = 0; index < kClasses; ++index) {
    SizeClass& sizes = size_class(index);
    const std::lock_guard lock(sizes.lock);
    for (Slab* slab = sizes.all; slab; slab = slab->next)
      for (int i = 0; i < slab->begun; ++i) {
        const Header* const block = block_of(slab, i);
        const auto age = static_cast<int32_t>(block->serial - static_cast<uint32_t>(serial));
        if (block->tag != kFreeTag && (serial == 0 || age > 0))
          sums[block->tag] += static_cast<int64_t>(class_bytes(index));
      }
  }
  std::vector<Holder> holders;
  for (const auto& [tag, bytes] : sums) {
    Holder& holder = holders.emplace_back();
    holder.bytes = bytes;
    holder.tag = tag_info(tag);
    holder.external = true;
  }
  return holders;
}

}  // namespace hr
