// SPDX-License-Identifier: Apache-2.0
// Pieces written in order: a ring of slots between those who make them and the file.
#include "headrace/io/ordered_writer.h"

#include "headrace/exec/workers.h"
#include "headrace/memory/spill/spill.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace hr {

namespace {

class Ring {
 public:
  Ring(Sink& sink, int64_t slots) : sink_(sink), slots_(static_cast<size_t>(slots)) {
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i].piece = static_cast<int64_t>(i);
  }

  void run(int64_t piece, const MakePiece& make) {
    try {
      if (!wait_for_slot(piece)) return;
      write(piece, make(piece, piece % static_cast<int64_t>(slots_.size())));
    } catch (...) {
      fail();
      throw;
    }
  }

 private:
  struct Slot {
    int64_t piece;  // that may be made in it, or is and waits to be written
    bool made = false;
    std::string_view bytes{};
  };

  struct Waiter {
    int64_t piece;
    int64_t holds;  // what begin_waiting gave
  };

  struct Place {
    int64_t piece;
    int64_t offset;
    std::string_view bytes;
  };

  Slot& slot_of(int64_t piece) { return slots_[static_cast<size_t>(piece) % slots_.size()]; }

  // False when another piece failed. Pieces are handed out in order, so the first that is not
  // written never waits, and neither do others for long.
  bool wait_for_slot(int64_t piece) {
    std::unique_lock lock(mutex_);
    const Slot& slot = slot_of(piece);
    if (slot.piece != piece && !failed_) {
      waiters_.push_back({piece, begin_waiting()});
      freed_.wait(lock, [&] { return slot.piece == piece || failed_; });
    }
    return !failed_;
  }

  // Who makes the next piece writes those too that were made before their turn.
  void write(int64_t piece, std::string_view bytes) {
    std::vector<Place> places;
    {
      const std::lock_guard lock(mutex_);
      slot_of(piece).bytes = bytes;
      slot_of(piece).made = true;
      while (slot_of(next_).made) {
        Slot& slot = slot_of(next_);
        slot.made = false;
        places.push_back(
            {next_++, sink_.leave_room(static_cast<int64_t>(slot.bytes.size())), slot.bytes});
      }
    }
    for (const Place& place : places) {
      sink_.write_at(place.offset, place.bytes);
      const std::lock_guard lock(mutex_);
      slot_of(place.piece).piece += static_cast<int64_t>(slots_.size());
      wake([&](const Waiter& waiter) { return waiter.piece == slot_of(place.piece).piece; });
    }
  }

  void fail() noexcept {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    wake([](const Waiter&) { return true; });
  }

  // They count as at work from here on, so that who waits for memory does not find all waiting.
  void wake(const auto& is_one) noexcept {
    std::erase_if(waiters_, [&](const Waiter& waiter) {
      if (!is_one(waiter)) return false;
      end_waiting(waiter.holds);
      return true;
    });
    freed_.notify_all();
  }

  Sink& sink_;
  std::mutex mutex_{};
  std::condition_variable freed_{};
  std::vector<Slot> slots_;
  std::vector<Waiter> waiters_{};
  int64_t next_ = 0;  // to be written
  bool failed_ = false;
};

}  // namespace

int64_t num_piece_slots() {
  return 2 * threads();
}

void write_in_order(const std::function<void(std::string_view)>& write, int64_t count,
                    int64_t slots, const MakePiece& make) {
  std::vector<std::string_view> made(static_cast<size_t>(slots));
  for (int64_t begin = 0; begin < count; begin += slots) {
    const int64_t some = std::min(slots, count - begin);
    parallel_for(some, [&](int64_t k) { made[static_cast<size_t>(k)] = make(begin + k, k); });
    for (int64_t k = 0; k < some; ++k) write(made[static_cast<size_t>(k)]);
  }
}

void write_in_order(Sink& sink, int64_t count, int64_t slots, const MakePiece& make) {
  // Ctrl-C reaches the calling thread while a pipe's reader keeps it waiting.
  if (!sink.takes_places())
    return write_in_order([&](std::string_view bytes) { sink.append(bytes); }, count, slots, make);
  Ring ring(sink, slots);
  parallel_for(count, [&](int64_t piece) { ring.run(piece, make); });
}

}  // namespace hr
