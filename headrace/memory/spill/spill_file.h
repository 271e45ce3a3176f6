// SPDX-License-Identifier: Apache-2.0
// The disk tier: one unlinked file in which evicted chunks wait. For this room only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>

namespace hr {

/// The unit of the spill file.
inline constexpr int64_t kSlotBytes = int64_t{64} << 10;

/// The system calls of the spill path; tests put failing ones in their place.
struct SpillCalls {
  ssize_t (*write)(int, const void*, size_t, off_t);
  ssize_t (*read)(int, void*, size_t, off_t);
  int (*allocate)(int, int, off_t, off_t);
  void* (*map)(void*, size_t, int, int, int, off_t);
  void* (*move)(void*, size_t, size_t, int, ...);
};
SpillCalls& spill_calls();

/// Slots of kSlotBytes in a file that has no name, so a crash leaves nothing behind. Written and
/// read past the page cache where the file system can. Thread-safe.
class SpillFile {
 public:
  /// Throws InputError when no file can be created in the directory.
  static std::shared_ptr<SpillFile> open(const std::string& directory);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// The first of `count` free neighbours, with room on the disk; -1 when there is none or the file
  /// would grow beyond `most_bytes`.
  int64_t take(int64_t count, int64_t most_bytes);
  void give(int64_t slot, int64_t count) noexcept;

  /// Whole pages from the beginning of a slot on; it may run over several. Throws InputError.
  void write(int64_t slot, const void* from, int64_t bytes) const;
  void read(int64_t slot, void* to, int64_t bytes) const;

  /// Puts the bytes of a slot in the place of what is mapped at `at`; readers see no difference.
  bool map(int64_t slot, void* at, int64_t bytes) const;

  /// It has grown, and no slot is in use.
  bool is_used_up() const;

 private:
  SpillFile(int descriptor, std::string directory);
  template <class Byte, class Call>
  void move_all(int64_t slot, Byte* at, int64_t bytes, Call call, const char* trouble) const;

  int descriptor_;
  std::string directory_;
  mutable std::mutex mutex_;
  std::map<int64_t, int64_t> free_;  // first slot to how many
  int64_t end_ = 0;                  // slots of the file
  int64_t used_ = 0;
};

}  // namespace hr
