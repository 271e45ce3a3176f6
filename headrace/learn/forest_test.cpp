// SPDX-License-Identifier: Apache-2.0
// Bins keep the order of values; trees are those of an exhaustive search, for any number of
// threads.
#include "headrace/learn/forest.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace hr {
namespace {

using testing::matrix_of;
using testing::tensor_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> draw(int64_t count, int levels, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) {
    value = static_cast<double>(random()) / 65536.0;
    if (levels > 0) value = std::floor(std::fmod(value, levels));
  }
  return values;
}

/// The greatest weighted sum of squares over weights of both sides, over all splits of rows of one
/// column of few values.
double best_score(const std::vector<double>& x, const std::vector<double>& y, int64_t columns) {
  double best = -1;
  for (int64_t j = 0; j < columns; ++j)
    for (size_t pivot = 0; pivot < y.size(); ++pivot) {
      double sums[2] = {}, counts[2] = {};
      for (size_t i = 0; i < y.size(); ++i) {
        const size_t at = static_cast<size_t>(j), width = static_cast<size_t>(columns);
        const int side = x[i * width + at] <= x[pivot * width + at] ? 0 : 1;
        sums[side] += y[i];
        counts[side] += 1;
      }
      if (counts[1] > 0)
        best = std::max(best, sums[0] * sums[0] / counts[0] + sums[1] * sums[1] / counts[1]);
    }
  return best;
}

ForestOptions one_tree(ForestCriterion criterion, int64_t classes, int64_t features) {
  ForestOptions options;
  options.criterion = criterion;
  options.num_trees = 1;
  options.num_classes = classes;
  options.max_features = features;
  return options;
}

void expect_same(const Forest& a, const Forest& b) {
  const auto same = [](const Tensor& x, const Tensor& y) {
    ASSERT_EQ(x.shape(), y.shape());
    EXPECT_EQ(std::memcmp(x.data(), y.data(), static_cast<size_t>(x.num_elements() * 8)), 0);
  };
  same(a.offsets, b.offsets);
  same(a.link, b.link);
  same(a.threshold, b.threshold);
  same(a.value, b.value);
  same(a.samples, b.samples);
  same(a.importances, b.importances);
}

TEST(ForestBins, HasOneForEachOfFewValues) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back((i * 7 % 255) - 100);
  values.push_back(kNaN);
  const ForestBins bins = forest_bins(matrix_of(values, 1));
  for (size_t i = 0; i < 1000; ++i) {
    const uint8_t code = bins.codes.as<uint8_t>()[i];
    EXPECT_EQ(code, values[i] + 100);
    EXPECT_EQ(bins.low.as<double>()[code], values[i]);
    EXPECT_EQ(bins.high.as<double>()[code], values[i]);
  }
  EXPECT_EQ(bins.codes.as<uint8_t>()[1000], kForestMissing);
}

TEST(ForestBins, AreEvenAndOrderedOfManyValues) {
  for (const int64_t rows : {256, 1000, 1 << 17, (1 << 18) + 5}) {
    std::vector<double> values = draw(rows, 0, 3);
    const ForestBins bins = forest_bins(matrix_of(values, 1));
    std::vector<int64_t> sizes(256);
    for (size_t i = 0; i < values.size(); ++i) {
      const uint8_t code = bins.codes.as<uint8_t>()[i];
      ++sizes[code];
      ASSERT_LE(bins.low.as<double>()[code], values[i]);
      ASSERT_GE(bins.high.as<double>()[code], values[i]);
    }
    for (int b = 1; b < 255; ++b)
      if (sizes[static_cast<size_t>(b)] > 0) {
        EXPECT_GT(bins.low.as<double>()[b], bins.high.as<double>()[b - 1]);
      }
    EXPECT_GT(std::count_if(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; }), 250);
    EXPECT_LT(*std::max_element(sizes.begin(), sizes.end()), 2 * rows / 255 + 3);
  }
}

TEST(Forest, SplitsAsAnExhaustiveSearchDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::vector<double> x = draw(120, 9, seed), y = draw(40, 5, seed + 100);
    ForestOptions options = one_tree(ForestCriterion::kSquaredError, 0, 3);
    options.max_depth = 1;
    const Tensor rows = matrix_of(x, 3);
    const Forest model = forest_fit(forest_bins(rows), tensor_of(y), nullptr, options);
    const Tensor made = forest_predict(model, 3, rows);
    double score = 0;  // of the two means: the sum of squares of what is predicted
    for (size_t i = 0; i < y.size(); ++i) score += made.as<double>()[i] * made.as<double>()[i];
    EXPECT_NEAR(score, best_score(x, y, 3), 1e-9);
  }
}

