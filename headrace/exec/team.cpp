// SPDX-License-Identifier: Apache-2.0
// Threads that stay together over many rounds.
#include "headrace/exec/team.h"

#include "headrace/exec/interrupt.h"
#include "headrace/exec/processors.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

namespace hr {

namespace {

constexpr uint32_t kOver = std::numeric_limits<uint32_t>::max();
constexpr int kSpins = 1000;  // about 40 us: as long as a round takes
constexpr int kMostAlone = 1 << 12;

}  // namespace

void Team::round(std::span<const int64_t> rows, int64_t step, const Piece& piece) {
  if (alone_ > 0) {
    --alone_;
    for (size_t i = 0; i < rows.size(); ++i)
      for (int64_t k = 0; k * step < rows[i]; ++k)
        piece(0, static_cast<int>(i), morsel_at(k, rows[i], step));
    return;
  }
  const uint32_t number = round_.load(std::memory_order_relaxed) + 1;
  step_ = step;
  piece_ = &piece;
  done_.store(0, std::memory_order_relaxed);
  int64_t all = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    List& list = lists_[i];
    list.rows = rows[i];
    list.pieces = (rows[i] + step - 1) / step;
    all += list.pieces;
    list.left.store(uint64_t{number} << 32 | static_cast<uint64_t>(list.pieces),
                    std::memory_order_release);
  }
  round_.store(number, std::memory_order_release);
  work(0, number);
  // No interrupt before all is done: pieces refer to what the caller owns.
  int turn = 0;
  for (; done_.load(std::memory_order_acquire) != all; ++turn)
    turn < kSpins ? pause_processor() : std::this_thread::yield();
  if (turn >= kSpins) {
    alone_ = alone_after_wait_;
    alone_after_wait_ = std::min(2 * alone_after_wait_, kMostAlone);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// Takes pieces while there are some of this round. A round does not end before the pieces that were
// taken are done, so what it is about may be read from then on.
void Team::work(int member, uint32_t round) {
  int64_t done = 0;
  for (int k = 0; k < members_; ++k) {
    const int number = (member + k) % members_;
    List& list = lists_[static_cast<size_t>(number)];
    uint64_t left = list.left.load(std::memory_order_acquire);
    while (left >> 32 == round && static_cast<uint32_t>(left) > 0) {
      if (!list.left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) continue;
      const int64_t index = list.pieces - static_cast<uint32_t>(left);
      try {
        (*piece_)(member, number, morsel_at(index, list.rows, step_));
      } catch (...) {
        keep_failure();
      }
      ++done;
      left = list.left.load(std::memory_order_acquire);
    }
  }
  if (done > 0) done_.fetch_add(done, std::memory_order_acq_rel);
}

void Team::keep_failure() {
  const std::lock_guard lock(failure_mutex_);
  failure_ = std::current_exception();
}

void Team::help(int member) {
  for (uint32_t seen = 0;;) {
    uint32_t round = round_.load(std::memory_order_acquire);
    for (int turn = 0; round == seen; round = round_.load(std::memory_order_acquire)) {
      if (++turn < 4 * kSpins) {
        pause_processor();
      } else {
        look_for_interrupt();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
    if (round == kOver) return;
    look_for_interrupt();  // the thread of the call may be the one that helps
    seen = round;
    work(member, round);
  }
}

// The rounds are run by the thread that comes first: it may be the only one that comes.
void with_team(const std::function<void(Team&)>& rounds) {
  Team team(std::min(threads(), Team::kMost));
  parallel_for(team.members_, [&](int64_t) {
    const int member = team.joined_++;
    if (member > 0) return team.help(member);
    struct End {
      std::atomic<uint32_t>& round;
      ~End() { round.store(kOver, std::memory_order_release); }
    };
    const End end{team.round_};
    rounds(team);
  });
}

}  // namespace hr
