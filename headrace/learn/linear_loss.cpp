// SPDX-License-Identifier: Apache-2.0
// Evaluations of a loss over parts of rows, and the metric of the search.
#include "headrace/learn/linear_loss.h"

#include "headrace/algo/linalg/cholesky.h"
#include "headrace/algo/linalg/gram.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/algo/sparse/sparse_entries.h"
#include "headrace/algo/sparse/sparse_select.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/lbfgs.h"
#include "headrace/learn/linear_loss_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace hr {
namespace {

using Numbers = BudgetedVector<double>;

constexpr int64_t kTileDoubles = int64_t{1} << 15;     // what a level-2 cache holds besides others
constexpr int64_t kScratchDoubles = int64_t{1} << 25;  // of the gradients of all parts
constexpr int64_t kMostMetric = 512;                   // features whose products the metric has
constexpr int64_t kSampleRows = 8192;                  // at least, of a first search
constexpr int64_t kSampleShare = 8;                    // rows for each number of a first search
constexpr double kFar = 256;                           // squared: a mean in root mean squares

const double* column_of(const Tensor& values, int64_t rows, std::string_view name) {
  if (values.num_elements() == 0) return nullptr;
  if (values.dtype() != dtype_of<double>() || values.num_elements() != rows ||
      !values.is_contiguous())
    throw_error<InvalidArgumentError>("fit_linear", "expected a float64 number for each row",
                                      {{name, values.num_elements()}, {"rows", rows}});
  return values.as<double>();
}

/// Targets and weights of the points of a tile; those that are not there weigh nothing.
struct TileTargets {
  double target[cpu::kMostPoints];
  double weight[cpu::kMostPoints];
};

/// Rows in parts, each of which adds to sums of its own; then parts are added in order.
class Parts {
 public:
  /// At most 64, and fewer where their sums would take over 256 MiB.
  Parts(int64_t rows, int64_t size)
      : rows_(rows),
        size_(size),
        step_(rows_of(rows, size)),
        count_(number(rows, size)),
        sums_(doubles(checked_multiply("fit_linear", count_, size))) {}

  static int64_t number(int64_t rows, int64_t size) {
    const int64_t step = rows_of(rows, size);
    return std::max<int64_t>(1, (rows + step - 1) / step);
  }

  /// Rows of a part with `size` sums.
  static int64_t rows_of(int64_t rows, int64_t size) {
    const int64_t fit = std::max<int64_t>(1, kScratchDoubles / std::max<int64_t>(size, 1));
    const int64_t even = gram_part_rows(rows);
    return std::max(even, ((rows + fit - 1) / fit + even - 1) / even * even);
  }

  /// `body(begin, end, sums)` for each part; the sums of all come to `out`.
  void add(const std::function<void(int64_t, int64_t, double*)>& body, double* out) {
    auto* all = sums_.mutable_as<double>();
    parallel_for(count_, [&](int64_t part) {
      double* own = all + part * size_;
      std::fill_n(own, size_, 0.0);
      body(part * step_, std::min(rows_, (part + 1) * step_), own);
    });
    std::copy_n(all, size_, out);
    for (int64_t part = 1; part < count_; ++part)
      for (int64_t i = 0; i < size_; ++i) out[i] += all[part * size_ + i];
  }

 private:
  int64_t rows_;
  int64_t size_;
  int64_t step_;
  int64_t count_;
  Buffer sums_;
};

/// Weighted means of the columns, and of the squares of what they are apart from them.
struct Moments {
  Numbers means;
  Numbers squares;
  double weight = 0;
};

/// Every `step`th of some rows, and what evaluations ask of them.
class Rows {
 public:
  Rows(int64_t rows, int64_t features, int64_t step, const double* targets, const double* weights)
      : rows_((rows + step - 1) / step),
        features_(features),
        step_(step),
        targets_(targets),
        weights_(weights) {}

  virtual ~Rows() = default;

