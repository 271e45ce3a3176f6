// SPDX-License-Identifier: Apache-2.0
// Source: bytes from outside the process, as a path, as memory or as a stream, perhaps compressed.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hr {

enum class Compression : uint8_t { kInfer, kNone, kGzip, kZstd, kBzip2, kXz, kLz4 };

/// "infer", "none", "gzip", "zstd", "bz2", "xz" or "lz4"; throws InvalidArgumentError for any other
/// word.
HR_API Compression compression_from_name(std::string_view name);

/// Fills up to `size` bytes and returns how many; 0 means the end. Called only on the thread that
/// calls the reader; what it throws passes through.
using ReadBytes = std::function<int64_t(char* into, int64_t size)>;

/// What compressed bytes may become where it does not fit in memory (the limit, or the machine's).
/// Tables of few values reach 410 times as much by gzip, and what is made to fill a disk 1,030; by
/// zstd, xz and bz2 either may be more, by lz4 neither is.
inline constexpr int64_t kMostUnpacked = 500;

/// Bytes of a source after decompression, read by offset. Only the calling thread loads; any thread
/// reads what is loaded. A plain file is not kept in memory; what comes from a stream or a
/// decompressor is, in buffers that the budget counts.
class HR_API ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Makes bytes [0, end) readable; returns how many of them there are (fewer: the text is over).
  virtual int64_t load(int64_t end) = 0;

  /// Copies bytes [offset, offset + size), which must be loaded. Thread-safe.
  virtual void read(int64_t offset, char* into, int64_t size) const = 0;

  /// Bytes [offset, offset + size) where they are, of a source whose bytes may be shared: no handle
  /// for others.
  virtual Buffer share(int64_t offset, int64_t size) const {
    (void)offset, (void)size;
    return {};
  }

  /// Bytes in all if that is known without reading them, else -1.
  virtual int64_t known_size() const = 0;

  /// Bytes on the outside, before decompression, for an estimate; -1 if unknown.
  virtual int64_t packed_size() const = 0;

  /// How many of these loading took so far, of what is decompressed; -1 of other sources.
  virtual int64_t packed_read() const { return -1; }

  /// Throws InputError if the file is no longer the one that was opened.
  virtual void check_unchanged() const = 0;

  /// Whether it is a plain file: the source may be opened anew instead of being kept open, and
  /// loading does nothing.
  virtual bool can_open_again() const { return false; }
};

/// The bytes of a regular file where the page cache has them; see `map_file`.
HR_API std::shared_ptr<ByteSource> mapped_source(std::string_view op, const std::string& path);

/// A cheap shared handle. A path is opened and stamped (size, time, inode) when the handle is made;
/// the first text reads this very file, whatever becomes of its path, and others may be opened as
/// long as the path has the stamp; memory likewise. A stream is read once and what was read is kept
/// until the handle goes; so is a file that holds more or less than it says, as those of /proc do.
class HR_API Source {
 public:
  /// Throws InputError with path and errno for a missing file, a directory or a forbidden one.
  static Source path(std::string path);
  static Source bytes(Buffer bytes, std::string name = "<bytes>");
  static Source stream(ReadBytes read, std::string name = "<stream>");

  /// The path, or a name in angle brackets, for messages.
  const std::string& name() const;

  /// Opens the text. kInfer goes by the first bytes, never by the name. Throws InputError when the
  /// file changed since the handle was made, UnsupportedError for a codec that this build lacks.
  /// Loading throws InputError once compressed bytes have become more than `kMostUnpacked` times as
  /// many and more than fit in memory.
  std::shared_ptr<ByteSource> open(std::string_view op, Compression compression) const;

  struct State;

 private:
  explicit Source(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace hr
