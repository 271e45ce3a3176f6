// SPDX-License-Identifier: Apache-2.0
// CUDA devices: their memory and their streams.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/device/cuda_driver.h"
#include "headrace/memory/resource/resource.h"

namespace hr {

/// Memory of a device in the order of the thread's current stream, from the driver's default pool,
/// which other libraries share: freed blocks stay in it up to the limit. At least 256-byte aligned.
/// Throws OutOfMemoryError that names the device's largest holders, beyond the limit
/// (`set_memory_limit(bytes, cuda_place())`) or what the card has; DeviceError without a device.
HR_API AnyResource cuda_resource(int device = 0);

/// The stream of a device for work without another one, made at first use. `id` is the
/// driver's handle. Throws DeviceError without such a device.
HR_API Stream own_stream(int device);

/// The queue of `place` that operators of this thread go to: the innermost ScopedStream, else the
/// device's own one. Throws DeviceError as that does, and for other places without a ScopedStream.
HR_API Stream current_stream(Place place);

/// Makes a stream current for its place on this thread until the end of the scope.
class HR_API ScopedStream {
 public:
  ScopedStream(Place place, Stream stream);
  ~ScopedStream();
  ScopedStream(const ScopedStream&) = delete;
  ScopedStream& operator=(const ScopedStream&) = delete;

 private:
  Place place_;
  Stream stream_;
  ScopedStream* outer_;

  friend HR_API Stream current_stream(Place);
};

/// The driver's handle of a stream of a CUDA device.
inline void* native_stream(Stream stream) {
  return reinterpret_cast<void*>(stream.id);
}

}  // namespace hr
