// SPDX-License-Identifier: Apache-2.0
// The values of groups as lists: rows counted by group, then put in the order of the groups.
#include "headrace/relational/aggregate/group_lists.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/gather.h"
#include "headrace/plan/graph/operator.h"

#include <algorithm>

namespace hr {

Column group_lists(const Column& values, const Column& numbers, int64_t groups) {
  const Nulls null(numbers);
  const int64_t* const group_of = numbers.values<int64_t>().data();
  Buffer spans = Buffer::allocate_zeroed(16 * groups);
  auto* const lists = groups > 0 ? spans.mutable_as<ListSpan>() : nullptr;
  for (int64_t row = 0; row < numbers.num_rows(); ++row)
    if (!null(row)) ++lists[group_of[row]].size;
  int64_t total = 0;
  for (int64_t group = 0; group < groups; ++group) {
    lists[group].begin = total;
    total += lists[group].size;
  }
  Buffer order = Buffer::allocate(8 * total);
  auto* const rows = total > 0 ? order.mutable_as<int64_t>() : nullptr;
  for (int64_t row = 0; row < numbers.num_rows(); ++row)
    if (!null(row)) rows[lists[group_of[row]].begin++] = row;
  for (int64_t group = 0; group < groups; ++group)
    lists[group].begin = lists[group].size == 0 ? 0 : lists[group].begin - lists[group].size;
  return Column::lists(groups, std::move(spans),
                       gather(values, Tensor(TypeId::kInt64, {total}, std::move(order))));
}

namespace {

struct GroupLists final : OperatorOf<GroupLists> {
  std::string_view name() const override { return "groupby"; }

  std::string arguments() const override { return "list"; }

  Value execute(std::span<const Value> inputs) const override {
    return group_lists(std::get<Column>(inputs[0]), std::get<Column>(inputs[1]),
                       std::get<Column>(inputs[2]).num_rows());
  }
};

}  // namespace

NodePtr group_lists(const NodePtr& values, const NodePtr& numbers, const NodePtr& groups) {
  Signature signature = groups->signature();
  signature.dtype = Dtype::list(values->signature().dtype);
  signature.nullable = false;
  return apply_operator(GroupLists::make(), std::move(signature), {values, numbers, groups});
}

}  // namespace hr
