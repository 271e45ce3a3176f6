// SPDX-License-Identifier: Apache-2.0
// Opens files, memory and streams as text.
#include "headrace/io/source.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/io/decompress/decompress.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/mapped_file.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/resource/machine_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 22;

// Messages name the operator that runs; a source made on its own says "source".
std::string operator_name() {
  std::string op = tag_info(current_tag()).op;
  return op.empty() ? "source" : op;
}

[[noreturn]] void system_failure(std::string_view op, const std::string& path, int code) {
  std::string_view what = "the system cannot read the file";
  std::string fix = std::strerror(code);
  if (code == ENOENT || code == ENOTDIR) {
    what = "there is no such file";
    fix = "check the path";
  } else if (code == EACCES || code == EPERM) {
    what = "no permission to read the file";
    fix = "change its permissions or the user";
  } else if (code == EISDIR) {
    what = "this is a directory";
    fix = "pass a file in it";
  }
  throw InputError(error_message(op, what, {{"path", path}}, fix), path, 0, 0, code);
}

// What tells one version of a file from another.
struct Stamp {
  int64_t size = 0;
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  uint64_t inode = 0;
  uint64_t device = 0;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

class File {
 public:
  File(std::string_view op, std::string path) : path_(std::move(path)) {
    if (path_.find('\0') != std::string::npos) system_failure(op, path_.c_str(), ENOENT);
    do fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    while (fd_ < 0 && errno == EINTR);
    if (fd_ < 0) system_failure(op, path_, errno);
  }

  File(const File&) = delete;
  File& operator=(const File&) = delete;

  ~File() { ::close(fd_); }

  const std::string& path() const { return path_; }

  Stamp stamp(std::string_view op) const {
    struct stat status;
    if (::fstat(fd_, &status) != 0) system_failure(op, path_, errno);
    if (S_ISDIR(status.st_mode)) system_failure(op, path_, EISDIR);
    return {.size = status.st_size,
            .seconds = status.st_mtim.tv_sec,
            .nanoseconds = status.st_mtim.tv_nsec,
            .inode = status.st_ino,
            .device = status.st_dev};
  }

  // Up to `size` bytes from `offset`, or from the current place when it is -1; 0 at the end.
  int64_t read(std::string_view op, char* into, int64_t size, int64_t offset) const {
    for (;;) {
      const ssize_t got = offset < 0 ? ::read(fd_, into, static_cast<size_t>(size))
                                     : ::pread(fd_, into, static_cast<size_t>(size), offset);
      if (got >= 0) return got;
      if (errno != EINTR) system_failure(op, path_, errno);
    }
  }

 private:
  std::string path_;
  int fd_ = -1;
};

// False for a file of /proc or /sys, which says 0 or a page whatever it holds.
bool holds_its_size(std::string_view op, const File& file, const Stamp& stamp) {
  char bytes[2];
  const int64_t last = std::max<int64_t>(stamp.size - 1, 0);
  return file.read(op, bytes, 2, last) == stamp.size - last || file.stamp(op) != stamp;
}

[[noreturn]] void changed(std::string_view op, const std::string& path) {
  throw InputError(
      error_message(op, "the file changed after it was opened", {{"path", path}}, "read it again"),
      path);
}

[[noreturn]] void replaced(std::string_view op, const std::string& path) {
  throw InputError(error_message(op, "the file changed: its path now names another file",
                                 {{"path", path}}, "scan it again"),
                   path);
}

class FileByteSource final : public ByteSource {
 public:
  FileByteSource(std::string_view op, std::shared_ptr<File> file, const Stamp& stamp)
      : op_(op), file_(std::move(file)), stamp_(stamp) {}

  int64_t load(int64_t end) override { return std::min(end, stamp_.size); }

  void read(int64_t offset, char* into, int64_t size) const override {
    while (size > 0) {
      const int64_t got = file_->read(op_, into, size, offset);
      if (got == 0) changed(op_, file_->path());
      into += got;
      offset += got;
      size -= got;
    }
  }

  int64_t known_size() const override { return stamp_.size; }

  int64_t packed_size() const override { return stamp_.size; }

  void check_unchanged() const override {
    if (!(file_->stamp(op_) == stamp_)) changed(op_, file_->path());
  }

  bool can_open_again() const override { return true; }

 private:
  std::string op_;
  std::shared_ptr<File> file_;
  Stamp stamp_;
};

class MemoryByteSource final : public ByteSource {
 public:
  explicit MemoryByteSource(Buffer bytes) : bytes_(std::move(bytes)) {}

  int64_t load(int64_t end) override { return std::min(end, bytes_.size_bytes()); }

  void read(int64_t offset, char* into, int64_t size) const override {
    if (size > 0) std::memcpy(into, bytes_.data() + offset, static_cast<size_t>(size));
  }

  int64_t known_size() const override { return bytes_.size_bytes(); }

  int64_t packed_size() const override { return bytes_.size_bytes(); }

  void check_unchanged() const override {}

 private:
  Buffer bytes_;
};

class MappedByteSource final : public ByteSource {
 public:
  explicit MappedByteSource(Buffer bytes) : bytes_(std::move(bytes)) {}

