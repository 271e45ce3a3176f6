// SPDX-License-Identifier: Apache-2.0
// Filled values against a loop over rows.
#include "headrace/algo/scan/fill_missing.h"

#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace hr {

namespace {

using testing::column_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class FillMissing : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, FillMissing, ::testing::Values(1, 2, 4));

// For each row the row whose value it gets, or itself.
std::vector<int64_t> sources(const std::vector<bool>& there, bool backward) {
  const auto rows = static_cast<int64_t>(there.size());
  std::vector<int64_t> from(there.size());
  int64_t last = -1;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t row = backward ? rows - 1 - i : i;
    if (there[static_cast<size_t>(row)]) last = row;
    from[static_cast<size_t>(row)] = last < 0 ? row : last;
  }
  return from;
}

// Whether `got` has in each row what `column` has in the row that fills it.
template <class Same>
void expect_filled(const Column& got, const Column& column, const std::vector<int64_t>& from,
                   Same&& same) {
  ASSERT_EQ(got.dtype(), column.dtype());
  ASSERT_EQ(got.num_rows(), column.num_rows());
  int64_t nulls = 0;
  for (int64_t row = 0; row < got.num_rows(); ++row) {
    const int64_t source = from[static_cast<size_t>(row)];
    nulls += column.is_null(source);
    ASSERT_EQ(got.is_null(row), column.is_null(source)) << row;
    ASSERT_TRUE(got.is_null(row) || same(row, source)) << row << " from " << source;
  }
  EXPECT_EQ(got.null_count(), nulls);
}

template <class T>
void expect_numbers_filled(int64_t rows, uint64_t one_in) {
  std::mt19937_64 random(static_cast<uint64_t>(rows) + one_in);
  constexpr int64_t kBefore = 3;  // rows that a slice leaves out
  const auto size = static_cast<size_t>(rows + kBefore);
  std::vector<T> values(size);
  std::vector<bool> valid(size), there;
  for (size_t i = 0; i < size; ++i) {
    values[i] = static_cast<T>(random() % 1000);
    valid[i] = random() % one_in == 0;
    if (std::is_floating_point_v<T> && random() % 3 == 0) values[i] = static_cast<T>(kNan);
    if (i >= kBefore) there.push_back(valid[i] && values[i] == values[i]);
  }
  const Column column = column_of(values, valid).slice(kBefore, rows);
  for (const bool backward : {false, true}) {
    const Column got = fill_missing(column, backward);
    expect_filled(got, column, sources(there, backward), [&](int64_t row, int64_t source) {
      return std::memcmp(&got.values<T>()[static_cast<size_t>(row)],
                         &column.values<T>()[static_cast<size_t>(source)], sizeof(T)) == 0;
    });
  }
}

TEST_P(FillMissing, NumbersOfAllSizesMatchALoop) {
  for (const int64_t rows : testing::edge_sizes()) {
    expect_numbers_filled<double>(rows, 2);
    expect_numbers_filled<int64_t>(rows, 3);
  }
  for (const int64_t rows : {65, 1025}) {
    expect_numbers_filled<float>(rows, 2);
    expect_numbers_filled<int8_t>(rows, 2);
    expect_numbers_filled<uint16_t>(rows, 4);
    expect_numbers_filled<int32_t>(rows, 1);
  }
}

TEST_P(FillMissing, AValueCrossesMorselsWithoutOne) {
  const int64_t rows = 3 * kMorselRows + 77;
  for (const int64_t only : {int64_t{0}, kMorselRows + 5, rows - 1}) {
    std::vector<int32_t> values(static_cast<size_t>(rows), 1);
    std::vector<bool> valid(static_cast<size_t>(rows));
    values[static_cast<size_t>(only)] = 7, valid[static_cast<size_t>(only)] = true;
    const Column column = column_of(values, valid);
    const Column forward = fill_missing(column, false), backward = fill_missing(column, true);
    EXPECT_EQ(forward.null_count(), only);
    EXPECT_EQ(backward.null_count(), rows - 1 - only);
    for (int64_t row = 0; row < rows; ++row) {
      ASSERT_EQ(forward.is_null(row), row < only);
      ASSERT_EQ(backward.is_null(row), row > only);
      const auto i = static_cast<size_t>(row);
      ASSERT_TRUE(row < only || forward.values<int32_t>()[i] == 7) << row;
      ASSERT_TRUE(row > only || backward.values<int32_t>()[i] == 7) << row;
    }
  }
}

