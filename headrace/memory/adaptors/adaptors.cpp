// SPDX-License-Identifier: Apache-2.0
// Limit, rate limit, alignment, pressure, faults, delays.
#include "headrace/memory/adaptors/adaptors.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace hr {

namespace {

int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void sleep_ns(int64_t time) {
  if (time > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(time));
}

// The splitmix64 generator's output for a state: a number from 0 to 1.
double uniform(uint64_t state) {
  state *= 0x9E3779B97F4A7C15u;
  state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9u;
  state = (state ^ state >> 27) * 0x94D049BB133111EBu;
  return static_cast<double>((state ^ state >> 31) >> 11) * 0x1p-53;
}

}  // namespace

LimitAdaptor::LimitAdaptor(AnyResource upstream, int64_t limit_bytes)
    : Adaptor(std::move(upstream)), limit_bytes_(limit_bytes) {
  if (limit_bytes < 0)
    throw_error<InvalidArgumentError>("limit_adaptor", "the limit is negative",
                                      {{"bytes", limit_bytes}});
}

void* LimitAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  check_request(bytes, alignment);
  const auto charge = static_cast<int64_t>(bytes);
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (charge > limit_bytes_ - used)
      throw OutOfMemoryError("limit_adaptor: out of memory: requested=" + format_bytes(charge) +
                                 ", limit=" + format_bytes(limit_bytes_) +
                                 ", used=" + format_bytes(used) +
                                 "; free blocks of this resource or give it a higher limit",
                             charge, limit_bytes_, used);
  } while (!used_.compare_exchange_weak(used, used + charge));
  try {
    return upstream().allocate(stream, bytes, alignment);
  } catch (...) {
    used_ -= charge;
    throw;
  }
}

void LimitAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                              size_t alignment) noexcept {
  upstream().deallocate(stream, pointer, bytes, alignment);
  used_ -= static_cast<int64_t>(bytes);
}

std::string LimitAdaptor::describe() const {
  return over("limit(" + format_bytes(limit_bytes_) + ")");
}

RateLimitAdaptor::RateLimitAdaptor(AnyResource upstream, int64_t bytes_per_second)
    : Adaptor(std::move(upstream)), bytes_per_second_(bytes_per_second) {
  if (bytes_per_second <= 0)
    throw_error<InvalidArgumentError>("rate_limit_adaptor", "the rate is not positive",
                                      {{"bytes_per_second", bytes_per_second}});
}

void* RateLimitAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  check_request(bytes, alignment);
  // A request of more than a century's worth is the business of a limit.
  const auto price = static_cast<int64_t>(
      std::min(static_cast<double>(bytes) / static_cast<double>(bytes_per_second_) * 1e9, 3e18));
  const int64_t now = now_ns();
  int64_t wait = 0;
  {
    const std::lock_guard lock(mutex_);
    const int64_t begin = std::clamp(paid_until_ns_, now, int64_t{1} << 61);
    wait = begin - now;
    paid_until_ns_ = begin + price;
  }
  waited_ns_ += wait;
  sleep_ns(wait);
  try {
    return upstream().allocate(stream, bytes, alignment);
  } catch (...) {  // a refused request is not paid for
    const std::lock_guard lock(mutex_);
    paid_until_ns_ -= price;
    throw;
  }
}

void RateLimitAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                                  size_t alignment) noexcept {
  upstream().deallocate(stream, pointer, bytes, alignment);
}

std::string RateLimitAdaptor::describe() const {
  return over("rate limit(" + format_bytes(bytes_per_second_) + "/s)");
}

AlignAdaptor::AlignAdaptor(AnyResource upstream, size_t alignment, size_t from_bytes)
    : Adaptor(std::move(upstream)), alignment_(alignment), from_bytes_(from_bytes) {
  check_request(0, alignment);
}

// What upstream cannot be asked for, or 0.
size_t AlignAdaptor::wanted(size_t bytes, size_t alignment) const {
  const size_t most = bytes >= from_bytes_ ? std::max(alignment, alignment_) : alignment;
  return most > static_cast<size_t>(Adaptor::properties().alignment) ? most : 0;
}

void* AlignAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  check_request(bytes, alignment);
  const size_t most = wanted(bytes, alignment);
  if (most == 0) return upstream().allocate(stream, bytes, alignment);
  const auto given = static_cast<size_t>(Adaptor::properties().alignment);
  void* const origin = upstream().allocate(stream, bytes + most, given);
  auto* const block =
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(origin) + most - 1) / most * most);
  try {
    const std::lock_guard lock(mutex_);
    origins_.insert_or_assign(block, origin);
  } catch (...) {
    upstream().deallocate(stream, origin, bytes + most, given);
    throw;
  }
  return block;
}

void AlignAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                              size_t alignment) noexcept {
  const size_t most = wanted(bytes, alignment);
  if (most == 0) return upstream().deallocate(stream, pointer, bytes, alignment);
  void* origin = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = origins_.find(pointer);
    if (found == origins_.end()) return;  // not from here
    origin = found->second;
    origins_.erase(found);
  }
  upstream().deallocate(stream, origin, bytes + most,
                        static_cast<size_t>(Adaptor::properties().alignment));
}

MemoryProperties AlignAdaptor::properties() const {
  const MemoryProperties below = Adaptor::properties();
  const auto ours = static_cast<int64_t>(from_bytes_ == 0 ? alignment_ : 0);
  return {.place = below.place, .alignment = std::max(below.alignment, ours)};
}

std::string AlignAdaptor::describe() const {
  return over("align(" + std::to_string(alignment_) + ")");
}

PressureAdaptor::PressureAdaptor(AnyResource upstream, Callback callback)
    : Adaptor(std::move(upstream)), callback_(std::move(callback)) {
  if (!callback_) throw_error<InvalidArgumentError>("pressure_adaptor", "the callback is missing");
}

void* PressureAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  thread_local const PressureAdaptor* calling = nullptr;
  for (;;) try {
      return upstream().allocate(stream, bytes, alignment);
    } catch (const OutOfMemoryError&) {
      if (calling == this) throw;  // what the callback itself asks for
      const auto* const outer = std::exchange(calling, this);
      bool again = false;
      try {
        again = callback_(bytes);
      } catch (...) {
        calling = outer;
        throw;
      }
      calling = outer;
      if (!again) throw;
    }
}

void PressureAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                                 size_t alignment) noexcept {
  upstream().deallocate(stream, pointer, bytes, alignment);
}

FaultAdaptor::FaultAdaptor(AnyResource upstream, FaultPlan plan)
    : Adaptor(std::move(upstream)), plan_(plan) {
  if (plan.first < 0 || !(plan.probability >= 0 && plan.probability <= 1))
    throw_error<InvalidArgumentError>("fault_adaptor", "invalid plan",
                                      {{"first", plan.first}, {"probability", plan.probability}},
                                      "pass first >= 0 and a probability from 0 to 1");
}

void* FaultAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  const int64_t request = ++requests_;
  bool fails =
      plan_.first > 0 && (plan_.for_ever ? request >= plan_.first : request == plan_.first);
  fails |= uniform(plan_.seed + static_cast<uint64_t>(request)) < plan_.probability;
  if (fails) {
    ++faults_;
    throw OutOfMemoryError(
        error_message("fault_adaptor", "made to fail", {{"request", request}, {"bytes", bytes}}),
        static_cast<int64_t>(std::min(bytes, kMostRequestBytes)));
  }
  return upstream().allocate(stream, bytes, alignment);
}

void FaultAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                              size_t alignment) noexcept {
  upstream().deallocate(stream, pointer, bytes, alignment);
}

DelayAdaptor::DelayAdaptor(AnyResource upstream, int64_t allocate_ns, int64_t deallocate_ns)
    : Adaptor(std::move(upstream)), allocate_ns_(allocate_ns), deallocate_ns_(deallocate_ns) {
  if (allocate_ns < 0 || deallocate_ns < 0)
    throw_error<InvalidArgumentError>(
        "delay_adaptor", "a delay is negative",
        {{"allocate_ns", allocate_ns}, {"deallocate_ns", deallocate_ns}});
}

void* DelayAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  sleep_ns(allocate_ns_);
  return upstream().allocate(stream, bytes, alignment);
}

void DelayAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                              size_t alignment) noexcept {
  sleep_ns(deallocate_ns_);
  upstream().deallocate(stream, pointer, bytes, alignment);
}

}  // namespace hr