TEST(Forest, GrowsUntilLeavesArePure) {
  const std::vector<double> x = draw(4000, 0, 1);
  std::vector<double> labels, targets;
  for (size_t i = 0; i < 400; ++i) {
    labels.push_back(static_cast<double>(i % 3));
    targets.push_back(static_cast<double>(i) / 7);
  }
  const Tensor rows = matrix_of(x, 10);
  for (const auto criterion : {ForestCriterion::kGini, ForestCriterion::kEntropy}) {
    const Forest model =
        forest_fit(forest_bins(rows), tensor_of(labels), nullptr, one_tree(criterion, 3, 10));
    const Tensor shares = forest_predict(model, 10, rows);
    for (size_t i = 0; i < labels.size(); ++i)
      EXPECT_EQ(shares.as<double>()[3 * i + i % 3], 1) << i;
  }
  const Forest model = forest_fit(forest_bins(rows), tensor_of(targets), nullptr,
                                  one_tree(ForestCriterion::kSquaredError, 0, 10));
  const Tensor made = forest_predict(model, 10, rows);
  for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(made.as<double>()[i], targets[i]);
}

TEST(Forest, SendsNaNToTheBetterSide) {
  for (const bool up : {false, true}) {
    std::vector<double> x, y;
    for (int i = 0; i < 30; ++i) {
      x.push_back(i % 3 == 2 ? kNaN : i % 3);
      y.push_back(i % 3 == (up ? 1 : 0) || i % 3 == 2 ? 1 : 0);
    }
    const Tensor rows = matrix_of(x, 1);
    const Forest model = forest_fit(forest_bins(rows), tensor_of(y), nullptr,
                                    one_tree(ForestCriterion::kGini, 2, 1));
    EXPECT_EQ(model.link.num_elements(), 3);
    const Tensor shares = forest_predict(model, 1, rows);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(shares.as<double>()[2 * i + 1], y[i]);
  }
  // NaN against all others is a split too.
  const Tensor rows = matrix_of<double>({1, 2, kNaN, 3, kNaN, 4}, 1);
  const Forest model = forest_fit(forest_bins(rows), tensor_of<double>({0, 0, 1, 0, 1, 0}), nullptr,
                                  one_tree(ForestCriterion::kGini, 2, 1));
  EXPECT_EQ(model.link.num_elements(), 3);
  EXPECT_EQ(forest_predict(model, 1, rows).as<double>()[5], 1);
}

TEST(Forest, TakesTargetsOfAnySize) {
  for (const double size : {1e-320, 1e-300, 1.0, 1e300}) {
    std::vector<double> x, y;
    for (int i = 0; i < 64; ++i) {
      x.push_back(i);
      y.push_back(i < 20 ? -size : i < 50 ? size / 2 : size);
    }
    const Tensor rows = matrix_of(x, 1);
    const Forest model = forest_fit(forest_bins(rows), tensor_of(y), nullptr,
                                    one_tree(ForestCriterion::kSquaredError, 0, 1));
    const Tensor made = forest_predict(model, 1, rows);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(made.as<double>()[i], y[i]) << size;
  }
}

TEST(Forest, TakesWeightsAsRepetitions) {
  const std::vector<double> x = draw(300, 6, 5), y = draw(100, 3, 6);
  std::vector<double> weights, more_x, more_y;
  for (size_t i = 0; i < y.size(); ++i) {
    weights.push_back(static_cast<double>(i % 4));
    for (size_t k = 0; k < i % 4; ++k) {
      more_y.push_back(y[i]);
      for (size_t j = 0; j < 3; ++j) more_x.push_back(x[3 * i + j]);
    }
  }
  const Tensor rows = matrix_of(x, 3), given = tensor_of(weights);
  for (const auto criterion :
       {ForestCriterion::kGini, ForestCriterion::kEntropy, ForestCriterion::kSquaredError}) {
    const ForestOptions options =
        one_tree(criterion, criterion == ForestCriterion::kSquaredError ? 0 : 3, 3);
    const Forest weighted = forest_fit(forest_bins(rows), tensor_of(y), &given, options);
    const Forest repeated =
        forest_fit(forest_bins(matrix_of(more_x, 3)), tensor_of(more_y), nullptr, options);
    const Tensor a = forest_predict(weighted, 3, rows), b = forest_predict(repeated, 3, rows);
    for (int64_t i = 0; i < a.num_elements(); ++i)
      EXPECT_NEAR(a.as<double>()[i], b.as<double>()[i], 1e-12);
  }
}

TEST(Forest, HasTheSameBitsForAnyThreads) {
  const std::vector<double> x = draw(20000, 0, 8);
  std::vector<double> y = draw(2000, 4, 9);
  const Tensor rows = matrix_of(x, 10);
  const int before = threads();
  for (const auto criterion : {ForestCriterion::kGini, ForestCriterion::kSquaredError}) {
    ForestOptions options =
        one_tree(criterion, criterion == ForestCriterion::kSquaredError ? 0 : 4, 3);
    options.num_trees = 20;
    options.bootstrap = 2000;
    options.seed = 11;
    std::vector<Forest> made;
    for (const int count : {1, 2, 4}) {
      set_threads(count);
      made.push_back(forest_fit(forest_bins(rows), tensor_of(y), nullptr, options));
    }
    set_threads(before);
    expect_same(made[0], made[1]);
    expect_same(made[0], made[2]);
    const Tensor unseen = forest_predict_out_of_bag(made[0], rows, nullptr, options);
    int64_t count = 0;
    for (int64_t i = 0; i < unseen.num_elements(); ++i)
      count += std::isfinite(unseen.as<double>()[i]) ? 1 : 0;
    EXPECT_GT(count, unseen.num_elements() * 9 / 10);
  }
}

