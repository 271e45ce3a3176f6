// SPDX-License-Identifier: Apache-2.0
// codes_between against one comparison for each row.
#include "headrace/algo/select/codes_between.h"

#include "headrace/base/simd.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

using namespace testing;

struct Range {
  int32_t begin, end;
};

void expect_found(int64_t rows, bool with_nulls, bool with_mask) {
  std::vector<int32_t> codes;
  std::vector<bool> valid;
  Buffer wanted = Buffer::allocate_zeroed(bitmap_bytes(rows + 3));
  for (int64_t i = 0; i < rows + 3; ++i) {
    codes.push_back(static_cast<int32_t>(i * 7 % 11));
    valid.push_back(i % 5 != 1);
    set_bit(wanted.mutable_as<uint8_t>(), i, i % 3 != 0);
  }
  const Column column = column_of(codes, with_nulls ? valid : std::vector<bool>{}).slice(3, rows);
  const Column mask = Column(TypeId::kBool, rows + 3, wanted).slice(3, rows);
  const Mask where(mask);
  for (const Range range : {Range{4, 5}, {0, 6}, {-1, 0}, {3, 3}, {0, 11}})
    for (const bool inside : {true, false}) {
      const Column found =
          codes_between(column, range.begin, range.end, inside, with_mask ? &where : nullptr);
      ASSERT_EQ(found.num_rows(), rows);
      ASSERT_EQ(found.null_count(), column.null_count());
      for (int64_t row = 0; row < rows; ++row) {
        const int32_t code = codes[static_cast<size_t>(row + 3)];
        const bool holds = (code >= range.begin && code < range.end) == inside;
        ASSERT_EQ(found.is_null(row), column.is_null(row));
        ASSERT_EQ(found.bit(row), holds && !column.is_null(row) && (!with_mask || mask.bit(row)))
            << rows << " row " << row << " [" << range.begin << ", " << range.end << ") " << inside;
      }
    }
}

TEST(CodesBetween, FindsThoseOfARange) {
  const SimdLevel best = simd_level();
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > best) break;
    set_simd_level(level);
    for (const int64_t rows : edge_sizes())
      for (const bool with_nulls : {false, true})
        for (const bool with_mask : {false, true}) expect_found(rows, with_nulls, with_mask);
  }
  set_simd_level(best);
}

}  // namespace
}  // namespace hr
