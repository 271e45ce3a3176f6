// SPDX-License-Identifier: Apache-2.0
// Fixed size, bins, callbacks.
#include "headrace/memory/adaptors/resource_types.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>

namespace hr {

namespace {

constexpr size_t kAlignment = 64;

[[noreturn]] void refuse(const char* what, size_t bytes, size_t alignment) {
  throw OutOfMemoryError(
      error_message("callback_resource", what, {{"bytes", bytes}, {"alignment", alignment}}),
      static_cast<int64_t>(bytes));
}

}  // namespace

FixedSizeResource::FixedSizeResource(AnyResource upstream, size_t block_bytes,
                                     size_t blocks_in_slab)
    : upstream_(std::move(upstream)), block_bytes_(block_bytes), blocks_in_slab_(blocks_in_slab) {
  if (block_bytes < 1 || blocks_in_slab < 1 || block_bytes > kMostRequestBytes / blocks_in_slab)
    throw_error<InvalidArgumentError>(
        "fixed_size_resource", "the sizes of blocks and slabs must be positive",
        {{"block_bytes", block_bytes}, {"blocks_in_slab", blocks_in_slab}});
  block_bytes_ = (block_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

FixedSizeResource::~FixedSizeResource() {
  for (void* slab : slabs_) upstream_.deallocate(Stream{}, slab, slab_bytes(), kAlignment);
}

bool FixedSizeResource::is_block(size_t bytes, size_t alignment) const {
  return bytes <= block_bytes_ && alignment <= kAlignment;
}

void* FixedSizeResource::allocate(Stream stream, size_t bytes, size_t alignment) {
  check_request(bytes, alignment);
  if (!is_block(bytes, alignment)) return upstream_.allocate(stream, bytes, alignment);
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      void* const block = free_.back();
      free_.pop_back();
      return block;
    }
  }
  void* const slab = upstream_.allocate(stream, slab_bytes(), kAlignment);
  try {
    const std::lock_guard lock(mutex_);
    slabs_.reserve(slabs_.size() + 1);
    // Room for every block, so that no deallocate needs memory.
    free_.reserve((slabs_.size() + 1) * blocks_in_slab_);
    slabs_.push_back(slab);
    for (size_t i = blocks_in_slab_ - 1; i > 0; --i)
      free_.push_back(static_cast<char*>(slab) + i * block_bytes_);
  } catch (...) {
    upstream_.deallocate(stream, slab, slab_bytes(), kAlignment);
    throw;
  }
  return slab;
}

void FixedSizeResource::deallocate(Stream stream, void* pointer, size_t bytes,
                                   size_t alignment) noexcept {
  if (!is_block(bytes, alignment)) return upstream_.deallocate(stream, pointer, bytes, alignment);
  const std::lock_guard lock(mutex_);
  free_.push_back(pointer);
}

int64_t FixedSizeResource::cached_bytes() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(free_.size() * block_bytes_);
}

int64_t FixedSizeResource::trim() noexcept {
  std::vector<void*> whole;
  {
    const std::lock_guard lock(mutex_);
    std::sort(free_.begin(), free_.end(), std::less<>());
    const auto is_whole = [&](void* slab) {
      const auto first = std::lower_bound(free_.begin(), free_.end(), slab, std::less<>());
      const auto end = std::lower_bound(first, free_.end(),
                                        static_cast<void*>(static_cast<char*>(slab) + slab_bytes()),
                                        std::less<>());
      if (static_cast<size_t>(end - first) != blocks_in_slab_) return false;
      free_.erase(first, end);
      return true;
    };
    const auto kept =
        std::partition(slabs_.begin(), slabs_.end(), [&](void* slab) { return !is_whole(slab); });
    try {
      whole.assign(kept, slabs_.end());
      slabs_.erase(kept, slabs_.end());
    } catch (...) {  // no memory to remember them: they stay slabs, with all blocks free
      for (auto slab = kept; slab != slabs_.end(); ++slab)
        for (size_t i = 0; i < blocks_in_slab_; ++i)
          free_.push_back(static_cast<char*>(*slab) + i * block_bytes_);
    }
  }
  for (void* slab : whole) upstream_.deallocate(Stream{}, slab, slab_bytes(), kAlignment);
  return static_cast<int64_t>(whole.size() * slab_bytes());
}

std::string FixedSizeResource::describe() const {
  return "fixed size(" + format_bytes(static_cast<int64_t>(block_bytes_)) + ") over " +
         upstream_.describe();
}

BinningResource::BinningResource(AnyResource upstream, std::vector<Bin> bins)
    : upstream_(std::move(upstream)), bins_(std::move(bins)) {
  const Place place = upstream_.properties().place;
  for (const Bin& bin : bins_)
    if (bin.resource.properties().place != place)
      throw_error<InvalidArgumentError>(
          "binning_resource", "a bin allocates memory in another place",
          {{"upstream", place.name()}, {"bin", bin.resource.properties().place.name()}});
  std::stable_sort(bins_.begin(), bins_.end(),
                   [](const Bin& a, const Bin& b) { return a.most_bytes < b.most_bytes; });
}

std::vector<BinningResource::Bin> BinningResource::fixed_size_bins(const AnyResource& upstream,
                                                                   size_t smallest,
                                                                   size_t largest) {
  if (smallest < 1 || largest < smallest || largest > kMostRequestBytes / 128)
    throw_error<InvalidArgumentError>("binning_resource",
                                      "the sizes of the bins must be positive and increasing",
                                      {{"smallest", smallest}, {"largest", largest}});
  std::vector<Bin> bins;
  for (size_t bytes = smallest; bytes <= largest; bytes *= 2)
    bins.push_back({bytes, AnyResource(std::make_shared<FixedSizeResource>(upstream, bytes))});
  return bins;
}

const AnyResource& BinningResource::of(size_t bytes) const {
  for (const Bin& bin : bins_)
    if (bytes <= bin.most_bytes) return bin.resource;
  return upstream_;
}

std::string BinningResource::describe() const {
  return "binning(" + std::to_string(bins_.size()) + " bins) over " + upstream_.describe();
}

CallbackResource::CallbackResource(Allocate allocate, Deallocate deallocate,
                                   MemoryProperties properties)
    : allocate_(std::move(allocate)), deallocate_(std::move(deallocate)), properties_(properties) {
  if (!allocate_ || !deallocate_)
    throw_error<InvalidArgumentError>("callback_resource", "a function is missing", {},
                                      "pass both allocate and deallocate");
}

void* CallbackResource::allocate(Stream, size_t bytes, size_t alignment) const {
  check_request(bytes, alignment);
  void* const pointer = allocate_(bytes, alignment);
  if (!pointer) refuse("the callback returned no memory", bytes, alignment);
  if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0) {
    deallocate(Stream{}, pointer, bytes, alignment);
    refuse("the callback returned a misaligned block", bytes, alignment);
  }
  return pointer;
}

void CallbackResource::deallocate(Stream, void* pointer, size_t bytes,
                                  size_t alignment) const noexcept {
  try {
    deallocate_(pointer, bytes, alignment);
  } catch (...) {
  }
}

}  // namespace hr
