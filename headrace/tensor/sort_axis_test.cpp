// SPDX-License-Identifier: Apache-2.0
// Sorted lines and their positions against the standard library's stable sort.
#include "headrace/base/dtype.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/tensor/sort_axis_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace hr {
namespace {

using testing::random_values;

template <class T>
bool is_before(T a, T b, bool descending) {
  if (descending) std::swap(a, b);
  return a < b || (b != b && a == a);
}

template <class T>
void check_lines(const std::vector<T>& values, int64_t length) {
  const auto lines = static_cast<int64_t>(values.size()) / length;
  for (const bool descending : {false, true}) {
    std::vector<int64_t> places(values.size());
    cpu::argsort_lines(dtype_of<T>(), reinterpret_cast<const std::byte*>(values.data()), lines,
                       length, descending, places.data());
    std::vector<T> sorted = values;
    cpu::sort_lines(dtype_of<T>(), reinterpret_cast<std::byte*>(sorted.data()), lines, length,
                    descending);
    for (int64_t line = 0; line < lines; ++line) {
      const T* const from = values.data() + line * length;
      std::vector<int64_t> expected(static_cast<size_t>(length));
      std::iota(expected.begin(), expected.end(), 0);
      std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
        return is_before(from[a], from[b], descending);
      });
      for (int64_t i = 0; i < length; ++i) {
        const auto at = static_cast<size_t>(line * length + i);
        const T wanted = from[expected[static_cast<size_t>(i)]];
        ASSERT_EQ(places[at], expected[static_cast<size_t>(i)]) << length << " at " << i;
        ASSERT_TRUE(sorted[at] == wanted || wanted != wanted) << length << " at " << i;
      }
    }
  }
}

template <class T, class Make>
void check(Make&& make) {
  for (const int64_t length : {1, 2, 47, 48, 49, 255, 256, 257, 500, 767, 768, 1000})
    check_lines(random_values<T>(3 * length, static_cast<uint64_t>(length), make), length);
}

TEST(SortAxis, LinesOfFloatsAreInOrder) {
  check<double>([](uint64_t s) { return static_cast<double>(s >> 11) * 0x1p-52 - 1; });
  check<float>([](uint64_t s) { return static_cast<double>(s >> 33) * 0x1p-30 - 1; });
  check<double>([](uint64_t s) { return static_cast<double>(s >> 61) - 3; });  // many are equal
  // The last bits differ alone, or the first ones and few in between.
  check<double>([](uint64_t s) { return std::bit_cast<double>(0x3ff0000000000000 | (s >> 59)); });
  check<double>([](uint64_t s) {
    return std::bit_cast<double>((s & 0x8000000000000000) | 0x3ff0000000000000 | (s >> 60 & 7));
  });
  check<double>([](uint64_t s) {
    constexpr double kSpecial[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   5e-324};
    return kSpecial[s >> 61];
  });
}

TEST(SortAxis, LinesOfIntegersAreInOrder) {
  check<int64_t>([](uint64_t s) { return s; });
  check<uint64_t>([](uint64_t s) { return s; });
  check<int64_t>([](uint64_t s) { return static_cast<int64_t>(s >> 54) - 512; });
  check<int32_t>([](uint64_t s) { return static_cast<int32_t>(s >> 32); });
  check<uint8_t>([](uint64_t s) { return s >> 60; });
  check<int8_t>([](uint64_t s) { return static_cast<int8_t>(s >> 56); });
  check<int16_t>([](uint64_t) { return int16_t{7}; });
}

}  // namespace
}  // namespace hr
