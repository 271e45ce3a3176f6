// SPDX-License-Identifier: Apache-2.0
// Orders of every kind of key on a CUDA device: the host's.
#include "headrace/algo/bits/ordered_word_math.h"
#include "headrace/algo/sort/category_ranks.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/bits.h"
#include "headrace/data/device_testing.h"
#include "headrace/data/dictionary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace hr {

namespace {

using testing::tensor_of;

class DeviceSort : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
};

Column sent(const Column& column) {
  return to_place(column, cuda_place(), current_stream(cuda_place()));
}

Buffer random_bits(int64_t rows, uint32_t seed) {
  std::mt19937 random(seed);
  Buffer bits = Buffer::allocate_zeroed(rows / 8 + 8);
  for (int64_t i = 0; i < rows; ++i) set_bit(bits.mutable_as<uint8_t>(), i, random() % 5 != 0);
  return bits;
}

template <class T, class Draw>
Column drawn(int64_t rows, uint32_t seed, bool nulls, const Draw& draw) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(rows));
  for (T& value : values) value = static_cast<T>(draw(random));
  const Tensor tensor = tensor_of(values);
  return Column(tensor.dtype(), rows, tensor.buffer(),
                nulls ? random_bits(rows, seed + 1) : Buffer(), nulls ? -1 : 0);
}

