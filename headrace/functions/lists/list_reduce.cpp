// SPDX-License-Identifier: Apache-2.0
// One number of each list.
#include "headrace/functions/lists/list_reduce.h"

#include "headrace/algo/select/map_rows.h"
#include "headrace/base/error.h"
#include "headrace/functions/lists/list_methods.h"
#include "headrace/functions/lists/list_order.h"
#include "headrace/plan/graph/operator.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace hr {

namespace {

constexpr std::string_view kWords[] = {"sum", "min", "max", "mean", "any", "all"};

std::string_view word_of(ListReduction reduction) {
  return kWords[static_cast<size_t>(reduction)];
}

// Calls `f(value)` for the items of a list that are there.
template <class T, class F>
void for_each_item(const Column& items, const Nulls& null, const T* values, ListSpan span,
                   const F& f) {
  for (int64_t k = span.begin; k < span.begin + span.size; ++k) {
    if (null(k)) continue;
    if constexpr (std::is_same_v<T, bool>) {
      f(get_bit(items.bits(), items.offset() + k));
    } else {
      if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(values[k])) continue;
      f(values[k]);
    }
  }
}

// Sums of integers wrap around.
template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

template <class T>
using ResultOf = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;

template <class T>
Column reduce_as(const Column& lists, ListReduction reduction, Dtype dtype, const T* values) {
  const Column& items = *lists.items();
  const Nulls null(items);
  const ListSpan* const spans = lists.values<ListSpan>().data();
  if (reduction == ListReduction::kSum)
    return map_rows_or_null<ResultOf<T>>(lists, dtype, [&](int64_t row, ResultOf<T>* out) {
      SumOf<T> sum{};
      for_each_item(items, null, values, spans[row],
                    [&](T value) { sum += static_cast<SumOf<T>>(value); });
      *out = static_cast<ResultOf<T>>(sum);
      return true;
    });
  if (reduction == ListReduction::kMean)
    return map_rows_or_null<double>(lists, dtype, [&](int64_t row, double* out) {
      double sum = 0;
      int64_t count = 0;
      for_each_item(items, null, values, spans[row], [&](T value) {
        sum += static_cast<double>(value);
        ++count;
      });
      *out = sum / static_cast<double>(count);
      return count > 0;
    });
  const bool least = reduction == ListReduction::kMin;
  return map_rows_or_null<T>(lists, dtype, [&](int64_t row, T* out) {
    bool any = false;
    for_each_item(items, null, values, spans[row], [&](T value) {
      if (!any || (least ? value < *out : *out < value)) *out = value;
      any = true;
    });
    return any;
  });
}

Column any_or_all(const Column& lists, bool all) {
  const Column& items = *lists.items();
  const Nulls null(items), null_list(lists);
  const ListSpan* const spans = lists.values<ListSpan>().data();
  const int64_t rows = lists.num_rows();
  Buffer bits = bits_of(rows, {reads(lists)}, [&](int64_t row) {
    bool found = all;
    for_each_item<bool>(items, null, nullptr, spans[row],
                        [&](bool value) { found = all ? found && value : found || value; });
    return found;
  });
  return Column(TypeId::kBool, rows, std::move(bits), null_list.bitmap(rows),
                null_list.any() ? -1 : 0);
}

bool is_ordered_number(Dtype item) {
  return item.is_real() || item.is_temporal() || item.is_duration();
}

// Of the result; none where the reduction does not take the items.
std::optional<Dtype> result_dtype(ListReduction reduction, Dtype item) {
  switch (reduction) {
    case ListReduction::kSum:
      if (item.is_floating() || item.is_duration()) return item;
      if (item.is_unsigned()) return TypeId::kUInt64;
      return item.is_number() ? std::optional(Dtype(TypeId::kInt64)) : std::nullopt;
    case ListReduction::kMean:
      return item.is_number() ? std::optional(Dtype(TypeId::kFloat64)) : std::nullopt;
    case ListReduction::kAny:
    case ListReduction::kAll:
      return item.is_bool() ? std::optional(item) : std::nullopt;
    default:
      return is_ordered_number(item) || item.is_string() ? std::optional(item) : std::nullopt;
  }
}

Dtype checked_dtype(ListReduction reduction, Dtype dtype) {
  if (!dtype.is_list())
    throw_error<TypeMismatchError>(word_of(reduction), "expected a column of lists",
                                   {{"dtype", dtype.name()}});
  const std::optional<Dtype> made = result_dtype(reduction, dtype.item());
  if (!made)
    throw_error<TypeMismatchError>(word_of(reduction), "lists of this dtype are not supported",
                                   {{"dtype", dtype.name()}},
                                   "use explode() and groupby, or list.get()");
  return *made;
}

struct ListReduce final : OperatorOf<ListReduce> {
  ListReduction reduction{};

  std::string_view name() const override { return "list"; }

  std::string arguments() const override { return std::string(word_of(reduction)); }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const override {
    return list_reduce(std::get<Column>(inputs[0]), reduction);
  }

  static auto parameters(auto& self) { return std::tie(self.reduction); }
};

}  // namespace

Column list_reduce(const Column& lists, ListReduction reduction) {
  const Dtype dtype = checked_dtype(reduction, lists.dtype()), item = lists.dtype().item();
  if (reduction == ListReduction::kAny || reduction == ListReduction::kAll)
    return any_or_all(lists, reduction == ListReduction::kAll);
  if (item.is_string())
    return list_item(list_sort(lists, {.descending = reduction == ListReduction::kMax}), 0);
  if (item.is_bool()) return reduce_as<bool>(lists, reduction, dtype, nullptr);
  return visit_real(item.storage(), [&]<class T>(std::type_identity<T>) {
    return reduce_as<T>(lists, reduction, dtype, lists.items()->values<T>().data());
  });
}

NodePtr list_reduce(const NodePtr& lists, ListReduction reduction) {
  Signature signature = lists->signature();
  signature.dtype = checked_dtype(reduction, signature.dtype);
  signature.nullable = true;
  return apply_operator(ListReduce::make(reduction), std::move(signature), {lists});
}

}  // namespace hr