  int64_t load(int64_t end) override { return std::min(end, bytes_.size_bytes()); }

  void read(int64_t offset, char* into, int64_t size) const override {
    if (size > 0) std::memcpy(into, bytes_.data() + offset, static_cast<size_t>(size));
  }

  Buffer share(int64_t offset, int64_t size) const override {
    auto whole = std::make_unique<Buffer>(bytes_);
    const auto release = [](void* context) noexcept { delete static_cast<Buffer*>(context); };
    Buffer shared = Buffer::adopt(bytes_.data() + offset, size, Owner{whole.get(), release});
    (void)whole.release();
    return shared;
  }

  int64_t known_size() const override { return bytes_.size_bytes(); }

  int64_t packed_size() const override { return bytes_.size_bytes(); }

  void check_unchanged() const override { check_mapped_files(); }

 private:
  Buffer bytes_;
};

// What goes into a decompressor.
struct PackedBytes {
  std::string op;
  std::string name;
  int64_t size;      // -1 if it is not known
  int64_t read = 0;  // so far

  // Spilled, what a small file unpacks to would fill the disk.
  void check(int64_t unpacked) const {
    if (unpacked / kMostUnpacked <= read) return;
    const int64_t room = std::min(memory_limit(), machine_memory());
    if (unpacked <= room) return;
    throw InputError(
        error_message(
            op, "the compressed data unpack to many times their size, and do not fit in memory",
            {{"path", name},
             {"packed_bytes", read},
             {"unpacked_bytes", unpacked},
             {"ratio", unpacked / std::max<int64_t>(read, 1)},
             {"most", kMostUnpacked},
             {"memory", room}},
            "if you trust the file, decompress it first or raise hr.memory.limit"),
        name);
  }
};

// What a reader yields, kept in blocks, which leave memory when the budget is short.
class StreamByteSource final : public ByteSource {
 public:
  // `packed`: what is decompressed, if anything is; `from`: the file that it comes from.
  StreamByteSource(ReadBytes read, std::shared_ptr<const PackedBytes> packed,
                   std::shared_ptr<const ByteSource> from)
      : read_(std::move(read)), packed_(std::move(packed)), from_(std::move(from)) {}

  int64_t load(int64_t end) override {
    while (size_ < end && !over_) {
      if (size_ % kBlockBytes == 0) blocks_.push_back(Buffer::allocate_spillable(kBlockBytes));
      Buffer& block = blocks_.back();
      const int64_t used = size_ % kBlockBytes;
      char* const room = block.mutable_as<char>() + used;
      const int64_t got = [&] {
        const Pin pin{{&block, used, kBlockBytes, true}};
        return read_(room, kBlockBytes - used);
      }();
      if (got < 0 || got > kBlockBytes - used)
        throw_error<InvalidArgumentError>("source", "the stream returned more bytes than requested",
                                          {{"bytes", got}, {"asked", kBlockBytes - used}});
      if (got == 0) over_ = true;
      size_ += got;
      if (over_ || size_ % kBlockBytes == 0) block.seal();
      if (packed_) packed_->check(size_);
      report_progress(packed_size() > 0 ? packed_read() : 0, packed_size());
    }
    return std::min(end, size_);
  }

  void read(int64_t offset, char* into, int64_t size) const override {
    while (size > 0) {
      const int64_t within = offset % kBlockBytes;
      const int64_t take = std::min(size, kBlockBytes - within);
      const Buffer& block = blocks_[static_cast<size_t>(offset / kBlockBytes)];
      const Pin pin{{&block, within, within + take}};
      std::memcpy(into, block.data() + within, static_cast<size_t>(take));
      into += take;
      offset += take;
      size -= take;
    }
  }

  int64_t known_size() const override { return over_ ? size_ : -1; }

  int64_t packed_size() const override { return packed_ ? packed_->size : -1; }

  int64_t packed_read() const override { return packed_ ? packed_->read : -1; }

  void check_unchanged() const override {
    if (from_) from_->check_unchanged();
  }

