// SPDX-License-Identifier: Apache-2.0
// Spilling: what goes to the disk under a limit, where to, and what is known of its next use.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hr {

/// Bytes that moved between memory and disk since the process began, and what lies there now.
struct SpillStatistics {
  int64_t disk_bytes = 0;     ///< of the spill file now
  int64_t evicted_bytes = 0;  ///< taken out of memory
  int64_t written_bytes = 0;  ///< of these, what had no copy on the disk yet
  int64_t fetched_bytes = 0;  ///< read back
  int64_t waited_ns = 0;      ///< for that, by threads that had work to do, summed
};

HR_API SpillStatistics spill_statistics();

/// Where evicted bytes go: HEADRACE_SPILL_DIRECTORY, else TMPDIR, else /tmp. The file has no name
/// there. What was evicted before stays in the former place until it is dropped.
HR_API std::string spill_directory();
/// Throws InputError, and changes nothing, when no file can be created in the directory.
HR_API void set_spill_directory(std::string directory);

/// The most bytes on the disk: HEADRACE_SPILL_LIMIT, else nine tenths of what is free there. 0
/// turns spilling off.
HR_API int64_t spill_limit();
HR_API void set_spill_limit(int64_t bytes);

/// The most bytes that could be charged now: what the limit leaves, and all that may go to the
/// disk.
HR_API int64_t attainable_bytes();
/// Evicts what it must, so that `bytes` can be charged as long as no one else takes them. Throws
/// OutOfMemoryError in the name of the tag in force.
HR_API void make_room(int64_t bytes);

/// Steps of a plan have numbers that rise; the plan tells which of them will read a buffer, so that
/// what is needed last goes first.
HR_API int64_t reserve_steps(int64_t count);
HR_API void begin_step(int64_t step);
/// Adds to what was said before. A buffer without steps to come is held by handles alone.
HR_API void expect_uses(const Buffer& buffer, const std::vector<int64_t>& steps);

/// A chunk that is evicted more often than it is used helps no one; operators with memory of
/// their own can be asked for it. `free(bytes)` returns what it freed and takes no memory.
using PressureCallback = std::function<int64_t(int64_t bytes)>;
HR_API int64_t add_pressure_callback(PressureCallback free);
HR_API void remove_pressure_callback(int64_t id);

/// Lives while a thread works on a task: who waits for room knows that its end may bring some.
class HR_API RunningTask {
 public:
  RunningTask() noexcept;
  ~RunningTask();
  RunningTask(const RunningTask&) = delete;
  RunningTask& operator=(const RunningTask&) = delete;
};

/// While a thread waits for tasks of others, its own bring no room. Returns what `end_waiting`
/// takes back: from the thread that ended the last task, while it holds a RunningTask, so that who
/// waits for room does not find all waiting in between.
HR_API int64_t begin_waiting() noexcept;
HR_API void end_waiting(int64_t holds) noexcept;

/// While it lives, `buffers` buffers of its thread are written side by side, as the columns of a
/// reader: their chunks are smaller, since one or two of each are pinned at once.
class HR_API WrittenTogether {
 public:
  explicit WrittenTogether(int64_t buffers) noexcept;
  ~WrittenTogether();
  WrittenTogether(const WrittenTogether&) = delete;
  WrittenTogether& operator=(const WrittenTogether&) = delete;

 private:
  int64_t before_;
};

/// Sets what runs the moves of chunks while others compute; `exec` does.
HR_API void set_spill_runner(void (*run)(std::function<void()>));

}  // namespace hr
