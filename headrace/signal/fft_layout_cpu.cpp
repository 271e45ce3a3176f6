// SPDX-License-Identifier: Apache-2.0
// Between the complex numbers of a tensor and blocks of lanes; products along a row.
#define HWY_TARGET_INCLUDE "headrace/signal/fft_layout_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/base/simd_vectors.h"
#include "headrace/signal/fft_batched.h"

#include <utility>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Stores vector u of the transposed kWidth vectors that `load_row` reads.
template <class T, class Load, class Store>
__attribute__((always_inline)) inline void transpose_block(const Load& load_row,
                                                           const Store& store_row) {
  constexpr int64_t V = kWidth<T>;
  Vector<T> x[V];
#pragma GCC unroll 16
  for (int64_t u = 0; u < V; ++u) x[u] = load_row(u);
  transpose<T>(x);
#pragma GCC unroll 16
  for (int64_t u = 0; u < V; ++u) store_row(u, x[u]);
}

template <class T>
void rows_to_lanes(const T* const* rows, int64_t count, int64_t pitch, T* out) {
  constexpr int64_t B = kLanes<T>;
  constexpr int64_t V = kWidth<T>;
  const int64_t whole = count / V * V;
  for (int64_t i = 0; i < whole; i += V)
    for (int64_t lane = 0; lane < B; lane += V)
      transpose_block<T>([&](int64_t u) { return load(rows[lane + u] + i); },
                         [&](int64_t u, Vector<T> x) { store(x, out + (i + u) * pitch + lane); });
  for (int64_t i = whole; i < count; ++i)
    for (int64_t lane = 0; lane < B; ++lane) out[i * pitch + lane] = rows[lane][i];
}

template <class T>
void lanes_to_rows(const T* in, int64_t count, int64_t pitch, T scale, int64_t num_rows,
                   T* const* rows) {
  constexpr int64_t V = kWidth<T>;
  const int64_t whole = count / V * V;
  for (int64_t i = 0; i < whole; i += V)
    for (int64_t lane = 0; lane < num_rows; lane += V)
      transpose_block<T>([&](int64_t u) { return load(in + (i + u) * pitch + lane) * scale; },
                         [&](int64_t u, Vector<T> x) {
                           if (lane + u < num_rows) store(x, rows[lane + u] + i);
                         });
  for (int64_t i = whole; i < count; ++i)
    for (int64_t lane = 0; lane < num_rows; ++lane) rows[lane][i] = in[i * pitch + lane] * scale;
}

template <class T>
__attribute__((always_inline)) inline Complex<Vector<T>> load_pairs(const T* from) {
  Complex<Vector<T>> value{load(from), load(from + kWidth<T>)};
  split_pairs<T>(value.re, value.im);
  return value;
}

template <class T>
__attribute__((always_inline)) inline void store_pairs(Complex<Vector<T>> value, T* to) {
  join_pairs<T>(value.re, value.im);
  store(value.re, to);
  store(value.im, to + kWidth<T>);
}

template <class T>
void load_columns(const T* x, int64_t pitch, int64_t count, int64_t width, bool exchanged, T* out) {
  constexpr int64_t B = kLanes<T>;
  const int64_t first = exchanged ? B : 0;
  if (width == B) {
    for (int64_t j = 0; j < count; ++j)
      for (int64_t lane = 0; lane < B; lane += kWidth<T>) {
        const Complex<Vector<T>> a = load_pairs(x + 2 * (j * pitch + lane));
        store(a.re, out + j * kBlock<T> + first + lane);
        store(a.im, out + j * kBlock<T> + B - first + lane);
      }
    return;
  }
  for (int64_t j = 0; j < count; ++j)
    for (int64_t lane = 0; lane < B; ++lane) {
      T* to = out + j * kBlock<T> + lane;
      to[first] = lane < width ? x[2 * (j * pitch + lane)] : T{0};
      to[B - first] = lane < width ? x[2 * (j * pitch + lane) + 1] : T{0};
    }
}

