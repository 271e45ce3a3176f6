// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): counts the bytes that memcpy and memmove copy, by their caller.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Smaller copies are headers, names and rests of blocks.
enum { kLarge = 64 << 10 };

static atomic_llong engine_bytes;
static atomic_llong all_bytes;

long long copied_by_engine(void) {
  return engine_bytes;
}

long long copied_by_all(void) {
  return all_bytes;
}

static void count(size_t bytes, const void* caller) {
  if (bytes < kLarge) return;
  Dl_info info;
  all_bytes += (long long)bytes;
  if (dladdr(caller, &info) && info.dli_fname &&
      (strstr(info.dli_fname, "libheadrace") || strstr(info.dli_fname, "headrace/_core")))
    engine_bytes += (long long)bytes;
}

// By an instruction or a volatile loop: a plain loop would become a call of memcpy.
static void copy_up(unsigned char* to, const unsigned char* from, size_t bytes) {
#ifdef __x86_64__
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  for (volatile unsigned char* out = to; bytes > 0; --bytes) *out++ = *from++;
#endif
}

static void* copy(void* to, const void* from, size_t bytes) {
  volatile unsigned char* out = to;
  const unsigned char* in = from;
  if ((uintptr_t)to - (uintptr_t)from >= bytes)
    copy_up(to, in, bytes);
  else
    while (bytes-- > 0) out[bytes] = in[bytes];
  return to;
}

void* memcpy(void* restrict to, const void* restrict from, size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return copy(to, from, bytes);
}

void* memmove(void* to, const void* from, size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return copy(to, from, bytes);
}

void* __memcpy_chk(void* restrict to, const void* restrict from, size_t bytes, size_t room) {
  if (bytes > room) __builtin_trap();
  count(bytes, __builtin_return_address(0));
  return copy(to, from, bytes);
}

void* __memmove_chk(void* to, const void* from, size_t bytes, size_t room) {
  if (bytes > room) __builtin_trap();
  count(bytes, __builtin_return_address(0));
  return copy(to, from, bytes);
}
