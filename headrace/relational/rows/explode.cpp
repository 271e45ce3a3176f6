// SPDX-License-Identifier: Apache-2.0
// A row for each item of lists.
#include "headrace/relational/rows/explode.h"

#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/graph/operator.h"

#include <algorithm>
#include <span>

namespace hr {

namespace {

// An empty list, as a null one, has a row too.
int64_t rows_of(const ListSpan& span) {
  return std::max<int64_t>(span.size, 1);
}

// One int64 for each item: `put(row, out)` writes those of a row.
template <class Put>
Tensor numbers_of_items(const Column& lists, const Put& put) {
  const ListSpan* const spans = lists.values<ListSpan>().data();
  const std::vector<int64_t> offsets =
      compact_offsets(lists.num_rows(), {reads(lists)}, [&](Morsel morsel) {
        int64_t count = 0;
        for (int64_t row = morsel.begin; row < morsel.end; ++row) count += rows_of(spans[row]);
        return count;
      });
  Buffer made = Buffer::allocate_spillable(8 * offsets.back());
  if (offsets.back() > 0) {
    auto* const out = made.mutable_as<int64_t>();
    const BufferAccess rows = reads(lists);
    parallel_morsels(lists.num_rows(), [&](Morsel morsel) {
      const auto index = static_cast<size_t>(morsel.index);
      std::vector<PinnedRange> ranges = ranges_of({&rows, 1}, morsel.begin, morsel.end);
      ranges.push_back({&made, 8 * offsets[index], 8 * offsets[index + 1], true});
      const Pin pin(ranges);
      int64_t* to = out + offsets[index];
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        put(row, to);
        to += rows_of(spans[row]);
      }
    });
  }
  return Tensor(TypeId::kInt64, {offsets.back()}, std::move(made));
}

void check_lengths(std::span<const Value> inputs) {
  const auto& first = std::get<Column>(inputs[0]);
  for (const Value& input : inputs.subspan(1)) {
    const auto& other = std::get<Column>(input);
    for (int64_t row = 0; row < first.num_rows(); ++row) {
      const int64_t own = rows_of(first.values<ListSpan>()[static_cast<size_t>(row)]),
                    size = rows_of(other.values<ListSpan>()[static_cast<size_t>(row)]);
      if (own != size)
        throw_error<InvalidArgumentError>("explode", "the lists of a row differ in length",
                                          {{"row", row}, {"items", own}, {"other", size}});
    }
  }
}

struct ExplodedRows final : OperatorOf<ExplodedRows> {
  std::string_view name() const override { return "explode"; }

  std::string arguments() const override { return "rows"; }

  Value execute(std::span<const Value> inputs) const override {
    check_lengths(inputs);
    const auto& lists = std::get<Column>(inputs[0]);
    const ListSpan* const spans = lists.values<ListSpan>().data();
    return numbers_of_items(
        lists, [spans](int64_t row, int64_t* out) { std::fill_n(out, rows_of(spans[row]), row); });
  }
};

// The items of the first input; the others are there for their lengths.
struct ExplodedItems final : OperatorOf<ExplodedItems> {
  std::string_view name() const override { return "explode"; }

  Value execute(std::span<const Value> inputs) const override {
    check_lengths(inputs);
    const auto& lists = std::get<Column>(inputs[0]);
    const std::span<const ListSpan> spans = lists.values<ListSpan>();
    const auto breaks = [](const ListSpan& one, const ListSpan& next) {
      return one.begin + one.size != next.begin || next.size == 0;
    };
    if (!spans.empty() && spans[0].size > 0 &&
        std::ranges::adjacent_find(spans, breaks) == spans.end())
      return lists.items()->slice(spans[0].begin,
                                  spans.back().begin + spans.back().size - spans[0].begin);
    return gather_or_null(*lists.items(), numbers_of_items(lists, [&](int64_t row, int64_t* out) {
      const auto [begin, size] = spans[static_cast<size_t>(row)];
      if (size == 0) *out = -1;
      for (int64_t k = 0; k < size; ++k) out[k] = begin + k;
    }));
  }
};

}  // namespace

Exploded explode(const std::vector<NodePtr>& lists) {
  Signature signature;
  for (const NodePtr& column : lists) {
    signature = column->signature();
    if (signature.form != Form::kColumn || !signature.dtype.has_items())
      throw_error<TypeMismatchError>("explode", "expected a column of lists or maps",
                                     {{"dtype", signature.dtype.name()}});
  }
  signature.shape = {kUnknown};
  signature.domain = new_domain();
  Exploded made;
  for (const NodePtr& column : lists) {
    signature.dtype = column->signature().dtype.item();
    signature.nullable = true;
    // Each is checked against the first, whichever of them is evaluated.
    const bool is_first = made.items.empty();
    made.items.push_back(apply_operator(ExplodedItems::make(), signature,
                                        is_first ? lists : std::vector{column, lists[0]}));
  }
  signature.form = Form::kTensor;
  signature.dtype = TypeId::kInt64;
  signature.nullable = false;
  made.rows = apply_operator(ExplodedRows::make(), signature, lists);
  return made;
}

}  // namespace hr
