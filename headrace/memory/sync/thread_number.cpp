// SPDX-License-Identifier: Apache-2.0
// Numbers of threads.
#include "headrace/memory/sync/thread_number.h"

#include <atomic>

namespace hr {

namespace {

constinit std::atomic<uint32_t> threads_seen{0};
constinit thread_local uint32_t number = 0;

}  // namespace

uint32_t thread_number() {
  if (number == 0) number = ++threads_seen;
  return number;
}

}  // namespace hr
