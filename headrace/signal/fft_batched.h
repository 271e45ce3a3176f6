// SPDX-License-Identifier: Apache-2.0
// Pieces of the transforms. "Pairs" are complex numbers interleaved as in a tensor;
// blocks are fft_plan.h's. With `exchanged`, real and imaginary parts change places as they are
// read and written: the transform is then the inverse one.
#pragma once
#include "headrace/base/checked.h"
#include "headrace/signal/fft_plan.h"

#include <cstdint>
#include <type_traits>

namespace hr::cpu {

/// Numbers that a task handles at least.
inline constexpr int64_t kTaskSize = int64_t{1} << 15;

/// Room for `count` numbers.
template <class T>
Buffer room_for(int64_t count) {
  return Buffer::allocate(checked_multiply("fft", count, static_cast<int64_t>(sizeof(T))));
}

/// f of the radix as a constant: 0 for odd ones without code of their own.
template <class F>
auto visit_radix(int64_t radix, F&& f) {
  switch (radix) {
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    case 8:
      return f(std::integral_constant<int, 8>{});
    case 11:
      return f(std::integral_constant<int, 11>{});
    case 13:
      return f(std::integral_constant<int, 13>{});
    default:
      return f(std::integral_constant<int, 0>{});
  }
}

/// Transforms the blocks at `in`; `a` and `b` have room for as many, and `b` may be `in`. The
/// result lies in the one returned.
template <class T>
T* run_lanes(const LanePlan<T>& plan, bool exchanged, const T* in, T* a, T* b);

/// Transforms plan.n pairs of one row, times `scale`; `work` has room for twice as many.
template <class T>
void run_alone(const LanePlan<T>& plan, bool exchanged, T scale, const T* in, T* out, T* work);

/// in[k] times the k-th of `count` pairs, to blocks `pitch` numbers apart.
template <class T>
void multiply_lanes(int64_t count, const T* factors, bool exchanged, const T* in, T* out,
                    int64_t pitch = kBlock<T>);

/// Blocks 0 ... half of a real transform from those of half its length; `scale` on every result.
template <class T>
void untangle_lanes(const RootTable<T>& circle, int64_t half, T scale, const T* in, T* out);

/// Undoes `untangle_lanes`, times 2.
template <class T>
void tangle_lanes(const RootTable<T>& circle, int64_t half, const T* in, T* out);

/// The first `count` numbers of kLanes rows side by side, those of a place `pitch` after those of
/// the one before: kLanes when rows are pairs, kBlock when they are real parts.
template <class T>
void rows_to_lanes(const T* const* rows, int64_t count, int64_t pitch, T* out);

/// Undoes `rows_to_lanes` for the first `num_rows` rows, times `scale`.
template <class T>
void lanes_to_rows(const T* in, int64_t count, int64_t pitch, T scale, int64_t num_rows,
                   T* const* rows);

/// Blocks of `width` <= kLanes pairs at x, x + 2 pitch, ...; zeros in the lanes beyond.
template <class T>
void load_columns(const T* x, int64_t pitch, int64_t count, int64_t width, bool exchanged, T* out);

/// Undoes `load_columns`, times `scale`.
template <class T>
void store_columns(const T* in, int64_t pitch, int64_t count, int64_t width, bool exchanged,
                   T scale, T* x);

/// Lanes last, ..., first of `in` at x, x + 2 pitch, ...: conjugates times `scale`.
template <class T>
void store_mirrored(const T* in, int64_t pitch, int64_t count, int64_t first, int64_t last, T scale,
                    T* x);

/// Multiplies columns first ... first + kLanes - 1 (blocks, `in` padded to whole squares) by the
/// roots between the two steps of a long plan and transposes each square of kLanes blocks to
/// out + i tile_pitch.
template <class T>
void turn_columns(const FftPlan<T>& plan, int64_t first, const T* in, int64_t tile_pitch, T* out);

/// Untangles terms begin ... end - 1 and their mirrors half - k; 0 <= begin <= end <= half / 2 + 1.
/// `in` may be `out`.
template <class T>
void untangle_row(const RootTable<T>& circle, int64_t half, int64_t begin, int64_t end, T scale,
                  const T* in, T* out);

/// Undoes `untangle_row`, times 2, from half + 1 terms into `half` other ones.
template <class T>
void tangle_row(const RootTable<T>& circle, int64_t half, int64_t begin, int64_t end, const T* in,
                T* out);

/// out[k] = in[k] factors[k] scale for `count` pairs, the parts of in or out exchanged.
template <class T>
void multiply_pairs(int64_t count, const T* factors, bool exchange_in, bool exchange_out, T scale,
                    const T* in, T* out);

/// Transforms blocks of a short plan, lane_blocks(plan) of them in `a` and in `b`, of which the
/// first n of `a` are given. The result lies in the one returned.
template <class T>
T* transform_lanes(const FftPlan<T>& plan, bool exchanged, T* a, T* b);
template <class T>
int64_t lane_blocks(const FftPlan<T>& plan);

/// Transforms n pairs, times `scale`; `in` may be `out`. With `work`, row_work(plan) numbers, on
/// this thread alone; without, on all workers: same bits.
template <class T>
void transform_row(const FftPlan<T>& plan, bool exchanged, T scale, const T* in, T* out,
                   T* work = nullptr);
template <class T>
int64_t row_work(const FftPlan<T>& plan);

}  // namespace hr::cpu
