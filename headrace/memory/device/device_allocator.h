// SPDX-License-Identifier: Apache-2.0
// Device memory, our own and for other libraries: the driver's stream-ordered pool, with one
// budget, accounts and tags.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/cuda_driver.h"
#include "headrace/memory/log/tag.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace hr {

/// Takes another driver from here on (null: that of the machine again). For tests.
HR_API void set_cuda_driver(const CudaDriver* driver);
/// Free and total bytes of a device; throws DeviceError.
HR_API std::pair<int64_t, int64_t> device_memory(int device);

/// How the driver gives bytes, if not from its pool: a status.
using DeviceAllocate = std::function<int(unsigned long long* address)>;
/// New bytes on a device in the order of `stream`, for the engine's own buffers: throws
/// OutOfMemoryError that names the largest holders, or DeviceError, and carries the tag in force.
HR_API void* device_allocate_own(size_t bytes, int device, void* stream);
/// The same for another library.
void* device_allocate_external(size_t bytes, int device, void* stream, Tag tag);
/// Managed memory (managed_memory.h): refused beyond what the card has free.
void* device_allocate_managed(size_t bytes, int device);
void* device_allocate_by(const DeviceAllocate& allocate, size_t bytes, int device);
HR_API bool is_managed_block(const void* pointer) noexcept;
/// Work on `stream` touches the block, which was allocated on another one: its memory is not
/// used again before that work is done.
HR_API void note_device_use(const void* pointer, void* stream);
/// In the order of `stream`, or if that is null of the stream that it was allocated on; after what
/// was noted.
HR_API void device_free(void* pointer, void* stream) noexcept;
/// What was asked for at `pointer`, or 0.
HR_API size_t device_block_bytes(const void* pointer) noexcept;
/// Used and peak bytes and allocations of other libraries alone.
MemoryStatistics device_external_statistics(int device);
/// All of a device: our own blocks and those of other libraries, its limit, and what the pool
/// keeps.
HR_API MemoryStatistics device_memory_statistics(int device);
/// Devices on which something was allocated. Loads no driver.
HR_API std::vector<int> devices_in_use();
/// Both count against it. Freed blocks are kept up to it, by us and by the driver's pool.
HR_API void set_device_limit(int device, int64_t bytes);
/// Gives what we and the driver's pools keep back to the system; the bytes. Waits for the streams
/// on which blocks of ours were freed.
HR_API int64_t trim_devices() noexcept;
/// Blocks that are freed on this stream, which lives as long as the process, may be kept for the
/// next request on it: one of ours, or the device's null stream, which is known.
HR_API void note_lasting_stream(void* stream);
/// Live blocks of other libraries on devices made after `serial`.
HR_API std::vector<Holder> device_holders(uint64_t serial = 0);

}  // namespace hr
