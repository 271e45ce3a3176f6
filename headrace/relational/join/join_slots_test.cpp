// SPDX-License-Identifier: Apache-2.0
// Numbers and slots of keys, which the CUDA kernels share, against the values themselves; joins on
// a CUDA device, where there is one, against the host's.
#include "headrace/relational/join/join_slots.h"

#include "headrace/base/error.h"
#include "headrace/data/device_testing.h"
#include "headrace/relational/join/join_slots_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hr {

namespace {

using testing::tensor_of;

template <class T>
SlotKey key_of(const std::vector<T>& values) {
  SlotKey key;
  key.kind = std::is_floating_point_v<T> ? SlotKeyKind::kFloating
             : std::is_signed_v<T>       ? SlotKeyKind::kSigned
                                         : SlotKeyKind::kUnsigned;
  key.bytes = sizeof(T);
  key.values = reinterpret_cast<const std::byte*>(values.data());
  return key;
}

template <class T>
std::vector<T> extremes() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return {-Limits::infinity(),
            Limits::lowest(),
            -1,
            -Limits::denorm_min(),
            0,
            Limits::denorm_min(),
            1,
            Limits::max(),
            Limits::infinity()};
  else if constexpr (std::is_signed_v<T>)
    return {Limits::min(), -1, 0, 1, Limits::max()};
  else
    return {0, 1, Limits::max()};
}

uint64_t exchange(uint64_t* place, uint64_t, uint64_t number) {
  return std::exchange(*place, number);
}

}  // namespace

TEST(JoinSlots, WordsRiseWithValues) {
  const auto check = [&]<class T>(T) {
    const std::vector<T> values = extremes<T>();
    const SlotKey key = key_of(values);
    for (size_t i = 1; i < values.size(); ++i)
      EXPECT_LT(key.word(static_cast<int64_t>(i) - 1), key.word(static_cast<int64_t>(i))) << i;
  };
  check(int8_t{}), check(int16_t{}), check(int32_t{}), check(int64_t{});
  check(uint8_t{}), check(uint16_t{}), check(uint32_t{}), check(uint64_t{});
  check(float{}), check(double{});
}

TEST(JoinSlots, EqualFloatsHaveOneWord) {
  const std::vector<double> wide{0.0, -0.0, std::nan("1"), -std::nan("2")};
  const std::vector<float> narrow{0.0f, -0.0f, std::nanf("1"), -std::nanf("2")};
  for (const SlotKey& key : {key_of(wide), key_of(narrow)}) {
    EXPECT_EQ(key.word(0), key.word(1));
    EXPECT_EQ(key.word(2), key.word(3));
    EXPECT_GT(key.word(2), key.word(0));
  }
}

TEST(JoinSlots, KeysArePackedAndMissOutsideOfTheRange) {
  const std::vector<int64_t> a{-5, -2, 3, 4};
  const std::vector<uint8_t> b{7, 9, 9, 7}, valid{0b0111};
  SlotKeys keys;
  keys.count = 2;
  keys.keys[0] = key_of(a);
  keys.keys[1] = key_of(b);
  keys.keys[1].validity = valid.data();
  for (SlotKey* key : {&keys.keys[0], &keys.keys[1]}) key->least = key->word(0);
  keys.keys[0].top = 8;  // -5 ... 3
  keys.keys[1].top = 2;  // 7 ... 9
  keys.keys[0].shift = bits_of_number(keys.keys[1].top + 1);
  uint64_t number = 0;
  ASSERT_TRUE(keys.read(1, number));
  EXPECT_EQ(number, 3u << 2 | 2u);
  EXPECT_FALSE(keys.read(3, number));  // 4 is outside
  keys.keys[0].top = 9;
  EXPECT_FALSE(keys.read(3, number));  // null is no key of the right side
  keys.keys[1].can_miss = true;
  ASSERT_TRUE(keys.read(3, number));
  EXPECT_EQ(number, 9u << 2 | 3u);
}