TEST_P(FillMissing, BoolsMatchALoop) {
  std::mt19937_64 random(5);
  for (const int64_t rows : {1, 63, 64, 65, 131'073}) {
    const int64_t bytes = bitmap_bytes(rows + 9);
    Buffer bits = Buffer::allocate(bytes), validity = Buffer::allocate(bytes);
    for (int64_t i = 0; i < bytes; ++i) {
      bits.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
      validity.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(random());
    }
    const Column column =
        Column(TypeId::kBool, rows + 9, std::move(bits), std::move(validity), -1).slice(9, rows);
    std::vector<bool> there;
    for (int64_t row = 0; row < rows; ++row) there.push_back(!column.is_null(row));
    for (const bool backward : {false, true}) {
      const Column got = fill_missing(column, backward);
      expect_filled(got, column, sources(there, backward), [&](int64_t row, int64_t source) {
        return got.bit(row) == column.bit(source);
      });
    }
  }
}

TEST_P(FillMissing, StringsCategoriesAndListsKeepWhatTheyPointTo) {
  const std::vector<bool> valid{false, true, false, false, true, false};
  const std::string text = "a string that does not fit into its view";
  Buffer bytes = Buffer::allocate(static_cast<int64_t>(text.size()));
  std::memcpy(bytes.mutable_data(), text.data(), text.size());
  std::vector<StringView> views(6);
  views[1] = {.size = static_cast<uint32_t>(text.size()), .indirect = {{}, 0, 0}};
  std::memcpy(views[1].indirect.prefix, text.data(), 4);
  views[4] = {.size = 2, .inlined = {'o', 'k'}};
  Buffer cells = Buffer::allocate(6 * 16);
  std::memcpy(cells.mutable_data(), views.data(), 6 * 16);
  const Column codes = column_of<int32_t>({0, 1, 0, 0, 0, 0}, valid);
  const Column words = Column::strings(6, std::move(cells), {std::move(bytes)},
                                       codes.validity_buffer(), codes.null_count());
  const Column filled = fill_missing(words, false);
  EXPECT_EQ(filled.null_count(), 1);
  for (const int64_t row : {1, 2, 3}) EXPECT_EQ(filled.string(row), text);
  for (const int64_t row : {4, 5}) EXPECT_EQ(filled.string(row), "ok");
  const Column before = fill_missing(words.slice(1, 5), true);
  EXPECT_EQ(before.null_count(), 1);
  EXPECT_EQ(before.string(1), "ok");
  EXPECT_TRUE(before.is_null(4));

  std::vector<ListSpan> spans(6);
  spans[1] = {1, 2}, spans[4] = {0, 1};
  Buffer held = Buffer::allocate(6 * 16);
  std::memcpy(held.mutable_data(), spans.data(), 6 * 16);
  const Column lists = Column::lists(6, std::move(held), column_of<int64_t>({7, 8, 9}),
                                     codes.validity_buffer(), codes.null_count());
  const Column lists_filled = fill_missing(lists, false);
  EXPECT_EQ(lists_filled.dtype(), lists.dtype());
  EXPECT_EQ(lists_filled.null_count(), 1);
  EXPECT_EQ(lists_filled.list(3).num_rows(), 2);
  EXPECT_EQ(lists_filled.list(3).values<int64_t>()[1], 9);
  EXPECT_EQ(lists_filled.list(5).num_rows(), 1);
}

TEST_P(FillMissing, ColumnsWithoutMissingValuesAreShared) {
  const Column whole = column_of<int64_t>({1, 2, 3});
  EXPECT_EQ(fill_missing(whole, false).values_buffer().data(), whole.values_buffer().data());
  const Column none = column_of<double>({kNan, kNan}, {true, false});
  const Column got = fill_missing(none, true);
  EXPECT_TRUE(std::isnan(got.values<double>()[0]));
  EXPECT_FALSE(got.is_null(0));
  EXPECT_TRUE(got.is_null(1));
}

}  // namespace

}  // namespace hr
