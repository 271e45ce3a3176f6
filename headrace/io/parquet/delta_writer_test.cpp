// SPDX-License-Identifier: Apache-2.0
// Packed differences are read back, with steps that wrap, in both widths.
#include "headrace/io/parquet/delta_writer.h"

#include "headrace/io/parquet/delta.h"
#include "headrace/io/parquet/parquet_testing.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace hr::parquet {
namespace {

template <class T>
std::vector<T> some_values(size_t count, int kind) {
  std::mt19937_64 random(count + static_cast<size_t>(kind));
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = kind == 0   ? static_cast<T>(i * 3)
                : kind == 1 ? static_cast<T>(random())
                : kind == 2
                    ? static_cast<T>(random() % 100)
                    : (i % 2 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
  return values;
}

template <class T>
void check() {
  for (const size_t count : {0, 1, 2, 31, 32, 33, 128, 129, 130, 257, 1000, 40'000})
    for (int kind = 0; kind < 4; ++kind) {
      const std::vector<T> values = some_values<T>(count, kind);
      ByteBuffer out;
      append_delta(values.data(), std::ssize(values), out);
      DeltaReader in(out.view());
      ASSERT_EQ(in.count(), std::ssize(values));
      std::vector<int64_t> read(count);
      in.read(in.count(), read.data());
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(static_cast<T>(read[i]), values[i]) << count << " " << kind << " " << i;
      EXPECT_EQ(in.rest().size(), 0u);
      if (count < 1000) continue;
      const auto guessed = static_cast<double>(guess_delta_bytes(values.data(), in.count()));
      EXPECT_NEAR(guessed / static_cast<double>(out.size()), 1, kind == 0 ? 2 : 0.2);
    }
}

TEST(DeltaWriter, WhatIsWrittenIsReadBack) {
  check<int32_t>();
  check<int64_t>();
}

TEST(DeltaWriter, TheBytesAreThoseOfTheFormat) {
  const std::vector<int64_t> values = some_values<int64_t>(129 + 64, 2);
  ByteBuffer out;
  append_delta(values.data(), std::ssize(values), out);
  // The plain writer of tests packs miniblocks without values too.
  EXPECT_TRUE(testing::delta_packed(values).starts_with(out.view()));
}

}  // namespace
}  // namespace hr::parquet