template <class T>
void store_columns(const T* in, int64_t pitch, int64_t count, int64_t width, bool exchanged,
                   T scale, T* x) {
  constexpr int64_t B = kLanes<T>;
  const int64_t first = exchanged ? B : 0;
  if (width == B) {
    for (int64_t j = 0; j < count; ++j)
      for (int64_t lane = 0; lane < B; lane += kWidth<T>) {
        const T* from = in + j * kBlock<T> + lane;
        store_pairs<T>({load(from + first) * scale, load(from + B - first) * scale},
                       x + 2 * (j * pitch + lane));
      }
    return;
  }
  for (int64_t j = 0; j < count; ++j)
    for (int64_t lane = 0; lane < width; ++lane) {
      const T* from = in + j * kBlock<T> + lane;
      x[2 * (j * pitch + lane)] = from[first] * scale;
      x[2 * (j * pitch + lane) + 1] = from[B - first] * scale;
    }
}

template <class T>
void store_mirrored(const T* in, int64_t pitch, int64_t count, int64_t first, int64_t last, T scale,
                    T* x) {
  constexpr int64_t B = kLanes<T>;
  constexpr int64_t V = kWidth<T>;
  if (first == 0 && last == B - 1) {
    for (int64_t j = 0; j < count; ++j)
      for (int64_t lane = 0; lane < B; lane += V) {
        const T* from = in + j * kBlock<T> + B - V - lane;
        const Vector<T> re = load(from) * scale;
        const Vector<T> im = load(from + B) * scale;
        store_pairs<T>({reversed<T>(re), reversed<T>(-im)}, x + 2 * (j * pitch + lane));
      }
    return;
  }
  for (int64_t j = 0; j < count; ++j)
    for (int64_t lane = last; lane >= first; --lane) {
      const T* from = in + j * kBlock<T> + lane;
      T* to = x + 2 * (j * pitch + last - lane);
      to[0] = from[0] * scale;
      to[1] = -(from[B] * scale);
    }
}

template <class T>
void turn_columns(const FftPlan<T>& plan, int64_t first, const T* in, int64_t tile_pitch, T* out) {
  constexpr int64_t B = kLanes<T>;
  constexpr int64_t V = kWidth<T>;
  const T* offsets = plan.offsets.template as<T>();
  int64_t power = 0;  // first times the row, modulo n
  for (int64_t row = 0; row < plan.n1; row += B) {
    T root_re[B];
    T root_im[B];
    for (int64_t i = 0; i < B; ++i) {
      const Complex<double> root = plan.roots[power];
      root_re[i] = static_cast<T>(root.re);
      root_im[i] = static_cast<T>(root.im);
      power += first;
      if (power >= plan.n) power -= plan.n;
    }
    for (int64_t i = 0; i < B; i += V)
      for (int64_t lane = 0; lane < B; lane += V) {
        Vector<T> re[V];
        Vector<T> im[V];
#pragma GCC unroll 16
        for (int64_t u = 0; u < V; ++u) {
          const int64_t at = (row + i + u) * kBlock<T> + lane;
          const Complex<Vector<T>> offset{load(offsets + at), load(offsets + at + B)};
          const Complex<Vector<T>> step = times(offset, root_re[i + u], root_im[i + u]);
          const Complex<Vector<T>> root{step.re + root_re[i + u], step.im + root_im[i + u]};
          const Complex<Vector<T>> turned =
              Complex<Vector<T>>{load(in + at), load(in + at + B)} * root;
          re[u] = turned.re;
          im[u] = turned.im;
        }
        transpose<T>(re);
        transpose<T>(im);
        T* to = out + row / B * tile_pitch + lane * kBlock<T> + i;
#pragma GCC unroll 16
        for (int64_t u = 0; u < V; ++u) {
          store(re[u], to + u * kBlock<T>);
          store(im[u], to + u * kBlock<T> + B);
        }
      }
  }
}

/// Pairs in the opposite order.
template <class T>
__attribute__((always_inline)) inline Complex<Vector<T>> backwards(const Complex<Vector<T>>& a) {
  return {reversed<T>(a.re), reversed<T>(a.im)};
}

// Complex products of single numbers are done in vectors too: g++ 12 makes fused operations of them
// where it sees a real and an imaginary part side by side, whatever -ffp-contract says, and the
// bits would differ between levels.

template <class T>
__attribute__((always_inline)) inline Complex<Vector<T>> load_pair(const T* from) {
  return {broadcast(from[0]), broadcast(from[1])};
}

