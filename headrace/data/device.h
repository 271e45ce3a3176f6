// SPDX-License-Identifier: Apache-2.0
// Values on a device: there, back, and operators that run where they are.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/exec/device_profile.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/device/device_tier.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// The values at `place`: themselves when they are there, else a copy, shown in the ledger as asked
/// under "to". `stream`: of the device that they go to, or come from to the host. To a device the
/// call returns when the host's bytes are read (of a simulated device, and from another device: at
/// once), and the values are ready on `stream`; to the host it waits. Of a column only its rows go;
/// a dictionary stays on the host. Throws DeviceError when the values are not ready for `stream`,
/// OutOfMemoryError.
HR_API Tensor to_place(const Tensor& tensor, Place place, Stream stream);
HR_API Column to_place(const Column& column, Place place, Stream stream);

/// Work of one operator: gets its inputs where it can read them, and returns a contiguous tensor of
/// the promised dtype and shape.
using DeviceWork = std::function<Tensor(std::span<const Tensor> inputs)>;

/// Runs an operator on the device of `stream`, in its order; the call returns at once. On the
/// simulated device the work is the host's, on aliases of the inputs; on a CUDA device it gets the
/// inputs as they are and queues kernels on `stream`, which is current. Throws DeviceError, naming
/// `op`, for an input that is not on the device and for one that other work may still write:
/// wait_event or synchronize are missing. Errors of the work come with the next synchronize.
HR_API Tensor run_on_device(std::string_view op, Stream stream, std::vector<Tensor> inputs,
                            Dtype dtype, Shape shape, DeviceWork work);

/// Room for a result of `size_bytes` where `place` says; on the host one that is written under pins
/// (`Buffer::allocate_spillable`).
HR_API Buffer allocate_result(int64_t size_bytes, Place place);

/// Before another library reads the bytes on `stream` (a CUstream of a CUDA device): that stream
/// waits for what writes them, and their memory is not reused before what it holds now is
/// done.
HR_API void hand_over(std::string_view op, const Buffer& buffer, void* stream);

/// A small output of `op` that the host computed, on a CUDA device if `place` is one.
HR_API Tensor output_at(std::string_view op, const Tensor& made, Place place);

/// Ones among `count` bits of a bitmap from bit `offset` on. Elsewhere than on the host its bytes
/// are fetched: waits for what writes them.
HR_API int64_t count_bits_of(const Buffer& bitmap, int64_t offset, int64_t count);

/// Throws UnsupportedError, naming `op`, unless `place` is the host: an operator without a kernel
/// for devices must not read there.
HR_API void check_on_host(std::string_view op, Place place);

/// One operator's call of kernels on a CUDA device, on the thread's current stream: orders it after
/// what writes its inputs, keeps its errors under its name. For `_cuda.cu` files.
class HR_API DeviceCall {
 public:
  DeviceCall(std::string_view op, Place place);
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  /// The kernels read these bytes, whose address holds until the call ends: what left the device
  /// is fetched, and the stream waits for other streams that write it.
  void reads(const Buffer& buffer);
  /// The kernels write these bytes, which are this operator's own.
  std::byte* writes(const Buffer& buffer);

  template <class T>
  T* writes_as(const Buffer& buffer) {
    return reinterpret_cast<T*>(writes(buffer));
  }

  /// Bytes of the device that are freed when the caller releases them, in the order of the stream.
  Buffer scratch(int64_t size_bytes) const;
  /// A small table of the host, on the device.
  Buffer table(const void* values, int64_t size_bytes) const;

  void fill(std::byte* where, unsigned char byte, int64_t size_bytes) const;

  /// Small results for the host: waits for the kernels. Throws their error.
  void fetch(void* to, const void* from, int64_t size_bytes) const;

  /// The CUstream.
  void* stream() const { return native_stream(stream_); }

  /// After the kernels were queued: `status` is CUDA's last error. Throws DeviceError.
  void finish(int status);

 private:
  std::string op_;
  Place place_;
  Stream stream_;
  CudaScope scope_;
  std::vector<Buffer> written_;
  SpanClock clock_;
  std::vector<DevicePin> pins_;  // of what the kernels read, until they are queued
};

}  // namespace hr
