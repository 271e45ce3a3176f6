// SPDX-License-Identifier: Apache-2.0
#include "headrace/algo/select/mask_prefix.h"

#include "headrace/base/bits.h"

#include <gtest/gtest.h>

#include <random>

namespace hr {
namespace {

TEST(MaskPrefix, IsWhereAWalkOverTheRowsStops) {
  std::mt19937_64 random(7);
  for (const int64_t rows : {0, 1, 63, 64, 65, 1000})
    for (const int64_t offset : {0, 5})
      for (const bool nulls : {false, true}) {
        Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows + offset) + 8);
        Buffer valid = Buffer::allocate_zeroed(bitmap_bytes(rows + offset) + 8);
        for (int64_t i = 0; i < rows + offset; ++i) {
          set_bit(bits.mutable_as<uint8_t>(), i, random() % 3 == 0);
          set_bit(valid.mutable_as<uint8_t>(), i, random() % 5 != 0);
        }
        const Column column(TypeId::kBool, rows, bits, nulls ? valid : Buffer(), nulls ? -1 : 0,
                            offset);
        for (const int64_t most : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{21}, rows}) {
          int64_t row = 0, picked = 0;
          for (; row < rows && picked < most; ++row)
            picked += !column.is_null(row) && column.bit(row);
          const MaskPrefix found = mask_prefix(Mask(column), most);
          EXPECT_EQ(found.rows, row) << rows << ' ' << offset << ' ' << most;
          EXPECT_EQ(found.picked, picked);
        }
      }
}

}  // namespace
}  // namespace hr
