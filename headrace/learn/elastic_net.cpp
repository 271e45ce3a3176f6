// SPDX-License-Identifier: Apache-2.0
// One descent over coordinates; what a coordinate says comes from products or from columns.
#include "headrace/learn/elastic_net.h"

#include "headrace/algo/linalg/gram.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/linalg/row_kernels.h"
#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
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

using Numbers = BudgetedVector<double>;

constexpr int64_t kTile = 256;
constexpr int64_t kSweeps = 10;  // between computations of the gap

void check(const Tensor& x, const Shape& shape) {
  if (x.dtype() != dtype_of<double>() || !x.is_contiguous() || x.shape() != shape)
    throw_error<InvalidArgumentError>("fit_elastic_net", "expected another float64 array",
                                      {{"elements", x.num_elements()}});
}

double dot(const double* a, const Numbers& b) {
  return cpu::dot(a, b.data(), static_cast<int64_t>(b.size()));
}

/// Residuals as a coordinate sees them.
class Residuals {
 public:
  virtual ~Residuals() = default;

  /// x_j^T x_j.
  virtual double norm(int64_t j) const = 0;
  /// x_j^T r.
  virtual double slope(int64_t j) const = 0;
  /// r -= step x_j.
  virtual void take(int64_t j, double step) = 0;
  /// All slopes, and r^T r and r^T y.
  virtual const Numbers& slopes() = 0;
  virtual double square(const Numbers& w) const = 0;
  virtual double along(const Numbers& w) const = 0;
};

class OfProducts : public Residuals {
 public:
  OfProducts(const Tensor& gram, const Tensor& products, double square)
      : features_(products.num_elements()),
        gram_(gram.as<double>()),
        products_(products.as<double>()),
        square_(square),
        slopes_(products_, products_ + features_) {}

  double norm(int64_t j) const override { return gram_[j * features_ + j]; }
  double slope(int64_t j) const override { return slopes_[static_cast<size_t>(j)]; }
  void take(int64_t j, double step) override {
    cpu::add_scaled(slopes_.data(), -step, gram_ + j * features_, features_);
  }
  const Numbers& slopes() override { return slopes_; }
  double square(const Numbers& w) const override {
    return std::max(0.0, along(w) - dot(slopes_.data(), w));
  }
  double along(const Numbers& w) const override { return square_ - dot(products_, w); }

 private:
  int64_t features_;
  const double* gram_;
  const double* products_;
  double square_;
  Numbers slopes_;
};

class OfColumns : public Residuals {
 public:
  OfColumns(const Tensor& columns, const Tensor& targets)
      : rows_(targets.num_elements()),
        columns_(columns.as<double>()),
        targets_(targets.as<double>()),
        rest_(targets_, targets_ + rows_),
        norms_(static_cast<size_t>(columns.shape()[0])),
        slopes_(norms_.size()) {
    parallel_for(columns.shape()[0], [&](int64_t j) {
      const double* column = columns_ + j * rows_;
      norms_[static_cast<size_t>(j)] = cpu::dot(column, column, rows_);
    });
  }

  double norm(int64_t j) const override { return norms_[static_cast<size_t>(j)]; }
  double slope(int64_t j) const override { return dot(columns_ + j * rows_, rest_); }
  void take(int64_t j, double step) override {
    cpu::add_scaled(rest_.data(), -step, columns_ + j * rows_, rows_);
  }
  const Numbers& slopes() override {
    parallel_for(static_cast<int64_t>(slopes_.size()),
                 [&](int64_t j) { slopes_[static_cast<size_t>(j)] = slope(j); });
    return slopes_;
  }
  double square(const Numbers&) const override { return dot(rest_.data(), rest_); }
  double along(const Numbers&) const override { return dot(targets_, rest_); }

 private:
  int64_t rows_;
  const double* columns_;
  const double* targets_;
  Numbers rest_;
  Numbers norms_;
  Numbers slopes_;
};

