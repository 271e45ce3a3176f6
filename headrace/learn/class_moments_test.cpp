// SPDX-License-Identifier: Apache-2.0
// Moments of classes against two passes over the rows, with the same bits for any threads.
#include "headrace/learn/class_moments.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <vector>

namespace hr {
namespace {

using testing::tensor_with_shape;

struct Case {
  std::vector<double> values, weights;
  std::vector<int64_t> codes;
};

Case made_case(int64_t rows, int64_t columns, int64_t classes) {
  Case made;
  uint64_t state = 7;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  };
  for (int64_t i = 0; i < rows * columns; ++i)
    made.values.push_back(1e8 + static_cast<double>(next()) / 1073741824.0);
  for (int64_t i = 0; i < rows; ++i) {
    made.codes.push_back(static_cast<int64_t>(next()) % classes);
    made.weights.push_back(static_cast<double>(next() % 4));
  }
  return made;
}

TEST(ClassMoments, OfLargeMeansAsTwoPassesHaveThem) {
  for (const int64_t rows : {1, 63, 64, 257, 20001})
    for (const int64_t classes : {1, 3, 300}) {
      const int64_t columns = 3;
      const Case data = made_case(rows, columns, classes);
      const ClassMoments found = class_moments(tensor_with_shape(data.values, {rows, columns}),
                                               tensor_with_shape(data.codes, {rows}),
                                               tensor_with_shape(data.weights, {rows}), classes);
      for (int64_t c = 0; c < classes; ++c)
        for (int64_t j = 0; j < columns; ++j) {
          double weight = 0, sum = 0, squares = 0;
          const auto each = [&](auto body) {
            for (int64_t i = 0; i < rows; ++i)
              if (data.codes[static_cast<size_t>(i)] == c)
                body(data.weights[static_cast<size_t>(i)],
                     data.values[static_cast<size_t>(i * columns + j)]);
          };
          each([&](double w, double x) { weight += w, sum += w * (x - 1e8); });
          const double mean = weight == 0 ? 0 : sum / weight;
          each([&](double w, double x) { squares += w * (x - 1e8 - mean) * (x - 1e8 - mean); });
          EXPECT_EQ(found.weight.as<double>()[c], weight);
          if (weight == 0) continue;
          EXPECT_NEAR(found.sum.as<double>()[c * columns + j] / weight - 1e8, mean, 1e-6);
          EXPECT_NEAR(found.squares.as<double>()[c * columns + j], squares, 1e-7 * (1 + squares));
        }
    }
}

using ClassMomentsTest = testing::SimdAndThreadsTest;

TEST_F(ClassMomentsTest, HaveTheSameBitsForAnyThreads) {
  const Case data = made_case(30000, 5, 4);
  const auto run = [&] {
    const ClassMoments found = class_moments(tensor_with_shape(data.values, {30000, 5}),
                                             tensor_with_shape(data.codes, {30000}), Tensor(), 4);
    return std::vector<double>(found.squares.as<double>(), found.squares.as<double>() + 20);
  };
  set_threads(1);
  const std::vector<double> one = run();
  for (const int threads : {2, 4}) {
    set_threads(threads);
    EXPECT_EQ(run(), one);
  }
}

TEST(ClassMoments, RefuseCodesWithoutAClass) {
  EXPECT_THROW(class_moments(tensor_with_shape<double>({1, 2}, {2, 1}),
                             tensor_with_shape<int64_t>({0, 2}, {2}), Tensor(), 2),
               InvalidArgumentError);
}

TEST(GaussianScores, TakeScaledDistancesFromConstants) {
  const Tensor found = gaussian_scores(tensor_with_shape<double>({1, 2, 3, 5}, {2, 2}),
                                       tensor_with_shape<double>({0, 0, 1, 1}, {2, 2}),
                                       tensor_with_shape<double>({1, 2, 0.5, 3}, {2, 2}),
                                       tensor_with_shape<double>({10, 20}, {2}));
  const std::vector<double> values(found.as<double>(), found.as<double>() + 4);
  EXPECT_EQ(values, (std::vector<double>{1, 17, -49, -30}));
}

}  // namespace
}  // namespace hr
