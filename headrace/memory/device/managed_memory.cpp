// SPDX-License-Identifier: Apache-2.0
// Managed memory of CUDA.
#include "headrace/memory/device/managed_memory.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/device_allocator.h"
#include "headrace/memory/device/device_evictor.h"

#include <algorithm>
#include <memory>
#include <string>

namespace hr {

namespace {

const ManagedFunctions& functions_or_throw(std::string_view op) {
  const ManagedFunctions* const found = managed_functions();
  if (!found)
    throw_error<DeviceError>(op, "managed memory needs a driver of CUDA 12.2 or later", {},
                             "use cuda_resource");
  return *found;
}

CudaLocation location(Place place) {
  constexpr int kDevice = 1;
  constexpr int kHost = 2;
  return place.is_gpu() ? CudaLocation{kDevice, place.index} : CudaLocation{kHost, 0};
}

class ManagedResource {
 public:
  explicit ManagedResource(int device) : device_(device) {}

  void* allocate(Stream, size_t bytes, size_t alignment) const {
    check_request(bytes, alignment);
    return device_allocate_managed(std::max<size_t>(bytes, 1), device_);
  }

  void deallocate(Stream, void* pointer, size_t, size_t) const noexcept {
    device_free(pointer, nullptr);
  }

  MemoryProperties properties() const { return {.place = cuda_place(device_), .alignment = 256}; }

  std::string describe() const { return "managed memory of cuda:" + std::to_string(device_); }

 private:
  int device_;
};

// The address of a managed buffer.
unsigned long long address_of(std::string_view op, const Buffer& buffer) {
  if (!is_managed_block(buffer.data()))
    throw_error<InvalidArgumentError>(op, "the buffer is not managed memory",
                                      {{"place", buffer.place().name()}},
                                      "allocate it from managed_resource");
  return reinterpret_cast<uintptr_t>(buffer.data());
}

}  // namespace

AnyResource managed_resource(int device) {
  functions_or_throw("managed_resource");
  check_cuda_device("managed_resource", device);
  return AnyResource(std::make_shared<ManagedResource>(device));
}

void* device_allocate_managed(size_t bytes, int device) {
  const ManagedFunctions& managed = functions_or_throw("managed_resource");
  if (static_cast<int64_t>(bytes) > device_memory(device).first) trim_devices();
  const auto [free, total] = device_memory(device);
  if (static_cast<int64_t>(bytes) > free)
    throw OutOfMemoryError(
        error_message("managed_resource", "more managed memory than the card has free") +
            ": requested=" + format_bytes(static_cast<int64_t>(bytes)) +
            ", free=" + format_bytes(free) + ", total=" + format_bytes(total) +
            ", tier=" + cuda_place(device).name() +
            "; use hr.memory.limit(..., device='cuda') instead, which evicts whole results",
        static_cast<int64_t>(bytes), total, total - free);
  const DeviceAllocate allocate = [&](unsigned long long* address) {
    int status = managed.allocate(address, bytes, 1);  // CU_MEM_ATTACH_GLOBAL
    if (status != 0) return status;
    const CudaLocation here = location(cuda_place(device));
    status = managed.advise(*address, bytes, static_cast<int>(ManagedAdvice::kPreferred), here);
    if (status == 0) status = managed.prefetch(*address, bytes, here, 0, nullptr);
    if (status != 0) managed.free(*address);
    return status;
  };
  return device_allocate_by(allocate, bytes, device);
}

void prefetch_managed(const Buffer& buffer, Place to, void* stream) {
  constexpr const char* kOp = "prefetch";
  const DevicePin pin(buffer);
  const unsigned long long address = address_of(kOp, buffer);
  const CudaScope on(kOp, buffer.place().index);
  check_cuda(kOp, functions_or_throw(kOp).prefetch(
                      address, static_cast<size_t>(buffer.size_bytes()), location(to), 0, stream));
}

void advise_managed(const Buffer& buffer, ManagedAdvice advice, Place by) {
  constexpr const char* kOp = "advise";
  const DevicePin pin(buffer);
  const unsigned long long address = address_of(kOp, buffer);
  const CudaScope on(kOp, buffer.place().index);
  check_cuda(kOp, functions_or_throw(kOp).advise(address, static_cast<size_t>(buffer.size_bytes()),
                                                 static_cast<int>(advice), location(by)));
}

}  // namespace hr
