// SPDX-License-Identifier: Apache-2.0
// Which chunks leave memory first.
#include "headrace/memory/spill/spill_engine.h"

#include <algorithm>

namespace hr {

namespace {

// Classes of next use; within one, chunks compare by distance, which a double holds exactly.
constexpr double kTemporary = 0x1p20;
constexpr double kPlanned = 0x1p21;  // a step of the plan
constexpr int64_t kMostSteps = int64_t{1} << 18;
constexpr double kUnplanned = 0x1p43;
constexpr int64_t kMostDistance = int64_t{1} << 40;
constexpr double kUsedUp = 0x1p45;
constexpr double kUntouched = 0x1p46;

}  // namespace

// How far away the next use is: exact where the plan knows it, guessed otherwise. A buffer that is
// scanned again and again loses what was used just now, since least recently used would lose each
// chunk right before its turn; for a buffer of a device that came back, the time since tells. What
// has a copy on the disk costs half as much to lose.
double SpillEngine::rank(const Residency& residency, int64_t index) const {
  const Chunk& chunk = residency.chunks[static_cast<size_t>(index)];
  if (!chunk.touched) return kUntouched;  // nothing to write, nothing to fetch
  const int64_t size = residency.size();
  const int64_t since = clock_.load(std::memory_order_relaxed) - chunk.last_use;
  const int64_t used_in = chunk.last_step.load(std::memory_order_relaxed);
  const int64_t position = residency.position.load(std::memory_order_relaxed);
  const int64_t now = step_.load(std::memory_order_relaxed);
  const int64_t ahead = (index - position - 1 + 2 * size) % size;  // until a scan is there again
  const double discount = chunk.dirty ? 1 : 2;
  if (residency.keep == EvictionHint::kAlways)
    return discount * static_cast<double>(std::min(since, kMostDistance)) - kUnplanned;
  if (const auto use = residency.uses.lower_bound(std::max(now, used_in + 1));
      use != residency.uses.end()) {
    if (*use == now) return discount * static_cast<double>(std::max<int64_t>(index - position, 0));
    return discount * (kPlanned * static_cast<double>(std::min(*use - now, kMostSteps)) +
                       static_cast<double>(index));
  }
  if (residency.keep == EvictionHint::kTemporary && used_in == now)
    return kTemporary + discount * static_cast<double>(std::min(since, kMostSteps));
  if (residency.keep == EvictionHint::kOnce) return kUsedUp + static_cast<double>(position - index);
  const bool loops = residency.keep == EvictionHint::kSequential || residency.passes > 0;
  const int64_t due = residency.period > since ? residency.period - since : since;
  const int64_t distance = std::min(residency.period > 0 ? due
                                    : loops              ? ahead
                                                         : since,
                                    kMostDistance);
  return kUnplanned + discount * static_cast<double>(distance);
}

// The chunks to lose, claimed; with the mutex held.
std::vector<Claim> SpillEngine::choose(int64_t bytes) {
  struct Candidate {
    double rank;
    Claim claim;
  };
  std::vector<Candidate> candidates;
  for (Residency* residency : all_)
    for (int64_t i = 0; i < residency->size(); ++i) {
      const Chunk& chunk = residency->chunks[static_cast<size_t>(i)];
      if (chunk.pins == 0 && chunk.state == ChunkState::kResident && residency->charge(i) > 0)
        candidates.push_back({rank(*residency, i), {residency, i}});
    }
  std::vector<Claim> claims;
  int64_t found = 0;
  const auto farther = [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; };
  std::make_heap(candidates.begin(), candidates.end(), farther);
  while (found < bytes && !candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), farther);
    const Claim claim = candidates.back().claim;
    candidates.pop_back();
    Chunk& chunk = claim.residency->chunks[static_cast<size_t>(claim.chunk)];
    int32_t pins = 0;
    if (!chunk.pins.compare_exchange_strong(pins, Chunk::kClaimed)) continue;
    claims.push_back(claim);
    found += claim.residency->charge(claim.chunk);
  }
  return claims;
}

void SpillEngine::plan(Residency& residency, const std::vector<int64_t>& steps) {
  const std::lock_guard lock(mutex_);
  add_uses(residency, steps);
}

void SpillEngine::add_uses(Residency& residency, const std::vector<int64_t>& steps) const {
  residency.uses.erase(residency.uses.begin(), residency.uses.lower_bound(step_));
  residency.uses.insert(steps.begin(), steps.end());
}

void SpillEngine::set_eviction_hint(Residency& residency, EvictionHint keep) {
  const std::lock_guard lock(mutex_);
  residency.keep = keep;
}

}  // namespace hr
