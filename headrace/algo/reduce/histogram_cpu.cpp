// SPDX-License-Identifier: Apache-2.0
// Counts of values in bins on the CPU: places are found in vectors, then counted one by one. Counts
// are integers, so their order of adding is free.
#define HWY_TARGET_INCLUDE "headrace/algo/reduce/histogram_cpu.cpp"
#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/reduce/histogram_kernels.h"
#include "headrace/algo/reduce/histogram_math.h"
#include "headrace/base/checked.h"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Takes the least and greatest of `count` values into `low` and `high`; true when one is NaN.
template <class T>
bool take_extremes(const T* values, int64_t count, T& low, T& high) {
  constexpr int64_t lanes = 32;
  T least[lanes];
  T most[lanes];
  uint8_t has_nan[lanes] = {};
  std::fill(least, least + lanes, low);
  std::fill(most, most + lanes, high);
  const auto take = [&](int64_t j, T value) {
    least[j] = value < least[j] ? value : least[j];
    most[j] = value > most[j] ? value : most[j];
    has_nan[j] |= value != value ? 1 : 0;
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t j = 0; j < lanes; ++j) take(j, values[i + j]);
  for (int64_t j = 0; i + j < count; ++j) take(j, values[i + j]);
  low = *std::min_element(least, least + lanes);
  high = *std::max_element(most, most + lanes);
  return std::find(has_nan, has_nan + lanes, 1) != has_nan + lanes;
}

/// The values as E, and the rough slot of each.
template <class Types>
void rough_slots(const typename Types::T* __restrict x, int64_t count, const UniformBins& bins,
                 typename Types::E* __restrict values, int32_t* __restrict found) {
  const RoughSlots<Types> slot(bins);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<typename Types::E>(x[i]);
    found[i] = slot(values[i]);
  }
}

/// The values as C, and the grid cell of each; how many are greater than `high`.
template <class Types>
int64_t grid_cells(const typename Types::T* __restrict x, int64_t count, const Grid& grid,
                   typename Types::E high, typename Types::E* __restrict values,
                   int32_t* __restrict found) {
  int32_t above = 0;
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<typename Types::E>(x[i]);
    found[i] = grid_cell(static_cast<double>(values[i]), grid);
  }
  for (int64_t i = 0; i < count; ++i) above += values[i] > high ? 1 : 0;
  return above;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

// Up to this number of bins each task counts separately; beyond, all share one array.
constexpr int64_t kOwnBins = 1 << 17;
// Up to this number of bins a task counts in four arrays by turns: equal values in a row need not
// wait for each other.
constexpr int64_t kBinsByTurns = 1 << 11;

/// `count_block(begin, count, add)` calls add(i, slot) for each element; slot 0 is for what is
/// outside, slot k + 1 for bin k.
template <class CountBlock>
void count_blocks(const BufferAccess& access, int64_t bins, Buffer& counts,
                  const CountBlock& count_block) {
  const int64_t rows = access.items;
  int64_t* total = counts.mutable_as<int64_t>();
  const int64_t slots = bins + 1;
  // Adding up the bins of a task should cost little compared with its rows.
  const int64_t morsels = bins <= kOwnBins ? std::max<int64_t>(1, bins / 4096) : 1;
  const int64_t task_rows = morsels * kMorselRows;
  const auto add_up = [&](int64_t bin, int64_t number) {
    std::atomic_ref(total[bin]).fetch_add(number, std::memory_order_relaxed);
  };
  parallel_for(divide_up(rows, task_rows), [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * task_rows);
    const Pin pin(ranges_of({&access, 1}, task * task_rows, end));
    const auto each_block = [&](const auto& add) {
      for (int64_t begin = task * task_rows; begin < end; begin += kBlockRows)
        count_block(begin, std::min(kBlockRows, end - begin), add);
    };
    if (bins > kOwnBins)
      return each_block([&](int64_t, int64_t slot) {
        if (slot > 0) add_up(slot - 1, 1);
      });
    const int64_t turns = bins <= kBinsByTurns ? 4 : 1;
    Buffer own = Buffer::allocate_zeroed(turns * slots * int64_t{4});
    uint32_t* count = own.mutable_as<uint32_t>();
    if (turns == 4)
      each_block([&](int64_t i, int64_t slot) { ++count[(i & 3) * slots + slot]; });
    else
      each_block([&](int64_t, int64_t slot) { ++count[slot]; });
    for (int64_t slot = 1; slot < slots; ++slot) {
      int64_t sum = 0;
      for (int64_t turn = 0; turn < turns; ++turn) sum += count[turn * slots + slot];
      if (sum != 0) add_up(slot - 1, sum);
    }
  });
}

template <class E>
Buffer make_borders(const E* edges, int64_t bins) {
  Buffer buffer = Buffer::allocate((bins + 1) * static_cast<int64_t>(sizeof(BinBorders<E>)));
  auto* borders = buffer.mutable_as<BinBorders<E>>();
  const E none = std::numeric_limits<E>::quiet_NaN();
  borders[0] = {none, none};
  for (int64_t bin = 0; bin < bins; ++bin)
    borders[bin + 1] = {bin > 0 ? edges[bin] : none, bin < bins - 1 ? edges[bin + 1] : none};
  return buffer;
}

template <class D, class T, class E>
void count_uniform_as(const StridedView<T>& x, const UniformBins& bins, const E* edges,
                      Buffer& counts) {
  using Types = CountTypes<T, E, D>;
  const Buffer border_buffer = make_borders(edges, bins.bins);
  const auto* borders = border_buffer.as<BinBorders<E>>();
  count_blocks(x.source, bins.bins, counts, [&](int64_t begin, int64_t count, const auto& add) {
    T block[kBlockRows];
    E values[kBlockRows];
    int32_t found[kBlockRows];
    HR_SIMD(rough_slots<Types>)(x.load(begin, count, block), count, bins, values, found);
    for (int64_t i = 0; i < count; ++i) add(i, exact_slot(values[i], found[i], borders));
  });
}

