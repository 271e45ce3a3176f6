// SPDX-License-Identifier: Apache-2.0
// recursive_filter equals the recurrence, for any order, length and axis.
#include "headrace/signal/recursive_filter.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hr {
namespace {

using namespace testing;

std::vector<double> noise(int64_t count) {
  return random_values<double>(
      count, 7, [](uint64_t state) { return static_cast<double>(state >> 11) * 0x1p-52 - 1; });
}

/// Poles within a circle of radius 0.9, sections one after the other.
FilterSections sections_of(int64_t order, int64_t count) {
  FilterSections sections{order, {}, {}};
  for (int64_t s = 0; s < count; ++s)
    for (int64_t i = 0; i <= order; ++i) {
      sections.numerators.push_back(1.0 / static_cast<double>(1 + i + s));
      sections.denominators.push_back(
          i == 0 ? 1.0 : (i % 2 == 0 ? 0.8 : -0.8) / static_cast<double>(order * (1 + s)));
    }
  return sections;
}

/// By the definition: direct form I in long double.
std::vector<double> definition(const FilterSections& sections, const std::vector<double>& x) {
  std::vector<long double> from(x.begin(), x.end());
  for (int64_t s = 0; s < sections.count(); ++s) {
    const double* b = sections.numerators.data() + s * (sections.order + 1);
    const double* a = sections.denominators.data() + s * (sections.order + 1);
    std::vector<long double> to(from.size());
    for (size_t n = 0; n < from.size(); ++n)
      for (size_t i = 0; i <= static_cast<size_t>(sections.order) && i <= n; ++i) {
        to[n] += b[i] * from[n - i];
        if (i > 0) to[n] -= a[i] * to[n - i];
      }
    from = to;
  }
  return {from.begin(), from.end()};
}

void expect_near(const Tensor& found, const std::vector<double>& wanted) {
  const std::vector<double> values = values_of<double>(found);
  ASSERT_EQ(values.size(), wanted.size());
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); ++i)
    worst = std::max(worst, std::fabs(values[i] - wanted[i]));
  EXPECT_LE(worst, 1e-12);
}

TEST(RecursiveFilter, EqualsTheRecurrence) {
  for (const int64_t size : {0, 1, 2, 63, 64, 65, 1025, 65'663, 65'664, 65'665, 131'333})
    for (const int64_t order : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
      for (const int64_t count : {1, 3})
        for (const int64_t stride : {1, -2}) {
          if (size > 60'000 && stride != 1 && order > 2) continue;
          const std::vector<double> x = noise(size);
          const FilterSections sections = sections_of(order, count);
          expect_near(recursive_filter(tensor_of(x, stride), sections, 0, false, nullptr).values,
                      definition(sections, x));
        }
}

TEST(RecursiveFilter, GoesOnFromAState) {
  const std::vector<double> x = noise(200'000);
  const FilterSections sections = sections_of(2, 2);
  const auto part = [&](int64_t begin, int64_t end) {
    return tensor_of(std::vector<double>(x.begin() + begin, x.begin() + end));
  };
  const FilteredSignal first = recursive_filter(part(0, 90'000), sections, 0, false, nullptr);
  const FilteredSignal second =
      recursive_filter(part(90'000, 200'000), sections, 0, false, &first.state);
  std::vector<double> wanted = definition(sections, x);
  wanted.erase(wanted.begin(), wanted.begin() + 90'000);
  expect_near(second.values, wanted);
}

TEST(RecursiveFilter, IsTheSameForAnyThreadsAndLevel) {
  const Tensor x = tensor_of(noise(400'003));
  for (const int64_t order : {2, 4, 8}) {
    const FilterSections sections = sections_of(order, 2);
    EXPECT_TRUE(same_for_any_threads(
        [&] { return recursive_filter(x, sections, 0, false, nullptr).values; }));
    const SimdLevel best = simd_level();
    const Tensor found = recursive_filter(x, sections, 0, false, nullptr).values;
    set_simd_level(SimdLevel::kBase);
    EXPECT_TRUE(same_bits(found, recursive_filter(x, sections, 0, false, nullptr).values));
    set_simd_level(best);
  }
}

TEST(RecursiveFilterOfLines, IsThatOfEach) {
  const std::vector<double> x = noise(37 * 41);
  const FilterSections sections = sections_of(3, 1);
  const Tensor rows = recursive_filter(matrix_of(x, 41), sections, 1, false, nullptr).values;
  const std::vector<double> found = values_of<double>(rows);
  for (int64_t line = 0; line < 37; ++line) {
    const std::vector<double> one(x.begin() + line * 41, x.begin() + (line + 1) * 41);
    const std::vector<double> wanted = definition(sections, one);
    for (int64_t i = 0; i < 41; ++i)
      EXPECT_NEAR(found[static_cast<size_t>(line * 41 + i)], wanted[static_cast<size_t>(i)], 1e-13);
  }
}

TEST(RecursiveFilterOfOthers, IsRefused) {
  const FilterSections sections = sections_of(2, 1);
  const Tensor x = tensor_of<double>({1, 2, 3});
  EXPECT_THROW(recursive_filter(tensor_of<int32_t>({1}), sections, 0, false, nullptr),
               TypeMismatchError);
  EXPECT_THROW(recursive_filter(x, sections, 1, false, nullptr), InvalidArgumentError);
  EXPECT_THROW(recursive_filter(x, sections, 0, false, &x), InvalidArgumentError);
  EXPECT_THROW(recursive_filter_both_ways(x, sections, 0, false, {0, 0}, FilterPadding::kOdd, 3),
               InvalidArgumentError);
}

}  // namespace
}  // namespace hr
