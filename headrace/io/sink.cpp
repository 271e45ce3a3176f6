// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#include "headrace/io/sink.h"

#include "headrace/base/error.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hr {

namespace {

[[noreturn]] void system_failure(std::string_view op, const std::string& path, int code) {
  throw InputError(
      error_message(op, "the system cannot write the file", {{"path", path}}, std::strerror(code)),
      path, 0, 0, code);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

Sink::Sink(std::string_view op, std::string path, bool durable)
    : op_(op), path_(std::move(path)), durable_(durable) {
  if (path_.empty() || path_.find('\0') != std::string::npos)
    system_failure(op_, path_.c_str(), ENOENT);
  char real[PATH_MAX];
  if (::realpath(path_.c_str(), real)) path_ = real;
  struct stat status;
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) system_failure(op_, path_, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) system_failure(op_, path_, errno);
    return;
  }
  // A file that may not be written is not replaced either.
  if (exists && ::access(path_.c_str(), W_OK) != 0) system_failure(op_, path_, errno);
  static std::atomic<uint64_t> count{0};
  do {
    temporary_ = path_ + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) system_failure(op_, path_, errno);
  if (exists) ::fchmod(fd_, status.st_mode & 07777);
}

Sink::~Sink() {
  if (fd_ < 0) return;
  close();
  if (takes_places()) ::unlink(temporary_.c_str());
}

void Sink::close() noexcept {
  ::close(fd_);
  fd_ = -1;
}

void Sink::write(int64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = offset < 0 ? ::write(fd_, bytes.data(), bytes.size())
                                    : ::pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) system_failure(op_, path_, errno);
    if (offset >= 0) offset += done;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
}

void Sink::write_at(int64_t offset, std::string_view bytes) const {
  write(offset, bytes);
}

void Sink::append(std::string_view bytes) {
  write(takes_places() ? size_ : -1, bytes);
  size_ += static_cast<int64_t>(bytes.size());
}

void Sink::commit() {
  if (!takes_places()) {
    const int code = ::close(fd_) == 0 ? 0 : errno;
    fd_ = -1;
    if (code != 0) system_failure(op_, path_, code);
    return;
  }
  if (durable_ && ::fsync(fd_) != 0) system_failure(op_, path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) system_failure(op_, path_, errno);
  close();
  if (!durable_) return;
  // The name is on the disk only when the folder is.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace hr
