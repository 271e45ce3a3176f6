// SPDX-License-Identifier: Apache-2.0
// Walks against sums over all points.
#include "headrace/algo/sort/point_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hr {
namespace {

std::vector<float> random(int64_t count) {
  std::vector<float> made;
  uint64_t state = 7;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    made.push_back(static_cast<float>(state >> 40) * 0x1p-24F);
  }
  return made;
}

TEST(PointTree, FindsTheMassOfAllPointsOnce) {
  for (const int64_t rows : {1, 15, 16, 17, 64, 65, 1000, 5000})
    for (const int64_t dimensions : {1, 2, 3}) {
      const std::vector<float> points = random(rows * dimensions);
      std::vector<float> masses;
      double mass = 0, moment = 0;
      for (int64_t i = 0; i < rows; ++i) {
        masses.push_back(static_cast<float>(1 + i % 7));
        mass += static_cast<double>(masses.back());
        moment += static_cast<double>(masses.back() * points[static_cast<size_t>(i)]);
      }
      PointTree tree(rows, dimensions, masses.data());
      ASSERT_TRUE(tree.build(points.data()));
      std::vector<bool> seen(static_cast<size_t>(rows));
      for (int64_t i = 0; i < rows; ++i) {
        const auto number = static_cast<size_t>(tree.number(i));
        EXPECT_FALSE(seen[number]);
        seen[number] = true;
        EXPECT_EQ(tree.sorted(0)[i], points[number]);
        EXPECT_EQ(tree.sorted(3)[i], masses[number]);
      }
      NearAndFar found;
      for (int64_t leaf = 0; leaf < tree.leaves(); ++leaf) {
        tree.walk(leaf, 0.8F, found);
        const PointMasses view = found.view();
        double sum = 0, at = 0;
        for (int64_t i = 0; i < view.count; ++i) {
          sum += static_cast<double>(view.mass[i]);
          at += static_cast<double>(view.mass[i]) * static_cast<double>(view.at[0][i]);
        }
        EXPECT_NEAR(sum, mass, 1e-3);
        EXPECT_NEAR(at, moment, 1e-4 * moment + 1e-4);
        if (rows == 5000 && dimensions == 2) {
          EXPECT_LT(view.count, rows / 2);
        }
      }
    }
}

TEST(PointTree, TellsOfPointsThatAreNotFinite) {
  std::vector<float> points = random(40);
  PointTree tree(20, 2);
  EXPECT_TRUE(tree.build(points.data()));
  points[33] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(tree.build(points.data()));
  points[33] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(tree.build(points.data()));
}

}  // namespace
}  // namespace hr