  /// The sum of the losses and their gradient, [outputs, features + 1]; asked for, the moments too.
  double evaluate(const LinearProblem& problem, const Numbers& coefficients, double* gradient,
                  Moments* moments = nullptr) {
    const auto size = static_cast<int64_t>(coefficients.size());
    Numbers sums(static_cast<size_t>(size + 2 * features_ + 2));
    add_all({problem, coefficients.data()}, moments != nullptr, sums);
    std::copy_n(sums.begin(), size, gradient);
    if (moments != nullptr) take_moments(sums.data() + size + 1, *moments);
    return sums[static_cast<size_t>(size)];
  }

  int64_t rows() const { return rows_; }
  int64_t features() const { return features_; }

  /// The largest number of rows in which a column has an entry, over that of each column; none
  /// where all have one in each row.
  virtual Numbers rarities() const { return {}; }

  /// Products of the columns less `shift` of some rows, or nothing.
  virtual std::optional<Tensor> sample_products(const double* /*shift*/) const {
    return std::nullopt;
  }

  /// Takes a number from each column as it is read; false: cannot.
  virtual bool shift_by(const Numbers& /*shift*/) { return false; }

 protected:
  struct Model {
    const LinearProblem& problem;
    const double* coefficients;
  };

  /// Gradient, loss and, if asked for, sums, squares and the weight, one after the other.
  virtual void add_all(const Model& model, bool moments, Numbers& sums) {
    const int64_t size = model.problem.outputs * (features_ + 1);
    if (!parts_) parts_.emplace(rows_, static_cast<int64_t>(sums.size()));
    parts_->add(
        [&](int64_t begin, int64_t end, double* out) {
          double* const others = out + size;
          others[0] = add_gradient(model, begin, end, out, moments ? others + 1 : nullptr);
        },
        sums.data());
  }

  /// The user's number of a column.
  virtual int64_t column(int64_t j) const { return j; }

  /// Adds to `gradient`, and sums, squares and the weight to `moments` unless null; the loss.
  virtual double add_gradient(const Model& model, int64_t begin, int64_t end, double* gradient,
                              double* moments) const = 0;

  void load(int64_t first, int64_t count, TileTargets& tile) const {
    for (int64_t i = 0; i < cpu::kMostPoints; ++i) {
      const int64_t row = (first + i) * step_;
      tile.target[i] = i < count ? targets_[row] : 0.0;
      tile.weight[i] = i >= count ? 0.0 : weights_ == nullptr ? 1.0 : weights_[row];
    }
  }

  int64_t rows_;
  int64_t features_;
  int64_t step_;
  const double* targets_;
  const double* weights_;

 private:
  void take_moments(const double* sums, Moments& moments) const {
    const double weight =
        sums[2 * features_] > 0 ? sums[2 * features_] : 1;  // a sample may weigh nothing
    moments = {Numbers(sums, sums + features_), Numbers(sums + features_, sums + 2 * features_),
               weight};
    for (size_t j = 0; j < moments.means.size(); ++j) {
      double& mean = moments.means[j];
      if (!std::isfinite(mean))
        throw_error<InvalidArgumentError>("fit_linear",
                                          "a column is not finite, or too large to be added",
                                          {{"column", column(static_cast<int64_t>(j))}});
      mean /= weight;
      moments.squares[j] = std::max(0.0, moments.squares[j] / weight - mean * mean);
    }
  }

  std::optional<Parts> parts_ = {};
};

/// Points of a tile.
int64_t tile_points(int64_t features) {
  const int64_t fit = kTileDoubles / features / cpu::kPointPanel * cpu::kPointPanel;
  return std::clamp(fit, cpu::kPointPanel, cpu::kMostPoints);
}

class DenseRows : public Rows {
 public:
  DenseRows(const Tensor& x, int64_t step, const double* targets, const double* weights)
      : Rows(x.shape()[0], x.shape()[1], step, targets, weights), x_(every(x, step)), matrix_(x_) {}

  bool shift_by(const Numbers& shift) override {
    shift_ = shift;
    return true;
  }

