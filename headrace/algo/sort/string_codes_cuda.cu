// SPDX-License-Identifier: Apache-2.0
// Strings as numbers on a CUDA device: a hash table of first rows.
#include "headrace/algo/select/filter_kernels.h"
#include "headrace/algo/sort/row_codes_kernels.h"
#include "headrace/algo/sort/row_table_device.h"
#include "headrace/algo/sort/string_codes_kernels.h"
#include "headrace/algo/sort/string_words_device.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace hr::cuda {

namespace {

using rows::kThreads;

/// Numbers of the rows that were put: the first rows of their slots.
__global__ void firsts_kernel(RowTables tables, int64_t count, uint32_t* __restrict__ slots) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const uint32_t slot = slots[i];
  const RowTable table = tables.own();
  slots[i] = slot == RowTable::kNone ? 0 : table.row_of(table.slots[slot]);
}

__global__ void find_kernel(const __grid_constant__ StringRows there,
                            const __grid_constant__ StringRows rows, RowTables tables,
                            int64_t count, uint32_t none, uint32_t* __restrict__ out) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= count) return;
  uint32_t found = none;
  if (rows.is_there(row)) {
    const uint32_t first = tables.own().find(there, rows, row);
    if (first != RowTable::kNone) found = first;
  }
  out[row] = found;
}

/// A bit for each row from bit 0 on.
__global__ void validity_kernel(const __grid_constant__ StringRows rows, int64_t count,
                                unsigned* __restrict__ valid) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const unsigned word = __ballot_sync(~0u, row < count && rows.is_there(row));
  if (threadIdx.x % 32 == 0 && row < count) valid[row / 32] = word;
}

/// Numbers of a column under the validity of its strings.
Column numbers_of(DeviceCall& call, const Column& strings, const StringRows& rows,
                  const Buffer& numbers) {
  const int64_t count = strings.num_rows();
  Buffer valid;
  if (strings.null_count() > 0) {
    valid = allocate_result(8 * ((count + 63) / 64), strings.place());
    validity_kernel<<<blocks_of(count, kThreads), kThreads, 0, row_stream(call)>>>(
        rows, count, call.writes_as<unsigned>(valid));
  }
  return Column(TypeId::kInt32, count, numbers, valid, strings.null_count());
}

/// The order of a few distinct strings, which the host sorts sooner than kernels start; nothing if
/// they are more or one is not in its view.
Buffer order_of_few(const Column& strings) {
  constexpr int64_t kFew = 1024;
  const int64_t count = strings.num_rows();
  if (count > kFew) return {};
  std::vector<StringView> views(static_cast<size_t>(count));
  {
    DeviceCall call(kRowsOp, strings.place());
    call.reads(strings.values_buffer());
    call.fetch(views.data(), strings.values<StringView>().data(),
               count * static_cast<int64_t>(sizeof views[0]));
    call.finish(cudaGetLastError());
  }
  if (std::ranges::any_of(views,
                          [](const StringView& view) { return view.size > sizeof view.inlined; }))
    return {};
  Buffer order = Buffer::allocate(4 * count);
  auto* const rows = order.mutable_as<uint32_t>();
  std::iota(rows, rows + count, uint32_t{0});
  const auto text = [&](uint32_t row) {
    return std::string_view(views[row].inlined, views[row].size);
  };
  std::sort(rows, rows + count, [&](uint32_t a, uint32_t b) { return text(a) < text(b); });
  return output_at(kRowsOp, Tensor(TypeId::kUInt32, {count}, order), strings.place()).buffer();
}

}  // namespace

RowCodes encode_strings(const Column& strings) {
  DeviceCall call(kRowsOp, strings.place());
  std::vector<Buffer> tables;
  const StringRows keys{strings_of(call, strings, tables)};
  RowCodes made =
      encode_rows(call, keys, strings.num_rows(), strings.null_count(), strings.place());
  call.finish(cudaGetLastError());
  return made;
}

RowCodes encode_in_order(const Column& strings) {
  const RowCodes made = encode_strings(strings);
  if (made.first_rows.num_elements() < 2) return made;
  const Column distinct = take_rows(kRowsOp, strings, made.first_rows);
  const Buffer order = order_of_few(distinct);
  return renumbered(made, order ? order : order_of_distinct(distinct));
}

std::array<Column, 2> encode_strings(const Column& left, const Column& right) {
  const int64_t left_rows = left.num_rows(), right_rows = right.num_rows();
  const Place place = left_rows > 0 ? left.place() : right.place();
  DeviceCall call(kRowsOp, place);
  std::vector<Buffer> tables;
  const auto rows_of = [&](const Column& strings) {
    return strings.num_rows() > 0 ? StringRows{strings_of(call, strings, tables)} : StringRows{};
  };
  const StringRows own = rows_of(left), there = rows_of(right);
  Buffer room;
  const Buffer numbers[] = {allocate_result(std::max<int64_t>(4 * left_rows, 4), place),
                            allocate_result(std::max<int64_t>(4 * right_rows, 4), place)};
  auto* const out = call.writes_as<uint32_t>(numbers[1]);
  const RowTables found = put_rows(call, there, right_rows, place, room, out);
  if (right_rows > 0)
    firsts_kernel<<<blocks_of(right_rows, kThreads), kThreads, 0, row_stream(call)>>>(
        found, right_rows, out);
  if (left_rows > 0)
    find_kernel<<<blocks_of(left_rows, kThreads), kThreads, 0, row_stream(call)>>>(
        there, own, found, left_rows, static_cast<uint32_t>(right_rows),
        call.writes_as<uint32_t>(numbers[0]));
  std::array<Column, 2> made{numbers_of(call, left, own, numbers[0]),
                             numbers_of(call, right, there, numbers[1])};
  call.finish(cudaGetLastError());
  return made;
}

}  // namespace hr::cuda
