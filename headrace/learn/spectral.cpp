// SPDX-License-Identifier: Apache-2.0
// Chebyshev-filtered subspace iteration on the graph's normalised adjacency.
#include "headrace/learn/spectral.h"

#include "headrace/algo/linalg/eigh.h"
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/qr.h"
#include "headrace/algo/random/random.h"
#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/algo/sparse/sparse_product.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hr {
namespace {

constexpr int64_t kBlock = 4096;
constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));

template <class F>
void for_blocks(int64_t count, F&& body) {
  parallel_for((count + kBlock - 1) / kBlock, [&](int64_t block) {
    body(block, block * kBlock, std::min(count, (block + 1) * kBlock));
  });
}

bool falls_apart(const Sparse& weights) {
  DisjointSets sets(weights.rows());
  const auto* to = weights.indices().as<int32_t>();
  int64_t count = weights.rows();
  for (int64_t row = 0; row < weights.rows(); ++row)
    for (int64_t e = weights.row_begin(row); e < weights.row_begin(row + 1); ++e)
      if (sets.root(row) != sets.root(to[e])) {
        sets.join(row, to[e]);
        --count;
      }
  return count > 1;
}

Buffer doubles(int64_t count) {
  return Buffer::allocate(count * kDouble);
}

Tensor matrix(Buffer values, int64_t rows, int64_t columns) {
  return Tensor(dtype_of<double>(), {rows, columns}, std::move(values));
}

/// D^(-1/2) W D^(-1/2) on vectors at right angles to its first eigenvector, which is known.
class Adjacency {
 public:
  explicit Adjacency(const Sparse& weights) : rows_(weights.rows()) {
    BudgetedVector<double> roots(static_cast<size_t>(rows_));
    const auto* given = weights.data().as<float>();
    const auto* to = weights.indices().as<int32_t>();
    double total = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      double sum = 0;
      for (int64_t e = weights.row_begin(row); e < weights.row_begin(row + 1); ++e)
        sum += static_cast<double>(given[e]);
      total += sum;
      roots[static_cast<size_t>(row)] = std::sqrt(sum);
    }
    Buffer scaled = doubles(weights.num_entries());
    for (int64_t row = 0; row < rows_; ++row)
      for (int64_t e = weights.row_begin(row); e < weights.row_begin(row + 1); ++e)
        scaled.mutable_as<double>()[e] =
            static_cast<double>(given[e]) /
            (roots[static_cast<size_t>(row)] * roots[static_cast<size_t>(to[e])]);
    first_ = std::move(roots);
    for (double& each : first_) each /= std::sqrt(total);
    scaled_ =
        weights.with_data(Tensor(dtype_of<double>(), {weights.num_entries()}, std::move(scaled)));
  }

  Tensor times(const Tensor& x) const { return deflated(multiply(scaled_, x)); }

  /// Columns without their part along the first eigenvector.
  Tensor deflated(const Tensor& x) const {
    const int64_t columns = x.shape()[1], blocks = (rows_ + kBlock - 1) / kBlock;
    const auto* values = x.as<double>();
    BudgetedVector<double> parts(static_cast<size_t>(blocks * columns));
    for_blocks(rows_, [&](int64_t block, int64_t begin, int64_t end) {
      double* part = parts.data() + block * columns;
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < columns; ++j)
          part[j] += first_[static_cast<size_t>(i)] * values[i * columns + j];
    });
    for (int64_t p = columns; p < blocks * columns; ++p)
      parts[static_cast<size_t>(p % columns)] += parts[static_cast<size_t>(p)];
    Buffer made = doubles(rows_ * columns);
    auto* out = made.mutable_as<double>();
    for_blocks(rows_, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < columns; ++j)
          out[i * columns + j] = values[i * columns + j] -
                                 first_[static_cast<size_t>(i)] * parts[static_cast<size_t>(j)];
    });
    return matrix(std::move(made), rows_, columns);
  }

 private:
  int64_t rows_;
  Sparse scaled_;
  BudgetedVector<double> first_;
};

