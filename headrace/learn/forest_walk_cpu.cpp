// SPDX-License-Identifier: Apache-2.0
// Rows go down a tree in lanes, some vectors at a time so that their loads overlap.
#define HWY_TARGET_INCLUDE "headrace/learn/forest_walk_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/learn/forest_kernels.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kVectors = 4;
constexpr int64_t kSteps = 4;    // before rows that are in their leaves make room
constexpr int64_t kRows = 1024;  // whose values stay in the L2 cache from step to step

/// Takes as many rows as the vectors hold some steps down from `nodes[row]`; puts those that are
/// still under way to `open`, of which only the first `count` are meant, and returns how many.
HWY_INLINE int64_t step_down(const ForestNodes& tree, const double* values, int64_t columns,
                             const int64_t* rows, int64_t count, int64_t* nodes, int64_t* open) {
  const hn::ScalableTag<double> tag;
  const hn::ScalableTag<int64_t> whole;
  constexpr auto lanes = static_cast<int64_t>(hn::MaxLanes(whole));
  using Whole = hn::Vec<decltype(whole)>;
  const Whole zero = hn::Zero(whole), one = hn::Set(whole, 1), low = hn::Set(whole, 0xFFFFFFFF);
  Whole row[kVectors], node[kVectors], start[kVectors], link[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    row[v] = hn::LoadU(whole, rows + v * lanes);
    node[v] = hn::GatherIndex(whole, nodes, row[v]);
    start[v] = hn::Mul(row[v], hn::Set(whole, columns));
    link[v] = hn::GatherIndex(whole, tree.link, node[v]);
  }
  for (int64_t step = 0; step < kSteps; ++step)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const auto leaf = hn::Lt(link[v], zero);
      const auto feature = hn::IfThenZeroElse(leaf, hn::ShiftRight<1>(hn::And(link[v], low)));
      const auto value = hn::GatherIndex(tag, values, hn::Add(start[v], feature));
      const auto threshold = hn::GatherIndex(tag, tree.threshold, node[v]);
      const auto missing_left = hn::RebindMask(tag, hn::TestBit(link[v], one));
      const auto left = hn::RebindMask(
          whole, hn::Or(hn::Le(value, threshold), hn::And(hn::IsNaN(value), missing_left)));
      const auto next = hn::IfThenElse(left, hn::Add(node[v], one), hn::ShiftRight<32>(link[v]));
      node[v] = hn::IfThenElse(leaf, node[v], next);
      link[v] = hn::GatherIndex(whole, tree.link, node[v]);
    }
  int64_t kept = 0;
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    hn::ScatterIndex(node[v], whole, nodes, row[v]);
    const auto meant =
        hn::FirstN(whole, static_cast<size_t>(std::max<int64_t>(0, count - v * lanes)));
    kept += static_cast<int64_t>(
        hn::CompressStore(row[v], hn::AndNot(hn::Lt(link[v], zero), meant), whole, open + kept));
  }
  return kept;
}

void forest_leaves(const ForestNodes& tree, const double* values, int64_t count, int64_t columns,
                   int64_t* leaves) {
  constexpr auto together =
      kVectors * static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<int64_t>()));
  int64_t* rows = leaves + count;
  for (int64_t first = 0; first < count; first += kRows) {
    int64_t open = std::min(kRows, count - first);
    for (int64_t i = 0; i < open; ++i) {
      leaves[first + i] = 0;
      rows[i] = first + i;
    }
    while (open > 0) {
      std::fill_n(rows + open, together - 1, rows[open - 1]);
      int64_t kept = 0;
      for (int64_t i = 0; i < open; i += together)
        kept += step_down(tree, values, columns, rows + i, open - i, leaves, rows + kept);
      open = kept;
    }
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void forest_leaves(const ForestNodes& tree, const double* values, int64_t count, int64_t columns,
                   int64_t* leaves) {
  HR_SIMD(forest_leaves)(tree, values, count, columns, leaves);
}

}  // namespace hr::cpu

#endif