  std::optional<Tensor> sample_products(const double* shift) const override {
    if (features_ > kMostMetric) return std::nullopt;
    const int64_t step = std::max<int64_t>(1, rows_ / std::max(kSampleRows, 16 * features_));
    return gram(RowTiles(every(x_, step)), {.shift = shift});
  }

 protected:
  static Tensor every(const Tensor& x, int64_t step) {
    return {x.dtype(),
            {(x.shape()[0] + step - 1) / step, x.shape()[1]},
            {x.strides()[0] * step, x.strides()[1]},
            x.buffer(),
            x.byte_offset()};
  }

  Tensor x_;
  Numbers shift_ = {};

 private:
  double add_gradient(const Model& model, int64_t begin, int64_t end, double* gradient,
                      double* moments) const override {
    const int64_t step = tile_points(features_);
    const bool single = x_.dtype() == dtype_of<float>();
    Buffer points = doubles(step * features_), room = doubles(single ? step * features_ : 0);
    Buffer results = doubles(model.problem.outputs * cpu::kMostPoints);
    auto* tile = points.mutable_as<double>();
    auto* scores = results.mutable_as<double>();
    TileTargets goal;
    double value = 0;
    for (int64_t first = begin; first < end; first += step) {
      const int64_t count = std::min(step, end - first);
      const int64_t padded = (count + cpu::kPointPanel - 1) / cpu::kPointPanel * cpu::kPointPanel;
      cpu::read_points(matrix_.block(first, 0, count, features_),
                       shift_.empty() ? nullptr : shift_.data(),
                       single ? room.mutable_as<float>() : nullptr, tile);
      load(first, count, goal);
      cpu::point_scores(tile, padded, {model.coefficients, model.problem.outputs, features_},
                        scores);
      value += cpu::point_residuals(model.problem, goal.target, goal.weight, padded, scores,
                                    gradient, features_ + 1);
      cpu::add_point_gradients(tile, padded, scores, model.problem.outputs, features_, gradient);
      if (moments == nullptr) continue;
      cpu::add_point_moments(tile, padded, goal.weight, features_, moments, moments + features_);
      double weight = 0;
      for (int64_t i = 0; i < count; ++i) weight += goal.weight[i];
      moments[2 * features_] += weight;
    }
    return value;
  }

  AnyMatrix matrix_;
};

/// Dense rows on a CUDA device, with targets and weights there.
class DeviceRows final : public DenseRows {
 public:
  DeviceRows(const Tensor& x, int64_t step, const Tensor& targets, const Tensor& weights)
      : DenseRows(x, step, nullptr, nullptr), goals_(targets), shares_(weights) {}

 private:
  void add_all(const Model& model, bool moments, Numbers& sums) override {
    if constexpr (built_with_cuda) {
      const cuda::LinearRows rows{&x_,
                                  &goals_,
                                  shares_.num_elements() == 0 ? nullptr : &shares_,
                                  shift_.empty() ? nullptr : shift_.data(),
                                  step_,
                                  Parts::rows_of(rows_, static_cast<int64_t>(sums.size())),
                                  tile_points(features_)};
      cuda::evaluate_linear(rows, model.problem, model.coefficients, moments, sums.data());
    }
  }

  const Tensor& goals_;
  const Tensor& shares_;
};

class SparseRows : public Rows {
 public:
  /// `columns`: the user's numbers of the columns, null where they are these.
  SparseRows(const Sparse& x, int64_t step, const double* targets, const double* weights,
             const int64_t* columns = nullptr)
      : Rows(x.rows(), x.columns(), step, targets, weights), x_(x), columns_(columns) {}

  Numbers rarities() const override {
    Numbers counts(static_cast<size_t>(features_));
    for_entries(0, rows_, [&](int64_t, int64_t j, double) { ++counts[static_cast<size_t>(j)]; });
    const double most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    for (double& count : counts) count = count > 0 ? most / count : 1;
    return counts;
  }

 private:
  int64_t column(int64_t j) const override { return columns_ == nullptr ? j : columns_[j]; }

