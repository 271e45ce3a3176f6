// SPDX-License-Identifier: Apache-2.0
// Vectors of the level in use, with the few shuffles that transforms need. Each level does the same
// operations on each element, whatever the width.
// No #pragma once: read again for each level, after base/simd_targets.h.
#if defined(HEADRACE_BASE_SIMD_VECTORS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_BASE_SIMD_VECTORS_H
#undef HEADRACE_BASE_SIMD_VECTORS_H
#else
#define HEADRACE_BASE_SIMD_VECTORS_H
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed to inlined functions only
#endif

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
inline constexpr int64_t kVectorBytes = 64;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int64_t kVectorBytes = 32;
#else
inline constexpr int64_t kVectorBytes = 16;
#endif

/// Numbers in a vector.
template <class T>
inline constexpr int64_t kWidth = kVectorBytes / static_cast<int64_t>(sizeof(T));

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};

template <class T>
using Vector = typename VectorOf<T>::type;

#define HR_VECTOR __attribute__((always_inline)) inline

template <class T>
HR_VECTOR Vector<T> load(const T* from) {
  Vector<T> value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
HR_VECTOR void store(const Vector<T>& value, T* to) {
  __builtin_memcpy(to, &value, sizeof value);
}

template <class T>
HR_VECTOR Vector<T> broadcast(T x) {
  Vector<T> value{};  // set, for compilers that do not see that every lane is
#pragma GCC unroll 16
  for (int64_t lane = 0; lane < kWidth<T>; ++lane) value[lane] = x;
  return value;
}

template <int64_t d, class Vec, size_t... lane>
HR_VECTOR void exchange(Vec& a, Vec& b, std::index_sequence<lane...>) {
  constexpr size_t bit = static_cast<size_t>(d);
  constexpr size_t width = sizeof...(lane);
  const Vec first = __builtin_shufflevector(
      a, b, static_cast<int>((lane & bit) != 0 ? width + (lane ^ bit) : lane)...);
  b = __builtin_shufflevector(a, b,
                              static_cast<int>((lane & bit) != 0 ? width + lane : (lane ^ bit))...);
  a = first;
}

/// Transposes the square whose rows are `x[0 ... kWidth - 1]`: bit by bit of the row's and the
/// lane's number, up to `end`.
template <class T, int64_t end = kWidth<T>, int64_t d = 1>
HR_VECTOR void transpose(Vector<T>* x) {
  if constexpr (d < end) {
    constexpr auto lanes = std::make_index_sequence<static_cast<size_t>(kWidth<T>)>{};
#pragma GCC unroll 16
    for (int64_t u = 0; u < kWidth<T>; ++u)
      if ((u & d) == 0) exchange<d>(x[u], x[u | d], lanes);
    transpose<T, end, 2 * d>(x);
  }
}

/// `a` and `b`, half a vector each, side by side.
template <class T, size_t... lane>
HR_VECTOR Vector<T> joined(const T* a, const T* b, std::index_sequence<lane...>) {
  typedef T Half __attribute__((vector_size(kVectorBytes / 2)));
  Half low, high;
  __builtin_memcpy(&low, a, sizeof low);
  __builtin_memcpy(&high, b, sizeof high);
  return __builtin_shufflevector(low, high, static_cast<int>(lane)...);
}

/// Loads and transposes the square whose rows begin at `row(0)`, `row(1)`, ...: halves change
/// places as they are loaded, so that the one unit of AVX-512 for shuffles has less to do.
template <class T, class Row>
HR_VECTOR void load_transposed(const Row& row, Vector<T>* x) {
  constexpr auto lanes = std::make_index_sequence<static_cast<size_t>(kWidth<T>)>{};
  constexpr int64_t half = kWidth<T> / 2;
#pragma GCC unroll 16
  for (int64_t u = 0; u < half; ++u) {
    const T *upper = row(u), *lower = row(u + half);
    x[u] = joined(upper, lower, lanes);
    x[u + half] = joined(upper + half, lower + half, lanes);
  }
  transpose<T, half>(x);
}

template <class Vec, size_t... lane>
HR_VECTOR void split_pairs(Vec& a, Vec& b, std::index_sequence<lane...>) {
  const Vec even = __builtin_shufflevector(a, b, static_cast<int>(2 * lane)...);
  b = __builtin_shufflevector(a, b, static_cast<int>(2 * lane + 1)...);
  a = even;
}

template <class Vec, size_t... lane>
HR_VECTOR void join_pairs(Vec& a, Vec& b, std::index_sequence<lane...>) {
  constexpr size_t width = sizeof...(lane);
  const Vec low = __builtin_shufflevector(a, b, static_cast<int>(lane / 2 + lane % 2 * width)...);
  b = __builtin_shufflevector(a, b, static_cast<int>((width + lane) / 2 + lane % 2 * width)...);
  a = low;
}

template <class Vec, size_t... lane>
HR_VECTOR Vec reversed(const Vec& a, std::index_sequence<lane...>) {
  return __builtin_shufflevector(a, a, static_cast<int>(sizeof...(lane) - 1 - lane)...);
}

/// Two vectors of pairs become the vector of their first and that of their second numbers.
template <class T>
HR_VECTOR void split_pairs(Vector<T>& a, Vector<T>& b) {
  split_pairs(a, b, std::make_index_sequence<static_cast<size_t>(kWidth<T>)>{});
}

/// Undoes `split_pairs`.
template <class T>
HR_VECTOR void join_pairs(Vector<T>& a, Vector<T>& b) {
  join_pairs(a, b, std::make_index_sequence<static_cast<size_t>(kWidth<T>)>{});
}

template <class T>
HR_VECTOR Vector<T> reversed(const Vector<T>& a) {
  return reversed(a, std::make_index_sequence<static_cast<size_t>(kWidth<T>)>{});
}

#undef HR_VECTOR

}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
