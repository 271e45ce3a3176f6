// SPDX-License-Identifier: Apache-2.0
// Kernels of forest. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/algo/random/philox.h"
#include "headrace/learn/forest.h"
#include "headrace/memory/adaptors/allocator.h"

#include <cstdint>
#include <span>
#include <vector>

namespace hr {

/// The most classes of trees that grow or predict on a CUDA device.
inline constexpr int kMostForestOutputs = 16;

/// A node that splits: the right child (the left one is the next node), the feature, and whether
/// NaN goes left.
constexpr int64_t forest_link(int64_t right, int64_t feature, bool missing_left) {
  return right << 32 | feature << 1 | (missing_left ? 1 : 0);
}

/// Between two values: not less than the lower one, less than the upper one.
constexpr double forest_middle(double low, double high) {
  const double middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

/// The most rows whose values decide on the borders of bins.
inline constexpr int64_t kForestSample = int64_t{1} << 18;

/// The row of part `i` of `taken` equal parts, so that a sample is spread and has no period.
HR_INLINE int64_t forest_sampled_row(int64_t rows, int64_t taken, int64_t i) {
  if (taken == rows) return i;
  const uint64_t draw = philox_block({0, 0}, static_cast<uint64_t>(i)).word[0];
  const int64_t begin = rows * i / taken, end = rows * (i + 1) / taken;
  return begin + static_cast<int64_t>(draw * static_cast<uint64_t>(end - begin) >> 32);
}

/// A value as bins have it: of two zeros only one.
HR_INLINE double forest_value(double value) {
  return value + 0.0;
}

/// The first bin whose border is not less than `value`; borders that are not there are infinite.
HR_INLINE int forest_bin(const double* edges, double value) {
  int bin = 0;
  for (int step = 128; step > 0; step /= 2) bin += edges[bin + step - 1] < value ? step : 0;
  return bin;
}

/// A tree while it grows.
struct ForestTree {
  BudgetedVector<int64_t> link;
  BudgetedVector<double> threshold;
  BudgetedVector<double> value;
  BudgetedVector<int64_t> samples;
  std::vector<double> gain;  ///< by feature
};

/// What all trees of a fit read. Weights and sums are integers, so that no order matters.
struct ForestRows {
  const uint8_t* codes = nullptr;
  const double* low = nullptr;
  const double* high = nullptr;
  int64_t rows = 0;
  int64_t features = 0;
  const double* y = nullptr;
  const int64_t* weights = nullptr;     ///< fixed point, sum below 2^52; null: 1 each
  const int64_t* cumulative = nullptr;  ///< inclusive sums of weights to draw by; null: evenly
  const int64_t* deviation = nullptr;   ///< weight (y - center) in fixed point, of targets
  double center = 0;
  double unit = 1;  ///< value of a `deviation` over a weight
};

/// The nodes of one tree, as a Forest has them.
struct ForestNodes {
  ForestNodes(const Forest& model, int64_t tree)
      : begin(model.offsets.as<int64_t>()[tree]),
        link(model.link.as<int64_t>() + begin),
        threshold(model.threshold.as<double>() + begin) {}

  int64_t begin;
  const int64_t* link;
  const double* threshold;
};

}  // namespace hr

namespace hr::cpu {

/// out[j * count + i] = codes[j * rows + places[i]] for each of `features` columns.
void forest_take(const uint8_t* codes, int64_t rows, int64_t features, const int64_t* places,
                 int64_t count, uint8_t* out);

/// The columns of `x` in codes, with the smallest and largest value of each bin.
void forest_bins(const Tensor& x, uint8_t* codes, double* low, double* high);

/// Grows the tree with this number.
ForestTree forest_grow(const ForestRows& rows, const ForestOptions& options, int64_t number);

/// How often the tree with this number draws each row: counts[rows].
void forest_draw(const ForestRows& rows, const ForestOptions& options, int64_t number,
                 uint32_t* counts);

/// `count` rows of `x`, by their numbers, as contiguous float64.
void forest_take(const Tensor& x, const int64_t* rows, int64_t count, double* out);

/// Makes the value of each node the length of the path to it and, on average, through its rows.
void forest_measure_paths(ForestTree& tree);

inline constexpr int64_t kForestTogether = 64;  ///< most rows that go down a tree together

/// The leaf of each of `count` rows of `columns` values, in the first `count` of `leaves`, which
/// has room for `2 count + kForestTogether`.
void forest_leaves(const ForestNodes& tree, const double* values, int64_t count, int64_t columns,
                   int64_t* leaves);

/// Sums over trees of the values of leaves, divided by their number.
void forest_predict(const Forest& model, const Tensor& x, double* out);

void forest_apply(const Forest& model, const Tensor& x, int64_t* out);

/// Adds the values of one tree's leaves to rows that it did not draw, and counts them.
void forest_add_unseen(const Forest& model, int64_t tree, const Tensor& x, const uint32_t* counts,
                       double* sums, int64_t* trees);

}  // namespace hr::cpu

namespace hr::cuda {

/// The same of columns on a device, where the codes go; borders to the host.
void forest_bins(const Tensor& x, const Buffer& codes, double* low, double* high);

/// The same of codes on a device; `places` on the host.
void forest_take(const Buffer& codes, int64_t rows, int64_t features, const int64_t* places,
                 int64_t count, const Buffer& out);

/// Predictions of rows on a device, where the model is too; it has at most kMostForestOutputs.
void forest_predict(const Forest& model, const Tensor& x, Buffer& out);

/// Grows all trees on a device, where the codes are: the same as on the host. All else of `rows` is
/// on the host.
std::vector<ForestTree> forest_grow(const ForestRows& rows, const ForestOptions& options,
                                    const Buffer& codes);

}  // namespace hr::cuda
