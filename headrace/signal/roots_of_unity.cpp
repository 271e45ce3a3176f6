// SPDX-License-Identifier: Apache-2.0
// Roots of unity from two tables.
#include "headrace/signal/roots_of_unity.h"

#include <cmath>

namespace hr {

namespace {

SinCos multiple_of_step(int64_t index, int64_t n) {
  constexpr DoubleDouble quarter_pi{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
  // Both numbers may exceed 2^53 only where a table of this size would not fit any memory.
  return sin_cos(quarter_pi * static_cast<double>(index) / static_cast<double>(n));
}

}  // namespace

RootsOfUnity::RootsOfUnity(int64_t n) : n_(n), fine_size_(1) {
  while (fine_size_ * fine_size_ < n) fine_size_ *= 2;
  for (int64_t i = 0; i < fine_size_; ++i) fine_.push_back(multiple_of_step(i, n));
  for (int64_t i = 0; i <= n / fine_size_; ++i)
    coarse_.push_back(multiple_of_step(i * fine_size_, n));
}

RootsOfUnity::Root RootsOfUnity::first_eighth(int64_t index) const {
  const SinCos& a = coarse_[static_cast<size_t>(index / fine_size_)];
  const SinCos& b = fine_[static_cast<size_t>(index % fine_size_)];
  return {(a.cos * b.cos - a.sin * b.sin).high, (a.sin * b.cos + a.cos * b.sin).high};
}

RootsOfUnity::Root RootsOfUnity::operator[](int64_t k) const {
  int64_t index = 8 * k;  // in eighths of a step: the whole circle is 8 n
  const bool lower = index > 4 * n_;
  if (lower) index = 8 * n_ - index;
  const bool left = index > 2 * n_;
  if (left) index = 4 * n_ - index;
  const bool steep = index > n_;
  if (steep) index = 2 * n_ - index;
  Root root = first_eighth(index);
  if (steep) root = {root.sin, root.cos};
  return {left ? -root.cos : root.cos, lower ? -root.sin : root.sin};
}

}  // namespace hr
