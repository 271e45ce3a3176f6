// SPDX-License-Identifier: Apache-2.0
// Streams of a device: queues that run their work in order, later than the call that queued it.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/resource/resource.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace hr {

/// A point in a stream: all that was queued before it.
struct StreamEvent {
  uint64_t stream = 0;
  uint64_t number = 0;  ///< of the last work before it; 0: none

  friend bool operator==(const StreamEvent&, const StreamEvent&) = default;
};

/// A new stream of a device; of a simulated one with a thread of its own. Streams live to the end.
/// Throws DeviceError when there is no device or no thread.
HR_API Stream new_stream(Place place = {PlaceKind::kSimulated, 0});

/// The device of a stream; throws DeviceError when there is no such stream.
HR_API Place stream_place(Stream stream);

/// Runs `work` in the stream's order. On the simulated device: on its thread, after all that was
/// queued before, no earlier than the device's latency after this call. On a CUDA device: at once
/// on the calling thread, where the stream is current: it queues kernels. An error in it, or in
/// what was queued before, is thrown by the next `synchronize` of the stream, and work behind an
/// error is dropped. Returns the point behind it.
HR_API StreamEvent enqueue(Stream stream, std::function<void()> work);

/// Says that an operator has just queued kernels on a stream of a CUDA device: if they fail, the
/// next `synchronize` names it. Returns the point behind them.
HR_API StreamEvent mark_work(Stream stream, std::string_view op);

/// The point behind what is queued now.
HR_API StreamEvent record_event(Stream stream);

/// Lets later work of the stream begin after `event`, which may be of another device of its kind.
HR_API void wait_event(Stream stream, const StreamEvent& event);

/// Waits for what was queued until now; throws the first error of it, once. An error of a kernel is
/// a DeviceError under the name of its operator; CUDA then refuses all further work of the process.
HR_API void synchronize(Stream stream);

/// True when work that is queued on `stream` now runs after `event` by what was waited for and
/// synchronised, not by luck: in one stream, by wait_event, or by synchronize on any thread.
HR_API bool is_ordered(Stream stream, const StreamEvent& event);

}  // namespace hr