class Descent {
 public:
  Descent(Residuals& residuals, Numbers& w, const ElasticNet& problem)
      : residuals_(residuals), w_(w), problem_(problem) {
    for (int64_t j = 0; j < static_cast<int64_t>(w.size()); ++j)
      if (residuals.norm(j) > 0) {
        active_.push_back(j);
        if (w[static_cast<size_t>(j)] != 0) residuals.take(j, w[static_cast<size_t>(j)]);
      } else {
        w[static_cast<size_t>(j)] = 0;
      }
  }

  ElasticNetFit run() {
    ElasticNetFit found;
    look();
    while (!(gap_ <= problem_.tolerance) && found.iterations < problem_.most) {
      look_for_interrupt();
      const double moved = sweep();
      ++found.iterations;
      if (moved <= kStill || found.iterations % kSweeps == 0 || found.iterations == problem_.most) {
        const double before = gap_;
        look();
        // No step moves and the gap stays: the end of what float64 can.
        if (moved == 0 && !(gap_ < before)) break;
      }
    }
    found.gap = gap_;
    found.converged = gap_ <= problem_.tolerance;
    return found;
  }

 private:
  static constexpr double kStill = 1e-4;  // of the largest coefficient

  /// The largest move, as a part of the largest coefficient.
  double sweep() {
    double moved = 0, largest = 0;
    for (const int64_t j : active_) {
      double& own = w_[static_cast<size_t>(j)];
      const double norm = residuals_.norm(j), pull = residuals_.slope(j) + own * norm;
      const double rest = std::fabs(pull) - problem_.l1;
      const bool zero = rest <= 0 || (problem_.positive && pull < 0);
      const double next = zero ? 0 : std::copysign(rest, pull) / (norm + problem_.l2);
      if (next != own) {
        residuals_.take(j, next - own);
        moved = std::max(moved, std::fabs(next - own));
        own = next;
      }
      largest = std::max(largest, std::fabs(own));
    }
    return largest == 0 ? 0 : moved / largest;
  }

  /// The duality gap, and the coordinates that it does not prove to be zero.
  void look() {
    const Numbers& slopes = residuals_.slopes();
    double steepest = 0, sum = 0;
    for (size_t j = 0; j < w_.size(); ++j) {
      const double slope = slopes[j] - problem_.l2 * w_[j];
      steepest = std::max(steepest, problem_.positive ? slope : std::fabs(slope));
      sum += std::fabs(w_[j]);
    }
    const double squares = residuals_.square(w_), weight = dot(w_.data(), w_);
    const double along = residuals_.along(w_);
    if (problem_.l1 == 0) {  // no dual point by scaling: that of ridge, or what steps would lower
      gap_ = problem_.l2 == 0 ? 0 : squares - along + problem_.l2 * weight / 2;
      for (size_t j = 0; j < w_.size(); ++j) {
        const double norm =
            problem_.l2 == 0 ? residuals_.norm(static_cast<int64_t>(j)) : problem_.l2;
        const double slope = problem_.positive ? std::max(slopes[j], 0.0) : slopes[j];
        if (norm > 0) gap_ += slope * slope / norm / 2;
      }
      return;
    }
    const double share = steepest > problem_.l1 ? problem_.l1 / steepest : 1;
    gap_ = (1 + share * share) / 2 * (squares + problem_.l2 * weight) + problem_.l1 * sum -
           share * along;
    if (!(gap_ > 0)) return;
    const double radius = std::sqrt(2 * gap_) / problem_.l1;
    const double least = std::max(problem_.l1, steepest);
    std::erase_if(active_, [&](int64_t j) {
      double& own = w_[static_cast<size_t>(j)];
      const double slope = slopes[static_cast<size_t>(j)] - problem_.l2 * own;
      const double seen = problem_.positive ? slope : std::fabs(slope);
      if (!((1 - seen / least) / std::sqrt(residuals_.norm(j) + problem_.l2) > radius))
        return false;
      if (own != 0) residuals_.take(j, -own);
      own = 0;
      return true;
    });
  }

  Residuals& residuals_;
  Numbers& w_;
  const ElasticNet& problem_;
  BudgetedVector<int64_t> active_ = {};
  double gap_ = 0;
};

