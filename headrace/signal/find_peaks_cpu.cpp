// SPDX-License-Identifier: Apache-2.0
// Maxima, prominences and widths of peaks on the CPU.
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/find_peaks_kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace hr::cpu {

namespace {

/// Peaks of a task.
constexpr int64_t kPeaks = 4096;

/// Appends the maxima that rise at [begin, end).
void maxima_between(const double* x, int64_t count, int64_t begin, int64_t end,
                    BudgetedVector<PeakPlace>& peaks) {
  int64_t rising[kBlockRows];
  for (int64_t first = begin; first < end; first += kBlockRows) {
    const int64_t last = std::min(first + kBlockRows, end);
    int64_t found = 0;
    for (int64_t i = first; i < last; ++i) {
      rising[found] = i;
      found += (x[i - 1] < x[i]) & !(x[i] < x[i + 1]) ? 1 : 0;
    }
    for (int64_t k = 0; k < found; ++k) {
      const int64_t left = rising[k];
      int64_t behind = left + 1;
      while (behind < count - 1 && x[behind] == x[left]) ++behind;
      if (x[behind] < x[left]) peaks.push_back({(left + behind - 1) / 2, left, behind - 1});
    }
  }
}

/// The least and the greatest of blocks of 64 samples, and of blocks of 64 of these.
class Extremes {
 public:
  static constexpr int64_t kFan = 64;

  struct Block {
    double least;
    double most;
    bool has_nan;
  };

  Extremes(const double* x, int64_t count) : x_(x), count_(count) {
    BudgetedVector<Block> first(static_cast<size_t>(divide_up(count, kFan)));
    parallel_morsels(static_cast<int64_t>(first.size()), [&](Morsel morsel) {
      for (int64_t k = morsel.begin; k < morsel.end; ++k) {
        Block block{x[k * kFan], x[k * kFan], false};
        for (int64_t i = k * kFan; i < std::min((k + 1) * kFan, count); ++i) {
          block.least = x[i] < block.least ? x[i] : block.least;
          block.most = x[i] > block.most ? x[i] : block.most;
          block.has_nan |= std::isnan(x[i]);
        }
        first[static_cast<size_t>(k)] = block;
      }
    });
    levels_.push_back(std::move(first));
    while (levels_.back().size() > static_cast<size_t>(kFan)) {
      const BudgetedVector<Block>& below = levels_.back();
      BudgetedVector<Block> next;
      for (size_t k = 0; k < below.size(); k += static_cast<size_t>(kFan)) {
        Block block = below[k];
        for (size_t i = k; i < std::min(k + static_cast<size_t>(kFan), below.size()); ++i) {
          block.least = std::min(block.least, below[i].least);
          block.most = std::max(block.most, below[i].most);
          block.has_nan |= below[i].has_nan;
        }
        next.push_back(block);
      }
      levels_.push_back(std::move(next));
    }
  }

  /// The least sample, and the place of the one nearest to `peak`, from the peak in direction
  /// `step` to the one before a higher sample, a NaN, or `end`.
  template <int64_t step>
  std::pair<double, int64_t> base(int64_t peak, int64_t end) const {
    const double top = x_[peak];
    double least = top;
    int64_t place = peak;
    int64_t size = 1;  // of the block that holds the least sample nearest to the peak
    int64_t i = peak;
    while (i != end) {
      if ((step > 0 ? i : i + 1) % kFan == 0) {
        const auto [length, block] = next_block<step>(i, end, top);
        if (length > 0) {
          if (block->least < least) {
            least = block->least;
            place = i;
            size = length;
          }
          i += step * length;
          continue;
        }
      }
      if (!(x_[i] <= top)) break;
      if (x_[i] < least) {
        least = x_[i];
        place = i;
        size = 1;
      }
      i += step;
    }
    if (size > 1)
      while (x_[place] != least) place += step;
    return {least, place};
  }

 private:
  /// The largest block that begins at i, ends before `end` and holds nothing above `top`.
  template <int64_t step>
  std::pair<int64_t, const Block*> next_block(int64_t i, int64_t end, double top) const {
    std::pair<int64_t, const Block*> found{0, nullptr};
    int64_t length = kFan;
    for (const BudgetedVector<Block>& level : levels_) {
      const int64_t edge = step > 0 ? i : i + 1;
      if (edge % length != 0) break;
      const int64_t begin = step > 0 ? i : i + 1 - length;
      if (begin < 0 || begin + length > count_) break;
      if (step > 0 ? begin + length > end : begin - 1 < end) break;
      const Block& block = level[static_cast<size_t>(begin / length)];
      if (block.has_nan || !(block.most <= top)) break;
      found = {length, &block};
      length *= kFan;
    }
    return found;
  }

  const double* x_;
  int64_t count_;
  std::vector<BudgetedVector<Block>> levels_{};
};

}  // namespace

BudgetedVector<PeakPlace> local_maxima(const double* x, int64_t count) {
  if (count < 3) return {};
  const int64_t rows = count - 2;
  std::vector<BudgetedVector<PeakPlace>> parts(static_cast<size_t>(num_morsels(rows)));
  parallel_morsels(rows, [&](Morsel morsel) {
    maxima_between(x, count, morsel.begin + 1, morsel.end + 1,
                   parts[static_cast<size_t>(morsel.index)]);
  });
  BudgetedVector<PeakPlace> peaks = std::move(parts[0]);
  size_t total = 0;
  for (const auto& part : parts) total += part.size();
  peaks.reserve(peaks.size() + total);
  for (size_t k = 1; k < parts.size(); ++k)
    peaks.insert(peaks.end(), parts[k].begin(), parts[k].end());
  return peaks;
}

BudgetedVector<uint8_t> far_apart(const double* x, const BudgetedVector<PeakPlace>& peaks,
                                  int64_t distance) {
  const auto count = static_cast<int64_t>(peaks.size());
  const auto at = [&](int64_t k) { return peaks[static_cast<size_t>(k)].middle; };
  BudgetedVector<int64_t> order(peaks.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const double left = x[at(a)], right = x[at(b)];
    return left > right || (left == right && a > b);
  });
  BudgetedVector<uint8_t> keep(peaks.size(), 1);
  for (const int64_t k : order) {
    if (!keep[static_cast<size_t>(k)]) continue;
    for (int64_t i = k - 1; i >= 0 && at(k) - at(i) < distance; --i)
      keep[static_cast<size_t>(i)] = 0;
    for (int64_t i = k + 1; i < count && at(i) - at(k) < distance; ++i)
      keep[static_cast<size_t>(i)] = 0;
  }
  return keep;
}

