// SPDX-License-Identifier: Apache-2.0
// Stable sorts of lines, and binary search in one.
#include "headrace/exec/workers.h"
#include "headrace/tensor/sort_axis_kernels.h"

#include <algorithm>
#include <numeric>

namespace hr::cpu {

namespace {

constexpr int64_t kTaskValues = int64_t{1} << 14;

// NaN is the largest value.
template <class T>
bool is_less(T a, T b) {
  return a < b || (b != b && a == a);
}

template <class F>
void visit_values(Dtype dtype, F&& f) {
  if (dtype.is_bool()) return f(std::type_identity<uint8_t>{});
  visit_real(dtype, f);
}

template <class F>
void for_each_line(int64_t lines, int64_t length, F&& f) {
  const int64_t step = std::max<int64_t>(1, kTaskValues / std::max<int64_t>(1, length));
  parallel_for((lines + step - 1) / step, [&](int64_t task) {
    const int64_t end = std::min(lines, (task + 1) * step);
    for (int64_t line = task * step; line < end; ++line) f(line);
  });
}

}  // namespace

void sort_lines(Dtype dtype, std::byte* values, int64_t lines, int64_t length, bool descending) {
  visit_values(dtype, [&]<class T>(std::type_identity<T>) {
    for_each_line(lines, length, [&](int64_t line) {
      T* begin = reinterpret_cast<T*>(values) + line * length;
      if (descending)
        std::stable_sort(begin, begin + length, [](T a, T b) { return is_less(b, a); });
      else
        std::stable_sort(begin, begin + length, [](T a, T b) { return is_less(a, b); });
    });
  });
}

void argsort_lines(Dtype dtype, const std::byte* values, int64_t lines, int64_t length,
                   bool descending, int64_t* positions) {
  visit_values(dtype, [&]<class T>(std::type_identity<T>) {
    for_each_line(lines, length, [&](int64_t line) {
      const T* value = reinterpret_cast<const T*>(values) + line * length;
      int64_t* begin = positions + line * length;
      std::iota(begin, begin + length, int64_t{0});
      if (descending)
        std::stable_sort(begin, begin + length,
                         [value](int64_t a, int64_t b) { return is_less(value[b], value[a]); });
      else
        std::stable_sort(begin, begin + length,
                         [value](int64_t a, int64_t b) { return is_less(value[a], value[b]); });
    });
  });
}

void search_line(Dtype dtype, const std::byte* line, int64_t length, const std::byte* values,
                 int64_t count, bool right, int64_t* positions) {
  visit_values(dtype, [&]<class T>(std::type_identity<T>) {
    const T* begin = reinterpret_cast<const T*>(line);
    const T* value = reinterpret_cast<const T*>(values);
    const auto less = [](T a, T b) { return is_less(a, b); };
    parallel_morsels(count, [&](Morsel morsel) {
      for (int64_t k = morsel.begin; k < morsel.end; ++k)
        positions[k] = (right ? std::upper_bound(begin, begin + length, value[k], less)
                              : std::lower_bound(begin, begin + length, value[k], less)) -
                       begin;
    });
  });
}

}  // namespace hr::cpu
