// SPDX-License-Identifier: Apache-2.0
// What two sorted rows have in common.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hr {

/// The first place from `at` on whose target is not below `target`, looked for in growing steps.
inline size_t find_from(std::span<const uint32_t> row, size_t at, uint32_t target) {
  size_t step = 1;
  while (at + step < row.size() && row[at + step] < target) {
    at += step;
    step *= 2;
  }
  const auto begin = row.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = row.begin() + static_cast<std::ptrdiff_t>(std::min(at + step + 1, row.size()));
  return static_cast<size_t>(std::lower_bound(begin, end, target) - row.begin());
}

/// Calls f(i, j) where a[i] and b[j] are the same, ascending: rows are merged, and one that is much
/// longer than the other is searched.
template <class F>
void each_common(std::span<const uint32_t> a, std::span<const uint32_t> b, F&& f) {
  constexpr size_t kLonger = 16;
  const auto search = [](std::span<const uint32_t> few, std::span<const uint32_t> many, auto&& at) {
    size_t j = 0;
    for (size_t i = 0; i < few.size(); ++i) {
      j = find_from(many, j, few[i]);
      if (j == many.size()) return;
      if (many[j] == few[i]) at(i, j);
    }
  };
  if (b.size() > a.size() * kLonger) return search(a, b, f);
  if (a.size() > b.size() * kLonger) return search(b, a, [&](size_t j, size_t i) { f(i, j); });
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const uint32_t x = a[i], y = b[j];
    if (x == y) f(i, j);
    i += x <= y;
    j += y <= x;
  }
}

}  // namespace hr
