// SPDX-License-Identifier: Apache-2.0
// Transforms of one row: at once, by columns, roots and rows ("four steps"), or by Bluestein's
// method.
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_batched.h"

#include <algorithm>
#include <utility>

namespace hr::cpu {

namespace {

/// Where a long plan keeps its numbers between the two steps: for kLanes results of a column each,
/// a tile of n2 blocks. Tiles lie a little apart, so that they do not meet in the same sets of the
/// cache.
template <class T>
struct LongLayout {
  explicit LongLayout(const FftPlan<T>& plan)
      : num_column_blocks(divide_up(plan.n2, kLanes<T>)),
        num_tiles(divide_up(plan.n1, kLanes<T>)),
        tile_pitch((num_column_blocks * kLanes<T> + 1) * kBlock<T>),
        middle(num_tiles * tile_pitch),
        lane_work(std::max(num_tiles * kLanes<T>, plan.n2) * kBlock<T>) {}

  int64_t num_column_blocks;
  int64_t num_tiles;
  int64_t tile_pitch;
  int64_t middle;     ///< numbers in all tiles
  int64_t lane_work;  ///< numbers of one of two places for blocks
};

/// Calls body(begin, end, work) over [0, count) in parts of `part`: on this thread with `work`, or
/// on all workers, each with `work_size` numbers of its own.
template <class T, class Body>
void for_parts(int64_t count, int64_t part, int64_t work_size, T* work, const Body& body) {
  if (work) return body(0, count, work);
  parallel_for(divide_up(count, part), [&](int64_t task) {
    Buffer own = room_for<T>(work_size);
    body(task * part, std::min(count, (task + 1) * part), own.mutable_as<T>());
  });
}

template <class T>
void transform_long(const FftPlan<T>& plan, bool exchanged, T scale, const T* in, T* out, T* work) {
  const LongLayout<T> layout(plan);
  Buffer own;
  if (!work) own = room_for<T>(layout.middle);
  T* middle = work ? work : own.mutable_as<T>();
  T* rest = work ? work + layout.middle : nullptr;
  const auto blocks_of_task = [](int64_t length) {
    return std::max<int64_t>(1, kTaskSize / (length * kLanes<T>));
  };
  for_parts(layout.num_column_blocks, blocks_of_task(plan.n1), 2 * layout.lane_work, rest,
            [&](int64_t begin, int64_t end, T* a) {
              for (int64_t block = begin; block < end; ++block) {
                const int64_t first = block * kLanes<T>;
                load_columns(in + 2 * first, plan.n2, plan.n1, std::min(kLanes<T>, plan.n2 - first),
                             exchanged, a);
                T* result = run_lanes(plan.columns, false, a, a + layout.lane_work, a);
                std::fill(result + plan.n1 * kBlock<T>,
                          result + layout.num_tiles * kLanes<T> * kBlock<T>, T{0});
                turn_columns(plan, first, result, layout.tile_pitch, middle + first * kBlock<T>);
              }
            });
  for_parts(layout.num_tiles, blocks_of_task(plan.n2), 2 * layout.lane_work, rest,
            [&](int64_t begin, int64_t end, T* a) {
              for (int64_t tile = begin; tile < end; ++tile) {
                const int64_t first = tile * kLanes<T>;
                const T* result = run_lanes(plan.rows, false, middle + tile * layout.tile_pitch, a,
                                            a + layout.lane_work);
                store_columns(result, plan.n1, plan.n2, std::min(kLanes<T>, plan.n1 - first),
                              exchanged, scale, out + 2 * first);
              }
            });
}

/// X[k] = c[k] sum over j of (x[j] c[j]) conj(c[k - j]), the sum by transforms over plan.inner.
template <class T>
void transform_bluestein(const FftPlan<T>& plan, bool exchanged, T scale, const T* in, T* out,
                         T* work) {
  const int64_t length = plan.inner->n;
  Buffer own;
  if (!work) own = room_for<T>(2 * length);
  T* pairs = work ? work : own.mutable_as<T>();
  T* rest = work ? work + 2 * length : nullptr;
  const T* chirp = plan.chirp.template as<T>();
  const T* kernel = plan.kernel.template as<T>();
  const auto multiply = [&](int64_t count, const T* factors, bool exchange_in, bool exchange_out,
                            T by, const T* from, T* to) {
    for_parts(count, kTaskSize, 0, rest, [&](int64_t begin, int64_t end, T*) {
      multiply_pairs(end - begin, factors + 2 * begin, exchange_in, exchange_out, by,
                     from + 2 * begin, to + 2 * begin);
    });
  };
  multiply(plan.n, chirp, exchanged, false, T{1}, in, pairs);
  std::fill(pairs + 2 * plan.n, pairs + 2 * length, T{0});
  transform_row(*plan.inner, false, T{1}, pairs, pairs, rest);
  multiply(length, kernel, false, false, T{1}, pairs, pairs);
  transform_row(*plan.inner, true, T{1}, pairs, pairs, rest);
  multiply(plan.n, chirp, false, exchanged, scale, pairs, out);
}

}  // namespace

template <class T>
int64_t lane_blocks(const FftPlan<T>& plan) {
  return plan.inner ? plan.inner->n : plan.n;
}

template <class T>
T* transform_lanes(const FftPlan<T>& plan, bool exchanged, T* a, T* b) {
  if (!plan.inner) return run_lanes(plan.columns, exchanged, a, b, a);
  const LanePlan<T>& inner = plan.inner->columns;
  multiply_lanes(plan.n, plan.chirp.template as<T>(), exchanged, a, a);
  std::fill(a + plan.n * kBlock<T>, a + inner.n * kBlock<T>, T{0});
  T* sums = run_lanes(inner, exchanged, a, b, a);
  multiply_lanes(inner.n, plan.kernel.template as<T>(), exchanged, sums, sums);
  T* result = run_lanes(inner, !exchanged, sums, sums == a ? b : a, sums);
  multiply_lanes(plan.n, plan.chirp.template as<T>(), exchanged, result, result);
  return result;
}

template <class T>
int64_t row_work(const FftPlan<T>& plan) {
  if (plan.inner) return 2 * plan.inner->n + row_work(*plan.inner);
  if (plan.is_short()) return 4 * plan.n;
  const LongLayout<T> layout(plan);
  return layout.middle + 2 * layout.lane_work;
}

template <class T>
void transform_row(const FftPlan<T>& plan, bool exchanged, T scale, const T* in, T* out, T* work) {
  if (plan.inner) return transform_bluestein(plan, exchanged, scale, in, out, work);
  if (!plan.is_short()) return transform_long(plan, exchanged, scale, in, out, work);
  Buffer own;
  if (!work) own = room_for<T>(row_work(plan));
  run_alone(plan.columns, exchanged, scale, in, out, work ? work : own.mutable_as<T>());
}

#define HR_INSTANTIATE(T)                                                    \
  template T* transform_lanes(const FftPlan<T>&, bool, T*, T*);              \
  template int64_t lane_blocks(const FftPlan<T>&);                           \
  template void transform_row(const FftPlan<T>&, bool, T, const T*, T*, T*); \
  template int64_t row_work(const FftPlan<T>&);
HR_INSTANTIATE(float)
HR_INSTANTIATE(double)
#undef HR_INSTANTIATE

}  // namespace hr::cpu