template <class T>
__attribute__((always_inline)) inline void store_pair(const Complex<Vector<T>>& value, T* to) {
  to[0] = value.re[0];
  to[1] = value.im[0];
}

/// Root k in each lane.
template <class T>
__attribute__((always_inline)) inline Complex<Vector<T>> load_root(const RootTable<T>& circle,
                                                                   int64_t k) {
  const Complex<T> c = circle.coarse(k);
  const int64_t at = k & ((int64_t{1} << circle.shift) - 1);
  const Complex<Vector<T>> fine{broadcast(circle.data[circle.fine_re + at]),
                                broadcast(circle.data[circle.fine_im + at])};
  const Complex<Vector<T>> step = times(fine, c.re, c.im);
  return {step.re + c.re, step.im + c.im};
}

/// Roots k ... k + kWidth - 1; k is a multiple of kWidth.
template <class T>
__attribute__((always_inline)) inline Complex<Vector<T>> load_roots(const RootTable<T>& circle,
                                                                    int64_t k) {
  const Complex<T> c = circle.coarse(k);
  const int64_t at = k & ((int64_t{1} << circle.shift) - 1);
  const Complex<Vector<T>> fine{load(circle.data + circle.fine_re + at),
                                load(circle.data + circle.fine_im + at)};
  const Complex<Vector<T>> step = times(fine, c.re, c.im);
  return {step.re + c.re, step.im + c.im};
}

/// Joins terms k and half - k for 0 < k < end, in vectors where these do not meet their mirrors.
template <class T, class Join>
__attribute__((always_inline)) inline void walk_mirrors(const RootTable<T>& circle, int64_t half,
                                                        int64_t k, int64_t end, const Join& join,
                                                        const T* in, T* out) {
  constexpr int64_t V = kWidth<T>;
  while (k < end) {
    if (k % V == 0 && k + V <= end && k + V - 1 < half - k - V + 1) {
      const int64_t mirror = 2 * (half - k - V + 1);
      Complex<Vector<T>> a = load_pairs(in + 2 * k);
      Complex<Vector<T>> b = backwards<T>(load_pairs(in + mirror));
      join(a, b, load_roots(circle, k));
      store_pairs(a, out + 2 * k);
      store_pairs(backwards<T>(b), out + mirror);
      k += V;
    } else {
      const int64_t mirror = 2 * (half - k);
      Complex<Vector<T>> a = load_pair(in + 2 * k);
      Complex<Vector<T>> b = load_pair(in + mirror);
      join(a, b, load_root(circle, k));
      store_pair(b, out + mirror);
      store_pair(a, out + 2 * k);
      ++k;
    }
  }
}

template <class T>
struct Untangle {
  T scale;
  __attribute__((always_inline)) void operator()(Complex<Vector<T>>& a, Complex<Vector<T>>& b,
                                                 const Complex<Vector<T>>& root) const {
    rfft_join(a, b, root, scale);
  }
};

template <class T>
struct Tangle {
  __attribute__((always_inline)) void operator()(Complex<Vector<T>>& a, Complex<Vector<T>>& b,
                                                 const Complex<Vector<T>>& root) const {
    irfft_split(a, b, root);
  }
};

template <class T>
void untangle_row(const RootTable<T>& circle, int64_t half, int64_t begin, int64_t end, T scale,
                  const T* in, T* out) {
  if (begin == 0 && begin < end) {
    const Complex<T> a{in[0], in[1]};
    out[0] = (a.re + a.im) * scale;
    out[1] = 0;
    out[2 * half] = (a.re - a.im) * scale;
    out[2 * half + 1] = 0;
    ++begin;
  }
  walk_mirrors(circle, half, begin, end, Untangle<T>{scale * T{0.5}}, in, out);
}

template <class T>
void tangle_row(const RootTable<T>& circle, int64_t half, int64_t begin, int64_t end, const T* in,
                T* out) {
  if (begin == 0 && begin < end) {
    out[0] = in[0] + in[2 * half];
    out[1] = in[0] - in[2 * half];
    ++begin;
  }
  walk_mirrors(circle, half, begin, end, Tangle<T>{}, in, out);
}

