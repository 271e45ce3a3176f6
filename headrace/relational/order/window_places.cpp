// SPDX-License-Identifier: Apache-2.0
// Places of rows within their groups: sort numbers of the keys, and walk over them.
#include "headrace/relational/order/window_places.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/algo/sort/string_codes.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/relational/order/window_places_kernels.h"

namespace hr {

namespace {

Tensor order_of(const Column& groups) {
  return argsort({groups}, {SortOrder{}});
}

}  // namespace

std::optional<RowCodes> numbers_of_keys(const std::vector<Column>& keys, bool drop_missing) {
  const Column& first = keys[0];
  if (first.num_rows() == 0)
    return RowCodes{Column(TypeId::kInt32, 0, first.values_buffer()),
                    Tensor(TypeId::kUInt32, {0}, first.values_buffer())};
  if (first.num_rows() >= kTooManyRows) return {};
  if (keys.size() == 1 && first.dtype().is_string() && (drop_missing || first.null_count() == 0))
    return encode_strings(first, true);
  const auto packed =
      NormalizedKeys::of_device(keys, {.ordered = true, .drop_missing = drop_missing});
  if (!packed) return {};
  return packed->to_codes(true);
}

std::optional<Column> rank_there(const Column* groups, const Column& values, RankMethod method,
                                 bool descending) {
  const std::optional<RowCodes> numbers = numbers_of_keys({values}, true);
  if (!numbers) return {};
  const Column& ties = numbers->codes;
  if (values.num_rows() == 0) return Column(TypeId::kFloat64, 0, values.values_buffer());
  std::vector<Column> keys{ties};
  std::vector<SortOrder> orders{{descending, false}};
  if (groups) {
    keys.insert(keys.begin(), *groups);
    orders.insert(orders.begin(), SortOrder{});
  }
  if constexpr (built_with_cuda)
    return cuda::ranks_of_rows(argsort(keys, orders), groups, ties, method);
  throw_error<InternalError>("rank", "built without CUDA");
}

Column row_numbers_there(const Column& groups) {
  if (groups.num_rows() == 0) return Column(TypeId::kInt64, 0, groups.values_buffer());
  if constexpr (built_with_cuda) return cuda::places_in_groups(order_of(groups), groups);
  throw_error<InternalError>("window", "built without CUDA");
}

Column shift_there(const Column& groups, const Column& values, int64_t periods) {
  if (groups.num_rows() == 0) return values;
  if constexpr (built_with_cuda)
    return gather_or_null(values, cuda::shifted_rows(order_of(groups), groups, periods));
  throw_error<InternalError>("shift", "built without CUDA");
}

Column rows_of_numbers(const Column& column, const Column& numbers) {
  if (column.num_rows() == 0)
    return null_rows("take", column.with_rows(0, numbers.values_buffer(), {}, 0),
                     numbers.num_rows());
  if constexpr (built_with_cuda) return gather_or_null(column, cuda::positions_of(numbers));
  throw_error<InternalError>("take", "built without CUDA");
}

}  // namespace hr
