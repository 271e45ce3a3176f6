// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/lists/list_methods.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/functions/strings/string_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace hr {
namespace {

using ::testing::ElementsAre;
using List = std::optional<std::vector<int64_t>>;

constexpr std::nullopt_t kNone = std::nullopt;

List of(std::vector<int64_t> items) {
  return items;
}

Column lists_of(const std::vector<List>& rows) {
  std::vector<int64_t> items;
  std::vector<bool> valid;
  Buffer spans = Buffer::allocate_zeroed(16 * static_cast<int64_t>(rows.size()) + 16);
  for (size_t row = 0; row < rows.size(); ++row) {
    valid.push_back(rows[row].has_value());
    if (!rows[row] || rows[row]->empty()) continue;
    spans.mutable_as<ListSpan>()[row] = {static_cast<int64_t>(items.size()),
                                         static_cast<int64_t>(rows[row]->size())};
    items.insert(items.end(), rows[row]->begin(), rows[row]->end());
  }
  const Column like = testing::column_of(std::vector<int64_t>(rows.size()), valid);
  return Column::lists(like.num_rows(), spans, testing::column_of(items), like.validity_buffer(),
                       -1);
}

std::vector<List> rows_of(const Column& lists) {
  std::vector<List> rows;
  for (int64_t row = 0; row < lists.num_rows(); ++row) {
    const Column items = lists.list(row);
    const auto values = items.values<int64_t>();
    rows.push_back(lists.is_null(row) ? List() : List(std::vector(values.begin(), values.end())));
  }
  return rows;
}

std::vector<std::optional<int64_t>> numbers_of(const Column& column) {
  std::vector<std::optional<int64_t>> rows;
  for (int64_t row = 0; row < column.num_rows(); ++row)
    rows.push_back(column.is_null(row)
                       ? std::nullopt
                       : std::optional(column.values<int64_t>()[static_cast<size_t>(row)]));
  return rows;
}

TEST(ListMethods, DtypesAreTheSameForTheSameItems) {
  const Dtype lists = Dtype::list(TypeId::kInt64);
  EXPECT_EQ(lists, Dtype::list(TypeId::kInt64));
  EXPECT_NE(lists, Dtype::list(TypeId::kInt32));
  EXPECT_EQ(lists.item(), Dtype(TypeId::kInt64));
  EXPECT_EQ(Dtype::list(lists).name(), "list[list[int64]]");
  EXPECT_EQ(dtype_from_name("list[list[int64]]").item(), lists);
  EXPECT_THROW(dtype_from_name("list[what]"), TypeMismatchError);
}

TEST(ListMethods, RowsMoveAndItemsStay) {
  const Column lists = lists_of({of({1, 2}), kNone, of({}), of({3})});
  EXPECT_THAT(rows_of(lists.slice(1, 3)), ElementsAre(List(), of({}), of({3})));
  const Column taken = gather(lists, as_tensor(testing::column_of<int64_t>({3, 0, 3})));
  EXPECT_EQ(taken.items(), lists.items());
  EXPECT_THAT(rows_of(taken), ElementsAre(of({3}), of({1, 2}), of({3})));
  const Column parts[] = {lists.slice(3, 1), lists_of({of({7})}), taken};
  const Column all = concatenate("concat", lists.dtype(), parts);
  EXPECT_THAT(rows_of(all), ElementsAre(of({3}), of({7}), of({3}), of({1, 2}), of({3})));
  EXPECT_EQ(all.items()->num_rows(), 4);  // those of `lists` once
}

TEST(ListMethods, ReadsItems) {
  const Column lists = lists_of({of({1, 2, 3}), kNone, of({}), of({4})});
  EXPECT_THAT(numbers_of(list_length(lists)), ElementsAre(3, kNone, 0, 1));
  EXPECT_THAT(numbers_of(list_item(lists, -1)), ElementsAre(3, kNone, kNone, 4));
  EXPECT_THAT(numbers_of(list_item(lists.slice(1, 3), 0)), ElementsAre(kNone, kNone, 4));
  EXPECT_THAT(rows_of(list_slice(lists, 1, {})), ElementsAre(of({2, 3}), List(), of({}), of({})));
  EXPECT_THROW(list_length(lazy_value(testing::column_of<int64_t>({1}))), TypeMismatchError);
  EXPECT_THROW(list_join(lazy_value(lists), "-"), TypeMismatchError);
}

}  // namespace
}  // namespace hr
