// SPDX-License-Identifier: Apache-2.0
// Functions newer than glibc 2.28 that Debian's headers call, each by those that were there: for
// the wheels of ./dev wheels --release. Hidden, so nothing else in the process sees them.
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#ifdef __aarch64__
constexpr int kVersionOfStat = 0;
#else
constexpr int kVersionOfStat = 1;
#endif

extern "C" {
int __xstat(int version, const char* path, struct stat* out);
int __lxstat(int version, const char* path, struct stat* out);
int __fxstat(int version, int file, struct stat* out);

// libstdc++ asks whether atomic operations can be spared. Never, then.
char __libc_single_threaded = 0;

int stat(const char* path, struct stat* out) noexcept {
  return __xstat(kVersionOfStat, path, out);
}
int lstat(const char* path, struct stat* out) noexcept {
  return __lxstat(kVersionOfStat, path, out);
}
int fstat(int file, struct stat* out) noexcept {
  return __fxstat(kVersionOfStat, file, out);
}

// Waits on the clock that a condition variable of glibc 2.28 has: a step of that clock moves the
// end.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  timespec theirs, ours;
  clock_gettime(clock, &theirs);
  clock_gettime(CLOCK_REALTIME, &ours);
  constexpr long kSecond = 1'000'000'000;
  timespec end{ours.tv_sec + until->tv_sec - theirs.tv_sec,
               ours.tv_nsec + until->tv_nsec - theirs.tv_nsec};
  if (end.tv_nsec < 0) end = {end.tv_sec - 1, end.tv_nsec + kSecond};
  if (end.tv_nsec >= kSecond) end = {end.tv_sec + 1, end.tv_nsec - kSecond};
  return pthread_cond_timedwait(condition, mutex, &end);
}
}