  /// `body(place, column, value)` for the entries of rows.
  template <class F>
  void for_entries(int64_t begin, int64_t end, F body) const {
    visit_entries(x_, [&]<class Index, class Number>(Index, Number) {
      const auto* index = x_.indices().as<Index>();
      const auto* number = x_.data().as<Number>();
      for (int64_t i = begin; i < end; ++i)
        for (int64_t at = x_.row_begin(i * step_); at < x_.row_begin(i * step_ + 1); ++at)
          body(i - begin, static_cast<int64_t>(index[at]), static_cast<double>(number[at]));
    });
  }

  double add_gradient(const Model& model, int64_t begin, int64_t end, double* gradient,
                      double* moments) const override {
    constexpr int64_t most = cpu::kMostPoints;
    TileTargets goal;
    Buffer room = doubles(model.problem.outputs * most);
    auto* scores = room.mutable_as<double>();
    const int64_t row = features_ + 1;
    double value = 0;
    for (int64_t first = begin; first < end; first += most) {
      const int64_t last = std::min(end, first + most);
      load(first, last - first, goal);
      for (int64_t k = 0; k < model.problem.outputs; ++k)
        std::fill_n(scores + k * most, most, model.coefficients[k * row + features_]);
      for_entries(first, last, [&](int64_t i, int64_t column, double number) {
        for (int64_t k = 0; k < model.problem.outputs; ++k)
          scores[k * most + i] += model.coefficients[k * row + column] * number;
      });
      value += cpu::point_residuals(model.problem, goal.target, goal.weight, most, scores, gradient,
                                    row);
      for_entries(first, last, [&](int64_t i, int64_t column, double number) {
        for (int64_t k = 0; k < model.problem.outputs; ++k)
          gradient[k * row + column] += scores[k * most + i] * number;
      });
      if (moments == nullptr) continue;
      for_entries(first, last, [&](int64_t i, int64_t column, double number) {
        moments[column] += goal.weight[i] * number;
        moments[features_ + column] += goal.weight[i] * number * number;
      });
      for (int64_t i = 0; i < last - first; ++i) moments[2 * features_] += goal.weight[i];
    }
    return value;
  }

  const Sparse& x_;
  const int64_t* columns_;
};

/// The numbers of the columns that have entries, int64.
Tensor used_columns(const Sparse& x) {
  BudgetedVector<uint8_t> used(static_cast<size_t>(x.columns()));
  visit_entries(x, [&]<class Index, class Number>(Index, Number) {
    const auto* index = x.indices().as<Index>();
    for (int64_t at = x.row_begin(0); at < x.row_begin(x.rows()); ++at)
      used[static_cast<size_t>(index[at])] = 1;
  });
  const int64_t count = std::accumulate(used.begin(), used.end(), int64_t{0});
  Buffer columns = Buffer::allocate(count * int64_t{sizeof(int64_t)});
  auto* to = columns.mutable_as<int64_t>();
  for (size_t j = 0; j < used.size(); ++j)
    if (used[j] != 0) *to++ = static_cast<int64_t>(j);
  return Tensor(dtype_of<int64_t>(), {count}, std::move(columns));
}

/// Rows of values of `columns`, and `more` after them, with zeros for the others of `all`.
Tensor spread(const Tensor& values, const Tensor& columns, int64_t all, int64_t more) {
  const int64_t used = columns.num_elements();
  Shape shape = values.shape();
  const int64_t rows = values.num_elements() / shape.back();
  shape.back() = all + more;
  Buffer made = Buffer::allocate_zeroed(rows * shape.back() * int64_t{sizeof(double)});
  auto* to = made.mutable_as<double>();
  const auto* from = values.as<double>();
  for (int64_t k = 0; k < rows; ++k, from += used + more, to += all + more) {
    for (int64_t j = 0; j < used; ++j) to[columns.as<int64_t>()[j]] = from[j];
    std::copy_n(from + used, more, to + all);
  }
  return Tensor(dtype_of<double>(), std::move(shape), std::move(made));
}

// ---- the search
// ------------------------------------------------------------------------------------
/// Searches over some of the rows first, then over all. The constant is that of columns less their
/// means where it is free, so that it hardly depends on the other numbers.
class Fit {
 public:
  Fit(const LinearProblem& problem, Numbers at)
      : problem_(problem),
        outputs_(problem.outputs),
        row_(static_cast<int64_t>(at.size()) / problem.outputs),
        features_(row_ - 1),
        at_(std::move(at)),
        l2_(costs(problem.l2, true)) {
    if (problem.l1 > 0) l1_ = costs(problem.l1, false);
  }

