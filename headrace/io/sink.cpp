// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#include "headrace/io/sink.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hr {

namespace {

constexpr int kMostLinks = 40;
constexpr int kGap = 8;  // names without a file after which no more are expected
constexpr size_t kLongestStem = 200;
constexpr int64_t kFlushBytes = int64_t{16} << 20;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

std::string real_path(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) ? real : "";
}

// Which descriptor of this process the path stands for; -1: none.
int own_descriptor(const std::string& path) {
  const size_t begin = path.rfind('/') + 1;  // 0 without a slash
  int number = -1;
  const char* const end = path.data() + path.size();
  const auto [stop, code] = std::from_chars(path.data() + begin, end, number);
  if (code != std::errc() || stop != end || number < 0) return -1;
  const std::string own = real_path("/proc/self/fd");
  return !own.empty() && real_path(folder_of(path)) == own ? number : -1;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether no other process holds it: true as well where the file system has no locks.
bool lock_file(int fd) {
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool is_named(int fd, const std::string& path) {
  struct stat opened, named;
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         is_same_file(opened, named);
}

// The same names for every writer of a file, so that the next one finds what others left.
std::string temporary_name(const std::string& target, int number) {
  const std::string folder = folder_of(target);
  std::string stem = target.substr(target.rfind('/') + 1);
  if (stem.size() > kLongestStem) {
    size_t end = kLongestStem;
    while (end > 0 && (static_cast<unsigned char>(stem[end]) & 0xC0) == 0x80) --end;
    stem.resize(end);
  }
  return folder + stem + ".headrace-part-" + std::to_string(number);
}

// Removes the file if its writer died without removing it: its lock is free then, whichever
// process, container or host it was. False if there is no such file.
bool remove_if_left(const std::string& temporary) {
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  if (fd < 0) return errno != ENOENT && ::lstat(temporary.c_str(), &status) == 0;
  const bool left = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                    ::flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, temporary);
  if (left) ::unlink(temporary.c_str());
  ::close(fd);
  return true;
}

void remove_left(const std::string& target) {
  for (int number = 0, missing = 0; missing < kGap; ++number)
    missing = remove_if_left(temporary_name(target, number)) ? 0 : missing + 1;
}

}  // namespace

void Sink::fail(int code) const {
  throw InputError(error_message(op_, "the system cannot write the file", {{"path", path_}},
                                 std::strerror(code)),
                   path_, 0, 0, code);
}

Sink::Sink(std::string_view op, std::string path, bool durable)
    : op_(op), path_(std::move(path)), target_(path_), durable_(durable), process_(::getpid()) {
  if (path_.empty() || path_.find('\0') != std::string::npos) fail(ENOENT);
  for (int links = 0;; ++links) {
    if (open_directly(target_)) return;
    char to[PATH_MAX];
    const ssize_t size = ::readlink(target_.c_str(), to, sizeof to);
    if (size < 0) break;
    if (links == kMostLinks) fail(ELOOP);
    const std::string_view link(to, static_cast<size_t>(size));
    target_ = link.starts_with('/') ? std::string(link) : folder_of(target_).append(link);
  }
  make_temporary(target_);
}

Sink::~Sink() {
  discard();
}

// Whether the path is no regular file, also not behind links.
bool Sink::open_directly(const std::string& target) {
  const int own = own_descriptor(target);
  struct stat status;
  if (own >= 0) {
    fd_ = ::fcntl(own, F_DUPFD_CLOEXEC, 0);
  } else {
    if (::stat(target.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return false;
    if (S_ISDIR(status.st_mode)) fail(EISDIR);
    // A pipe waits for its reader.
    while ((fd_ = ::open(target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)) < 0 && errno == EINTR)
      look_for_interrupt_now();
  }
  if (fd_ < 0) fail(errno);
  return true;
}

void Sink::make_temporary(const std::string& target) {
  struct stat status;
  const bool exists = ::stat(target.c_str(), &status) == 0;
  // A file that may not be written is not replaced either.
  if (exists && ::access(target.c_str(), W_OK) != 0) fail(errno);
  remove_left(target);
  for (int number = 0;; ++number) {
    temporary_ = temporary_name(target, number);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    // A search for leftover files may have taken it before it was locked.
    if (fd_ >= 0 && lock_file(fd_) && is_named(fd_, temporary_)) break;
    if (fd_ < 0 && errno != EEXIST) fail(errno);
    if (fd_ >= 0) close();
  }
  if (!exists) return;
  // Owner first: a new one clears bits of the mode. Not everybody may give files away.
  [[maybe_unused]] const int refused = ::fchown(fd_, status.st_uid, status.st_gid);
  ::fchmod(fd_, status.st_mode & 07777);
}

void Sink::discard() noexcept {
  if (fd_ < 0) return;
  // While it is locked.
  if (takes_places() && process_ == ::getpid()) ::unlink(temporary_.c_str());
  close();
}

void Sink::close() noexcept {
  ::close(fd_);
  fd_ = -1;
}

void Sink::write(int64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = offset < 0 ? ::write(fd_, bytes.data(), bytes.size())
                                    : ::pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (done < 0 && errno != EINTR) fail(errno);
    const int64_t written = std::max<ssize_t>(done, 0);
    if (offset >= 0) offset += written;
    bytes.remove_prefix(static_cast<size_t>(written));
    if (!bytes.empty()) look_for_interrupt_now();  // a signal ended the call
  }
}

void Sink::write_at(int64_t offset, std::string_view bytes) const {
  write(offset, bytes);
#ifdef SYNC_FILE_RANGE_WRITE
  // The disk begins now, and commit waits for less. Faults are told there.
  if (durable_)
    ::sync_file_range(fd_, offset, static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
#endif
}

void Sink::append(std::string_view bytes) {
  write(takes_places() ? size_ : -1, bytes);
  size_ += static_cast<int64_t>(bytes.size());
}

// In pieces, since Ctrl-C goes unheard while the system waits for a disk.
void Sink::flush() const {
#ifdef SYNC_FILE_RANGE_WRITE
  struct stat status;
  if (::fstat(fd_, &status) != 0) fail(errno);
  constexpr unsigned kBegin = SYNC_FILE_RANGE_WRITE;
  constexpr unsigned kAll =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  for (int64_t offset = 0; offset < status.st_size; offset += kFlushBytes) {
    ::sync_file_range(fd_, offset + kFlushBytes, kFlushBytes, kBegin);
    const bool good = ::sync_file_range(fd_, offset, kFlushBytes, kAll) == 0;
    // A fault is told once. Not every file system has the call.
    if (!good && (errno == EIO || errno == ENOSPC || errno == EDQUOT)) fail(errno);
    if (!good) break;
    look_for_interrupt();
  }
#endif
  if (::fsync(fd_) != 0) fail(errno);
}

void Sink::commit() {
  if (!takes_places()) {
    const int code = ::close(fd_) == 0 ? 0 : errno;
    fd_ = -1;
    if (code != 0) fail(code);
    return;
  }
  if (durable_) flush();
  look_for_interrupt_now();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  close();
  if (!durable_) return;
  // The name is on the disk only when the folder is.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace hr
