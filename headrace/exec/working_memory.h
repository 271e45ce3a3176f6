// SPDX-License-Identifier: Apache-2.0
// What an operator takes while it works, said before it begins, and the threads it leaves room for.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// While it lives, jobs that this thread starts, and those inside of their tasks, have at most
/// `count` threads each.
class HR_API MostThreads {
 public:
  explicit MostThreads(int count);
  ~MostThreads();
  MostThreads(const MostThreads&) = delete;
  MostThreads& operator=(const MostThreads&) = delete;

 private:
  int before_;
};

/// Bytes, inputs not counted, that must lie in memory at once.
struct WorkingBytes {
  int64_t all = 0;     ///< for any number of threads
  int64_t thread = 0;  ///< for each thread more
};

/// Admits an operator to the budget before it works. Under a limit it makes room for as many
/// threads as fit, at least one, and while it lives jobs of this thread have no more: batches and
/// parts follow the shape of the data alone, so the bits stay. It holds nothing; what is allocated
/// is charged then.
class HR_API WorkingMemory {
 public:
  /// Throws OutOfMemoryError, in the name of the tag in force, when one thread does not fit.
  explicit WorkingMemory(WorkingBytes bytes);

  int threads() const { return threads_; }

 private:
  int threads_;
  MostThreads most_;
};

}  // namespace hr