/// `scale * (s - center * x) - last`, elementwise.
Tensor combined(double scale, const Tensor& s, double center, const Tensor& x, const Tensor* last) {
  Buffer made = doubles(s.num_elements());
  auto* out = made.mutable_as<double>();
  const auto *product = s.as<double>(), *now = x.as<double>();
  const double* before = last == nullptr ? nullptr : last->as<double>();
  for_blocks(s.num_elements(), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = scale * (product[i] - center * now[i]) - (before == nullptr ? 0 : before[i]);
  });
  return matrix(std::move(made), s.shape()[0], s.shape()[1]);
}

/// A polynomial of the matrix that is at most 1 on [-1, cut] and grows fast above.
Tensor filtered(const Adjacency& adjacency, Tensor x, double cut, int degree) {
  const double half = (cut + 1) / 2, center = (cut - 1) / 2;
  Tensor last = x;
  x = combined(1 / half, adjacency.times(x), center, x, nullptr);
  for (int step = 2; step <= degree; ++step) {
    look_for_interrupt();
    Tensor next = combined(2 / half, adjacency.times(x), center, x, &last);
    last = std::exchange(x, std::move(next));
  }
  return x;
}

/// Of columns with the values of `inner`: the largest length of a column of `s - x * value`.
double residual(const Tensor& s, const Tensor& x, const BudgetedVector<double>& values,
                int64_t count) {
  double worst = 0;
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  for (int64_t j = 0; j < count; ++j) {
    double square = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const double apart = s.as<double>()[i * columns + j] -
                           values[static_cast<size_t>(j)] * x.as<double>()[i * columns + j];
      square += apart * apart;
    }
    worst = std::max(worst, std::sqrt(square));
  }
  return worst;
}

}  // namespace

Tensor spectral_coordinates(const Sparse& weights, int64_t count) {
  const ScopedTag tag("spectral_coordinates");
  constexpr int64_t kMore = 6;
  constexpr int kDegree = 16, kRounds = 12;
  constexpr double kEnough = 1e-3;
  const int64_t rows = weights.rows(), columns = std::min(count + kMore, rows - 1);
  if (columns < count || falls_apart(weights)) return matrix(doubles(0), 0, count);
  // The scaled entries, and columns of three steps.
  const WorkingMemory working({(weights.num_entries() + 3 * rows * columns + rows) * 8, 0});
  const Adjacency adjacency(weights);
  Tensor x = matrix(random_normal(rows * columns, dtype_of<double>(), {}).buffer(), rows, columns);
  const auto rotated = [&](const Tensor& from, const double* rows_of_turn) {
    Buffer made = doubles(rows * columns);
    multiply(AnyMatrix(from), MatrixView<const double>{rows_of_turn, columns, columns, 1, columns},
             MatrixView<double>{made.mutable_as<double>(), rows, columns, columns});
    return matrix(std::move(made), rows, columns);
  };
  double cut = 0;
  for (int round = 1;; ++round) {
    x = tall_q(adjacency.deflated(filtered(adjacency, std::move(x), cut, kDegree)));
    const Tensor product = adjacency.times(x);
    BudgetedVector<double> inner(static_cast<size_t>(columns * columns));
    multiply(AnyMatrix(x).transposed(), AnyMatrix(product),
             MatrixView<double>{inner.data(), columns, columns, columns});
    BudgetedVector<double> values(static_cast<size_t>(columns)), scratch(3 * values.size());
    eigh(inner.data(), values.data(), scratch.data(), columns);
    x = rotated(x, inner.data());
    if (round == kRounds || residual(rotated(product, inner.data()), x, values, count) < kEnough)
      break;
    cut = std::clamp(values.back(), -0.5, 0.999);
  }
  Buffer made = doubles(rows * count);
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(x.as<double>() + i * columns, count, made.mutable_as<double>() + i * count);
  return matrix(std::move(made), rows, count);
}

}  // namespace hr
