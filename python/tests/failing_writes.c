// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): one system call on a file that is being written beside its target
// fails when it is told to.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kWrite, kSync, kRename, kKinds };

static atomic_int seen[kKinds];
static atomic_int failing_kind = -1, failing_number, failing_code;

// From now on call `number` of `kind` fails with `code` (0: it writes less than it was asked to).
// Kind -1: none.
void fail_write(int kind, int number, int code) {
  failing_kind = -1;
  for (int i = 0; i < kKinds; ++i) seen[i] = 0;
  failing_number = number;
  failing_code = code;
  failing_kind = kind;
}

int writes_of(int kind) {
  return seen[kind];
}

static int is_part(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return strstr(path, ".headrace-part-") != NULL;
}

static int fails(int kind) {
  return atomic_fetch_add(&seen[kind], 1) + 1 == failing_number && failing_kind == kind;
}

static ssize_t moved(long call, int fd, const void* from, size_t bytes, off_t offset) {
  if (is_part(fd) && fails(kWrite)) {
    if (failing_code == 0) bytes = bytes > 1 ? bytes / 2 : bytes;
    if (failing_code != 0) {
      errno = failing_code;
      return -1;
    }
  }
  return syscall(call, fd, from, bytes, offset);
}

ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  return moved(SYS_pwrite64, fd, from, bytes, offset);
}

ssize_t write(int fd, const void* from, size_t bytes) {
  return moved(SYS_write, fd, from, bytes, 0);
}

int fsync(int fd) {
  if (is_part(fd) && fails(kSync) && failing_code != 0) {
    errno = failing_code;
    return -1;
  }
  return (int)syscall(SYS_fsync, fd);
}

int rename(const char* from, const char* to) {
  if (strstr(from, ".headrace-part-") && fails(kRename) && failing_code != 0) {
    errno = failing_code;
    return -1;
  }
  return (int)syscall(SYS_rename, from, to);
}
