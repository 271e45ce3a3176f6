// SPDX-License-Identifier: Apache-2.0
// Sink: bytes to a file that appears whole or not at all.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace hr {

/// A regular file is written under a temporary name in its folder, with the mode of the file that
/// it replaces, and takes the name at `commit`; without that it is removed. Links are followed.
/// Anything else (a pipe, a terminal, /dev/stdout, /dev/fd/3) is written directly. Every function
/// throws InputError with path and errno when the system refuses, and Interrupted on Ctrl-C where
/// it waits; after that the file is as it was.
///
/// Who writes holds a lock (flock) on the temporary file, so what a killed process left is known:
/// the next Sink of the same file removes it.
class HR_API Sink {
 public:
  /// `durable`: commit waits until the bytes are on the disk.
  Sink(std::string_view op, std::string path, bool durable);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Several threads may write at places of their own.
  bool takes_places() const { return !temporary_.empty(); }

  void write_at(int64_t offset, std::string_view bytes) const;

  void append(std::string_view bytes);

  /// The place of `bytes` at the end, to be written by `write_at`.
  int64_t leave_room(int64_t bytes) { return std::exchange(size_, size_ + bytes); }

  /// The file takes its name, unless the user interrupts before.
  void commit();

  /// Removes what is not committed. A forked child leaves it to its parent.
  void discard() noexcept;

 private:
  [[noreturn]] void fail(int code) const;
  bool open_directly(const std::string& target);
  void make_temporary(const std::string& target);
  void write(int64_t offset, std::string_view bytes) const;
  void flush() const;
  void close() noexcept;

  std::string op_;
  std::string path_;
  std::string target_;       // behind its links
  std::string temporary_{};  // empty: written directly
  bool durable_;
  pid_t process_;
  int fd_ = -1;
  int64_t size_ = 0;
};

}  // namespace hr
