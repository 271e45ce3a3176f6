// SPDX-License-Identifier: Apache-2.0
// What all exchange protocols share: their error, and who may release foreign memory when.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/error.h"
#include "headrace/memory/buffer/buffer.h"

namespace hr {

/// Data that a protocol cannot carry as they are: nulls, bitmaps, strings, read-only bytes asked
/// for writing (Python: also ValueError and BufferError). The message suggests an alternative.
class HR_API ExchangeError : public InvalidArgumentError {
  using InvalidArgumentError::InvalidArgumentError;
};

/// Notes on a buffer that another library holds it, while it lives: reports tell.
class HR_API ExportNote {
 public:
  explicit ExportNote(const Buffer& buffer) : buffer_(buffer) { buffer_.note_export(1); }
  ~ExportNote() { buffer_.note_export(-1); }
  ExportNote(ExportNote&& other) noexcept = default;  // the other's buffer is then empty
  ExportNote(const ExportNote&) = delete;
  ExportNote& operator=(const ExportNote&) = delete;

 private:
  Buffer buffer_;
};

/// Runs a foreign release. Many take Python's GIL, which a worker must not wait for: the hook may
/// keep the owner and release it later. Without a hook it is released at once.
using ReleaseHook = void (*)(Owner) noexcept;
HR_API void set_release_hook(ReleaseHook hook);
HR_API void release_foreign(Owner owner) noexcept;

}  // namespace hr
