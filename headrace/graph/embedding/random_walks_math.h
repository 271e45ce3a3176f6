// SPDX-License-Identifier: Apache-2.0
// One step of a random walk, of the seed and the numbers of walk and step.
#pragma once
#include "headrace/algo/random/draw_below.h"
#include "headrace/algo/random/philox.h"
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/graph/embedding/random_walks.h"

#include <cmath>

namespace hr {

inline constexpr int64_t kWalkEnd = -1;

/// Steps along rows; `sums` of weights up to each entry of its row, or null.
struct WalkSteps {
  const int64_t* offsets;
  const uint32_t* targets;
  const double* sums;
  uint64_t seed;
  double back;  ///< biases
  double away;
  double most;
  bool is_biased;

  WalkSteps(const int64_t* of_rows, const uint32_t* of_entries, const double* of_weights,
            const WalkOptions& options)
      : offsets(of_rows),
        targets(of_entries),
        sums(of_weights),
        seed(options.seed),
        back(1 / options.p),
        away(1 / options.q),
        most(std::fmax(std::fmax(back, 1.0), away)),
        is_biased(options.p != 1 || options.q != 1) {}

  HR_BOTH PhiloxBlock random(int64_t walk, int64_t step, uint32_t attempt) const {
    return philox_block({seed, static_cast<uint32_t>(step)}, static_cast<uint64_t>(walk), attempt);
  }

  /// An entry of the row, kWalkEnd where there is none to follow.
  HR_BOTH int64_t draw(int64_t walk, int64_t step, uint32_t attempt, int64_t from) const {
    const int64_t begin = offsets[from];
    const int64_t degree = offsets[from + 1] - begin;
    if (degree == 0) return kWalkEnd;
    const uint64_t word = philox_word(random(walk, step, attempt), 0);
    if (!sums) return begin + draw_below(word, degree);
    const double total = sums[begin + degree - 1];
    if (total <= 0) return kWalkEnd;
    // Rounded up, the product may be the total.
    const double wanted = fmin(unit_of(word) * total, nextafter(total, 0.0));
    int64_t low = begin;
    for (int64_t count = degree; count > 0;) {
      const int64_t half = count / 2;
      if (sums[low + half] <= wanted) {
        low += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return low;
  }

  /// The first of `entry` and further draws that is not rejected, of a step from a vertex that was
  /// reached from another.
  HR_BOTH int64_t biased(int64_t walk, int64_t step, int64_t before, int64_t from,
                         int64_t entry) const {
    if (offsets[from + 1] - offsets[from] == 1) return entry;
    const double least = fmin(1.0, away);
    const double greatest = fmax(1.0, away);
    for (uint32_t attempt = 0;;) {
      const double height = most * unit_of(philox_word(random(walk, step, attempt), 1));
      const int64_t to = targets[entry];
      // Between the two biases of steps on, whether there is an edge decides: it is looked for
      // then.
      const bool is_taken =
          to == before ? height < back
                       : height < least || (height < greatest && has(before, to) == (away < 1));
      if (is_taken) return entry;
      entry = draw(walk, step, ++attempt, from);
    }
  }

 private:
  HR_BOTH static double unit_of(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

  HR_BOTH bool has(int64_t vertex, int64_t target) const {
    const int64_t end = offsets[vertex + 1];
    const int64_t place = partition_point(offsets[vertex], end,
                                          [&](int64_t entry) { return targets[entry] < target; });
    return place < end && targets[place] == target;
  }
};

}  // namespace hr
