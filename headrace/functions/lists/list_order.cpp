// SPDX-License-Identifier: Apache-2.0
// Items of each list in another order, or once each.
#include "headrace/functions/lists/list_order.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/plan/graph/operator.h"

#include <string_view>

namespace hr {

namespace {

// The items of all lists one after the other: their places, and the list that each belongs to.
struct PlacedItems {
  explicit PlacedItems(const Column& lists) {
    for (const ListSpan& span : lists.values<ListSpan>())
      count = checked_add("list", count, span.size);
    places = Buffer::allocate(8 * count);
    rows = Buffer::allocate(8 * count);
    if (count == 0) return;
    auto* const place = places.mutable_as<int64_t>();
    auto* const row_of = rows.mutable_as<int64_t>();
    int64_t at = 0;
    for (int64_t row = 0; row < lists.num_rows(); ++row) {
      const ListSpan span = lists.values<ListSpan>()[static_cast<size_t>(row)];
      for (int64_t k = 0; k < span.size; ++k, ++at) {
        place[at] = span.begin + k;
        row_of[at] = row;
      }
    }
  }

  Tensor tensor() const { return Tensor(TypeId::kInt64, {count}, places); }

  int64_t count = 0;
  Buffer places;
  Buffer rows;
};

// Lists of the same lengths, or those that `size(row)` says, over items that follow each other.
template <class Size>
Column lists_in_order(const Column& lists, Column items, const Size& size) {
  const int64_t rows = lists.num_rows();
  Buffer spans = Buffer::allocate_zeroed(16 * rows);
  auto* const out = rows > 0 ? spans.mutable_as<ListSpan>() : nullptr;
  int64_t begin = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t count = size(row);
    out[row] = {count == 0 ? 0 : begin, count};
    begin += count;
  }
  const Nulls null(lists);
  return Column::lists(rows, std::move(spans), std::move(items), null.bitmap(rows),
                       null.any() ? -1 : 0);
}

void check_lists(std::string_view method, const NodePtr& lists) {
  const Signature& signature = lists->signature();
  if (signature.form != Form::kColumn || !signature.dtype.is_list())
    throw_error<TypeMismatchError>(method, "expected a column of lists",
                                   {{"dtype", signature.dtype.name()}});
}

template <class Derived>
struct ListOrderOperator : OperatorOf<Derived> {
  std::string_view name() const override { return "list"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }
};

struct ListSort final : ListOrderOperator<ListSort> {
  SortOrder order{};

  std::string arguments() const override { return "sort"; }

  Value execute(std::span<const Value> inputs) const override {
    return list_sort(std::get<Column>(inputs[0]), order);
  }

  static auto parameters(auto& self) { return std::tie(self.order); }
};

struct ListReverse final : ListOrderOperator<ListReverse> {
  std::string arguments() const override { return "reverse"; }

  Value execute(std::span<const Value> inputs) const override {
    return list_reverse(std::get<Column>(inputs[0]));
  }
};

struct ListUnique final : ListOrderOperator<ListUnique> {
  std::string arguments() const override { return "unique"; }

  Value execute(std::span<const Value> inputs) const override {
    return list_unique(std::get<Column>(inputs[0]));
  }
};

}  // namespace

Column list_sort(const Column& lists, const SortOrder& order) {
  const PlacedItems placed(lists);
  const ListSpan* const spans = lists.values<ListSpan>().data();
  const auto size = [&](int64_t row) { return spans[row].size; };
  Column items = gather(*lists.items(), placed.tensor());
  if (placed.count == 0) return lists_in_order(lists, std::move(items), size);
  const Column rows(TypeId::kInt64, placed.count, placed.rows);
  return lists_in_order(lists, sort_rows({rows, items}, {SortOrder{}, order}, {items})[0], size);
}

Column list_reverse(const Column& lists) {
  PlacedItems placed(lists);
  const ListSpan* const spans = lists.values<ListSpan>().data();
  if (placed.count > 0) {
    auto* at = placed.places.mutable_as<int64_t>();
    for (int64_t row = 0; row < lists.num_rows(); ++row)
      for (int64_t k = spans[row].size; k > 0; --k) *at++ = spans[row].begin + k - 1;
  }
  return lists_in_order(lists, gather(*lists.items(), placed.tensor()),
                        [&](int64_t row) { return spans[row].size; });
}

Column list_unique(const Column& lists) {
  const Column& items = *lists.items();
  const Column encoded = items.dtype().is_category() ? items : dictionary_encode(items);
  const Nulls null(encoded);
  const int32_t* const codes = encoded.values<int32_t>().data();
  const ListSpan* const spans = lists.values<ListSpan>().data();
  const int64_t rows = lists.num_rows();
  // The last list that each value was seen in; that of null behind them.
  BudgetedVector<int64_t> seen(static_cast<size_t>(encoded.dictionary()->size()) + 1, -1);
  PlacedItems placed(lists);
  BudgetedVector<int64_t> sizes(static_cast<size_t>(rows), 0);
  auto* const places = placed.count > 0 ? placed.places.mutable_as<int64_t>() : nullptr;
  int64_t kept = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t before = kept;
    for (int64_t k = spans[row].begin; k < spans[row].begin + spans[row].size; ++k) {
      int64_t& last = null(k) ? seen.back() : seen[static_cast<size_t>(codes[k])];
      if (last == row) continue;
      last = row;
      places[kept++] = k;
    }
    sizes[static_cast<size_t>(row)] = kept - before;
  }
  return lists_in_order(lists, gather(items, Tensor(TypeId::kInt64, {kept}, placed.places)),
                        [&](int64_t row) { return sizes[static_cast<size_t>(row)]; });
}

NodePtr list_sort(const NodePtr& lists, const SortOrder& order) {
  check_lists("sort", lists);
  const Dtype item = lists->signature().dtype.item();
  if (item.is_complex() || item.is_nested())
    throw_error<TypeMismatchError>("sort", "the items of the lists have no order",
                                   {{"dtype", lists->signature().dtype.name()}},
                                   "explode them and sort by a field");
  return apply_operator(ListSort::make(order), lists->signature(), {lists});
}

NodePtr list_reverse(const NodePtr& lists) {
  check_lists("reverse", lists);
  return apply_operator(ListReverse::make(), lists->signature(), {lists});
}

NodePtr list_unique(const NodePtr& lists) {
  check_lists("unique", lists);
  return apply_operator(ListUnique::make(), lists->signature(), {lists});
}

}  // namespace hr
