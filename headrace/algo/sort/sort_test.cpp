// SPDX-License-Identifier: Apache-2.0
// Sort against std::stable_sort over the rows' values.
#include "headrace/algo/sort/sort.h"

#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/spill/spill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

namespace hr {
namespace {

using Random = std::mt19937_64;

template <class T>
using Values = std::vector<std::optional<T>>;

template <class T>
Column column_of(const Values<T>& values, Dtype dtype = dtype_of<T>()) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer data = Buffer::allocate_zeroed(rows * static_cast<int64_t>(sizeof(T)));
  Buffer valid = Buffer::allocate_zeroed(bitmap_bytes(rows));
  for (int64_t i = 0; i < rows; ++i) {
    const auto& value = values[static_cast<size_t>(i)];
    data.mutable_as<T>()[i] = value.value_or(T{42});
    if (value) set_bit(valid.mutable_as<uint8_t>(), i, true);
  }
  return Column(dtype, rows, data, valid, -1);
}

Column bools_of(const Values<bool>& values) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer data = Buffer::allocate_zeroed(bitmap_bytes(rows));
  Buffer valid = Buffer::allocate_zeroed(bitmap_bytes(rows));
  for (int64_t i = 0; i < rows; ++i) {
    const auto& value = values[static_cast<size_t>(i)];
    set_bit(data.mutable_as<uint8_t>(), i, value.value_or(false));
    set_bit(valid.mutable_as<uint8_t>(), i, value.has_value());
  }
  return Column(TypeId::kBool, rows, data, valid, -1);
}

Column strings_of(const Values<std::string>& values) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer views = Buffer::allocate_zeroed(rows * 16);
  Buffer valid = Buffer::allocate_zeroed(bitmap_bytes(rows));
  std::string text;
  for (int64_t i = 0; i < rows; ++i) {
    const auto& value = values[static_cast<size_t>(i)];
    if (!value) continue;
    set_bit(valid.mutable_as<uint8_t>(), i, true);
    StringView& view = views.mutable_as<StringView>()[i];
    view.size = static_cast<uint32_t>(value->size());
    if (value->size() <= 12) {
      std::memcpy(view.inlined, value->data(), value->size());
    } else {
      std::memcpy(view.indirect.prefix, value->data(), 4);
      view.indirect.buffer = 0;
      view.indirect.offset = static_cast<uint32_t>(text.size());
      text += *value;
    }
  }
  Buffer bytes = Buffer::allocate(static_cast<int64_t>(text.size()));
  if (!text.empty()) std::memcpy(bytes.mutable_data(), text.data(), text.size());
  return Column::strings(rows, views, {bytes}, valid, -1);
}

template <class T>
bool is_missing(const std::optional<T>& value) {
  if (!value) return true;
  if constexpr (std::is_floating_point_v<T>) return std::isnan(*value);
  return false;
}

template <class T>
int compare(const std::optional<T>& a, const std::optional<T>& b, SortOrder order) {
  if (is_missing(a) || is_missing(b)) {
    if (is_missing(a) && is_missing(b)) return 0;
    return is_missing(a) == order.missing_first ? -1 : 1;
  }
  if (*a == *b) return 0;
  return (*a < *b) != order.descending ? -1 : 1;
}

