// SPDX-License-Identifier: Apache-2.0
// Objects of the whole process, made when they are first asked for and never destroyed: threads
// and buffers that use them may outlive main.
#pragma once
#include <atomic>
#include <pthread.h>

namespace hr {

/// The one T of this process.
template <class T>
T& process_global() {
  static T* const leaked = new T;
  return *leaked;
}

/// The one that `make` made: for types of which a process has several. `make` is a lambda, whose
/// type tells them apart.
template <class Make>
auto& process_global(Make make) {
  static auto* const leaked = new auto(make());
  return *leaked;
}

/// The one T of this process, and a new one in each forked child: for what has threads, which stay
/// with the parent.
template <class T>
T& fresh_after_fork() {
  static std::atomic<T*> leaked{nullptr};
  [[maybe_unused]] static const bool made = [] {
    leaked = new T;
    pthread_atfork(nullptr, nullptr, [] { leaked = new T; });
    return true;
  }();
  return *leaked;
}

}  // namespace hr
