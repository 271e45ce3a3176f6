// SPDX-License-Identifier: Apache-2.0
// histogram equals its definition; python/tests compares it with numpy.histogram bit for bit.
#include "headrace/algo/reduce/histogram.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hr {
namespace {

using namespace testing;

std::vector<double> noise(int64_t count) {
  std::vector<double> values;
  uint64_t state = 3;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<double>(state >> 40) / 65536.0 - 100.0);
  }
  return values;
}

std::vector<int64_t> count_by_definition(const std::vector<double>& values,
                                         const std::vector<double>& edges) {
  std::vector<int64_t> counts(edges.size() - 1, 0);
  for (const double value : values)
    for (size_t bin = 0; bin + 1 < edges.size(); ++bin) {
      const bool last = bin + 2 == edges.size();
      if (value >= edges[bin] && (value < edges[bin + 1] || (last && value == edges[bin + 1])))
        ++counts[bin];
    }
  return counts;
}

TEST(Histogram, CountsBinsOfEqualWidth) {
  for (const int64_t size : edge_sizes())
    for (const int64_t stride : {1, -2}) {
      const std::vector<double> values = noise(size);
      const Histogram result = histogram(tensor_of(values, stride), 13);
      const auto edges = values_of<double>(result.edges);
      EXPECT_EQ(values_of<int64_t>(result.counts), count_by_definition(values, edges)) << size;
      const Histogram again = histogram(tensor_of(values), result.edges);
      EXPECT_TRUE(same_bits(result.counts, again.counts));
    }
}

TEST(Histogram, KeepsEdgesOfWholeNumbers) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i <= 100; ++i) values.push_back(i);
  const Histogram result = histogram(tensor_of(values), 100);
  std::vector<int64_t> expected(100, 1);
  expected.back() = 2;  // the last bin holds both 99 and 100
  EXPECT_EQ(values_of<int64_t>(result.counts), expected);
}

TEST(Histogram, CountsIntegersOfTheWholeRange) {
  const Tensor x = tensor_of<int64_t>(
      {std::numeric_limits<int64_t>::min(), -1, 0, std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(values_of<int64_t>(histogram(x, 2).counts), (std::vector<int64_t>{2, 2}));
  const Tensor small = tensor_of<int8_t>({-128, 127, 127});
  EXPECT_EQ(values_of<int64_t>(histogram(small, 2).counts), (std::vector<int64_t>{1, 2}));
}

TEST(Histogram, LeavesOutNanAndWhatIsOutside) {
  const Tensor x = tensor_of<double>({NAN, -1, 0, 0.5, 1, 2, INFINITY});
  EXPECT_EQ(values_of<int64_t>(histogram(x, 2, HistogramRange{0, 1}).counts),
            (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(values_of<int64_t>(histogram(x, tensor_of<double>({0, 1, INFINITY})).counts),
            (std::vector<int64_t>{2, 3}));
}

TEST(Histogram, TakesEqualEdges) {
  const Tensor x = tensor_of<double>({1, 1, 2});
  EXPECT_EQ(values_of<int64_t>(histogram(x, tensor_of<double>({0, 1, 1, 2})).counts),
            (std::vector<int64_t>{0, 0, 3}));
  EXPECT_EQ(values_of<int64_t>(histogram(x, tensor_of<double>({0, 1, 1})).counts),
            (std::vector<int64_t>{0, 2}));
}

TEST(Histogram, GivesARangeToOneValueAndToNone) {
  EXPECT_EQ(values_of<double>(histogram(tensor_of<double>({3, 3}), 2).edges),
            (std::vector<double>{2.5, 3, 3.5}));
  EXPECT_EQ(values_of<float>(histogram(tensor_of<float>({}), 2).edges),
            (std::vector<float>{0, 0.5f, 1}));
}

TEST(Histogram, IsTheSameForAnyThreads) {
  const Tensor x = tensor_of(noise(5 * kMorselRows + 3));
  EXPECT_TRUE(same_for_any_threads([&] { return histogram(x, 50).counts; }));
  EXPECT_TRUE(same_for_any_threads([&] { return histogram(x, 50'000).counts; }));
}

TEST(Histogram, RefusesWhatHasNoBins) {
  const Tensor x = tensor_of<double>({1, 2});
  EXPECT_THROW(histogram(x, 0), InvalidArgumentError);
  EXPECT_THROW(histogram(x, 2, HistogramRange{1, 0}), InvalidArgumentError);
  EXPECT_THROW(histogram(x, 2, HistogramRange{0, INFINITY}), InvalidArgumentError);
  EXPECT_THROW(histogram(x, 2, HistogramRange{-1e308, 1.7e308}), InvalidArgumentError);
  EXPECT_THROW(histogram(tensor_of<double>({1, NAN}), 2), InvalidArgumentError);
  EXPECT_THROW(histogram(tensor_of<double>({1, INFINITY}), 2), InvalidArgumentError);
  EXPECT_THROW(histogram(tensor_of<double>({1, std::nextafter(1, 2)}), 2), InvalidArgumentError);
  EXPECT_THROW(histogram(x, std::numeric_limits<int64_t>::max()), InvalidArgumentError);
  EXPECT_THROW(histogram(x, tensor_of<double>({1})), InvalidArgumentError);
  EXPECT_THROW(histogram(x, tensor_of<double>({2, 1})), InvalidArgumentError);
  EXPECT_THROW(histogram(x, tensor_of<double>({1, NAN})), InvalidArgumentError);
  EXPECT_THROW(histogram(Tensor(TypeId::kBool, {2}, Buffer::allocate_zeroed(2))),
               TypeMismatchError);
}

}  // namespace
}  // namespace hr