  /// A search over rows; the next one goes on from where it ends.
  LbfgsResult search(Rows& rows, double tolerance, int64_t most) {
    if (shift_.empty()) center(rows);
    if (is_read_shifted_) rows.shift_by(shift_);
    bool first = true;
    const Objective objective = [&](const double* place, double* gradient) {
      Moments* const moments = first ? &moments_ : nullptr;
      const double value = evaluate(rows, place, gradient, moments);
      if (first) make_metric(rows);
      first = false;
      return value;
    };
    return minimize_lbfgs(
        at_, objective, [&](double* vector) { apply_metric(vector); },
        {.most = most, .tolerance = tolerance, .l1 = l1_}, memory_);
  }

  LinearFit result(const LbfgsResult& found) {
    move_constant(-1);
    for (double& square : moments_.squares) square = std::sqrt(square);
    return {tensor_of(at_, {outputs_, row_}), tensor_of(moments_.squares, {features_}),
            found.iterations, found.gradient, found.converged};
  }

 private:
  static Tensor tensor_of(const Numbers& values, Shape shape) {
    Buffer made = doubles(static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), made.mutable_as<double>());
    return Tensor(dtype_of<double>(), std::move(shape), std::move(made));
  }

  /// What each number costs: that of features, and of the constant as a coefficient of its column.
  Numbers costs(double each, bool squared) const {
    Numbers made(at_.size(), each);
    const double unit = problem_.intercept_scaling;
    const double constant = unit == 0 ? 0 : squared ? each / (unit * unit) : each / unit;
    for (int64_t k = 0; k < outputs_; ++k) made[place(k, features_)] = constant;
    return made;
  }

  size_t place(int64_t output, int64_t feature) const {
    return static_cast<size_t>(output * row_ + feature);
  }

  void center(Rows& rows) {
    shift_.assign(static_cast<size_t>(features_), 0.0);
    Numbers nothing(at_.size());
    rows.evaluate(problem_, nothing, nothing.data(), &moments_);
    if (!problem_.intercept || problem_.intercept_scaling != 0) return;
    for (size_t j = 0; j < shift_.size(); ++j) {
      const double mean = moments_.means[j];
      if (mean * mean > kFar * moments_.squares[j]) is_read_shifted_ = true;
    }
    if (is_read_shifted_ && !rows.shift_by(moments_.means)) {
      is_read_shifted_ = false;
      return;
    }
    shift_ = moments_.means;
    move_constant(1);
  }

  /// Between the constant of the columns and that of columns less `shift_`.
  void move_constant(double sign) {
    for (int64_t k = 0; k < outputs_; ++k)
      for (int64_t j = 0; j < features_; ++j)
        at_[place(k, features_)] += sign * at_[place(k, j)] * shift_[static_cast<size_t>(j)];
  }

  double evaluate(Rows& rows, const double* at, double* gradient, Moments* moments) {
    Numbers coefficients(at, at + at_.size());
    const bool turn = !is_read_shifted_;  // else the tiles are less the shift
    for (int64_t k = 0; k < outputs_ && turn; ++k)
      for (int64_t j = 0; j < features_; ++j)
        coefficients[place(k, features_)] -= at[place(k, j)] * shift_[static_cast<size_t>(j)];
    double value = rows.evaluate(problem_, coefficients, gradient, moments);
    if (moments != nullptr) weight_ = moments->weight;
    value /= weight_;
    for (int64_t k = 0; k < outputs_; ++k) {
      double& constant = gradient[place(k, features_)];
      for (int64_t j = 0; j < features_ && turn; ++j)
        gradient[place(k, j)] -= shift_[static_cast<size_t>(j)] * constant;
      if (!problem_.intercept) constant = 0;
    }
    for (size_t i = 0; i < at_.size(); ++i) {
      gradient[i] = gradient[i] / weight_ + l2_[i] * at[i];
      value += l2_[i] / 2 * at[i] * at[i];
    }
    return value;
  }