 private:
  ReadBytes read_;
  std::shared_ptr<const PackedBytes> packed_;
  std::shared_ptr<const ByteSource> from_;
  std::vector<Buffer> blocks_;
  int64_t size_ = 0;
  bool over_ = false;
};

// The bytes of the text in order.
ReadBytes in_order(std::shared_ptr<ByteSource> text) {
  return [text = std::move(text), offset = int64_t{0}](char* into, int64_t size) mutable {
    const int64_t got = text->load(offset + size) - offset;
    text->read(offset, into, got);
    offset += got;
    return got;
  };
}

// The text of `read`, of `size` bytes as far as that is known.
std::shared_ptr<ByteSource> decompressed(std::string_view op, Compression compression,
                                         ReadBytes read, const std::string& name, int64_t size,
                                         std::shared_ptr<const ByteSource> from) {
  if (compression == Compression::kNone)
    return std::make_shared<StreamByteSource>(std::move(read), nullptr, std::move(from));
  const auto packed = std::make_shared<PackedBytes>(PackedBytes{std::string(op), name, size});
  ReadBytes counted = [packed, read = std::move(read)](char* into, int64_t room) {
    const int64_t got = read(into, room);
    packed->read += got;
    return got;
  };
  return std::make_shared<StreamByteSource>(decompress(op, compression, std::move(counted), name),
                                            packed, std::move(from));
}

std::shared_ptr<ByteSource> unpacked(std::string_view op, Compression compression,
                                     std::shared_ptr<ByteSource> text, const std::string& name) {
  if (compression == Compression::kInfer) {
    char head[kMagicBytes];
    const int64_t size = text->load(kMagicBytes);
    text->read(0, head, size);
    compression = detect_compression(op, {head, static_cast<size_t>(size)}, name);
  }
  if (compression == Compression::kNone) return text;
  return decompressed(op, compression, in_order(text), name, text->packed_size(), text);
}

// Packed bytes of a stream are not kept once they are unpacked: only the first few are inspected.
std::shared_ptr<ByteSource> stream_source(std::string_view op, Compression compression,
                                          ReadBytes read, const std::string& name) {
  std::string head(kMagicBytes, '\0');
  int64_t size = 0;
  while (size < kMagicBytes) {
    const int64_t got = read(head.data() + size, kMagicBytes - size);
    if (got == 0) break;
    size += got;
  }
  head.resize(static_cast<size_t>(size));
  if (compression == Compression::kInfer) compression = detect_compression(op, head, name);
  ReadBytes whole = [head, read = std::move(read), taken = size_t{0}](char* into,
                                                                      int64_t room) mutable {
    if (taken == head.size()) return read(into, room);
    const size_t count = std::min(head.size() - taken, static_cast<size_t>(room));
    std::memcpy(into, head.data() + taken, count);
    taken += count;
    return static_cast<int64_t>(count);
  };
  return decompressed(op, compression, std::move(whole), name, -1, nullptr);
}

}  // namespace

struct Source::State {
  enum class Kind : uint8_t { kFile, kPipe, kMemory, kStream };

  std::string name{};
  Kind kind = Kind::kStream;
  Stamp stamp{};
  Buffer bytes{};
  ReadBytes stream{};
  std::shared_ptr<ByteSource> kept{};  // of a pipe or a stream, which can be read only once

  // The file that was stamped, once: it is whole even if its path is given to another one.
  std::shared_ptr<File> take_file() {
    const std::lock_guard lock(mutex);
    return std::exchange(file, nullptr);
  }

  std::mutex mutex{};
  std::shared_ptr<File> file{};
};

Source Source::path(std::string path) {
  const std::string op = operator_name();
  auto state = std::make_shared<State>();
  state->name = path;
  struct stat status;
  // A pipe is opened only when it is read: opening it here would wait for its writer.
  if (path.find('\0') == std::string::npos && ::stat(path.c_str(), &status) == 0 &&
      !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    state->kind = State::Kind::kPipe;
  } else {
    state->file = std::make_shared<File>(op, std::move(path));
    state->stamp = state->file->stamp(op);
    state->kind =
        holds_its_size(op, *state->file, state->stamp) ? State::Kind::kFile : State::Kind::kPipe;
  }
  return Source(std::move(state));
}

Source Source::bytes(Buffer bytes, std::string name) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->kind = State::Kind::kMemory;
  state->bytes = std::move(bytes);
  return Source(std::move(state));
}

Source Source::stream(ReadBytes read, std::string name) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->stream = std::move(read);
  return Source(std::move(state));
}

std::shared_ptr<ByteSource> mapped_source(std::string_view op, const std::string& path) {
  return std::make_shared<MappedByteSource>(map_file(op, path));
}

const std::string& Source::name() const {
  return state_->name;
}

std::shared_ptr<ByteSource> Source::open(std::string_view op, Compression compression) const {
  State& state = *state_;
  if (state.kind == State::Kind::kMemory)
    return unpacked(op, compression, std::make_shared<MemoryByteSource>(state.bytes), state.name);
  if (state.kind == State::Kind::kFile) {
    std::shared_ptr<File> file = state.take_file();
    if (!file) {
      file = std::make_shared<File>(op, state.name);
      const Stamp stamp = file->stamp(op);
      if (stamp.inode != state.stamp.inode || stamp.device != state.stamp.device)
        replaced(op, state.name);
      if (stamp != state.stamp) changed(op, state.name);
    }
    return unpacked(op, compression, std::make_shared<FileByteSource>(op, file, state.stamp),
                    state.name);
  }
  if (state.kept) return state.kept;
  ReadBytes read = std::exchange(state.stream, nullptr);
  if (state.kind == State::Kind::kPipe) {
    std::shared_ptr<File> file = state.take_file();
    if (!file) file = std::make_shared<File>(op, state.name);
    read = [file = std::move(file), name = std::string(op)](char* into, int64_t size) {
      return file->read(name, into, size, -1);
    };
  } else if (!read) {
    throw InputError(error_message(op, "an earlier read of the stream failed",
                                   {{"source", state.name}}, "open it again"),
                     state.name);
  }
  state.kept = stream_source(op, compression, std::move(read), state.name);
  return state.kept;
}

}  // namespace hr
