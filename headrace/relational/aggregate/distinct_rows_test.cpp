// SPDX-License-Identifier: Apache-2.0
// The first rows of keys against a set: few and many keys, ranges and hashes, keys that are
// missing.
#include "headrace/relational/aggregate/distinct_rows.h"

#include "headrace/base/bits.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_set>
#include <vector>

namespace hr {
namespace {

class DistinctRowsTest : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, DistinctRowsTest, ::testing::Values(1, 2, 4));

struct Keys {
  std::vector<int64_t> values;
  std::vector<bool> valid;

  Column column() const {
    const auto rows = static_cast<int64_t>(values.size());
    Buffer buffer = Buffer::allocate(8 * rows), validity;
    if (!valid.empty()) validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t i = 0; i < rows; ++i) {
      buffer.mutable_as<int64_t>()[i] = values[static_cast<size_t>(i)];
      if (!valid.empty()) set_bit(validity.mutable_as<uint8_t>(), i, valid[static_cast<size_t>(i)]);
    }
    return Column(TypeId::kInt64, rows, std::move(buffer), std::move(validity), -1);
  }
};

// Keys below `domain`, times `step`.
Keys keys_of(int64_t rows, int64_t domain, int64_t step, bool with_nulls) {
  std::mt19937_64 random(static_cast<uint64_t>(rows + domain));
  Keys keys;
  for (int64_t i = 0; i < rows; ++i) {
    const auto key = static_cast<int64_t>(random() % static_cast<uint64_t>(domain));
    keys.values.push_back(key * step);
    if (with_nulls) keys.valid.push_back(random() % 7 != 0);
  }
  return keys;
}

void expect_first_rows(const Keys& keys, bool drop_missing) {
  std::vector<int64_t> expected;
  std::unordered_set<int64_t> seen;
  bool has_null = false;
  for (size_t i = 0; i < keys.values.size(); ++i) {
    const bool is_null = !keys.valid.empty() && !keys.valid[i];
    const bool is_new = is_null ? !has_null && !drop_missing : seen.insert(keys.values[i]).second;
    has_null |= is_null;
    if (is_new) expected.push_back(static_cast<int64_t>(i));
  }
  const NormalizedKeys normalized =
      NormalizedKeys::of("test", {keys.column()}, {.ordered = false, .drop_missing = drop_missing});
  const Tensor rows = distinct_rows(normalized);
  ASSERT_EQ(rows.num_elements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(rows.as<int64_t>()[i], expected[i]) << i;
  ASSERT_EQ(count_distinct(normalized), static_cast<int64_t>(expected.size()));
}

TEST_P(DistinctRowsTest, AreThoseOfASet) {
  for (const int64_t rows : {0, 1, 63, 64, 65, 1025, 131'073, 400'003})
    for (const int64_t domain : {1, 50, 100'000, 300'000})
      for (const int64_t step : {int64_t{1}, int64_t{1} << 40})
        for (const bool with_nulls : {false, true})
          for (const bool drop_missing : {false, true})
            expect_first_rows(keys_of(rows, domain, step, with_nulls), drop_missing);
}

}  // namespace
}  // namespace hr
