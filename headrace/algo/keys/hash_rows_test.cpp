// SPDX-License-Identifier: Apache-2.0
// Hashes of rows: equal values alike in every dtype, and the same for ever.
#include "headrace/algo/keys/hash_rows.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace hr {
namespace {

using testing::column_of;

std::vector<uint64_t> hashes_of(const std::vector<Column>& columns) {
  const Column made = hash_rows(columns);
  const auto values = made.values<uint64_t>();
  return {values.begin(), values.end()};
}

TEST(HashRows, StaysAsItIs) {  // workers of other versions and machines must agree
  EXPECT_EQ(hashes_of({column_of<int64_t>({0, 1, -1})}),
            (std::vector<uint64_t>{0x4F329CADFAF7C73Cu, 0xE58DEF9F41DD3FA5u, 0x554C35B79A7D06A5u}));
  EXPECT_EQ(hashes_of({column_of<double>({0.5})}), (std::vector<uint64_t>{0x4A0D0D9E2CA52FEEu}));
}

TEST(HashRows, EqualValuesOfOtherDtypesAreAlike) {
  const auto wanted = hashes_of({column_of<int64_t>({0, 1, 100})});
  EXPECT_EQ(hashes_of({column_of<int8_t>({0, 1, 100})}), wanted);
  EXPECT_EQ(hashes_of({column_of<uint32_t>({0, 1, 100})}), wanted);
  EXPECT_EQ(hashes_of({column_of<double>({-0.0, 1, 100})}), wanted);
  EXPECT_EQ(hashes_of({column_of<float>({0, 1, 100})}), wanted);
  const auto seconds = column_of<int64_t>({3, -5}), millis = column_of<int64_t>({3000, -5000});
  EXPECT_EQ(hashes_of({seconds.with_dtype(Dtype::timestamp(TimeUnit::kSecond))}),
            hashes_of({millis.with_dtype(Dtype::timestamp(TimeUnit::kMilli))}));
  const auto numbers = column_of<int64_t>({7, 9, 7, 7}, {true, true, false, true});
  EXPECT_EQ(hashes_of({dictionary_encode(numbers)}), hashes_of({numbers}));
}

TEST(HashRows, MissingValuesAreAlike) {
  const auto hashes = hashes_of({column_of<double>({NAN, -NAN, 3, 3}, {true, true, false, true})});
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_NE(hashes[0], hashes[3]);
}

TEST(HashRows, SlicesAndThreads) {
  for (const int64_t rows : {0L, 1L, 63L, 64L, 65L, kMorselRows + 1, 3 * kMorselRows + 5}) {
    std::vector<int64_t> first;
    std::vector<double> second;
    for (int64_t row = 0; row < rows; ++row) {
      first.push_back(row / 3);
      second.push_back(static_cast<double>(row % 3) / 7);
    }
    const Column a = column_of(first), b = column_of(second);
    set_threads(1);
    const auto wanted = hashes_of({a, b});
    EXPECT_EQ(std::ssize(std::set(wanted.begin(), wanted.end())), rows);
    for (const int threads : {2, 4}) {
      set_threads(threads);
      EXPECT_EQ(hashes_of({a, b}), wanted);
    }
    if (rows < 2) continue;
    const auto part = hashes_of({a.slice(1, rows - 1), b.slice(1, rows - 1)});
    EXPECT_TRUE(std::equal(part.begin(), part.end(), wanted.begin() + 1, wanted.end()));
  }
}

TEST(HashRows, NamesWhatHasNoHash) {
  EXPECT_THROW(hash_rows(std::vector{Column(Dtype::list(TypeId::kInt64), 0, Buffer())}),
               UnsupportedError);
}

}  // namespace
}  // namespace hr
