// SPDX-License-Identifier: Apache-2.0
// Loops over the columns of a row, or over the rows of a column: every sum has its own order.
#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/learn/class_moments_kernels.h"

#include <algorithm>

namespace hr::cpu {

BlockMoments::BlockMoments(int64_t classes, int64_t columns, int64_t rows)
    : columns_(columns), slots_(static_cast<size_t>(classes), -1) {
  const auto most = static_cast<size_t>(std::min(classes, rows));
  weight_.resize(most);
  sum_.resize(most * static_cast<size_t>(columns));
  mean_.resize(sum_.size());
  rest_.resize(sum_.size());
  squares_.resize(sum_.size());
}

void BlockMoments::add(const double* rows, const int64_t* codes, const double* weights,
                       int64_t count, const MomentSums& sums) {
  const MomentSums block{weight_.data(), sum_.data(), squares_.data()};
  const auto slot_of = [&](int64_t i) { return slots_[static_cast<size_t>(codes[i])]; };
  const auto weight_of = [&](int64_t i) { return weights == nullptr ? 1.0 : weights[i]; };
  classes_.clear();
  for (int64_t i = 0; i < count; ++i) {
    const bool is_new = slot_of(i) < 0;
    if (is_new) {
      slots_[static_cast<size_t>(codes[i])] = static_cast<int64_t>(classes_.size());
      classes_.push_back(codes[i]);
    }
    const MomentSums to = block.of_class(slot_of(i), columns_);
    if (is_new) {
      *to.weight = 0;
      std::fill_n(to.sum, columns_, 0.0);
      std::fill_n(to.squares, columns_, 0.0);
    }
    const double* const row = rows + i * columns_;
    const double weight = weight_of(i);
    *to.weight += weight;
    for (int64_t j = 0; j < columns_; ++j) to.sum[j] += weight * row[j];
  }
  const auto slots = static_cast<int64_t>(classes_.size());
  for (int64_t slot = 0; slot < slots; ++slot) {
    const MomentSums from = block.of_class(slot, columns_);
    double* const mean = mean_.data() + slot * columns_;
    std::fill_n(rest_.data() + slot * columns_, columns_, 0.0);
    for (int64_t j = 0; j < columns_; ++j) mean[j] = from.sum[j] / *from.weight;
  }
  for (int64_t i = 0; i < count; ++i) {
    const double weight = weight_of(i);
    if (weight == 0) continue;  // the mean of a class that weighs nothing is NaN
    const double* const row = rows + i * columns_;
    const double* const mean = mean_.data() + slot_of(i) * columns_;
    double* const rest = rest_.data() + slot_of(i) * columns_;
    double* const squares = block.of_class(slot_of(i), columns_).squares;
    for (int64_t j = 0; j < columns_; ++j) {
      const double apart = row[j] - mean[j];
      rest[j] += weight * apart;
      squares[j] += weight * (apart * apart);
    }
  }
  for (int64_t slot = 0; slot < slots; ++slot) {
    // What the rounding of the mean adds: all of it, where all values are equal.
    const MomentSums from = block.of_class(slot, columns_);
    const double* const rest = rest_.data() + slot * columns_;
    if (*from.weight > 0)
      for (int64_t j = 0; j < columns_; ++j)
        from.squares[j] = std::max(from.squares[j] - rest[j] * rest[j] / *from.weight, 0.0);
    const int64_t c = classes_[static_cast<size_t>(slot)];
    join_moments(columns_, block.of_class(slot, columns_), sums.of_class(c, columns_));
    slots_[static_cast<size_t>(c)] = -1;
  }
}

void join_moments(int64_t columns, const MomentSums& from, const MomentSums& to) {
  if (*from.weight == 0) return;
  const double total = *from.weight + *to.weight;
  const double between = *to.weight == 0 ? 0 : *to.weight * (*from.weight / total);
  for (int64_t j = 0; j < columns; ++j) {
    const double apart = between == 0 ? 0 : from.sum[j] / *from.weight - to.sum[j] / *to.weight;
    to.sum[j] += from.sum[j];
    to.squares[j] += from.squares[j] + apart * apart * between;
  }
  *to.weight = total;
}

void add_sparse_rows(const Sparse& x, std::span<const int64_t> rows, const double* weights,
                     double* out) {
  visit_entries(x, [&]<class Index, class Number>(Index, Number) {
    const auto* const index = x.indices().as<Index>();
    const auto* const number = x.data().as<Number>();
    for (const int64_t row : rows) {
      const double weight = weights == nullptr ? 1.0 : weights[row];
      for (int64_t i = x.row_begin(row), end = x.row_begin(row + 1); i < end; ++i)
        out[index[i]] += weight * static_cast<double>(number[i]);
    }
  });
}

void subtract_distances(const double* points, int64_t count, int64_t columns, const double* mean,
                        const double* scale, double* out) {
  for (int64_t j = 0; j < columns; ++j) {
    const double* const values = points + j * count;
    for (int64_t i = 0; i < count; ++i) {
      const double apart = values[i] - mean[j];
      out[i] -= apart * apart * scale[j];
    }
  }
}

}  // namespace hr::cpu
