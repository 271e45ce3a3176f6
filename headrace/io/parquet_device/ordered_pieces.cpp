// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet_device/ordered_pieces.h"

#include "headrace/exec/workers.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>

namespace hr::parquet {

namespace {

class Pieces {
 public:
  Pieces(const std::vector<int64_t>& parts, int64_t most_open, const PieceWork& work)
      : most_open_(most_open), work_(work), ends_(parts.size()), states_(parts.size()) {
    std::inclusive_scan(parts.begin(), parts.end(), ends_.begin());
    for (size_t piece = 0; piece < parts.size(); ++piece) states_[piece].left = parts[piece];
  }

  void run() {
    send_what_is_made();
    if (!ends_.empty()) parallel_for(ends_.back(), [&](int64_t) { make_one(); });
  }

 private:
  struct State {
    std::mutex mutex;  // of who opens it
    bool is_open = false;
    std::atomic<int64_t> left = 0;  // parts
  };

  // Parts are taken in order: all of the pieces that one waits for are made already, or by workers
  // that run.
  void make_one() {
    const int64_t taken = next_.fetch_add(1);
    const auto piece = std::ranges::upper_bound(ends_, taken) - ends_.begin();
    State& state = states_[static_cast<size_t>(piece)];
    const int64_t before = piece == 0 ? 0 : ends_[static_cast<size_t>(piece - 1)];
    try {
      if (!open(piece, state)) return;
      work_.make(piece, taken - before);
      if (state.left.fetch_sub(1) == 1) send_what_is_made();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      has_failed_ = true;
      changed_.notify_all();
      throw;
    }
  }

  // False: other work has failed.
  bool open(int64_t piece, State& state) {
    const std::lock_guard opening(state.mutex);
    if (state.is_open) return true;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return has_failed_ || piece - num_sent_ < most_open_; });
      if (has_failed_) return false;
    }
    work_.open(piece);
    return state.is_open = true;
  }

  void send_what_is_made() {
    const std::lock_guard lock(mutex_);
    for (; !has_failed_ && num_sent_ < std::ssize(ends_); ++num_sent_) {
      if (states_[static_cast<size_t>(num_sent_)].left > 0) break;
      work_.send(num_sent_);
    }
    changed_.notify_all();
  }

  const int64_t most_open_;
  const PieceWork& work_;
  std::vector<int64_t> ends_;  // of parts
  std::vector<State> states_;
  std::atomic<int64_t> next_ = 0;
  std::mutex mutex_{};  // of what follows
  std::condition_variable changed_{};
  int64_t num_sent_ = 0;
  bool has_failed_ = false;
};

}  // namespace

void make_in_order(const std::vector<int64_t>& parts, int64_t most_open, const PieceWork& work) {
  Pieces(parts, most_open, work).run();
}

}  // namespace hr::parquet