ElasticNetFit descend(Residuals&& residuals, const Tensor& start, const ElasticNet& problem) {
  Numbers w(start.as<double>(), start.as<double>() + start.num_elements());
  ElasticNetFit found = Descent(residuals, w, problem).run();
  Buffer made = doubles(static_cast<int64_t>(w.size()));
  std::copy(w.begin(), w.end(), made.mutable_as<double>());
  found.coefficients = Tensor(dtype_of<double>(), start.shape(), std::move(made));
  return found;
}

}  // namespace

RowTiles row_tiles(const Sparse& x) {
  return {x.rows(), x.columns(), [x](int64_t first, int64_t count, double* out) {
            std::fill_n(out, count * x.columns(), 0.0);
            visit_entries(x, [&]<class Index, class Number>(Index, Number) {
              const auto* index = x.indices().as<Index>();
              const auto* number = x.data().as<Number>();
              for (int64_t i = 0; i < count; ++i)
                for (int64_t at = x.row_begin(first + i); at < x.row_begin(first + i + 1); ++at)
                  out[static_cast<int64_t>(index[at]) * count + i] +=
                      static_cast<double>(number[at]);
            });
          }};
}

Tensor column_products(const RowTiles& x, const double* shift, const Tensor& targets) {
  check(targets, {x.rows()});
  const int64_t rows = x.rows(), features = x.columns(), size = gram_part_rows(rows);
  const int64_t parts = std::max<int64_t>(1, (rows + size - 1) / size);
  Buffer made = doubles(checked_multiply("column_products", parts, features));
  auto* sums = made.mutable_as<double>();
  std::fill_n(sums, parts * features, 0.0);
  parallel_for(parts, [&](int64_t part) {
    Buffer room = doubles(kTile * features);
    auto* tile = room.mutable_as<double>();
    const int64_t end = std::min(rows, (part + 1) * size);
    for (int64_t first = part * size; first < end; first += kTile) {
      const int64_t count = std::min(kTile, end - first);
      x.read(first, count, TileForm::kPoints, shift, nullptr, tile);
      for (int64_t j = 0; j < features; ++j)
        sums[part * features + j] +=
            cpu::dot(tile + j * count, targets.as<double>() + first, count);
    }
  });
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t j = 0; j < features; ++j) sums[j] += sums[part * features + j];
  return Tensor(dtype_of<double>(), {features}, std::move(made));
}

Tensor centered_columns(const RowTiles& x, const double* shift, const double* scales) {
  const int64_t rows = x.rows(), features = x.columns();
  const ScopedTag tag("fit_elastic_net");
  constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));
  const WorkingMemory working(
      {rows * features * kDouble, std::min(kTile, rows) * features * kDouble});
  Buffer made = doubles(checked_multiply("fit_elastic_net", rows, features));
  auto* out = made.mutable_as<double>();
  parallel_for((rows + kTile - 1) / kTile, [&](int64_t k) {
    const int64_t first = k * kTile, count = std::min(kTile, rows - first);
    Buffer room = doubles(count * features);
    auto* tile = room.mutable_as<double>();
    x.read(first, count, TileForm::kPoints, shift, nullptr, tile);
    for (int64_t j = 0; j < features; ++j)
      for (int64_t i = 0; i < count; ++i)
        out[j * rows + first + i] =
            tile[j * count + i] * (scales == nullptr ? 1.0 : scales[first + i]);
  });
  return Tensor(dtype_of<double>(), {features, rows}, std::move(made));
}

ElasticNetFit fit_elastic_net(const Tensor& gram, const Tensor& products, double square,
                              const Tensor& start, const ElasticNet& problem) {
  const int64_t features = products.num_elements();
  check(products, {features});
  check(start, {features});
  check(gram, {features, features});
  return descend(OfProducts(gram, products, square), start, problem);
}

ElasticNetFit fit_elastic_net(const Tensor& columns, const Tensor& targets, const Tensor& start,
                              const ElasticNet& problem) {
  const int64_t features = start.num_elements(), rows = targets.num_elements();
  check(start, {features});
  check(targets, {rows});
  check(columns, {features, rows});
  return descend(OfColumns(columns, targets), start, problem);
}

}  // namespace hr
