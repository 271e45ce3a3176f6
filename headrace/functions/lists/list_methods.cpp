// SPDX-License-Identifier: Apache-2.0
// Functions of each list.
#include "headrace/functions/lists/list_methods.h"

#include "headrace/algo/select/gather.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/functions/strings/string_builder.h"

#include <algorithm>
#include <cstring>

namespace hr {

namespace {

const ListSpan* spans_of(const Column& lists) {
  return lists.values<ListSpan>().data();
}

// Where a position of Python is, from 0 to `size`.
int64_t place_of(int64_t position, int64_t size) {
  return std::clamp<int64_t>(position < 0 ? position + size : position, 0, size);
}

// Of a column of lists.
Signature lists_signature(std::string_view method, const NodePtr& lists) {
  const Signature& signature = lists->signature();
  if (signature.form != Form::kColumn || !signature.dtype.is_list())
    throw_error<TypeMismatchError>(method, "expected a column of lists",
                                   {{"dtype", signature.dtype.name()}},
                                   "str.split and agg(list) make lists");
  return signature;
}

Signature signature_with(Signature signature, Dtype dtype, bool nullable) {
  signature.dtype = dtype;
  signature.nullable = nullable;
  return signature;
}

Signature strings_signature(std::string_view method, const NodePtr& lists) {
  Signature signature = lists_signature(method, lists);
  if (!signature.dtype.item().is_string())
    throw_error<TypeMismatchError>(method, "expected lists of strings",
                                   {{"dtype", signature.dtype.name()}});
  return signature;
}

template <class Test>
Column any_item(const Column& lists, const Test& test) {
  const ListSpan* const spans = spans_of(lists);
  const Nulls null_item(*lists.items());
  return Column(TypeId::kBool, lists.num_rows(),
                bits_of(lists.num_rows(), {reads(lists)}, [&](int64_t row) {
                  for (int64_t k = spans[row].begin; k < spans[row].begin + spans[row].size; ++k)
                    if (!null_item(k) && test(k)) return true;
                  return false;
                }));
}

Column contains(const Column& lists, const std::string& value) {
  const Column& items = *lists.items();
  const Dtype dtype = items.dtype();
  if (dtype.has_text()) return any_item(lists, [&](int64_t k) { return items.string(k) == value; });
  if (dtype.is_bool())
    return any_item(lists, [&](int64_t k) { return items.bit(k) == (value[0] != 0); });
  if (dtype.is_floating())
    return visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
      T wanted;
      std::memcpy(&wanted, value.data(), sizeof wanted);
      const T* const values = items.values<T>().data();
      return any_item(lists, [&](int64_t k) { return values[k] == wanted; });
    });
  const auto width = static_cast<int64_t>(value.size());
  const std::byte* const values = items.values_buffer().data() + items.offset() * width;
  return any_item(lists, [&](int64_t k) {
    return std::memcmp(values + k * width, value.data(), value.size()) == 0;
  });
}

// What `contains` searches for.
std::string bytes_of_item(Dtype dtype, const Column& value) {
  const Dtype item = dtype.is_list() ? dtype.item() : dtype;
  const bool fits = value.dtype() == item || (item.has_text() && value.dtype().has_text());
  if (item.is_nested() || item.is_complex() || (item.is_category() && !item.has_text()) || !fits ||
      value.num_rows() != 1 || value.null_count() > 0)
    throw_error<TypeMismatchError>("contains", "the lists cannot have this value",
                                   {{"dtype", dtype.name()}, {"value_dtype", value.dtype().name()}},
                                   "pass a value of the dtype of the items");
  if (item.has_text()) return std::string(value.string(0));
  if (item.is_bool()) return std::string(1, value.bit(0) ? '\1' : '\0');
  const auto width = static_cast<size_t>(item.size_bytes());
  return {value.values_buffer().as<char>() + static_cast<size_t>(value.offset()) * width, width};
}

template <class Derived>
struct ListOperator : OperatorOf<Derived> {
  std::string_view name() const override { return "list"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }
};

struct ListLength final : ListOperator<ListLength> {
  std::string arguments() const override { return "len"; }

  Value execute(std::span<const Value> inputs) const override {
    return list_length(std::get<Column>(inputs[0]));
  }
};

struct ListItem final : ListOperator<ListItem> {
  int64_t position = 0;

  std::string arguments() const override { return "get " + std::to_string(position); }

  Value execute(std::span<const Value> inputs) const override {
    return list_item(std::get<Column>(inputs[0]), position);
  }

  static auto parameters(auto& self) { return std::tie(self.position); }
};

struct ListSlice final : ListOperator<ListSlice> {
  std::optional<int64_t> begin{};
  std::optional<int64_t> end{};

  std::string arguments() const override { return "slice"; }

  Value execute(std::span<const Value> inputs) const override {
    return list_slice(std::get<Column>(inputs[0]), begin, end);
  }

