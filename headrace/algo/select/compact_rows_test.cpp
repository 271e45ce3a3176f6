// SPDX-License-Identifier: Apache-2.0
// Rows picked, joined and counted on a CUDA device: the host's rows and nulls.
#include "headrace/algo/select/compact_rows.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/dictionary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace hr {

namespace {

class CompactRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
};

Column sent(const Column& column) {
  return to_place(column, cuda_place(), current_stream(cuda_place()));
}

void expect_same(const Column& there, const Column& here, const std::string& what) {
  ASSERT_EQ(there.num_rows(), here.num_rows()) << what;
  ASSERT_EQ(there.null_count(), here.null_count()) << what;
  ASSERT_EQ(there.dtype(), here.dtype()) << what;
  if (here.num_rows() == 0) return;
  const Column back = to_place(there, host, current_stream(cuda_place()));
  const int64_t width = here.dtype().size_bytes();
  for (int64_t row = 0; row < here.num_rows(); ++row) {
    ASSERT_EQ(back.is_null(row), here.is_null(row)) << what << " row " << row;
    if (here.is_null(row)) continue;
    if (here.dtype().is_bool())
      ASSERT_EQ(back.bit(row), here.bit(row)) << what << " row " << row;
    else if (here.dtype().is_string())
      ASSERT_EQ(back.string(row), here.string(row)) << what << " row " << row;
    else
      ASSERT_EQ(std::memcmp(back.values_buffer().data() + (back.offset() + row) * width,
                            here.values_buffer().data() + (here.offset() + row) * width,
                            static_cast<size_t>(width)),
                0)
          << what << " row " << row;
  }
}

Buffer random_bits(int64_t rows, uint32_t seed, double share) {
  std::mt19937 random(seed);
  std::bernoulli_distribution is_one(share);
  Buffer bits = Buffer::allocate_zeroed(rows / 8 + 8);
  for (int64_t i = 0; i < rows; ++i) set_bit(bits.mutable_as<uint8_t>(), i, is_one(random));
  return bits;
}

Column numbers(Dtype dtype, int64_t rows, uint32_t seed, bool nulls) {
  std::mt19937 random(seed);
  Buffer values = Buffer::allocate_zeroed(rows * dtype.size_bytes() + 8);
  auto* const bytes = values.mutable_as<uint8_t>();
  for (int64_t i = 0; i < rows * dtype.size_bytes(); ++i) bytes[i] = static_cast<uint8_t>(random());
  return Column(dtype, rows, values, nulls ? random_bits(rows, seed + 1, 0.7) : Buffer(),
                nulls ? -1 : 0);
}

Column bools(int64_t rows, uint32_t seed, double share, bool nulls) {
  return Column(TypeId::kBool, rows, random_bits(rows, seed, share),
                nulls ? random_bits(rows, seed + 1, 0.7) : Buffer(), nulls ? -1 : 0);
}

Column strings(int64_t rows, uint32_t seed, bool nulls) {
  std::mt19937 random(seed);
  std::string text;
  Buffer views = Buffer::allocate_zeroed(rows * static_cast<int64_t>(sizeof(StringView)) + 16);
  auto* const out = views.mutable_as<StringView>();
  for (int64_t i = 0; i < rows; ++i) {
    std::string each(random() % 20, 'a');
    for (char& c : each) c = static_cast<char>('a' + random() % 3);
    out[i].size = static_cast<uint32_t>(each.size());
    if (each.size() <= sizeof out[i].inlined) {
      std::memcpy(out[i].inlined, each.data(), each.size());
    } else {
      std::memcpy(out[i].indirect.prefix, each.data(), 4);
      out[i].indirect.buffer = 0;
      out[i].indirect.offset = static_cast<uint32_t>(text.size());
      text += each;
    }
  }
  Buffer bytes = Buffer::allocate_zeroed(static_cast<int64_t>(text.size()) + 1);
  std::memcpy(bytes.mutable_data(), text.data(), text.size());
  return Column::strings(rows, views, {bytes}, nulls ? random_bits(rows, seed + 1, 0.7) : Buffer(),
                         nulls ? -1 : 0);
}

