// SPDX-License-Identifier: Apache-2.0
// Containers of C++ over Headrace's memory: a standard allocator and a std::pmr resource.
#pragma once
#include "headrace/memory/resource/resource.h"

#include <cstddef>
#include <memory_resource>
#include <type_traits>
#include <vector>

namespace hr {

/// Bytes from the current resource that count as a buffer does: charged to the budget, tagged, in
/// logs and leak reports. Never moved to another tier. 64 bytes more than asked are charged. Throws
/// OutOfMemoryError, InvalidArgumentError for a wrong alignment.
HR_API void* allocate_bytes(size_t bytes, size_t alignment);

/// Gives back what allocate_bytes gave, to the resource that it came from.
HR_API void deallocate_bytes(void* pointer) noexcept;

/// A standard allocator: `std::vector<float, hr::allocator<float>>`. One word as in `std`, lower
/// case as there. All are equal: each block knows where it came from. Meant for blocks of some
/// kilobytes and more; for nodes put a std::pmr pool over PolymorphicResource.
template <class T>
class allocator {  // NOLINT(readability-identifier-naming)
 public:
  using value_type = T;
  using is_always_equal = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;

  allocator() = default;
  template <class U>
  allocator(const allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    const size_t most = kMostRequestBytes / sizeof(T);
    return static_cast<T*>(
        allocate_bytes(count <= most ? count * sizeof(T) : kMostRequestBytes + 1, alignof(T)));
  }

  void deallocate(T* pointer, size_t) noexcept { deallocate_bytes(pointer); }

  template <class U>
  friend bool operator==(const allocator&, const allocator<U>&) {
    return true;
  }
};

/// A vector whose elements count as buffers do.
template <class T>
using BudgetedVector = std::vector<T, allocator<T>>;

/// The same for `std::pmr` containers. All are equal.
class HR_API PolymorphicResource final : public std::pmr::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    return allocate_bytes(bytes, alignment);
  }

  void do_deallocate(void* pointer, size_t, size_t) override { deallocate_bytes(pointer); }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return dynamic_cast<const PolymorphicResource*>(&other) != nullptr;
  }
};

/// One that lives to the very end: `std::pmr::vector<int> v(hr::polymorphic_resource());`
HR_API std::pmr::memory_resource* polymorphic_resource();

}  // namespace hr
