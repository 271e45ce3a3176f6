// SPDX-License-Identifier: Apache-2.0
// Ranges for profilers: what devices do for which operator, and NVTX for NVIDIA's own tools.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/resource/resource.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// Nanoseconds since the process began: the time of all profiles.
HR_API int64_t profile_now_ns();

/// Work of one operator on a stream of a device, or a copy.
struct DeviceSpan {
  std::string op;
  Place place;
  uint64_t stream = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t bytes = 0;  ///< that were copied between the host and the device
};

/// Collects the spans of all streams while it lives; on a CUDA device by two events a span.
class HR_API DeviceProfile {
 public:
  DeviceProfile();
  ~DeviceProfile();
  DeviceProfile(const DeviceProfile&) = delete;
  DeviceProfile& operator=(const DeviceProfile&) = delete;

  /// Those that began since, in the order in which they were queued; waits for their ends.
  std::vector<DeviceSpan> spans() const;

 private:
  size_t first_;
};

/// Around what an operator queues on `stream`. Costs nothing while nothing is collected.
class HR_API SpanClock {
 public:
  explicit SpanClock(Stream stream, Place place);
  ~SpanClock();
  SpanClock(const SpanClock&) = delete;
  SpanClock& operator=(const SpanClock&) = delete;

  /// `bytes`: it was a copy. Other work has the name of the operator in force, else `op`.
  void stop(std::string_view op, int64_t bytes = 0);

 private:
  Stream stream_;
  Place place_;
  int64_t begin_ns_ = -1;
  void* begin_ = nullptr;  // CUDA's event
};

/// A range of NVTX while it lives, for Nsight: when HEADRACE_NVTX names the library (1: by its
/// usual names).
class HR_API NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

/// Why no ranges go to NVTX; empty when they do.
HR_API std::string why_no_nvtx();

}  // namespace hr
