// SPDX-License-Identifier: Apache-2.0
// k-means, neighbours and dense clusters against plain loops in float64, at each SIMD level.
#include "headrace/learn/kmeans.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/dbscan.h"
#include "headrace/learn/distance_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace hr {
namespace {

using testing::matrix_of;

std::vector<double> noise(int64_t count) {
  std::vector<double> values;
  uint64_t state = 5;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<double>(state >> 33) / 1073741824.0 - 1);
  }
  return values;
}

const double* row(const Tensor& x, int64_t i) {
  return x.as<double>() + i * x.shape()[1];
}

TEST(KMeans, KnowsASmallCase) {
  const KMeans found = kmeans_fit(matrix_of<double>({1, 2, 1, 4, 10, 2, 10, 4}, 2), Tensor(),
                                  matrix_of<double>({0, 0, 9, 0}, 2), 10, 0);
  EXPECT_EQ(found.inertia, 4);
  EXPECT_EQ(found.iterations, 2);
  const std::vector<int32_t> labels(found.labels.as<int32_t>(), found.labels.as<int32_t>() + 4);
  EXPECT_EQ(labels, (std::vector<int32_t>{0, 0, 1, 1}));
}

using ClustersTest = testing::SimdAndThreadsTest;

TEST_F(ClustersTest, TheNearestCenterInFloat64AtAnyLevel) {
  for (const int64_t columns : {1, 3, 17, 300})
    for (const int64_t clusters : {1, 2, 5, 13}) {
      const Tensor x = matrix_of(noise(531 * columns), columns);
      std::vector<double> values = noise(clusters * columns);
      // The last centre is the first again, so all near it tie.
      std::copy_n(values.begin(), columns, values.end() - columns);
      const Tensor centers = matrix_of(values, columns);
      std::vector<int32_t> expected;
      for (int64_t i = 0; i < 531; ++i) {
        std::vector<double> apart;
        for (int64_t c = 0; c < clusters; ++c)
          apart.push_back(
              exact_distance(Metric::kSquaredEuclidean, row(x, i), row(centers, c), columns));
        expected.push_back(
            static_cast<int32_t>(std::min_element(apart.begin(), apart.end()) - apart.begin()));
      }
      for (const SimdLevel level : {SimdLevel::kBase, level_}) {
        set_simd_level(level);
        const Tensor labels = kmeans_predict(centers, x);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), labels.as<int32_t>()));
      }
    }
}

TEST_F(ClustersTest, NearestOfAllByPlainLoops) {
  for (const Metric metric : {Metric::kEuclidean, Metric::kSquaredEuclidean, Metric::kCosine,
                              Metric::kManhattan, Metric::kChebyshev}) {
    const Tensor x = matrix_of(noise(2100 * 19), 19), queries = matrix_of(noise(51 * 19), 19);
    set_simd_level(metric == Metric::kCosine ? SimdLevel::kBase : level_);
    const Neighbors found = nearest_neighbors(x, queries, 6, metric, false);
    for (int64_t q = 0; q < 51; ++q) {
      std::vector<std::pair<double, int64_t>> all;
      for (int64_t i = 0; i < 2100; ++i)
        all.emplace_back(exact_distance(metric, row(queries, q), row(x, i), 19), i);
      std::sort(all.begin(), all.end());
      for (size_t k = 0; k < 6; ++k) {
        const auto at = static_cast<size_t>(q) * 6 + k;
        EXPECT_EQ(found.indices.as<int64_t>()[at], all[k].second);
        EXPECT_EQ(found.distances.as<double>()[at], distance_of_reduced(metric, all[k].first));
      }
    }
  }
}

TEST(Dbscan, GridAndTilesAgree) {
  const Tensor x = matrix_of(noise(3000), 2);
  std::vector<double> wide;
  for (int64_t i = 0; i < 1500; ++i)
    wide.insert(wide.end(), {row(x, i)[0], row(x, i)[1], 0.0, 0.0});
  for (const double epsilon : {0.01, 0.05, 0.1, 3.0}) {
    const DenseClusters grid = dbscan(x, Tensor(), epsilon, 5, Metric::kEuclidean);
    const DenseClusters tiles =
        dbscan(matrix_of(wide, 4), Tensor(), epsilon, 5, Metric::kEuclidean);
    EXPECT_EQ(grid.core.num_elements(), tiles.core.num_elements());
    EXPECT_EQ(std::memcmp(grid.labels.data(), tiles.labels.data(), 1500 * sizeof(int64_t)), 0);
  }
}

TEST(KMeans, RefusesWhatDoesNotFit) {
  const Tensor x = matrix_of(noise(12), 3);
  EXPECT_THROW(kmeans_fit(x, Tensor(), matrix_of(noise(15), 3), 1, 0), InvalidArgumentError);
  EXPECT_THROW(kmeans_predict(matrix_of(noise(4), 2), x), InvalidArgumentError);
  EXPECT_THROW(nearest_neighbors(x, x, 4, Metric::kEuclidean, true), InvalidArgumentError);
  EXPECT_THROW(metric_named("haversine"), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
