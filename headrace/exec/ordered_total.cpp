// SPDX-License-Identifier: Apache-2.0
// A running total over the tasks of one job: each waits for its turn.
#include "headrace/exec/ordered_total.h"

#include "headrace/exec/processors.h"

namespace hr {

OrderedTotal::Turn::~Turn() {
  if (!is_over_ && total_.wait_for(index_)) total_.pass_on(-1);
}

std::optional<int64_t> OrderedTotal::Turn::add(int64_t count) {
  is_over_ = true;
  if (!total_.wait_for(index_)) return {};
  const int64_t before = total_.total_;
  total_.total_ += count;
  total_.pass_on(index_ + 1);
  return before;
}

bool OrderedTotal::wait_for(int64_t index) {
  constexpr int kLooks = 1000;  // some 10 us: the tasks before run at the same time
  for (int look = 0;; ++look) {
    const int64_t next = next_.load(std::memory_order_acquire);
    if (next == index) return true;
    if (next < 0) return false;
    if (look < kLooks)
      pause_processor();
    else
      next_.wait(next, std::memory_order_acquire);
  }
}

void OrderedTotal::pass_on(int64_t next) {
  next_.store(next, std::memory_order_release);
  next_.notify_all();
}

}  // namespace hr
