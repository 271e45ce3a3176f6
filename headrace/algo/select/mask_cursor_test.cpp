// SPDX-License-Identifier: Apache-2.0
// Walking picked rows block by block equals a loop over the mask.
#include "headrace/algo/select/mask_cursor.h"

#include "headrace/base/bits.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace hr {

namespace {

Column random_column(Dtype dtype, int64_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto fill = [&](int64_t bytes) {
    Buffer buffer = Buffer::allocate(bytes);
    for (int64_t i = 0; i < bytes; ++i)
      buffer.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
    return buffer;
  };
  return Column(dtype, rows, fill(rows * dtype.size_bytes()), fill(bitmap_bytes(rows)), -1);
}

// True in about `share` of the rows, in stretches as well as one by one.
Column mask_column(int64_t rows, double share, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows) + 8);
  for (int64_t row = 0; row < rows; ++row) {
    const bool whole = row / 640 % 3 == 1 && share > 0.9;
    set_bit(bits.mutable_as<uint8_t>(), row, whole || uniform(random) < share);
  }
  return Column(TypeId::kBool, rows, std::move(bits));
}

class MaskCursors : public testing::SimdAndThreadsTest,
                    public ::testing::WithParamInterface<double> {};

INSTANTIATE_TEST_SUITE_P(Shares, MaskCursors, ::testing::Values(0.0, 0.001, 0.05, 0.5, 0.98, 1.0));

TEST_P(MaskCursors, CopyWhatALoopCopies) {
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > best_simd_level()) continue;
    set_simd_level(level);
    for (const TypeId type : {TypeId::kInt8, TypeId::kInt16, TypeId::kFloat32, TypeId::kInt64}) {
      const int64_t rows = 70'001;
      const Column picks = mask_column(rows + 3, GetParam(), 5).slice(3, rows);
      const Column values = random_column(type, rows, 7);
      const Mask mask(picks);
      std::vector<int64_t> wanted;
      for (int64_t row = 0; row < rows; ++row)
        if (picks.bit(row)) wanted.push_back(row);
      const std::vector<int64_t> offsets = mask_offsets(mask);
      ASSERT_EQ(offsets.back(), static_cast<int64_t>(wanted.size()));
      const int64_t width = Dtype(type).size_bytes();
      for (const int64_t step : {1024, 4096}) {
        const std::vector<int64_t> begins = picked_begins(mask, offsets, step);
        EXPECT_EQ(begins.back(), rows);
        PickedRows picked;
        for (size_t m = 0; m + 1 < begins.size(); ++m) {
          MaskCursor cursor(mask, begins[m]);
          const size_t end = std::min(wanted.size(), (m + 1) * static_cast<size_t>(step));
          for (size_t at = m * static_cast<size_t>(step); at < end; at += 1000) {
            const size_t count = std::min<size_t>(1000, end - at);
            cursor.next(static_cast<int64_t>(count), picked);
            std::vector<std::byte> out(count * static_cast<size_t>(width) + 1, std::byte{0x5a});
            copy_picked(values.values_buffer().data(), width, picked, out.data());
            EXPECT_EQ(out.back(), std::byte{0x5a});  // nothing is written behind
            std::vector<uint64_t> valid(count / 64 + 1);
            copy_picked_bits(values.validity(), values.offset(), rows, picked, valid.data());
            for (size_t i = 0; i < count; ++i) {
              const int64_t row = wanted[at + i];
              ASSERT_EQ(std::memcmp(out.data() + i * static_cast<size_t>(width),
                                    values.values_buffer().data() + row * width,
                                    static_cast<size_t>(width)),
                        0);
              ASSERT_EQ((valid[i / 64] >> (i % 64)) & 1, values.is_null(row) ? 0u : 1u);
            }
          }
        }
      }
    }
  }
}

}  // namespace

}  // namespace hr