template <class T>
__attribute__((always_inline)) inline Complex<Vector<T>> multiply(Complex<Vector<T>> a,
                                                                  const Complex<Vector<T>>& factor,
                                                                  bool exchange_in,
                                                                  bool exchange_out, T scale) {
  if (exchange_in) a = {a.im, a.re};
  a = a * factor;
  a = {a.re * scale, a.im * scale};
  if (exchange_out) a = {a.im, a.re};
  return a;
}

template <class T>
void multiply_pairs(int64_t count, const T* factors, bool exchange_in, bool exchange_out, T scale,
                    const T* in, T* out) {
  constexpr int64_t V = kWidth<T>;
  int64_t k = 0;
  for (; k + V <= count; k += V)
    store_pairs(multiply(load_pairs(in + 2 * k), load_pairs(factors + 2 * k), exchange_in,
                         exchange_out, scale),
                out + 2 * k);
  for (; k < count; ++k)
    store_pair(multiply(load_pair(in + 2 * k), load_pair(factors + 2 * k), exchange_in,
                        exchange_out, scale),
               out + 2 * k);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class T>
void rows_to_lanes(const T* const* rows, int64_t count, int64_t pitch, T* out) {
  HR_SIMD(rows_to_lanes<T>)(rows, count, pitch, out);
}

template <class T>
void lanes_to_rows(const T* in, int64_t count, int64_t pitch, T scale, int64_t num_rows,
                   T* const* rows) {
  HR_SIMD(lanes_to_rows<T>)(in, count, pitch, scale, num_rows, rows);
}

template <class T>
void load_columns(const T* x, int64_t pitch, int64_t count, int64_t width, bool exchanged, T* out) {
  HR_SIMD(load_columns<T>)(x, pitch, count, width, exchanged, out);
}

template <class T>
void store_columns(const T* in, int64_t pitch, int64_t count, int64_t width, bool exchanged,
                   T scale, T* x) {
  HR_SIMD(store_columns<T>)(in, pitch, count, width, exchanged, scale, x);
}

template <class T>
void store_mirrored(const T* in, int64_t pitch, int64_t count, int64_t first, int64_t last, T scale,
                    T* x) {
  HR_SIMD(store_mirrored<T>)(in, pitch, count, first, last, scale, x);
}

template <class T>
void turn_columns(const FftPlan<T>& plan, int64_t first, const T* in, int64_t tile_pitch, T* out) {
  HR_SIMD(turn_columns<T>)(plan, first, in, tile_pitch, out);
}

template <class T>
void untangle_row(const RootTable<T>& circle, int64_t half, int64_t begin, int64_t end, T scale,
                  const T* in, T* out) {
  HR_SIMD(untangle_row<T>)(circle, half, begin, end, scale, in, out);
}

template <class T>
void tangle_row(const RootTable<T>& circle, int64_t half, int64_t begin, int64_t end, const T* in,
                T* out) {
  HR_SIMD(tangle_row<T>)(circle, half, begin, end, in, out);
}

template <class T>
void multiply_pairs(int64_t count, const T* factors, bool exchange_in, bool exchange_out, T scale,
                    const T* in, T* out) {
  HR_SIMD(multiply_pairs<T>)(count, factors, exchange_in, exchange_out, scale, in, out);
}

#define HR_INSTANTIATE(T)                                                                      \
  template void rows_to_lanes(const T* const*, int64_t, int64_t, T*);                          \
  template void lanes_to_rows(const T*, int64_t, int64_t, T, int64_t, T* const*);              \
  template void load_columns(const T*, int64_t, int64_t, int64_t, bool, T*);                   \
  template void store_columns(const T*, int64_t, int64_t, int64_t, bool, T, T*);               \
  template void store_mirrored(const T*, int64_t, int64_t, int64_t, int64_t, T, T*);           \
  template void turn_columns(const FftPlan<T>&, int64_t, const T*, int64_t, T*);               \
  template void untangle_row(const RootTable<T>&, int64_t, int64_t, int64_t, T, const T*, T*); \
  template void tangle_row(const RootTable<T>&, int64_t, int64_t, int64_t, const T*, T*);      \
  template void multiply_pairs(int64_t, const T*, bool, bool, T, const T*, T*);
HR_INSTANTIATE(float)
HR_INSTANTIATE(double)
#undef HR_INSTANTIATE

}  // namespace hr::cpu
#endif
