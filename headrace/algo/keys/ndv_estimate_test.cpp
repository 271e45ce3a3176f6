// SPDX-License-Identifier: Apache-2.0
// Distinct keys estimated from a sample of rows, compared with the true number.
#include "headrace/algo/keys/ndv_estimate.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/keys/hash.h"
#include "headrace/base/bits.h"
#include "headrace/data/dictionary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <unordered_set>

namespace hr {
namespace {

template <class F>
Column numbers(int64_t rows, F&& value_of, bool some_null = false) {
  Buffer values = Buffer::allocate(8 * rows), validity;
  for (int64_t i = 0; i < rows; ++i) values.mutable_as<int64_t>()[i] = value_of(i);
  if (some_null) {
    validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t i = 0; i < rows; ++i) set_bit(validity.mutable_as<uint8_t>(), i, i % 5 != 0);
  }
  return Column(TypeId::kInt64, rows, std::move(values), std::move(validity), -1);
}

int64_t random_number(int64_t i) {
  return static_cast<int64_t>(hash_key(static_cast<uint64_t>(i) + 77) >> 1);
}

int64_t distinct(const Column& column) {
  std::unordered_set<int64_t> seen;
  bool null = false;
  for (int64_t i = 0; i < column.num_rows(); ++i) {
    if (column.is_null(i))
      null = true;
    else
      seen.insert(column.values<int64_t>()[static_cast<size_t>(i)]);
  }
  return static_cast<int64_t>(seen.size()) + null;
}

void expect_near(const Column& column, double factor) {
  const auto truth = static_cast<double>(distinct(column));
  const double guess = estimate_ndv({column}).distinct;
  EXPECT_LE(guess, truth * factor);
  EXPECT_GE(guess * factor, truth);
}

TEST(NdvEstimate, FewRowsAreCounted) {
  for (const int64_t rows : {0, 1, 63, 64, 65, 4096, 8000}) {
    const Column column = numbers(rows, [](int64_t i) { return random_number(i) % 100; }, true);
    EXPECT_EQ(estimate_ndv({column}).distinct, static_cast<double>(distinct(column))) << rows;
  }
}

TEST(NdvEstimate, ManyRowsAreSampled) {
  for (const int64_t rows : {20'000, 1'000'000})
    for (const int64_t keys : {1, 10, 10'000, 300'000, 1'000'000'000}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(keys) + " keys");
      expect_near(numbers(rows, [&](int64_t i) { return random_number(i) % keys; }), 2);
      // In runs of equal keys.
      const int64_t run = std::max<int64_t>(rows / keys, 1);
      expect_near(numbers(rows, [&](int64_t i) { return i / run; }), 1.5);
    }
  // One key in half of the rows.
  expect_near(
      numbers(1'000'000, [](int64_t i) { return i % 2 ? 0 : random_number(i) % 20'000; }, true), 2);
}

TEST(NdvEstimate, SeveralColumnsAreLookedAtTogether) {
  const Column a = numbers(500'000, [](int64_t i) { return random_number(i) % 300; });
  const Column b = numbers(500'000, [](int64_t i) { return -(random_number(i) % 600); });
  const NdvEstimate both = estimate_ndv({a, b});  // the first follows from the second
  EXPECT_NEAR(both.distinct, 600, 60);
  EXPECT_NEAR(both.domain, 300.0 * 600, 5000);
}

TEST(NdvEstimate, TextsGetCodesWhereTheyAreLong) {
  const auto texts = [](int64_t rows, auto&& text_of) {
    DictionaryBuilder builder;
    Buffer codes = Buffer::allocate(4 * rows);
    for (int64_t i = 0; i < rows; ++i) codes.mutable_as<int32_t>()[i] = builder.add(text_of(i));
    return dictionary_decode(Column::categories(rows, std::move(codes), builder.finish()));
  };
  const Column few =
      texts(50'000, [](int64_t i) { return "id" + std::to_string(100 + random_number(i) % 50); });
  EXPECT_FALSE(estimate_ndv({few}).has_texts);
  EXPECT_EQ(estimate_ndv({few}).distinct, 50);
  const Column many = texts(50'000, [](int64_t i) {
    return "customer number " + std::to_string(random_number(i) % 9000);
  });
  const NdvEstimate guess = estimate_ndv({many});
  EXPECT_TRUE(guess.has_texts);
  EXPECT_NEAR(guess.distinct, 9000, 2000);
  EXPECT_NEAR(guess.text_bytes, 20, 1);
}

TEST(NdvEstimate, SomeOfTheRowsHaveSomeOfTheKeys) {
  EXPECT_EQ(distinct_in_sample(50, 1000, 1000), 50);
  EXPECT_NEAR(distinct_in_sample(50, 100'000, 1000), 50, 1e-6);
  EXPECT_NEAR(distinct_in_sample(1000, 1000, 10), 10, 1e-9);
  EXPECT_EQ(distinct_in_sample(0, 0, 0), 0);
}

}  // namespace
}  // namespace hr