/// Edges and a grid over them: only the edges in the grid cell of a value can be near it.
template <class C>
class EdgeGrid {
 public:
  explicit EdgeGrid(const Tensor& edges)
      : bins_(edges.num_elements() - 1),
        edge_buffer_(Buffer::allocate((bins_ + 1) * static_cast<int64_t>(sizeof(C)))) {
    C* edge = edge_buffer_.mutable_as<C>();
    visit_real(edges.dtype(), [&]<class E>(std::type_identity<E>) {
      const StridedView<E> view(edges);
      for (int64_t i = 0; i <= bins_; ++i) edge[i] = static_cast<C>(view[i]);
    });
    edges_ = edge;
    const auto finite = [&](int64_t i) { return std::isfinite(static_cast<double>(edges_[i])); };
    int64_t first = 0;
    int64_t last = bins_;
    while (first < last && !finite(first)) ++first;
    while (first < last && !finite(last)) --last;
    int64_t cells = 256;
    while (cells < 32 * bins_ && cells < (1 << 13)) cells *= 2;
    while (cells < 4 * bins_ && cells < (1 << 18)) cells *= 2;
    grid_.cells = static_cast<double>(cells);
    grid_.low = finite(first) ? static_cast<double>(edges_[first]) : 0.0;
    grid_.scale = grid_.cells / (static_cast<double>(edges_[last]) - grid_.low);
    if (!std::isfinite(grid_.scale)) grid_.scale = 0;  // all in the first cell
    first_buffer_ = Buffer::allocate((cells + 1) * int64_t{4});
    int32_t* first_of = first_buffer_.mutable_as<int32_t>();
    int64_t next = 0;
    for (int64_t i = 0; i < bins_; ++i)
      for (const int64_t cell = grid_cell(static_cast<double>(edges_[i]), grid_); next <= cell;)
        first_of[next++] = static_cast<int32_t>(i);
    while (next <= cells) first_of[next++] = static_cast<int32_t>(bins_);
    first_of_ = first_of;
  }

  template <class T>
  void count(const StridedView<T>& x, Buffer& counts) const {
    using Types = CountTypes<T, C, double>;
    const C high = edges_[bins_];
    std::atomic<int64_t> above = 0;
    count_blocks(x.source, bins_, counts, [&](int64_t begin, int64_t size, const auto& add) {
      T block[kBlockRows];
      C values[kBlockRows];
      int32_t found[kBlockRows];
      const int64_t beyond =
          HR_SIMD(grid_cells<Types>)(x.load(begin, size, block), size, grid_, high, values, found);
      if (beyond > 0) above.fetch_add(beyond, std::memory_order_relaxed);
      for (int64_t i = 0; i < size; ++i) add(i, slot_of(values[i], found[i]));
    });
    // What is above the last edge was counted in the last bin.
    counts.mutable_as<int64_t>()[bins_ - 1] -= above;
  }

 private:
  /// How many edges are not above the value, the last one left out.
  int64_t slot_of(C value, int32_t cell) const {
    const int32_t first = first_of_[cell];
    // Nearly always the cell has one edge or none, and then this is all; an edge of a later cell is
    // above the value, and the last one need not be asked.
    const int64_t slot = first + (edges_[first] <= value ? 1 : 0);
    if (slot < bins_ && edges_[slot] <= value)
      return edges_not_above(value, edges_, slot, static_cast<int64_t>(first_of_[cell + 1]));
    return std::min(slot, bins_);
  }

  int64_t bins_;
  Grid grid_;
  Buffer edge_buffer_;
  Buffer first_buffer_;
  const C* edges_;
  const int32_t* first_of_;  ///< of each cell: its first edge; the last edge is in none
};

}  // namespace

Extremes extremes(const Tensor& x) {
  return visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const StridedView<T> view(x);
    std::vector<FoundExtremes<T>> parts(static_cast<size_t>(num_morsels(view.size)));
    parallel_morsels(view.size, {view.source}, [&](Morsel morsel) {
      FoundExtremes<T> found{view[morsel.begin], view[morsel.begin], false};
      T block[kBlockRows];
      for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows) {
        const int64_t count = std::min(kBlockRows, morsel.end - begin);
        const T* values = view.load(begin, count, block);
        found.has_nan |= HR_SIMD(take_extremes<T>)(values, count, found.low, found.high);
      }
      parts[static_cast<size_t>(morsel.index)] = found;
    });
    return join_extremes(parts);
  });
}

void count_uniform(const Tensor& x, const UniformBins& bins, const Tensor& edges, Buffer& counts) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    using E = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const StridedView<T> view(x);
    if (bins.divide_in_float)
      count_uniform_as<E>(view, bins, edges.as<E>(), counts);
    else
      count_uniform_as<double>(view, bins, edges.as<E>(), counts);
  });
}

void count_between(const Tensor& x, const Tensor& edges, Buffer& counts) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const StridedView<T> view(x);
    const bool whole = x.dtype().is_integer() && edges.dtype().is_integer();
    const bool wide = x.dtype() == TypeId::kUInt64 || edges.dtype() == TypeId::kUInt64;
    if (whole && !wide) return EdgeGrid<int64_t>(edges).count(view, counts);
    if (whole && x.dtype().is_unsigned() && edges.dtype().is_unsigned())
      return EdgeGrid<uint64_t>(edges).count(view, counts);
    return EdgeGrid<double>(edges).count(view, counts);
  });
}

}  // namespace hr::cpu
#endif