TEST(Forest, SplitsAtRandomWhenAsked) {
  const std::vector<double> x = draw(1000, 0, 2);
  std::vector<double> y;
  for (const double value : x) y.push_back(value / 65536);
  const Tensor rows = matrix_of(x, 1);
  ForestOptions options = one_tree(ForestCriterion::kSquaredError, 0, 1);
  options.num_trees = 50;
  options.random_splits = true;
  const Forest model = forest_fit(forest_bins(rows), tensor_of(y), nullptr, options);
  std::set<double> roots;
  const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
  for (int64_t tree = 0; tree < 50; ++tree) {
    roots.insert(model.threshold.as<double>()[model.offsets.as<int64_t>()[tree]]);
    EXPECT_GT(*roots.begin(), *least);
    EXPECT_LT(*roots.rbegin(), *greatest);
  }
  EXPECT_GT(roots.size(), 40u);
  EXPECT_GT(*roots.rbegin() - *roots.begin(), (*greatest - *least) / 2);
  const Tensor made = forest_predict(model, 1, rows);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(made.as<double>()[i], y[i], 0.02);
}

TEST(Isolation, FindsTheRowAlone) {
  std::vector<double> x = draw(400, 0, 4);
  x[100] = x[101] = 65536.0 * 50;  // row 50 lies far away
  const Tensor rows = matrix_of(x, 2);
  std::vector<int64_t> chosen;
  for (int64_t tree = 0; tree < 50; ++tree)
    for (int64_t row = 0; row < 200; ++row) chosen.push_back(row);
  const Tensor flat = tensor_of(chosen);
  ForestOptions options;
  options.max_depth = 8;
  const Forest model = isolation_fit(rows, Tensor(flat.dtype(), {50, 200}, flat.buffer()), options);
  const Tensor made = forest_predict(model, 2, rows);
  for (int64_t row = 0; row < 200; ++row)
    if (row != 50) {
      EXPECT_GT(made.as<double>()[row], made.as<double>()[50] + 2);
    }
  EXPECT_LT(made.as<double>()[50], 1.5);
  EXPECT_NEAR(isolation_path(256), 10.2448, 1e-4);
  const Tensor bad = tensor_of<int64_t>({200});
  EXPECT_THROW(isolation_fit(rows, Tensor(bad.dtype(), {1, 1}, bad.buffer()), options),
               InvalidArgumentError);
}

TEST(Forest, RefusesBadInput) {
  const ForestBins bins = forest_bins(matrix_of<double>({1, 2, 3, 4}, 1));
  const auto gini = one_tree(ForestCriterion::kGini, 2, 1);
  const auto squares = one_tree(ForestCriterion::kSquaredError, 0, 1);
  const auto fit = [&](std::vector<double> y, const ForestOptions& options) {
    return forest_fit(bins, tensor_of(y), nullptr, options);
  };
  EXPECT_THROW(fit({0, 1, 0}, gini), InvalidArgumentError);
  EXPECT_THROW(fit({0, 1, 0, 2}, gini), InvalidArgumentError);
  EXPECT_THROW(fit({0, 1, 0, 0.5}, gini), InvalidArgumentError);
  EXPECT_THROW(fit({0, 1, 0, kNaN}, gini), InvalidArgumentError);
  EXPECT_THROW(fit({0, 1, 0, kNaN}, squares), InvalidArgumentError);
  const Tensor negative = tensor_of<double>({1, 1, -1, 1}), none = tensor_of<double>({0, 0, 0, 0});
  EXPECT_THROW(forest_fit(bins, tensor_of<double>({0, 1, 0, 1}), &negative, gini),
               InvalidArgumentError);
  EXPECT_THROW(forest_fit(bins, tensor_of<double>({0, 1, 0, 1}), &none, gini),
               InvalidArgumentError);
  const Forest model = fit({0, 1, 0, 1}, gini);
  EXPECT_THROW(forest_predict(model, 1, matrix_of<double>({1, 2}, 2)), InvalidArgumentError);
  EXPECT_THROW(forest_bins(tensor_of<double>({1, 2})), TypeMismatchError);
  EXPECT_EQ(forest_predict(model, 1, Tensor(dtype_of<double>(), {0, 1}, Buffer())).shape()[0], 0);
}

}  // namespace
}  // namespace hr