std::vector<Column> columns(int64_t rows, uint32_t seed) {
  std::vector<Column> all;
  for (const TypeId id : {TypeId::kInt8, TypeId::kUInt16, TypeId::kInt32, TypeId::kInt64})
    for (const bool nulls : {false, true}) all.push_back(numbers(id, rows, seed++, nulls));
  for (const bool nulls : {false, true}) {
    all.push_back(bools(rows, seed++, 0.5, nulls));
    all.push_back(strings(rows, seed++, nulls));
  }
  return all;
}

constexpr int64_t kSizes[] = {0,  1,    31,   32,   33,     63,      64,
                              65, 8191, 8192, 8193, 20'000, 131'071, 131'073};

}  // namespace

TEST_F(CompactRows, HasTheHostsRows) {
  for (const int64_t rows : kSizes)
    for (const double share : {0.0, 0.001, 0.5, 1.0})
      for (const bool nulls : {false, true}) {
        const Column mask = bools(rows + 5, 1, share, nulls).slice(5, rows);
        const Column gate = sent(mask);
        for (const Column& whole : columns(rows + 3, 2)) {
          const Column column = whole.slice(3, rows);
          if (rows > 0)
            expect_same(compact_rows(sent(column), gate), filter(column, Mask(mask)),
                        std::string(column.dtype().name()) + " of " + std::to_string(rows));
        }
      }
}

TEST_F(CompactRows, TakesMasksOfBytes) {
  const int64_t rows = 20'001;
  std::vector<uint8_t> gate(static_cast<size_t>(rows));
  std::mt19937 random(3);
  for (uint8_t& each : gate) each = static_cast<uint8_t>(random() % 2);
  const Tensor bytes = testing::tensor_of(gate);
  const Tensor mask(TypeId::kBool, {rows}, bytes.buffer());
  const Tensor there = testing::sent(mask, cuda_place());
  for (const Column& column : columns(rows, 4))
    expect_same(compact_rows(sent(column), there), filter(column, Mask(mask)), "bytes");
  const Tensor wide(TypeId::kFloat32, {rows, 3}, Buffer::allocate_zeroed(12 * rows));
  EXPECT_TRUE(
      testing::same_bits(testing::fetched(compact_rows(testing::sent(wide, cuda_place()), there)),
                         filter(wide, Mask(mask))));
  EXPECT_THROW(compact_rows(sent(columns(5, 5)[0]), there), InvalidArgumentError);
}

TEST_F(CompactRows, ConcatenatesAndCountsNulls) {
  for (const int64_t rows : {int64_t{1}, int64_t{31}, int64_t{64}, int64_t{20'000}}) {
    const std::vector<Column> first = columns(rows + 3, 6), second = columns(77, 7),
                              third = columns(rows + 40, 8);
    for (size_t c = 0; c < first.size(); ++c) {
      const std::vector<Column> here{first[c].slice(3, rows), second[c ^ 1],
                                     third[c].slice(0, rows)};
      if (here[1].dtype() != here[0].dtype()) continue;
      std::vector<Column> there;
      for (const Column& each : here) there.push_back(sent(each));
      expect_same(concatenate("test", here[0].dtype(), there),
                  concatenate("test", here[0].dtype(), here), "concat");
      const Column nulls = null_rows("test", there[0], 5);
      EXPECT_EQ(nulls.null_count(), 5);
      expect_same(
          concatenate("test", here[0].dtype(), std::vector{nulls, there[0]}),
          concatenate("test", here[0].dtype(), std::vector{null_rows("test", here[0], 5), here[0]}),
          "shift");
    }
  }
}

TEST_F(CompactRows, CountsBitsThere) {
  for (const int64_t rows : kSizes)
    for (const int64_t begin : {0, 1, 7, 8, 13, 64}) {
      const Buffer bits = random_bits(rows + begin, 9, 0.5);
      const Tensor bytes(TypeId::kUInt8, {bits.size_bytes()}, bits);
      const Buffer there = testing::sent(bytes, cuda_place()).buffer();
      EXPECT_EQ(count_bits_of(there, begin, rows), count_bits_of(bits, begin, rows))
          << rows << " from " << begin;
    }
}

}  // namespace hr
