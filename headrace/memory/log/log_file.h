// SPDX-License-Identifier: Apache-2.0
// The event log as a file: every event from its opening to its closing, in the format of RMM's log.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <memory>
#include <string>

namespace hr {

struct LogFileState;

/// A file that follows the event log. Whoever logs an event when half of the ring is unread writes
/// the unread ones, and others wait before they overwrite any: no event is lost, and no thread is
/// made. Columns: Thread, Time, Action, Pointer, Size, Stream, and behind them Tag (operator and
/// line) and Tier. Each event then costs about 0.1 us more. A forked child writes nothing to it.
class HR_API MemoryLogFile {
 public:
  /// Replaces the file and writes its header and the events from `first` on that the ring holds.
  /// Throws InputError with path and errno when it cannot be written.
  MemoryLogFile(const std::string& path, uint64_t first);
  /// Closes, and keeps quiet about failures.
  ~MemoryLogFile();
  MemoryLogFile(const MemoryLogFile&) = delete;
  MemoryLogFile& operator=(const MemoryLogFile&) = delete;

  /// Writes what is unread and closes; a second call does nothing. Throws InputError when a write
  /// failed, now or before: the file then ends with the last whole line that found room.
  void close();

  int64_t events() const;  ///< written
  int64_t lost() const;    ///< overwritten before the file was opened or could be written

 private:
  std::unique_ptr<LogFileState> state_;
};

}  // namespace hr
