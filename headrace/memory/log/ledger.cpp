// SPDX-License-Identifier: Apache-2.0
// The copy ledger.
#include "headrace/memory/log/ledger.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/log/tag.h"
#include "headrace/memory/log/trace.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

namespace hr {

namespace {

struct LedgerState {
  std::mutex mutex;
  std::vector<LedgerEntry> entries;
  std::atomic<int64_t> bytes{0};
  std::atomic<int> no_copies{0};
  std::atomic<int> no_asked_copies{0};
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  LedgerState() { lock_over_fork(mutex, true); }
};

LedgerState& state() {
  return process_global<LedgerState>();
}

constexpr size_t kMostEntries = 1 << 16;

// Sums the older half by what is equal but for the time, so that a long life keeps a short ledger.
void fold(std::vector<LedgerEntry>& entries) {
  std::map<std::tuple<std::string, std::string, std::string, bool, std::string>, size_t> kept;
  const size_t half = entries.size() / 2;
  std::vector<LedgerEntry> folded;
  for (size_t i = 0; i < entries.size(); ++i) {
    LedgerEntry& entry = entries[i];
    if (i < half) {
      const auto [at, is_new] = kept.try_emplace({entry.op, entry.reason, entry.line, entry.asked,
                                                  entry.from.name() + " " + entry.to.name()},
                                                 folded.size());
      if (!is_new) {
        folded[at->second].bytes += entry.bytes;
        continue;
      }
    }
    folded.push_back(std::move(entry));
  }
  entries = std::move(folded);
}

void add(LedgerState& ledger, LedgerEntry entry) {
  if (ledger.entries.size() >= kMostEntries) fold(ledger.entries);
  ledger.entries.push_back(std::move(entry));
}

}  // namespace

void record_copy(std::string_view op, std::string_view reason, int64_t bytes, bool asked,
                 Place from, Place to, std::string_view fix) {
  if (bytes == 0) return;
  LedgerState& ledger = state();
  if (asked ? ledger.no_asked_copies.load() > 0 : ledger.no_copies.load() > 0)
    throw_error<InvalidArgumentError>(op, "a copy inside no_copies",
                                      {{"reason", reason}, {"bytes", bytes}}, fix);
  if (!memory_trace()) return;
  LedgerEntry entry{.op = std::string(op),
                    .reason = std::string(reason),
                    .bytes = bytes,
                    .from = from,
                    .to = to,
                    .line = tag_info(current_tag()).line,
                    .asked = asked,
                    .time_ns = (std::chrono::steady_clock::now() - ledger.start).count()};
  const std::lock_guard lock(ledger.mutex);
  add(ledger, std::move(entry));
  ledger.bytes += bytes;
}

void record_move(Tag tag, int64_t bytes, Place from, Place to) {
  if (!memory_trace()) return;
  constexpr size_t kNear = 16;  // chunks of a few buffers take turns
  constexpr std::string_view kReason = "memory limit";
  TagInfo info = tag_info(tag);
  LedgerState& ledger = state();
  const auto now = std::chrono::steady_clock::now() - ledger.start;
  const std::lock_guard lock(ledger.mutex);
  const size_t count = ledger.entries.size();
  for (size_t i = count; i > 0 && i + kNear > count; --i) {
    LedgerEntry& entry = ledger.entries[i - 1];
    if (entry.reason != kReason || entry.from != from || entry.to != to || entry.op != info.op ||
        entry.line != info.line)
      continue;
    entry.bytes += bytes;
    return;
  }
  add(ledger, {.op = std::move(info.op),
               .reason = std::string(kReason),
               .bytes = bytes,
               .from = from,
               .to = to,
               .line = std::move(info.line),
               .asked = true,
               .time_ns = now.count()});
}

std::vector<LedgerEntry> ledger_entries() {
  LedgerState& ledger = state();
  const std::lock_guard lock(ledger.mutex);
  return ledger.entries;
}

int64_t ledger_bytes() {
  return state().bytes;
}

void clear_ledger() {
  LedgerState& ledger = state();
  const std::lock_guard lock(ledger.mutex);
  ledger.entries.clear();
  ledger.bytes = 0;
}

NoCopies::NoCopies(bool strict) : strict_(strict) {
  ++state().no_copies;
  if (strict_) ++state().no_asked_copies;
}

NoCopies::~NoCopies() {
  --state().no_copies;
  if (strict_) --state().no_asked_copies;
}

}  // namespace hr