Column strings(int64_t rows, uint32_t seed, bool nulls, size_t longest, const std::string& prefix) {
  std::mt19937 random(seed);
  std::string text;
  Buffer views = Buffer::allocate_zeroed(rows * static_cast<int64_t>(sizeof(StringView)) + 16);
  auto* const out = views.mutable_as<StringView>();
  for (int64_t i = 0; i < rows; ++i) {
    std::string each = prefix;
    for (size_t k = random() % (longest + 1); k > 0; --k)
      each += static_cast<char>(random() % 4 == 0 ? 0xC3 : random() % 3);  // NUL and high bytes too
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
  return Column::strings(rows, views, {bytes}, nulls ? random_bits(rows, seed + 1) : Buffer(),
                         nulls ? -1 : 0);
}

std::vector<Column> keys(int64_t rows, uint32_t seed) {
  const auto wide = [](auto& random) { return static_cast<int64_t>(random()); };
  const auto few = [](auto& random) { return static_cast<int64_t>(random() % 7) - 3; };
  const auto clustered = [](auto& random) {  // many values, few leading bits
    return static_cast<int64_t>(random() % 3) << 60 | static_cast<int64_t>(random() % 100'000);
  };
  const auto normal = [](auto& random) {
    const double x = std::normal_distribution<double>(0, 3)(random);
    return random() % 50 == 0   ? std::numeric_limits<double>::quiet_NaN()
           : random() % 50 == 0 ? -0.0
                                : x;
  };
  std::vector<Column> all;
  for (const bool nulls : {false, true}) {
    all.push_back(drawn<int64_t>(rows, seed++, nulls, wide));
    all.push_back(drawn<int64_t>(rows, seed++, nulls, few));
    all.push_back(drawn<int64_t>(rows, seed++, nulls, clustered));
    all.push_back(drawn<uint8_t>(rows, seed++, nulls, wide));
    all.push_back(drawn<int16_t>(rows, seed++, nulls, wide));
    all.push_back(drawn<uint32_t>(rows, seed++, nulls, wide));
    all.push_back(drawn<uint64_t>(rows, seed++, nulls, wide));
    all.push_back(drawn<double>(rows, seed++, nulls, normal));
    all.push_back(drawn<float>(rows, seed++, nulls, normal));
    const Buffer flags = random_bits(rows, seed++);
    all.push_back(Column(TypeId::kBool, rows, flags, nulls ? random_bits(rows, seed++) : Buffer(),
                         nulls ? -1 : 0));
    all.push_back(
        drawn<int64_t>(rows, seed++, nulls, wide).with_dtype(Dtype::timestamp(TimeUnit::kNano)));
    const Column text = strings(50, seed++, false, 9, "");
    const auto distinct = distinct_values(text);
    const int32_t size = distinct.dictionary->size();
    const Column codes = drawn<int32_t>(rows, seed++, nulls, [&](auto& random) {
      return static_cast<int32_t>(random() % static_cast<unsigned>(size));
    });
    all.push_back(Column::categories(rows, codes.values_buffer(), distinct.dictionary,
                                     codes.validity_buffer(), codes.null_count()));
    all.push_back(strings(rows, seed++, nulls, 12, ""));
    all.push_back(strings(rows, seed++, nulls, 40, "a shared start of many bytes, more than 32 "));
  }
  return all;
}

std::vector<Column> all_sent(const std::vector<Column>& columns) {
  std::vector<Column> there;
  for (const Column& column : columns) there.push_back(sent(column));
  return there;
}

void expect_same_order(const std::vector<Column>& here, const std::vector<SortOrder>& orders,
                       const std::string& what) {
  const Tensor expected = argsort(here, orders);
  EXPECT_TRUE(testing::same_bits(testing::fetched(argsort(all_sent(here), orders)), expected))
      << what;
}

constexpr int64_t kSizes[] = {1, 2, 63, 64, 65, 1000, 131'071, 131'073, 300'000};

}  // namespace

TEST_F(DeviceSort, OneKey) {
  for (const int64_t rows : kSizes) {
    const std::vector<Column> all = keys(rows + 3, 1);
    for (size_t k = 0; k < all.size(); ++k)
      for (int way = 0; way < 4; ++way)
        expect_same_order({all[k].slice(3, rows)}, {{(way & 1) != 0, (way & 2) != 0}},
                          "key " + std::to_string(k) + ", " + std::string(all[k].dtype().name()) +
                              ", rows " + std::to_string(rows) + ", way " + std::to_string(way));
  }
}

TEST_F(DeviceSort, SeveralKeys) {
  for (const int64_t rows : {int64_t{65}, int64_t{150'000}}) {
    const std::vector<Column> all = keys(rows, 101);
    for (size_t k = 0; k + 2 < all.size(); ++k)
      for (int way = 0; way < 4; ++way)
        expect_same_order({all[k], all[(k * 5 + 1) % all.size()], all[k + 2]},
                          {{(way & 1) != 0, (way & 2) != 0}, {(way & 2) != 0, false}, {}},
                          "keys from " + std::to_string(k) + ", way " + std::to_string(way));
  }
}

TEST_F(DeviceSort, MovesOneColumnWithItsKey) {
  for (const int64_t rows : {int64_t{1}, int64_t{1000}, int64_t{400'000}}) {
    const std::vector<Column> all = keys(rows, 201);
    const Column wide = all[7], narrow = all[5], nullable = all[all.size() / 2 + 7];
    for (size_t k = 0; k < 7; ++k)
      for (const bool descending : {false, true})
        for (const Column& payload : {wide, narrow, nullable}) {
          const std::vector<Column> columns{all[k], payload};
          const std::vector<Column> there = all_sent(columns);
          const std::vector<Column> expected = sort_rows({all[k]}, {{descending, false}}, columns);
          const std::vector<Column> found = sort_rows({there[0]}, {{descending, false}}, there);
          for (size_t c = 0; c < 2; ++c) {
            ASSERT_EQ(found[c].null_count(), expected[c].null_count());
            const Column back = to_place(found[c], host, current_stream(cuda_place()));
            const int64_t width = back.dtype().size_bytes();
            for (int64_t row = 0; row < rows; ++row) {
              ASSERT_EQ(back.is_null(row), expected[c].is_null(row));
              if (back.is_null(row)) continue;
              ASSERT_EQ(std::memcmp(back.values_buffer().data() + (back.offset() + row) * width,
                                    expected[c].values_buffer().data() +
                                        (expected[c].offset() + row) * width,
                                    static_cast<size_t>(width)),
                        0)
                  << "key " << k << ", column " << c << ", row " << row << " of " << rows;
            }
          }
        }
  }
}

TEST_F(DeviceSort, FirstRows) {
  for (const int64_t rows : {int64_t{100}, int64_t{300'000}}) {
    const std::vector<Column> all = keys(rows, 301);
    for (size_t k = 0; k + 1 < all.size(); ++k)
      for (const int64_t count : {0, 1, 10, 1000, 40'000})
        for (const bool descending : {false, true}) {
          const std::vector<Column> here{all[k], all[k + 1]};
          const std::vector<SortOrder> orders{{descending, false}, {}};
          EXPECT_TRUE(
              testing::same_bits(testing::fetched(first_rows(all_sent(here), orders, count)),
                                 first_rows(here, orders, count)))
              << "key " << k << ", first " << count << " of " << rows;
        }
  }
}

TEST(CategoryRanks, AreTheOrderOfTheValues) {
  const Column text = strings(40, 7, false, 9, "");
  const auto distinct = distinct_values(text);
  const Buffer ranks = category_ranks(*distinct.dictionary);
  const Column& values = distinct.dictionary->values();
  for (int32_t a = 0; a < distinct.dictionary->size(); ++a)
    for (int32_t b = 0; b < distinct.dictionary->size(); ++b)
      EXPECT_EQ(ranks.as<int32_t>()[a] < ranks.as<int32_t>()[b],
                values.string(a) < values.string(b));
}

}  // namespace hr
