// SPDX-License-Identifier: Apache-2.0
// Pinned blocks of the host, kept for the next taker.
#include "headrace/memory/device/pinned_resource.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/device/cuda_driver.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr size_t kLeastKept = size_t{64} << 10;

// Free blocks by size, a power of two. Pinning takes the driver about a millisecond for 4 MB.
class PinnedResource {
 public:
  PinnedResource() = default;
  PinnedResource(const PinnedResource&) = delete;
  PinnedResource& operator=(const PinnedResource&) = delete;

  void* allocate(Stream, size_t bytes, size_t alignment) {
    check_request(bytes, alignment);
    if (alignment > 4096)
      throw_error<InvalidArgumentError>("pinned_resource", "the alignment is beyond a page",
                                        {{"alignment", alignment}});
    const size_t size = block_bytes(bytes);
    {
      const std::lock_guard lock(mutex_);
      std::vector<void*>& blocks = free_[size];
      if (!blocks.empty()) {
        void* const block = blocks.back();
        blocks.pop_back();
        cached_ -= size;
        return block;
      }
    }
    const CudaFunctions& cuda = cuda_functions_or_throw("pinned_resource");
    const CudaScope on("pinned_resource", 0);
    void* block = nullptr;
    const int status = cuda.allocate_pinned(&block, size, 1);  // portable: for all devices
    if (status == 2)
      throw OutOfMemoryError(
          error_message("allocate", "the system cannot pin more memory", {{"bytes", size}}),
          static_cast<int64_t>(size));
    check_cuda("pinned_resource", status);
    return block;
  }

  void deallocate(Stream, void* pointer, size_t bytes, size_t) noexcept {
    const size_t size = block_bytes(bytes);
    try {
      const std::lock_guard lock(mutex_);
      free_[size].push_back(pointer);
      cached_ += size;
    } catch (const std::bad_alloc&) {
      release(pointer);
    }
  }

  int64_t cached_bytes() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(cached_);
  }

  int64_t trim() noexcept {
    std::map<size_t, std::vector<void*>> gone;
    size_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(free_);
      bytes = std::exchange(cached_, 0);
    }
    for (const auto& [size, blocks] : gone)
      for (void* const block : blocks) release(block);
    return static_cast<int64_t>(bytes);
  }

  MemoryProperties properties() const { return {.place = host, .alignment = 4096}; }

  std::string describe() const { return "pinned"; }

 private:
  static size_t block_bytes(size_t bytes) { return std::bit_ceil(std::max(bytes, kLeastKept)); }

  static void release(void* block) noexcept {
    try {
      const CudaScope on("pinned_resource", 0);
      cuda_functions()->free_pinned(block);
    } catch (const Error&) {  // the driver is gone, and the pins with it
    }
  }

  mutable ForkMutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
  size_t cached_ = 0;
};

}  // namespace

AnyResource pinned_resource() {
  return process_global([] { return AnyResource(std::make_shared<PinnedResource>()); });
}

}  // namespace hr
