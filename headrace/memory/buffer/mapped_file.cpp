// SPDX-License-Identifier: Apache-2.0
// Mapped files: a table of them for the handler of SIGBUS, which can neither lock nor allocate.
#include "headrace/memory/buffer/mapped_file.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hr {

namespace {

struct Mapping {
  std::string op{};
  std::string path{};
  int fd = -1;
  struct stat stamp{};
  size_t size = 0;
  std::atomic<char*> begin{nullptr};  // null: free
  std::atomic<bool> is_cut{false};
};

std::array<Mapping, 256>& mappings() {
  static auto* const all = new std::array<Mapping, 256>();
  return *all;
}

std::atomic<int> live_mappings{0};
struct sigaction previous{};

// What is behind the end of the file becomes zeros, of which the reader is told later.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  auto* const at = static_cast<char*>(info->si_addr);
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (Mapping& mapping : mappings()) {
    char* const begin = mapping.begin.load(std::memory_order_acquire);
    if (!begin || at < begin || at >= begin + mapping.size) continue;
    char* const from = begin + static_cast<uintptr_t>(at - begin) / page * page;
    const auto left = static_cast<size_t>(begin + mapping.size - from);
    if (::mmap(from, left, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      break;
    mapping.is_cut = true;
    errno = kept;
    return;
  }
  errno = kept;
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  std::signal(SIGBUS, SIG_DFL);  // the read that failed is tried again, and ends the process
}

// Anew where another library has put its handler over ours.
void install_handler() {
  struct sigaction now{};
  ::sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus_error) return;
  previous = now;
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, nullptr);
}

std::mutex& mapping_mutex() {
  return fresh_after_fork<std::mutex>();
}

void unmap(void* context) noexcept {
  auto* const mapping = static_cast<Mapping*>(context);
  const std::lock_guard lock(mapping_mutex());
  ::munmap(mapping->begin, mapping->size);
  ::close(mapping->fd);
  mapping->begin.store(nullptr, std::memory_order_release);
  --live_mappings;
}

// Closes the file unless it is mapped.
struct OpenFile {
  int fd;

  ~OpenFile() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void refuse(std::string_view op, const std::string& path, int code) {
  throw InputError(
      error_message(op, "the system cannot map the file", {{"path", path}}, std::strerror(code)),
      path, 0, 0, code);
}

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_size == other.st_size && one.st_mtim.tv_sec == other.st_mtim.tv_sec &&
         one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

}  // namespace

Buffer map_file(std::string_view op, const std::string& path) {
  OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat stamp{};
  if (file.fd < 0 || ::fstat(file.fd, &stamp) != 0) refuse(op, path, errno);
  if (!S_ISREG(stamp.st_mode))
    throw_error<UnsupportedError>(op, "only regular files can be mapped", {{"path", path}},
                                  "read it without memory_map=True");
  const auto size = static_cast<size_t>(stamp.st_size);
  if (size == 0) return Buffer::allocate(0);
  const std::lock_guard lock(mapping_mutex());
  for (Mapping& mapping : mappings()) {
    if (mapping.begin.load()) continue;
    void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (begin == MAP_FAILED) refuse(op, path, errno);
    mapping.op = op;
    mapping.path = path;
    mapping.stamp = stamp;
    mapping.size = size;
    mapping.is_cut = false;
    mapping.fd = std::exchange(file.fd, -1);
    mapping.begin.store(static_cast<char*>(begin), std::memory_order_release);
    ++live_mappings;
    install_handler();
    return Buffer::adopt(begin, stamp.st_size, Owner{&mapping, unmap});
  }
  throw_error<UnsupportedError>(op, "256 files are mapped already", {{"path", path}},
                                "read it without memory_map=True");
}

void check_mapped_files() {
  if (live_mappings.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mapping_mutex());
  for (Mapping& mapping : mappings()) {
    if (!mapping.begin.load()) continue;
    struct stat now{};
    const bool is_whole =
        !mapping.is_cut && ::fstat(mapping.fd, &now) == 0 && is_same(now, mapping.stamp);
    if (!is_whole)
      throw InputError(
          error_message(mapping.op, "the file changed while it was mapped",
                        {{"path", mapping.path}},
                        "drop what was read of it, and read it without memory_map=True"),
          mapping.path);
  }
}

}  // namespace hr