  double curve() const {
    if (problem_.loss == LinearLoss::kMultinomial) return 1.0 / static_cast<double>(outputs_);
    return problem_.loss == LinearLoss::kLogistic ? 0.25 : 2.0;
  }

  /// About the second derivatives at zero, the same for each output: squares of all rows, and how
  /// the columns go together in a sample.
  void make_metric(const Rows& rows) {
    const int64_t size = features_ + 1;
    const Numbers& squares = moments_.squares;
    Numbers means = moments_.means;  // of what the coefficients are multiplied with
    for (size_t j = 0; j < means.size() && !is_read_shifted_; ++j) means[j] -= shift_[j];
    factor_.reset();
    diagonal_.assign(static_cast<size_t>(size), curve() + l2_[place(0, features_)]);
    for (size_t j = 0; j < squares.size(); ++j) {
      diagonal_[j] = curve() * (squares[j] + means[j] * means[j]) * (1 + 1e-9) + problem_.l2;
      if (diagonal_[j] == 0) diagonal_[j] = 1;
    }
    // Else the steps of rare columns, which many of a row take together, go too far.
    const Numbers rarities = rows.rarities();
    for (size_t j = 0; j < rarities.size(); ++j)
      diagonal_[j] += (std::sqrt(rarities[j]) - 1) * (diagonal_[j] - problem_.l2);
    const std::optional<Tensor> products = rows.sample_products(shift_.data());
    if (!products) return;
    const auto* sample = products->as<double>();
    Buffer room = doubles(size * size);
    const MatrixView<double> matrix{room.mutable_as<double>(), size, size, size};
    const auto together = [&](int64_t i, int64_t j) {
      const double own = sample[i * features_ + i] * sample[j * features_ + j];
      const double all = diagonal_[static_cast<size_t>(i)] * diagonal_[static_cast<size_t>(j)];
      return own > 0 ? sample[i * features_ + j] * std::sqrt(all / own) : 0.0;
    };
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < i; ++j)
        matrix(i, j) = i < features_        ? together(i, j)
                       : problem_.intercept ? curve() * means[static_cast<size_t>(j)]
                                            : 0.0;
      matrix(i, i) = diagonal_[static_cast<size_t>(i)];
    }
    if (factor_cholesky(matrix) < 0)
      factor_ = Tensor(dtype_of<double>(), {size, size}, std::move(room));
  }

  void apply_metric(double* vector) const {
    for (int64_t k = 0; k < outputs_; ++k, vector += row_) {
      if (factor_)
        solve(vector);
      else
        for (int64_t j = 0; j < row_; ++j) vector[j] /= diagonal_[static_cast<size_t>(j)];
    }
  }

  void solve(double* vector) const {
    const auto* lower = factor_->as<double>();
    for (int64_t i = 0; i < row_; ++i) {
      for (int64_t j = 0; j < i; ++j) vector[i] -= lower[i * row_ + j] * vector[j];
      vector[i] /= lower[i * row_ + i];
    }
    for (int64_t i = row_ - 1; i >= 0; --i) {
      vector[i] /= lower[i * row_ + i];
      for (int64_t j = 0; j < i; ++j) vector[j] -= lower[i * row_ + j] * vector[i];
    }
  }

  const LinearProblem& problem_;
  int64_t outputs_;
  int64_t row_;
  int64_t features_;
  Numbers at_;
  Numbers l1_ = {};
  Numbers l2_;
  Numbers shift_ = {};
  bool is_read_shifted_ = false;
  Moments moments_ = {};
  double weight_ = 0;
  LbfgsMemory memory_ = {};
  Numbers diagonal_ = {};
  std::optional<Tensor> factor_ = {};
};