  static auto parameters(auto& self) { return std::tie(self.begin, self.end); }
};

struct ListJoin final : ListOperator<ListJoin> {
  std::string separator{};

  std::string arguments() const override { return "join"; }

  Value execute(std::span<const Value> inputs) const override {
    return list_join(std::get<Column>(inputs[0]), separator);
  }

  static auto parameters(auto& self) { return std::tie(self.separator); }
};

// `value`: a string, or the bytes of a value.
struct ListContains final : ListOperator<ListContains> {
  std::string value{};

  std::string arguments() const override { return "contains"; }

  Value execute(std::span<const Value> inputs) const override {
    return contains(std::get<Column>(inputs[0]), value);
  }

  static auto parameters(auto& self) { return std::tie(self.value); }
};

}  // namespace

Column list_length(const Column& lists) {
  const ListSpan* const spans = spans_of(lists);
  return map_rows<int64_t>(lists, TypeId::kInt64, [spans](int64_t row) { return spans[row].size; });
}

Column list_item(const Column& lists, int64_t position) {
  const int64_t rows = lists.num_rows();
  Buffer at = Buffer::allocate_spillable(8 * rows);
  if (rows > 0) {
    auto* const out = at.mutable_as<int64_t>();
    const ListSpan* const spans = spans_of(lists);
    parallel_morsels(rows, {reads(lists), writes(at, 8)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        const auto [begin, size] = spans[row];
        const int64_t place = position < 0 ? position + size : position;
        out[row] = place >= 0 && place < size ? begin + place : -1;
      }
    });
  }
  return gather_or_null(*lists.items(), Tensor(TypeId::kInt64, {rows}, std::move(at)));
}

Column list_slice(const Column& lists, std::optional<int64_t> begin, std::optional<int64_t> end) {
  const ListSpan* const spans = spans_of(lists);
  const Nulls null(lists);
  const int64_t rows = lists.num_rows();
  Buffer made = Buffer::allocate_spillable(16 * rows);
  if (rows > 0) {
    auto* const out = made.mutable_as<ListSpan>();
    parallel_morsels(rows, {reads(lists), writes(made, 16)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        const ListSpan span = spans[row];
        const int64_t first = place_of(begin.value_or(0), span.size);
        const int64_t last = place_of(end.value_or(span.size), span.size);
        out[row] = last > first ? ListSpan{span.begin + first, last - first} : ListSpan{};
      }
    });
  }
  return lists.with_rows(rows, std::move(made), null.bitmap(rows), null.any() ? -1 : 0);
}

Column list_join(const Column& lists, const std::string& separator) {
  const Column& items = *lists.items();
  const ListSpan* const spans = spans_of(lists);
  const Nulls null(lists), null_item(items);
  const auto is_null = [&](int64_t row) {
    if (null(row)) return true;
    for (int64_t k = 0; null_item.any() && k < spans[row].size; ++k)
      if (null_item(spans[row].begin + k)) return true;
    return false;
  };
  const int64_t rows = lists.num_rows();
  Buffer validity;
  if (null.any() || null_item.any())
    validity = bits_of(rows, {reads(lists)}, [&](int64_t row) { return !is_null(row); });
  return build_strings(rows, {reads(lists)}, is_null, std::move(validity), [&] {
    return [&](int64_t row, StringBuilder& builder) {
      for (int64_t k = 0; k < spans[row].size; ++k) {
        if (k > 0) builder.add(separator);
        builder.add(items.string(spans[row].begin + k));
      }
    };
  });
}

Column list_contains(const Column& lists, const Column& value) {
  return contains(lists, bytes_of_item(lists.dtype(), value));
}

NodePtr list_length(const NodePtr& lists) {
  Signature signature = lists->signature();
  if (!signature.dtype.is_map()) signature = lists_signature("len", lists);
  signature.dtype = TypeId::kInt64;
  return apply_operator(ListLength::make(), std::move(signature), {lists});
}

NodePtr list_item(const NodePtr& lists, int64_t position) {
  const Signature signature = lists_signature("get", lists);
  return apply_operator(ListItem::make(position),
                        signature_with(signature, signature.dtype.item(), true), {lists});
}

NodePtr list_slice(const NodePtr& lists, std::optional<int64_t> begin, std::optional<int64_t> end) {
  return apply_operator(ListSlice::make(begin, end), lists_signature("slice", lists), {lists});
}

NodePtr list_join(const NodePtr& lists, const std::string& separator) {
  return apply_operator(ListJoin::make(separator),
                        signature_with(strings_signature("join", lists), TypeId::kString, true),
                        {lists});
}

NodePtr list_contains(const NodePtr& lists, const Column& value) {
  const Signature signature = lists_signature("contains", lists);
  return apply_operator(ListContains::make(bytes_of_item(signature.dtype, value)),
                        signature_with(signature, TypeId::kBool, false), {lists});
}

}  // namespace hr