template <class Less>
std::vector<int64_t> stable_order(size_t rows, Less&& less) {
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

template <class T>
std::vector<int64_t> expected_order(const Values<T>& values, SortOrder order) {
  return stable_order(values.size(), [&](int64_t a, int64_t b) {
    return compare(values[static_cast<size_t>(a)], values[static_cast<size_t>(b)], order) < 0;
  });
}

void expect_order(const Tensor& found, const std::vector<int64_t>& expected, const char* what) {
  ASSERT_EQ(found.num_elements(), static_cast<int64_t>(expected.size())) << what;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(found.as<int64_t>()[i], expected[i]) << what << " at " << i;
}

constexpr SortOrder kOrders[] = {{false, false}, {false, true}, {true, false}, {true, true}};

template <class T>
void expect_sorted(const Values<T>& values, const Column& column, const char* what) {
  for (const SortOrder order : kOrders) {
    const std::vector<int64_t> expected = expected_order(values, order);
    expect_order(argsort({column}, {order}), expected, what);
    const int64_t few = std::min<int64_t>(column.num_rows(), 10);
    expect_order(first_rows({column}, {order}, few), {expected.begin(), expected.begin() + few},
                 what);
    const std::vector<Column> sorted = sort_rows({column}, {order}, {column});
    ASSERT_EQ(sorted[0].null_count(), column.null_count());
    for (int64_t i = 0; i < column.num_rows(); ++i) {
      const int64_t row = expected[static_cast<size_t>(i)];
      ASSERT_EQ(sorted[0].is_null(i), column.is_null(row)) << what << " at " << i;
      if (column.is_null(row)) continue;
      if (column.dtype().is_bool()) {
        ASSERT_EQ(sorted[0].bit(i), column.bit(row));
      } else if (column.dtype().is_string()) {
        ASSERT_EQ(sorted[0].string(i), column.string(row));
      } else {
        const auto width = static_cast<size_t>(column.dtype().size_bytes());
        ASSERT_EQ(std::memcmp(sorted[0].values_buffer().data() + static_cast<size_t>(i) * width,
                              column.values_buffer().data() +
                                  static_cast<size_t>(row + column.offset()) * width,
                              width),
                  0)
            << what << " at " << i;
      }
    }
  }
}

template <class T>
Values<T> random_values(int64_t rows, Random& random, double nulls, int distinct = 0) {
  Values<T> values(static_cast<size_t>(rows));
  for (auto& value : values) {
    if (static_cast<double>(random() % 1000) < 1000 * nulls) continue;
    if constexpr (std::is_floating_point_v<T>) {
      const T choices[] = {T{0}, -T{0}, std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN()};
      const uint64_t kind = random() % 20;
      value = kind < 5 ? choices[kind] : std::normal_distribution<T>()(random);
      if (distinct > 0) value = static_cast<T>(random() % static_cast<uint64_t>(distinct));
    } else {
      value = static_cast<T>(distinct > 0 ? random() % static_cast<uint64_t>(distinct) : random());
    }
  }
  return values;
}

constexpr int64_t kSizes[] = {0, 1, 2, 31, 33, 63, 64, 65, 1000, 9000, 3 * kMorselRows / 2};

template <class T>
class SortNumbers : public testing::Test {};

using Numbers = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                               uint64_t, float, double>;
TYPED_TEST_SUITE(SortNumbers, Numbers);

TYPED_TEST(SortNumbers, IsStable) {
  Random random(1);
  for (const int64_t rows : kSizes)
    for (const double nulls : {0.0, 0.2, 1.0})
      for (const int distinct : {0, 3}) {
        const auto values = random_values<TypeParam>(rows, random, nulls, distinct);
        expect_sorted(values, column_of(values), "numbers");
      }
}

TEST(Sort, TakesBoolsAndSlices) {
  Random random(2);
  for (const int64_t rows : kSizes) {
    Values<bool> values(static_cast<size_t>(rows));
    for (auto& value : values)
      if (random() % 5 != 0) value = random() % 2 == 0;
    expect_sorted(values, bools_of(values), "bools");
    if (rows < 10) continue;
    const Values<bool> part(values.begin() + 3, values.end() - 2);
    expect_sorted(part, bools_of(values).slice(3, rows - 5), "bools' slice");
    const auto numbers = random_values<int32_t>(rows, random, 0.1);
    expect_sorted(Values<int32_t>(numbers.begin() + 3, numbers.end() - 2),
                  column_of(numbers).slice(3, rows - 5), "numbers' slice");
  }
}

Values<std::string> random_texts(int64_t rows, Random& random, const std::string& begin,
                                 uint64_t longest, uint64_t letters) {
  Values<std::string> values(static_cast<size_t>(rows));
  for (auto& value : values) {
    if (random() % 10 == 0) continue;
    value = begin;
    for (uint64_t i = random() % (longest + 1); i > 0; --i)
      *value += static_cast<char>(random() % letters == 0 ? 0 : 200 - random() % letters);
  }
  return values;
}

TEST(Sort, TakesStrings) {
  Random random(3);
  for (const int64_t rows : {0, 1, 2, 33, 64, 3000, 40'000})
    for (const uint64_t longest :
         {uint64_t{0}, uint64_t{3}, uint64_t{12}, uint64_t{30}, uint64_t{60}})
      for (const char* begin : {"", "https://example.org/"}) {
        const auto values = random_texts(rows, random, begin, longest, longest % 4 + 1);
        expect_sorted(values, strings_of(values), "texts");
      }
}

TEST(Sort, TakesCategoriesByTheirText) {
  Random random(4);
  const std::vector<std::string> texts{"pear", "apple", "fig", "a", "zebra fish, a long name"};
  for (const bool ordered : {false, true}) {
    DictionaryBuilder builder;
    for (const std::string& text : texts) builder.add(text);
    const DictionaryPtr dictionary = builder.finish(ordered);
    Values<int32_t> codes(70'000);
    for (auto& code : codes)
      if (random() % 9 != 0) code = static_cast<int32_t>(random() % texts.size());
    const Column plain = column_of(codes);
    const Column column = Column::categories(plain.num_rows(), plain.values_buffer(), dictionary,
                                             plain.validity_buffer(), plain.null_count());
    Values<std::string> values;
    for (const auto& code : codes)
      values.push_back(!code      ? std::optional<std::string>()
                       : !ordered ? texts[static_cast<size_t>(*code)]
                                  : std::string(1, static_cast<char>('a' + *code)));
    for (const SortOrder order : kOrders)
      expect_order(argsort({column}, {order}), expected_order(values, order), "categories");
  }
}

TEST(Sort, TakesSeveralKeys) {
  Random random(5);
  for (const int64_t rows : {int64_t{65}, int64_t{5000}, 5 * kMorselRows / 2})
    for (const SortOrder first : {kOrders[0], kOrders[3]})
      for (const auto& [distinct, longest] : {std::pair(0, uint64_t{20}), {4, 20}, {4, 60}}) {
        const SortOrder second{!first.descending, first.missing_first};
        const auto a = random_values<int64_t>(rows, random, 0.1, 5);
        const auto b = random_values<double>(rows, random, 0.1, distinct);
        const auto c = random_texts(rows, random, "x", longest, 2);
        const auto less = [&](int64_t x, int64_t y) {
          const auto i = static_cast<size_t>(x), j = static_cast<size_t>(y);
          int order = compare(a[i], a[j], first);
          if (order == 0) order = compare(c[i], c[j], second);
          if (order == 0) order = compare(b[i], b[j], first);
          return order < 0;
        };
        const std::vector<int64_t> expected = stable_order(static_cast<size_t>(rows), less);
        const std::vector<Column> keys{column_of(a), strings_of(c), column_of(b)};
        expect_order(argsort(keys, {first, second, first}), expected, "three keys");
        expect_order(first_rows(keys, {first, second, first}, 7),
                     {expected.begin(), expected.begin() + 7}, "three keys");
      }
}

// Shapes of data that sorts are slow or wrong on.
Values<int64_t> shape(const std::string& name, int64_t rows, Random& random) {
  Values<int64_t> values(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) {
    auto& value = values[static_cast<size_t>(i)];
    if (name == "sorted") value = i / 3;
    if (name == "reversed") value = rows - i / 3;
    if (name == "falling") value = -i;
    if (name == "equal") value = 7;
    if (name == "few") value = static_cast<int64_t>(random() % 5) * 1000;
    if (name == "one heavy") value = random() % 10 != 0 ? 5 : static_cast<int64_t>(random());
    if (name == "rare") value = i == rows / 2 ? -1 : i == rows / 3 ? INT64_MAX : 0;
    if (name == "ends") value = random() % 2 != 0 ? INT64_MAX : INT64_MIN;
    if (name == "clusters")
      value = static_cast<int64_t>(random() % 3) * (int64_t{1} << 60) +
              static_cast<int64_t>(random() % 1'000'000);
    if (name == "saw") value = i % 1000;
    if (name == "nearly") value = i % 1000 == 999 ? static_cast<int64_t>(random() % 100) : i;
  }
  return values;
}

TEST(Sort, TakesAllShapes) {
  Random random(6);
  constexpr int64_t kRows = 5 * kMorselRows + 11;
  for (const char* name : {"sorted", "reversed", "falling", "equal", "few", "one heavy", "rare",
                           "ends", "clusters", "saw", "nearly"}) {
    const auto values = shape(name, kRows, random);
    const Column column = column_of(values);
    for (const SortOrder order : {kOrders[0], kOrders[2]})
      expect_order(argsort({column}, {order}), expected_order(values, order), name);
  }
}

TEST(Sort, LeavesSortedRowsWhereTheyAre) {
  Random random(7);
  const Column column = column_of(shape("sorted", 300'000, random));
  EXPECT_EQ(sort_rows({column}, {{}}, {column})[0].values_buffer(), column.values_buffer());
}

TEST(Sort, CarriesColumnsOfEachWidth) {
  Random random(8);
  constexpr int64_t kRows = 4 * kMorselRows + 3;
  const auto keys = random_values<int32_t>(kRows, random, 0);
  const auto a = random_values<int8_t>(kRows, random, 0.3);
  const auto b = random_values<int16_t>(kRows, random, 0);
  const auto c = random_texts(kRows, random, "", 20, 5);
  Values<bool> d(static_cast<size_t>(kRows));
  for (auto& value : d) value = random() % 2 == 0;
  const std::vector<Column> columns{column_of(a), column_of(b), strings_of(c), bools_of(d)};
  const int before = threads();
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    const std::vector<Column> sorted = sort_rows({column_of(keys)}, {{}}, columns);
    const std::vector<int64_t> order = expected_order(keys, {});
    for (int64_t i = 0; i < kRows; ++i) {
      const auto row = static_cast<size_t>(order[static_cast<size_t>(i)]);
      ASSERT_EQ(sorted[0].is_null(i), !a[row]);
      if (a[row]) {
        ASSERT_EQ(sorted[0].values<int8_t>()[static_cast<size_t>(i)], *a[row]);
      }
      ASSERT_EQ(sorted[1].values<int16_t>()[static_cast<size_t>(i)], *b[row]);
      ASSERT_EQ(sorted[2].is_null(i), !c[row]);
      if (c[row]) {
        ASSERT_EQ(sorted[2].string(i), *c[row]);
      }
      ASSERT_EQ(sorted[3].bit(i), *d[row]);
    }
  }
  set_threads(before);
}

TEST(Sort, IsTheSameUnderAnyLimit) {
  Random random(9);
  constexpr int64_t kRows = 24 * kMorselRows + 5;
  for (const char* name : {"random", "one heavy", "few", "reversed"}) {
    const auto values = std::string(name) == "random" ? random_values<int64_t>(kRows, random, 0.01)
                                                      : shape(name, kRows, random);
    const Column key = column_of(values);
    const Column other = column_of(shape("sorted", kRows, random));
    key.values_buffer().seal();
    other.values_buffer().seal();
    const std::vector<Column> expected = sort_rows({key}, {{}}, {key, other});
    for (const Column& column : expected) column.values_buffer().seal();
    const int64_t limit = memory_limit();
    const int64_t used = memory_statistics().used_bytes;
    for (const int64_t room : {used / 4, used / 2, 2 * used}) {
      const int64_t evicted = spill_statistics().evicted_bytes;
      set_memory_limit(room);
      std::vector<Column> found;
      ASSERT_NO_THROW(found = sort_rows({key}, {{}}, {key, other})) << name << " in " << room;
      for (const Column& column : found) column.values_buffer().seal();
      for (size_t c = 0; c < 2; ++c)
        EXPECT_EQ(std::memcmp(found[c].values_buffer().data(), expected[c].values_buffer().data(),
                              static_cast<size_t>(kRows) * 8),
                  0)
            << name << " in " << room;
      if (room < used) {
        EXPECT_GT(spill_statistics().evicted_bytes, evicted) << name;
      }
    }
    set_memory_limit(limit);
  }
}

TEST(Sort, RefusesWhatHasNoOrder) {
  const Column complex(TypeId::kComplex128, 1, Buffer::allocate_zeroed(16));
  EXPECT_THROW(argsort({complex}, {{}}), TypeMismatchError);
  const Column one = column_of(Values<int64_t>{1});
  const Column two = column_of(Values<int64_t>{1, 2});
  EXPECT_THROW(argsort({one, two}, {{}, {}}), InvalidArgumentError);
  EXPECT_THROW(argsort({one}, {{}, {}}), InvalidArgumentError);
  EXPECT_THROW(argsort({}, {}), InvalidArgumentError);
  EXPECT_THROW(sort_rows({one}, {{}}, {two}), InvalidArgumentError);
}

TEST(Sort, FirstRowsOfManyTies) {
  Random random(10);
  for (const char* name : {"few", "equal", "one heavy", "saw"}) {
    const auto values = shape(name, 3 * kMorselRows, random);
    const std::vector<int64_t> expected = expected_order(values, {});
    for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{100}, int64_t{70'000},
                                3 * kMorselRows, 4 * kMorselRows}) {
      const int64_t most = std::min(count, 3 * kMorselRows);
      expect_order(first_rows({column_of(values)}, {{}}, count),
                   {expected.begin(), expected.begin() + most}, name);
    }
  }
}

}  // namespace
}  // namespace hr
