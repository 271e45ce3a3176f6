// SPDX-License-Identifier: Apache-2.0
// Resources that stand over another one and change what may pass: limit, rate, alignment, what
// happens when memory is out, and the trials of tests: faults and delays.
#pragma once
#include "headrace/memory/resource/resource.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <atomic>
#include <functional>
#include <string>
#include <unordered_map>

namespace hr {

/// What every adaptor has: the resource below it.
class HR_API Adaptor {
 public:
  explicit Adaptor(AnyResource upstream) : upstream_(std::move(upstream)) {}

  const AnyResource& upstream() const { return upstream_; }

  MemoryProperties properties() const { return upstream_.properties(); }

 protected:
  std::string over(const std::string& what) const { return what + " over " + upstream_.describe(); }

 private:
  AnyResource upstream_;
};

/// Refuses what would bring the live bytes over a limit: charged before a request goes up, taken
/// off after its block went back, so upstream never sees more. Thread-safe, no lock.
class HR_API LimitAdaptor : public Adaptor {
 public:
  /// Throws InvalidArgumentError for a negative limit.
  LimitAdaptor(AnyResource upstream, int64_t limit_bytes);

  /// Throws OutOfMemoryError with request, limit and use when it does not fit.
  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const;

  int64_t limit_bytes() const { return limit_bytes_; }

  int64_t used_bytes() const { return used_; }

 private:
  const int64_t limit_bytes_;
  std::atomic<int64_t> used_{0};
};

/// Lets at most this many bytes per second pass, on average: a request waits until those before it
/// are paid for. The first one never waits. Thread-safe; waits without a lock.
class HR_API RateLimitAdaptor : public Adaptor {
 public:
  /// Throws InvalidArgumentError unless the rate is positive.
  RateLimitAdaptor(AnyResource upstream, int64_t bytes_per_second);

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const;

  /// How long requests have waited, all threads summed.
  int64_t waited_ns() const { return waited_ns_; }

 private:
  const int64_t bytes_per_second_;
  ForkMutex mutex_;
  int64_t paid_until_ns_ = 0;  // steady clock
  std::atomic<int64_t> waited_ns_{0};
};

/// Gives blocks of at least `from_bytes` an alignment that upstream need not know: it asks for more
/// and remembers where the block began. Thread-safe.
class HR_API AlignAdaptor : public Adaptor {
 public:
  /// Throws InvalidArgumentError unless `alignment` is a power of two of at most 1 GiB.
  AlignAdaptor(AnyResource upstream, size_t alignment, size_t from_bytes = 0);

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  MemoryProperties properties() const;
  std::string describe() const;

 private:
  size_t wanted(size_t bytes, size_t alignment) const;

  const size_t alignment_;
  const size_t from_bytes_;
  ForkMutex mutex_;
  std::unordered_map<void*, void*> origins_;
};

/// When upstream is out of memory, calls back: a function that could free something says true, and
/// the request is made again; on false the error goes on. Called on the asking thread, without a
/// lock, and not from within itself. Thread-safe.
class HR_API PressureAdaptor : public Adaptor {
 public:
  using Callback = std::function<bool(size_t bytes)>;

  PressureAdaptor(AnyResource upstream, Callback callback);

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const { return over("pressure"); }

 private:
  Callback callback_;
};

/// Which requests a FaultAdaptor fails. Requests are counted from 1.
struct FaultPlan {
  int64_t first = 0;       ///< this one fails; 0: none
  bool for_ever = false;   ///< and all after it
  double probability = 0;  ///< of each other one, decided by `seed` and the number of the request
  uint64_t seed = 0;
};

/// Fails requests on purpose with OutOfMemoryError. Thread-safe, no lock.
class HR_API FaultAdaptor : public Adaptor {
 public:
  FaultAdaptor(AnyResource upstream, FaultPlan plan);

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const { return over("fault"); }

  int64_t requests() const { return requests_; }

  int64_t faults() const { return faults_; }

 private:
  const FaultPlan plan_;
  std::atomic<int64_t> requests_{0};
  std::atomic<int64_t> faults_{0};
};

/// Waits before each request and before each block goes back: what a slow device does, and what
/// shows bookkeeping that is done in the wrong order. Thread-safe; waits without a lock.
class HR_API DelayAdaptor : public Adaptor {
 public:
  /// Throws InvalidArgumentError for a negative time.
  DelayAdaptor(AnyResource upstream, int64_t allocate_ns, int64_t deallocate_ns);

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const { return over("delay"); }

 private:
  const int64_t allocate_ns_;
  const int64_t deallocate_ns_;
};

}  // namespace hr
