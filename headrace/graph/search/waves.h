// SPDX-License-Identifier: Apache-2.0
// Waves: tasks of which some run at once.
#pragma once
#include "headrace/exec/interrupt.h"

#include <algorithm>
#include <cstdint>

namespace hr {

/// Calls `body(first, count)` for `count` tasks in turn, at most `wave` of them each time.
template <class Body>
void each_wave(int64_t tasks, int64_t wave, Body&& body) {
  for (int64_t first = 0; first < tasks; first += wave) {
    report_progress(first, tasks);
    body(first, std::min(wave, tasks - first));
  }
}

}  // namespace hr
