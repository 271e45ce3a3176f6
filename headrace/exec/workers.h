// SPDX-License-Identifier: Apache-2.0
// The worker pool and morsels: who runs what, with borders that depend on the data alone.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/pin.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace hr {

inline constexpr int64_t kMorselRows = int64_t{1} << 17;
inline constexpr int64_t kBlockRows = 1024;

/// The most rows of a morsel on the host: kMorselRows, unless a test wants borders in small data.
/// First value: HEADRACE_MORSEL_ROWS. Group sums and running sums of floats are rounded after
/// this number of rows, so their last bits follow it; nothing else does.
HR_API int64_t morsel_rows();
/// Of the morsels of `rows` rows: shorter ones for few rows, so every worker gets some. A power of
/// two unless it is morsel_rows().
HR_API int64_t morsel_rows(int64_t rows);
/// Only while no plan runs. Throws InvalidArgumentError unless a multiple of 64 up to kMorselRows.
HR_API void set_morsel_rows(int64_t rows);

/// Threads that work on a job, the calling one included. First value: HEADRACE_THREADS, else the
/// processors that this process may use (affinity and cgroup quota).
HR_API int threads();
/// Throws InvalidArgumentError unless 1 <= count <= 1024.
HR_API void set_threads(int count);

/// A borrowed callable, valid during the call it is handed to.
class Task {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Task>)
  Task(F&& f)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, int64_t index) {
          (*static_cast<std::remove_reference_t<F>*>(object))(index);
        }) {}

  void operator()(int64_t index) const { call_(object_, index); }

 private:
  void* object_;
  void (*call_)(void*, int64_t);
};

/// Runs `task(0)` ... `task(count - 1)` on all workers, in any order, and returns when all are
/// done. The workers carry the caller's tag and its scoped resources. If tasks throw, the error of
/// the lowest index is rethrown and higher ones may be skipped. Nested calls are allowed: the
/// caller then works on the inner job only. Throws Interrupted when the interrupt check says so.
HR_API void parallel_for(int64_t count, Task task);

struct Morsel {
  int64_t index;
  int64_t begin;
  int64_t end;
};

inline int64_t num_morsels(int64_t rows) {
  const int64_t step = morsel_rows(rows);
  return (rows + step - 1) / step;
}

/// The one with this index of those that cut `rows` every `step` rows.
inline Morsel morsel_at(int64_t index, int64_t rows, int64_t step) {
  const int64_t begin = index * step, end = begin + step;
  return {index, begin, end < rows ? end : rows};
}

/// The one with this index of the morsels of `rows`.
inline Morsel morsel_at(int64_t index, int64_t rows) {
  return morsel_at(index, rows, morsel_rows(rows));
}

/// Runs `body(Morsel)` over rows [0, rows) cut every `step` rows, with what each piece touches
/// pinned while `body` works on it.
template <class F>
void parallel_morsels(int64_t rows, int64_t step, const std::vector<BufferAccess>& accesses,
                      F&& body) {
  parallel_for((rows + step - 1) / step, [&](int64_t k) {
    const Morsel morsel = morsel_at(k, rows, step);
    const Pin pin(ranges_of(accesses, morsel.begin, morsel.end));
    body(morsel);
  });
}

/// The same over the morsels of `rows`.
template <class F>
void parallel_morsels(int64_t rows, const std::vector<BufferAccess>& accesses, F&& body) {
  parallel_morsels(rows, morsel_rows(rows), accesses, body);
}

/// The same without pins.
template <class F>
void parallel_morsels(int64_t rows, F&& body) {
  parallel_for(num_morsels(rows),
               [&, step = morsel_rows(rows)](int64_t k) { body(morsel_at(k, rows, step)); });
}

/// Asked on the calling thread about every 50 ms of a job; true stops it (Ctrl-C). Null: never
/// asked.
HR_API void set_interrupt_check(bool (*check)());

/// Progress of long jobs, called on the calling thread; null: none.
HR_API void set_progress(void (*report)(int64_t done, int64_t count));

}  // namespace hr
