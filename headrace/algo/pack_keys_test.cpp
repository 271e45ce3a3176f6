// SPDX-License-Identifier: Apache-2.0
// Packs order as the keys, and unpack to them.
#include "headrace/algo/pack_keys.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace hr {
namespace {

template <class T>
Column column_of(const std::vector<T>& values, const std::vector<bool>& valid = {}) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer buffer = Buffer::allocate(rows * static_cast<int64_t>(sizeof(T)));
  std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
  Buffer validity;
  if (!valid.empty()) {
    validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t i = 0; i < rows; ++i)
      set_bit(validity.mutable_as<uint8_t>(), i, valid[static_cast<size_t>(i)]);
  }
  return Column(dtype_of<T>(), rows, buffer, validity, -1);
}

Buffer packs_of(const PackedKeys& packed) {
  Buffer packs = Buffer::allocate(8 * packed.num_rows());
  packed.read(0, packed.num_rows(), packs.mutable_as<uint64_t>());
  return packs;
}

TEST(PackKeys, OrdersAsTheKeysDo) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Column floats = column_of<double>({-inf, -2.5, -0.0, 0.0, 1e-300, 7, inf, -nan, 0},
                                          {true, true, true, true, true, true, true, true, false});
  PackedKeys packed = PackedKeys::of("test", {floats}, {});
  const Buffer packs = packs_of(packed);
  const auto* pack = packs.as<uint64_t>();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(pack[i] < pack[i + 1], i != 2) << i;
  EXPECT_EQ(pack[2], pack[3]);
  const Column back = packed.unpack(0, packs, 9);
  EXPECT_EQ(back.values<double>()[1], -2.5);
  EXPECT_TRUE(std::isnan(back.values<double>()[7]));
  EXPECT_TRUE(back.is_null(8));
  EXPECT_EQ(back.null_count(), 1);
}

TEST(PackKeys, SeveralColumnsBesideEachOther) {
  const Column a = column_of<int64_t>({-5, 3, -5, 100});
  const Column b = column_of<uint8_t>({200, 7, 9, 0}, {true, true, true, false});
  const PackedKeys packed = PackedKeys::of("test", {a, b}, {});
  EXPECT_LT(packed.domain(), 1u << 16);
  const Buffer packs = packs_of(packed);
  const auto* pack = packs.as<uint64_t>();
  EXPECT_LT(pack[2], pack[0]);
  EXPECT_LT(pack[0], pack[1]);
  EXPECT_LT(pack[1], pack[3]);
  EXPECT_EQ(packed.unpack(0, packs, 4).values<int64_t>()[3], 100);
  EXPECT_TRUE(packed.unpack(1, packs, 4).is_null(3));
  EXPECT_EQ(packed.unpack(1, packs, 4).values<uint8_t>()[0], 200);
}

TEST(PackKeys, WhatDoesNotFitIsNumbered) {
  const Column wide =
      column_of<int64_t>({INT64_MAX, INT64_MIN, 0, INT64_MAX}, {true, true, true, false});
  const Column floats = column_of<double>({1, 2, 3, std::nan("")});
  for (const bool drop : {false, true}) {
    const PackedKeys packed = PackedKeys::of("test", {wide, floats}, {.drop_missing = drop});
    const Buffer packs = packs_of(packed);
    const auto* pack = packs.as<uint64_t>();
    EXPECT_LT(pack[1], pack[2]);
    EXPECT_LT(pack[2], pack[0]);
    EXPECT_LT(pack[0], pack[3]);
    EXPECT_EQ(packed.has_missing(), drop);
    if (drop) {
      EXPECT_EQ(pack[3], packed.missing());
    }
    EXPECT_EQ(packed.unpack(0, packs, 3).values<int64_t>()[1], INT64_MIN);
    EXPECT_EQ(packed.unpack(1, packs, 3).values<double>()[2], 3);
    if (!drop) {
      EXPECT_TRUE(packed.unpack(0, packs, 4).is_null(3));
    }
  }
}

TEST(PackKeys, RefusesComplexNumbers) {
  const Column complex(TypeId::kComplex64, 1, Buffer::allocate_zeroed(8));
  EXPECT_THROW(PackedKeys::of("test", {complex}, {}), TypeMismatchError);
}

}  // namespace
}  // namespace hr
