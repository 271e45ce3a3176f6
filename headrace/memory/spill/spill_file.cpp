// SPDX-License-Identifier: Apache-2.0
// The disk tier.
#include "headrace/memory/spill/spill_file.h"

#include "headrace/base/error.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace hr {

namespace {

// To the thread sanitizer a mapping is a write, and a race with those who read meanwhile. This one
// puts the bytes that are there in the place of themselves.
#ifdef __SANITIZE_THREAD__
struct Unseen {
  Unseen() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
  ~Unseen() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};
#else
struct Unseen {};
#endif

constexpr ssize_t kPage = 4096;

[[noreturn]] void fail(std::string_view what, const std::string& directory, int code) {
  throw InputError(
      error_message("spill", what, {{"directory", directory}, {"reason", std::strerror(code)}},
                    "choose another one with hr.memory.spill(directory=...)"),
      directory, 0, 0, code);
}

// A file without a name; past the page cache if `flags` has O_DIRECT.
int open_unnamed(const std::string& directory, int flags) {
  int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return descriptor;
  std::string path = directory + "/headrace-XXXXXX";
  descriptor = mkostemp(path.data(), O_CLOEXEC | flags);
  if (descriptor >= 0) unlink(path.c_str());
  return descriptor;
}

}  // namespace

SpillCalls& spill_calls() {
  static SpillCalls calls{pwrite, pread, fallocate, mmap, mremap};
  return calls;
}

std::shared_ptr<SpillFile> SpillFile::open(const std::string& directory) {
  int descriptor = open_unnamed(directory, O_DIRECT);
  if (descriptor < 0 && errno == EINVAL) descriptor = open_unnamed(directory, 0);  // tmpfs
  if (descriptor < 0) fail("cannot create a file in the directory", directory, errno);
  return std::shared_ptr<SpillFile>(new SpillFile(descriptor, directory));
}

SpillFile::SpillFile(int descriptor, std::string directory)
    : descriptor_(descriptor), directory_(std::move(directory)) {
  lock_over_fork(mutex_, true);
}

SpillFile::~SpillFile() {
  forget_over_fork(mutex_);
  close(descriptor_);
}

int64_t SpillFile::take(int64_t count, int64_t most_bytes) {
  const std::lock_guard lock(mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < count) continue;
    const auto [slot, length] = *it;
    free_.erase(it);
    if (length > count) free_.emplace(slot + count, length - count);
    used_ += count;
    return slot;
  }
  if ((end_ + count) * kSlotBytes > most_bytes) return -1;
  // Room now, so that no write fails half way. Some file systems cannot promise it.
  if (spill_calls().allocate(descriptor_, 0, end_ * kSlotBytes, count * kSlotBytes) != 0 &&
      errno != EOPNOTSUPP && errno != ENOSYS)
    return -1;
  const int64_t slot = end_;
  end_ += count;
  used_ += count;
  return slot;
}

void SpillFile::give(int64_t slot, int64_t count) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= count;
  auto next = free_.lower_bound(slot);
  int64_t length = count;
  if (next != free_.end() && next->first == slot + count) {
    length += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == slot) {
      before->second += length;
      return;
    }
  }
  try {
    free_.emplace_hint(next, slot, length);
  } catch (...) {  // the slots are lost until the file is empty
  }
}

template <class Byte, class Call>
void SpillFile::move_all(int64_t slot, Byte* at, int64_t bytes, Call call,
                         const char* trouble) const {
  off_t offset = slot * kSlotBytes;
  while (bytes > 0) {
    ssize_t done = call(descriptor_, at, static_cast<size_t>(bytes), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done > 0) done = done / kPage * kPage;  // the next one begins at a whole page again
    if (done <= 0) fail(trouble, directory_, done < 0 ? errno : EIO);
    at += done;
    offset += done;
    bytes -= done;
  }
}

void SpillFile::write(int64_t slot, const void* from, int64_t bytes) const {
  move_all(slot, static_cast<const std::byte*>(from), bytes, spill_calls().write,
           "memory cannot be written to the disk");
}

void SpillFile::read(int64_t slot, void* to, int64_t bytes) const {
  move_all(slot, static_cast<std::byte*>(to), bytes, spill_calls().read,
           "memory cannot be read back");
}

bool SpillFile::map(int64_t slot, void* at, int64_t bytes) const {
  [[maybe_unused]] const Unseen unseen;
  return spill_calls().map(at, static_cast<size_t>(bytes), PROT_READ,
                           MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, descriptor_,
                           slot * kSlotBytes) != MAP_FAILED;
}

bool SpillFile::is_used_up() const {
  const std::lock_guard lock(mutex_);
  return used_ == 0 && end_ > 0;
}

}  // namespace hr