BudgetedVector<PeakProminence> peak_prominences(const double* x, int64_t count,
                                                const BudgetedVector<PeakPlace>& peaks,
                                                int64_t window) {
  BudgetedVector<PeakProminence> result(peaks.size());
  if (peaks.empty()) return result;
  const Extremes extremes(x, count);
  const auto all = static_cast<int64_t>(peaks.size());
  parallel_for(divide_up(all, kPeaks), [&](int64_t task) {
    for (int64_t k = task * kPeaks; k < std::min((task + 1) * kPeaks, all); ++k) {
      const int64_t peak = peaks[static_cast<size_t>(k)].middle;
      const int64_t first = window > 0 ? std::max<int64_t>(peak - window / 2, 0) : 0;
      const int64_t last = window > 0 ? std::min(peak + window / 2, count - 1) : count - 1;
      const auto [left, left_base] = extremes.base<-1>(peak, first - 1);
      const auto [right, right_base] = extremes.base<1>(peak, last + 1);
      result[static_cast<size_t>(k)] = {x[peak] - std::max(left, right), left_base, right_base};
    }
  });
  return result;
}

BudgetedVector<PeakWidth> peak_widths(const double* x, const BudgetedVector<PeakPlace>& peaks,
                                      const BudgetedVector<PeakProminence>& prominences,
                                      double relative_height) {
  BudgetedVector<PeakWidth> result(peaks.size());
  const auto all = static_cast<int64_t>(peaks.size());
  parallel_for(divide_up(all, kPeaks), [&](int64_t task) {
    for (int64_t k = task * kPeaks; k < std::min((task + 1) * kPeaks, all); ++k) {
      const int64_t peak = peaks[static_cast<size_t>(k)].middle;
      const PeakProminence& of = prominences[static_cast<size_t>(k)];
      const double height = x[peak] - of.value * relative_height;
      int64_t i = peak;
      while (of.left_base < i && height < x[i]) --i;
      auto left = static_cast<double>(i);
      if (x[i] < height) left += (height - x[i]) / (x[i + 1] - x[i]);
      i = peak;
      while (i < of.right_base && height < x[i]) ++i;
      auto right = static_cast<double>(i);
      if (x[i] < height) right -= (height - x[i]) / (x[i - 1] - x[i]);
      result[static_cast<size_t>(k)] = {right - left, height, left, right};
    }
  });
  return result;
}

}  // namespace hr::cpu
