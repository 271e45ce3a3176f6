// SPDX-License-Identifier: Apache-2.0
// filter and gather equal a plain loop, for masks and positions of every shape, on any threads.
#include "headrace/algo/select/filter.h"

#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace hr {

namespace {

Column random_column(Dtype dtype, int64_t rows, bool nulls, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto fill = [&](int64_t bytes) {
    Buffer buffer = Buffer::allocate(bytes);
    for (int64_t i = 0; i < bytes; ++i)
      buffer.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
    return buffer;
  };
  const int64_t bytes = dtype.is_bool() ? bitmap_bytes(rows) : rows * dtype.size_bytes();
  return Column(dtype, rows, fill(bytes), nulls ? fill(bitmap_bytes(rows)) : Buffer(), -1);
}

bool same_row(const Column& a, int64_t i, const Column& b, int64_t k) {
  if (a.is_null(i) != b.is_null(k)) return false;
  if (a.dtype().is_bool()) return a.bit(i) == b.bit(k);
  const int64_t width = a.dtype().size_bytes();
  return std::memcmp(a.values_buffer().data() + (a.offset() + i) * width,
                     b.values_buffer().data() + (b.offset() + k) * width,
                     static_cast<size_t>(width)) == 0;
}

TEST(Compress, EqualsALoop) {
  for (const int64_t rows : {0L, 1L, 63L, 64L, 65L, 1000L, 131'073L, 400'000L})
    for (const Dtype dtype : {Dtype(TypeId::kBool), Dtype(TypeId::kInt8), Dtype(TypeId::kFloat32),
                              Dtype(TypeId::kFloat64), Dtype(TypeId::kComplex128),
                              Dtype(TypeId::kDate), Dtype::timestamp(TimeUnit::kNano)}) {
      const Column column = random_column(dtype, rows + 5, true, 1).slice(5, rows);
      const Column mask = random_column(TypeId::kBool, rows + 3, rows % 2 == 1, 2).slice(3, rows);
      const Column picked = filter(column, Mask(mask));
      int64_t k = 0;
      for (int64_t i = 0; i < rows; ++i)
        if (mask.bit(i) && !mask.is_null(i)) {
          ASSERT_LT(k, picked.num_rows());
          ASSERT_TRUE(same_row(column, i, picked, k++)) << dtype.name() << " row " << i;
        }
      ASSERT_EQ(k, picked.num_rows());
    }
}

TEST(Compress, EqualsALoopOfFewAndOfMostRows) {
  std::mt19937_64 random(3);
  for (const unsigned of_1000 : {0u, 3u, 20u, 70u, 500u, 950u, 999u, 1000u}) {
    constexpr int64_t kRows = 140'001;
    Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(kRows));
    for (int64_t i = 0; i < kRows; ++i)
      set_bit(bits.mutable_as<uint8_t>(), i, random() % 1000 < of_1000);
    const Column mask(TypeId::kBool, kRows, std::move(bits));
    const Column column = random_column(TypeId::kInt64, kRows, false, of_1000);
    const Column picked = filter(column, Mask(mask));
    std::vector<int64_t> wanted;
    for (int64_t i = 0; i < kRows; ++i)
      if (mask.bit(i)) wanted.push_back(column.values<int64_t>()[static_cast<size_t>(i)]);
    ASSERT_EQ(picked.num_rows(), static_cast<int64_t>(wanted.size()));
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), picked.values<int64_t>().begin()));
  }
}

TEST(Compress, TakesByteMasksOfAnyStrideAndRowsOfTensors) {
  Buffer bytes = Buffer::allocate(8);
  std::memcpy(bytes.mutable_data(), "\1\0\0\0\1\0\1\0", 8);
  const Mask mask(Tensor(TypeId::kBool, {4}, {2}, bytes, 0));
  Buffer values = Buffer::allocate(4 * 3 * 4);
  for (int i = 0; i < 12; ++i) values.mutable_as<int32_t>()[i] = i;
  const Tensor picked = filter(Tensor(TypeId::kInt32, {4, 3}, values), mask);
  EXPECT_EQ(picked.shape(), (Shape{3, 3}));
  EXPECT_EQ(picked.as<int32_t>()[3], 6);
  EXPECT_EQ(picked.as<int32_t>()[8], 11);
}

TEST(Compress, RefusesWhatDoesNotFit) {
  const Column column = random_column(TypeId::kInt8, 10, false, 1);
  EXPECT_THROW(filter(column, Mask(random_column(TypeId::kBool, 9, false, 1))),
               InvalidArgumentError);
  EXPECT_THROW(Mask{column}, TypeMismatchError);
}

TEST(Gather, EqualsALoopAndCountsFromTheEnd) {
  const int64_t rows = 1000;
  const int64_t count = 200'000;
  std::mt19937_64 random(3);
  Buffer buffer = Buffer::allocate(count * 8);
  for (int64_t k = 0; k < count; ++k)
    buffer.mutable_as<int64_t>()[k] = static_cast<int64_t>(random() % (2 * rows)) - rows;
  const Tensor positions(TypeId::kInt64, {count}, buffer);
  for (const Dtype dtype : {Dtype(TypeId::kBool), Dtype(TypeId::kInt16), Dtype(TypeId::kFloat64),
                            Dtype(TypeId::kComplex128)}) {
    const Column column = random_column(dtype, rows + 9, true, 4).slice(9, rows);
    const Column taken = gather(column, positions);
    ASSERT_EQ(taken.num_rows(), count);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = positions.as<int64_t>()[k];
      ASSERT_TRUE(same_row(column, at < 0 ? at + rows : at, taken, k));
    }
  }
}

TEST(Gather, NamesTheFirstPositionOutOfRange) {
  Buffer buffer = Buffer::allocate(12);
  const int32_t at[] = {0, 5, 7};
  std::memcpy(buffer.mutable_data(), at, 12);
  try {
    gather(random_column(TypeId::kInt8, 5, false, 1), Tensor(TypeId::kInt32, {3}, buffer));
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_STREQ(error.what(), "take: position out of range: at=1, position='5', rows=5");
  }
}

}  // namespace

}  // namespace hr
