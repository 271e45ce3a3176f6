// SPDX-License-Identifier: Apache-2.0
// A table to an Arrow IPC file or stream, put in place whole or not at all.
#pragma once
#include "headrace/data/table.h"

#include <cstdint>
#include <string>

namespace hr {

enum class IpcCompression : uint8_t { kNone, kLz4, kZstd };

struct IpcWriteOptions {
  /// Messages one after the other, for pipes, instead of a file with a footer.
  bool stream = false;
  IpcCompression compression = IpcCompression::kNone;
  /// Waits until the bytes are on the disk before the new file takes the old one's place.
  bool durable = true;
};

/// Writes `table` to `path` as `write_csv` does: batches of 2^16 rows, strings with offsets,
/// categories as dictionaries, lists with offsets of 64 bits. All workers make and compress
/// batches, while others are written. The same bytes for any number of threads. Throws InputError
/// with path and errno when the system refuses, UnsupportedError for complex numbers and for 2 GiB
/// of strings in one batch.
HR_API void write_ipc(const Table& table, const std::string& path,
                      const IpcWriteOptions& options = {});

}  // namespace hr
