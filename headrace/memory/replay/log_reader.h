// SPDX-License-Identifier: Apache-2.0
// Logs of allocations as files: ours and RMM's.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/log/event_log.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hr {

/// One line of a log.
struct LogLine {
  uint64_t thread = 0;
  int64_t time_ns =
      0;  ///< since the midnight before the first line, or since 1970; 0: no such column
  uint64_t pointer = 0;
  int64_t bytes = 0;
  uint64_t stream = 0;
  uint32_t tag = 0;  ///< index into `tags`
  uint16_t tier = 0;
  MemoryAction action = MemoryAction::kAllocate;
  uint8_t unused = 0;
};

struct MemoryLog {
  Buffer buffer;  ///< of the lines
  int64_t count = 0;
  std::vector<std::string> tags{""};  ///< operator and line, as written
  std::vector<std::string> tiers{""};

  std::span<const LogLine> lines() const {
    return {buffer.as<LogLine>(), static_cast<size_t>(count)};
  }
};

/// Reads a log by the names of its columns: Thread, Action, Pointer and Size, and where they are
/// there Time, Stream, Tag and Tier. The file is not trusted: the first line that is none throws
/// InputError with path, line and column (in bytes, from 1). Takes memory for the text and 48 bytes
/// a line.
HR_API MemoryLog read_memory_log(const std::string& path);

}  // namespace hr