/// Sums of the parts, the metric and what it comes from, steps and vectors of the search for `size`
/// numbers; tiles of rows.
WorkingBytes working_bytes(int64_t rows, int64_t features, int64_t size, bool dense) {
  constexpr int64_t kDouble = int64_t{sizeof(double)}, kVectors = 2 * kLbfgsPairs + 10;
  const int64_t part = size + 2 * features + 2, sums = Parts::number(rows, part) * part;
  WorkingBytes bytes{(sums + kVectors * size) * kDouble, 0};
  if (!dense) return bytes;
  const int64_t tile = std::max(kTileDoubles, cpu::kPointPanel * features);
  bytes.thread = std::min(tile, cpu::kMostPoints * features) * kDouble;
  if (features > kMostMetric) return bytes;
  const int64_t sample = std::min(rows, 2 * std::max(kSampleRows, 16 * features));
  const WorkingBytes products = gram_working_bytes(sample, features);
  bytes.all += 2 * features * features * kDouble + products.all;
  bytes.thread = std::max(bytes.thread, products.thread);
  return bytes;
}

/// `rows_of(step)` are every `step`th of the rows.
template <class F>
LinearFit fit(int64_t rows, int64_t features, bool dense, F rows_of, const Tensor& start,
              const LinearProblem& problem) {
  const ScopedTag tag("fit_linear");
  const int64_t size = checked_multiply("fit_linear", problem.outputs, features + 1);
  const WorkingMemory working(working_bytes(rows, features, size, dense));
  Numbers at(static_cast<size_t>(size));
  const double* from = column_of(start, size, "start");
  if (from != nullptr) at.assign(from, from + size);
  Fit fitted(problem, std::move(at));
  const int64_t few = std::max(kSampleRows, kSampleShare * size);
  if (from == nullptr && rows / few >= 4) {
    auto some = rows_of(rows / few);
    // A sample tells no more than this of the gradient.
    const double known = 0.1 / std::sqrt(static_cast<double>(few));
    fitted.search(some, std::max(problem.tolerance, known), std::min<int64_t>(problem.most, 30));
  }
  auto all = rows_of(1);
  return fitted.result(fitted.search(all, problem.tolerance, problem.most));
}

void check_matrix(const Tensor& x) {
  if (x.num_dimensions() != 2 || !x.dtype().is_floating())
    throw_error<TypeMismatchError>(
        "fit_linear", "expected a 2-D float32 or float64 array",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
}

}  // namespace

std::string why_no_linear_kernel(const Tensor& x, const Tensor& targets, const Tensor& weights,
                                 int64_t outputs) {
  if constexpr (built_with_cuda) {
    const int64_t features = std::max<int64_t>(1, x.shape().back());
    if (x.place().is_gpu() && !cuda::linear_fits(x.place(), tile_points(features), outputs))
      return "too many classes for the CUDA kernel";
  }
  return targets.is_contiguous() && weights.is_contiguous()
             ? ""
             : "strided targets or weights have no kernel for CUDA";
}

LinearFit fit_linear(const Tensor& x, const Tensor& targets, const Tensor& weights,
                     const Tensor& start, const LinearProblem& problem) {
  check_matrix(x);
  const int64_t rows = x.shape()[0];
  const double* const goal = column_of(targets, rows, "targets");
  const double* const weight = column_of(weights, rows, "weights");
  if (x.place().is_gpu())
    return fit(
        rows, x.shape()[1], false,
        [&](int64_t step) { return DeviceRows(x, step, targets, weights); }, start, problem);
  return fit(
      rows, x.shape()[1], true, [&](int64_t step) { return DenseRows(x, step, goal, weight); },
      start, problem);
}