TEST(JoinSlots, AHashTableFindsWhatItHolds) {
  std::mt19937_64 random(1);
  for (const size_t count : {1, 2, 63, 64, 65, 5000}) {
    const uint64_t places = std::bit_ceil(2 * count);
    std::vector<uint64_t> there(places, SlotMap::kFree);
    const SlotMap map{places + 1, 64 - std::countr_zero(places), there.data()};
    std::vector<uint64_t> numbers(count), slots;
    for (uint64_t& number : numbers) number = random() >> (random() % 60);
    numbers[0] = SlotMap::kFree;
    for (const uint64_t number : numbers) slots.push_back(map.take(number, exchange));
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(map.find(numbers[i]), static_cast<int64_t>(slots[i]));
      EXPECT_EQ(map.take(numbers[i], exchange), slots[i]);
      for (size_t j = 0; j < std::min<size_t>(i, 100); ++j)
        EXPECT_EQ(slots[i] == slots[j], numbers[i] == numbers[j]);
    }
    EXPECT_EQ(map.find(uint64_t{12345} << 40 | 1), SlotMap::kNone);
  }
  EXPECT_EQ(SlotMap{}.find(0), SlotMap::kNone);
  EXPECT_EQ((SlotMap{3, 0, nullptr}.find(2)), 2);
  EXPECT_EQ((SlotMap{3, 0, nullptr}.find(3)), SlotMap::kNone);
}

namespace {

constexpr JoinKind kKinds[] = {JoinKind::kInner, JoinKind::kLeft, JoinKind::kOuter, JoinKind::kSemi,
                               JoinKind::kAnti};

class JoinSlotsThere : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }

  static std::vector<Column> sent(const std::vector<Column>& columns) {
    std::vector<Column> there;
    for (const Column& column : columns)
      there.push_back(to_place(column, cuda_place(), current_stream(cuda_place())));
    return there;
  }

  static void expect_same(const std::vector<Column>& left, const std::vector<Column>& right,
                          const std::string& what) {
    const int64_t rows = left[0].num_rows(), others = right[0].num_rows();
    for (const JoinKind kind : kKinds) {
      const JoinedRows here = join_rows(left, rows, right, others, kind);
      const JoinedRows there = join_rows(sent(left), rows, sent(right), others, kind);
      const std::string which = what + ", kind " + std::to_string(static_cast<int>(kind));
      ASSERT_EQ(there.rows, here.rows) << which;
      const auto numbers = [](const JoinedRows& joined, const Tensor& side, bool all) {
        std::vector<int32_t> found;
        const Tensor on_host = testing::fetched(side);
        for (int64_t i = 0; i < joined.rows; ++i)
          found.push_back(all ? static_cast<int32_t>(i) : on_host.as<int32_t>()[i]);
        return found;
      };
      EXPECT_EQ(numbers(there, there.left, there.keeps_left),
                numbers(here, here.left, here.keeps_left))
          << which;
      if (kind == JoinKind::kSemi || kind == JoinKind::kAnti) continue;
      EXPECT_EQ(numbers(there, there.right, false), numbers(here, here.right, false)) << which;
    }
  }
};

enum class Spread : uint8_t { kUnique, kFew, kWide, kFull };

template <class T>
Column keys_of(int64_t rows, Spread spread, bool nulls, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t drawn = random();
    const uint64_t number = spread == Spread::kUnique ? static_cast<uint64_t>(2 * i + seed % 3)
                            : spread == Spread::kFew  ? drawn % 50
                            : spread == Spread::kWide ? drawn % 1000 * 1'000'000'007
                                                      : drawn;
    T& value = values[static_cast<size_t>(i)];
    if constexpr (std::is_floating_point_v<T>)
      value = number % 7 == 3   ? std::numeric_limits<T>::quiet_NaN()
              : number % 7 == 4 ? static_cast<T>(number % 2 ? 0.0 : -0.0)
                                : static_cast<T>(static_cast<int64_t>(number)) / 3;
    else
      value = static_cast<T>(number);
  }
  if (spread == Spread::kUnique) std::shuffle(values.begin(), values.end(), random);
  const Tensor tensor = tensor_of(values);
  if (!nulls || rows == 0) return Column(tensor.dtype(), rows, tensor.buffer());
  Buffer bits = Buffer::allocate(rows / 8 + 8);
  for (int64_t i = 0; i < bits.size_bytes(); ++i)
    bits.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random() | random());
  return Column(tensor.dtype(), rows, tensor.buffer(), bits, -1);
}

}  // namespace

