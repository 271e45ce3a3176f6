// SPDX-License-Identifier: Apache-2.0
// Threads that stay together over many rounds, each too short for a job of its own.
#pragma once
#include "headrace/exec/workers.h"

#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <span>

namespace hr {

/// The threads of a call of `with_team`: one runs the rounds, the others spin until the next one
/// begins. For machines with other work: threads that wait long give their processor away, only
/// pieces that a thread has taken are waited for, and after a long wait the next rounds are run by
/// one thread.
class HR_API Team {
 public:
  static constexpr int kMost = 8;  // members

  /// `piece(member, list, rows)` works on rows of a list. No two calls at once have the same
  /// member.
  using Piece = std::function<void(int member, int list, Morsel rows)>;

  explicit Team(int members) : members_(members) {}

  int members() const { return members_; }

  /// Calls `piece` for all lists, which have `rows[i]` rows and are cut every `step` rows, and
  /// returns when all is done. Each member begins with the list of its own number: what it put into
  /// it in the round before is in its caches. Rethrows one of the errors.
  void round(std::span<const int64_t> rows, int64_t step, const Piece& piece);

 private:
  friend HR_API void with_team(const std::function<void(Team&)>& rounds);

  struct alignas(128) List {
    std::atomic<uint64_t> left{0};  // the round's number, and how many of its pieces are left
    int64_t rows = 0;
    int64_t pieces = 0;
  };

  void work(int member, uint32_t round);
  void help(int member);
  void keep_failure();

  const int members_;
  int alone_ = 0;              // rounds
  int alone_after_wait_ = 32;  // of those after the next long wait
  std::array<List, kMost> lists_;
  int64_t step_ = 1;
  const Piece* piece_ = nullptr;
  std::atomic<int> joined_{0};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  alignas(128) std::atomic<uint32_t> round_{0};
  alignas(128) std::atomic<int64_t> done_{0};  // pieces
};

/// Runs `rounds(team)` with the threads of a job, on one of them.
HR_API void with_team(const std::function<void(Team&)>& rounds);

}  // namespace hr