LinearFit fit_linear(const Sparse& x, const Tensor& targets, const Tensor& weights,
                     const Tensor& start, const LinearProblem& problem) {
  const double* const goal = column_of(targets, x.rows(), "targets");
  const double* const weight = column_of(weights, x.rows(), "weights");
  const auto fit_rows = [&](const Sparse& from, const int64_t* columns = nullptr) {
    return fit(
        from.rows(), from.columns(), false,
        [&](int64_t step) { return SparseRows(from, step, goal, weight, columns); }, start,
        problem);
  };
  if (start.num_elements() != 0) return fit_rows(x);
  // The others stay at zero; where words were hashed, vectors without them are far shorter.
  const Tensor used = used_columns(x);
  if (used.num_elements() == 0 || used.num_elements() > x.columns() / 2) return fit_rows(x);
  const LinearFit found = fit_rows(take_columns(x, used), used.as<int64_t>());
  return {spread(found.coefficients, used, x.columns(), 1),
          spread(found.scales, used, x.columns(), 0), found.iterations, found.gradient,
          found.converged};
}

namespace {

LinearGradient gradient_of(Rows& rows, const Tensor& coefficients, LinearLoss loss) {
  const ScopedTag tag("fit_linear");
  const int64_t row = rows.features() + 1, outputs = coefficients.num_elements() / row;
  const double* const at = column_of(coefficients, outputs * row, "coefficients");
  Buffer made = doubles(outputs * row);
  const Numbers places(at, at + outputs * row);
  LinearProblem problem;
  problem.loss = loss;
  problem.outputs = outputs;
  const double found = rows.evaluate(problem, places, made.mutable_as<double>());
  return {Tensor(dtype_of<double>(), {outputs, row}, std::move(made)), found};
}

}  // namespace

LinearGradient linear_gradient(const Tensor& x, const Tensor& targets, const Tensor& weights,
                               const Tensor& coefficients, LinearLoss loss) {
  check_matrix(x);
  const int64_t rows = x.shape()[0];
  DenseRows all(x, 1, column_of(targets, rows, "targets"), column_of(weights, rows, "weights"));
  return gradient_of(all, coefficients, loss);
}

LinearGradient linear_gradient(const Sparse& x, const Tensor& targets, const Tensor& weights,
                               const Tensor& coefficients, LinearLoss loss) {
  const int64_t rows = x.rows();
  SparseRows all(x, 1, column_of(targets, rows, "targets"), column_of(weights, rows, "weights"));
  return gradient_of(all, coefficients, loss);
}

namespace {

constexpr int64_t kShareTaskRows = 16384;

template <class T>
Tensor log_shares_of(const Tensor& x) {
  const bool two = x.num_dimensions() == 1;
  const cpu::ClassScores<T> scores{x.as<T>(), two ? 2 : x.shape()[1], x.strides()[0],
                                   two ? 0 : x.strides()[1]};
  const int64_t rows = x.shape()[0], classes = scores.classes;
  Buffer made = Buffer::allocate(checked_multiply("log_shares", rows, classes) *
                                 static_cast<int64_t>(sizeof(T)));
  T* const out = made.mutable_as<T>();
  parallel_for((rows + kShareTaskRows - 1) / kShareTaskRows, [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * kShareTaskRows);
    for (int64_t i = task * kShareTaskRows; i < end && classes > 0; i += cpu::kShareRows)
      cpu::share_scores(scores, two, i, std::min(cpu::kShareRows, end - i), out + i * classes);
  });
  return Tensor(x.dtype(), {rows, classes}, std::move(made));
}

}  // namespace

Tensor log_shares(const Tensor& scores) {
  if (!scores.dtype().is_floating() || scores.num_dimensions() < 1 || scores.num_dimensions() > 2)
    throw_error<TypeMismatchError>(
        "log_shares", "expected float32 or float64 scores [rows] or [rows, classes]",
        {{"dimensions", scores.num_dimensions()}, {"dtype", scores.dtype().name()}});
  const ScopedTag tag("log_shares");
  return scores.dtype() == dtype_of<double>() ? log_shares_of<double>(scores)
                                              : log_shares_of<float>(scores);
}

}  // namespace hr
