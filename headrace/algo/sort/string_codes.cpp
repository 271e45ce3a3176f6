// SPDX-License-Identifier: Apache-2.0
// Strings on a CUDA device as numbers.
#include "headrace/algo/sort/string_codes.h"

#include "headrace/algo/sort/string_codes_kernels.h"
#include "headrace/base/error.h"

namespace hr {

namespace {

void check_rows(const Column& strings) {
  if (strings.num_rows() >= kTooManyRows)
    throw_error<UnsupportedError>(kRowsOp, "too many strings for the CUDA kernel",
                                  {{"rows", strings.num_rows()}},
                                  "move the values first: x.to('cpu')");
}

Column no_codes(const Column& strings) {
  return Column(TypeId::kInt32, 0, strings.values_buffer());
}

}  // namespace

RowCodes encode_strings(const Column& strings, bool ordered) {
  check_rows(strings);
  if (strings.num_rows() == 0)
    return {no_codes(strings), Tensor(TypeId::kUInt32, {0}, strings.values_buffer())};
  if constexpr (built_with_cuda)
    return ordered ? cuda::encode_in_order(strings) : cuda::encode_strings(strings);
  check_on_host(kRowsOp, strings.place());
  return {};
}

std::array<Column, 2> encode_strings(const Column& left, const Column& right) {
  check_rows(left);
  check_rows(right);
  if (left.num_rows() == 0 && right.num_rows() == 0) return {no_codes(left), no_codes(right)};
  if constexpr (built_with_cuda) return cuda::encode_strings(left, right);
  check_on_host(kRowsOp, left.place());
  return {};
}

std::vector<Column> with_string_ranks(const std::vector<Column>& columns) {
  std::vector<Column> ranked;
  for (const Column& column : columns)
    ranked.push_back(column.dtype().is_string() && column.place().is_gpu()
                         ? encode_strings(column, true).codes
                         : column);
  return ranked;
}

}  // namespace hr
