// SPDX-License-Identifier: Apache-2.0
// Which work writes a block of a device: what reads it is ordered behind. For this room only.
#pragma once
#include "headrace/exec/device_stream.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hr {

struct DeviceWrite {
  StreamEvent event;
  std::string op;
};

/// Blocks that were freed leave a mark behind; it means nothing to the next one at that address,
/// which is written before it is read.
void note_write(const std::byte* block, const StreamEvent& event, std::string_view op);
std::optional<DeviceWrite> last_write(const std::byte* block);

/// Lets later work of the stream begin after the last write.
void wait_for_write(const std::byte* block, Stream stream);

/// Takes the time that a copy of the simulated device takes.
void take_time(int64_t bytes, double bytes_a_second);

}  // namespace hr
