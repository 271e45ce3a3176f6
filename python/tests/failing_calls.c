// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): one system call of the spill path fails when it is told to.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kWrite, kRead, kAllocate, kMap, kMove, kKinds };

enum { kFiles = 4096, kPage = 4096 };

static atomic_int seen[kKinds];
static atomic_int failing_kind = -1, failing_number, failing_code;
// A spill file grows by fallocate before it is written, and no other file here does.
static atomic_char spills[kFiles];

// From now on call `number` of `kind` fails with `code` (0: it does less than it was asked for),
// and all after it when `number` is negative. Kind -1: none.
void fail_call(int kind, int number, int code) {
  failing_kind = -1;
  for (int i = 0; i < kKinds; ++i) seen[i] = 0;
  failing_number = number;
  failing_code = code;
  failing_kind = kind;
}

int calls_of(int kind) {
  return seen[kind];
}

static int fails(int kind) {
  const int number = atomic_fetch_add(&seen[kind], 1) + 1;
  if (failing_kind != kind) return 0;
  return failing_number < 0 ? number >= -failing_number : number == failing_number;
}

static long moved(int kind, long call, int fd, void* at, size_t bytes, off_t offset) {
  if (fd >= 0 && fd < kFiles && spills[fd] && fails(kind)) {
    if (failing_code == 0) return syscall(call, fd, at, bytes > kPage ? kPage : bytes, offset);
    errno = failing_code;
    return -1;
  }
  return syscall(call, fd, at, bytes, offset);
}

ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  return moved(kWrite, SYS_pwrite64, fd, (void*)from, bytes, offset);
}

ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  return moved(kRead, SYS_pread64, fd, to, bytes, offset);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  if (fd >= 0 && fd < kFiles) spills[fd] = 1;
  if (fails(kAllocate) && failing_code != 0) {
    errno = failing_code;
    return -1;
  }
  return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

int close(int fd) {
  if (fd >= 0 && fd < kFiles) spills[fd] = 0;
  return (int)syscall(SYS_close, fd);
}

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (fd >= 0 && fd < kFiles && spills[fd] && fails(kMap) && failing_code != 0) {
    errno = failing_code;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

void* mremap(void* from, size_t bytes, size_t new_bytes, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* const to = flags & MREMAP_FIXED ? va_arg(more, void*) : NULL;
  va_end(more);
  if (to && fails(kMove) && failing_code != 0) {
    errno = failing_code;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mremap, from, bytes, new_bytes, flags, to);
}