TEST_F(JoinSlotsThere, AllDtypesAndKinds) {
  const auto check = [&]<class T>(T) {
    for (const Spread spread : {Spread::kUnique, Spread::kFew, Spread::kWide, Spread::kFull})
      for (const bool nulls : {false, true})
        expect_same({keys_of<T>(3000, spread, nulls, 1)}, {keys_of<T>(2000, spread, nulls, 5)},
                    std::string(dtype_of<T>().name()) + " spread " +
                        std::to_string(static_cast<int>(spread)) + (nulls ? " with nulls" : ""));
  };
  check(int8_t{}), check(int16_t{}), check(int32_t{}), check(int64_t{});
  check(uint8_t{}), check(uint16_t{}), check(uint32_t{}), check(uint64_t{});
  check(float{}), check(double{});
}

TEST_F(JoinSlotsThere, AllSizes) {
  std::vector<int64_t> sizes = testing::edge_sizes();
  for (const int64_t size : {0, 1, 4095, 4096, 4097}) sizes.push_back(size);
  for (const int64_t rows : sizes)
    for (const int64_t others : {int64_t{0}, int64_t{1}, int64_t{65}, rows})
      for (const Spread spread : {Spread::kUnique, Spread::kWide, Spread::kFull}) {
        if (spread == Spread::kWide && rows + others > 20'000) continue;
        expect_same({keys_of<int64_t>(rows, spread, false, 1)},
                    {keys_of<int64_t>(others, spread, true, 5)},
                    std::to_string(rows) + " and " + std::to_string(others) + " rows");
      }
}

TEST_F(JoinSlotsThere, SeveralKeysAndSlices) {
  const auto sides = [](int64_t rows, uint32_t seed) {
    const auto part = [](const Column& column) { return column.slice(13, column.num_rows() - 13); };
    Buffer bits = Buffer::allocate(rows / 8 + 8);
    std::mt19937 random(seed);
    for (int64_t i = 0; i < bits.size_bytes(); ++i)
      bits.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
    return std::vector<Column>{part(keys_of<int32_t>(rows, Spread::kFew, true, seed)),
                               part(keys_of<float>(rows, Spread::kFew, false, seed + 1)),
                               part(Column(TypeId::kBool, rows, bits))};
  };
  expect_same(sides(3000, 1), sides(2000, 7), "three keys");
  std::vector<Column> left = sides(3000, 1), right = sides(2000, 7);
  left.erase(left.begin() + 1), right.erase(right.begin() + 1);
  expect_same(left, right, "two keys");
  EXPECT_THROW(join_rows(sent({keys_of<int64_t>(100, Spread::kFull, false, 1), left[0]}), 100,
                         sent({keys_of<int64_t>(100, Spread::kFull, false, 2), right[0]}), 100,
                         JoinKind::kInner),
               UnsupportedError);
}

TEST_F(JoinSlotsThere, ErrorsAreTheHosts) {
  const std::vector<Column> few{keys_of<int64_t>(1000, Spread::kFew, false, 1)};
  const auto text_of = [&](const std::vector<Column>& keys, JoinUnique unique) -> std::string {
    try {
      join_rows(keys, 1000, keys, 1000, JoinKind::kInner, unique);
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "no error";
  };
  for (const JoinUnique unique : {JoinUnique{.right = true}, JoinUnique{.left = true}}) {
    const std::string here = text_of(few, unique);
    EXPECT_NE(here.find("not unique"), std::string::npos);
    EXPECT_EQ(text_of(sent(few), unique), here);
  }
  const std::vector<Column> same{
      Column(TypeId::kInt64, 50'000, Buffer::allocate_zeroed(8 * 50'000))};
  EXPECT_THROW(join_rows(sent(same), 50'000, sent(same), 50'000, JoinKind::kInner),
               InvalidArgumentError);
}

}  // namespace hr
