// SPDX-License-Identifier: Apache-2.0
// Rows of lists' items against a loop.
#include "headrace/relational/rows/explode.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace hr {

namespace {

class Explode : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, Explode, ::testing::Values(1, 2, 4));

// Lists of these spans; null where `valid` is false.
Column lists_of(const std::vector<ListSpan>& spans, const std::vector<bool>& valid,
                const Column& items) {
  const auto rows = static_cast<int64_t>(spans.size());
  Buffer cells = Buffer::allocate(16 * rows);
  if (rows > 0) std::memcpy(cells.mutable_data(), spans.data(), 16 * spans.size());
  const Column like = testing::column_of(std::vector<int8_t>(spans.size()), valid);
  return Column::lists(rows, std::move(cells), items, like.validity_buffer(), like.null_count());
}

Column made(const NodePtr& node) {
  const Value value = force(node);
  const auto* const column = std::get_if<Column>(&value);
  return column ? *column : as_column(std::get<Tensor>(value));
}

TEST_P(Explode, ItemsOfAllSizesMatchALoop) {
  constexpr int64_t kBefore = 2;  // rows that a slice leaves out
  std::mt19937_64 random(1);
  for (const bool in_order : {true, false}) {
    for (const int64_t rows : {0, 1, 63, 64, 65, 131'073}) {
      std::vector<ListSpan> spans;
      std::vector<bool> valid;
      int64_t end = 0;
      for (int64_t row = 0; row < rows + kBefore; ++row) {
        valid.push_back(random() % 6 > 0);
        const auto size = valid.back() ? static_cast<int64_t>(random() % 4) : 0;
        const int64_t begin = in_order ? end : static_cast<int64_t>(random() % 50);
        spans.push_back(valid.back() ? ListSpan{begin, size} : ListSpan{0, 0});
        end += size;
      }
      std::vector<int64_t> items(static_cast<size_t>(end + 60));
      std::vector<bool> there(items.size());
      for (size_t i = 0; i < items.size(); ++i)
        items[i] = static_cast<int64_t>(random()), there[i] = random() % 7 > 0;
      const Column lists =
          lists_of(spans, valid, testing::column_of(items, there)).slice(kBefore, rows);
      const Exploded got = explode({lazy_value(lists, "", 7)});
      const Column from = made(got.rows), values = made(got.items.at(0));
      std::vector<std::pair<int64_t, std::optional<int64_t>>> expected;
      for (int64_t row = 0; row < rows; ++row) {
        const ListSpan span = spans[static_cast<size_t>(row + kBefore)];
        for (int64_t i = span.begin; i < span.begin + span.size; ++i) {
          const auto at = static_cast<size_t>(i);
          expected.emplace_back(row, there[at] ? std::optional(items[at]) : std::nullopt);
        }
        if (span.size == 0) expected.emplace_back(row, std::nullopt);
      }
      ASSERT_EQ(from.num_rows(), static_cast<int64_t>(expected.size())) << rows;
      ASSERT_EQ(values.num_rows(), from.num_rows());
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(from.values<int64_t>()[i], expected[i].first) << i << " of " << rows;
        const bool is_null = values.is_null(static_cast<int64_t>(i));
        ASSERT_EQ(is_null, !expected[i].second) << i << " of " << rows;
        ASSERT_TRUE(is_null || values.values<int64_t>()[i] == *expected[i].second) << i;
      }
    }
  }
}

TEST_P(Explode, ListsOfOtherLengthsAndOtherDtypesAreRefused) {
  const Column items = testing::column_of<int64_t>({1, 2, 3});
  const NodePtr one = lazy_value(lists_of({{0, 1}, {1, 2}}, {}, items), "", 7),
                two = lazy_value(lists_of({{0, 2}, {1, 2}}, {}, items), "", 7);
  const Exploded differing = explode({one, two, one});
  EXPECT_THROW(force(differing.rows), InvalidArgumentError);
  EXPECT_THROW(force(differing.items.at(0)), InvalidArgumentError);
  EXPECT_THROW(force(differing.items.at(1)), InvalidArgumentError);
  EXPECT_EQ(made(explode({one, one}).items.at(1)).num_rows(), 3);
  EXPECT_THROW(explode({lazy_value(items)}), TypeMismatchError);
}

}  // namespace

}  // namespace hr
