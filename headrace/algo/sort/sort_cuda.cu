// SPDX-License-Identifier: Apache-2.0
// Order of rows on a CUDA device: the words of the keys, the last one first, each sorted by radix,
// stably. Integers that are their own key, and one column more, move with the words.
#include "headrace/algo/select/filter_kernels.h"
#include "headrace/algo/sort/device_sort_kernels.h"
#include "headrace/algo/sort/device_sort_keys_kernels.h"
#include "headrace/algo/sort/radix_sort_kernels.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"

#include <array>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

__global__ void numbers_kernel(int64_t count, unsigned* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = static_cast<unsigned>(i);
}

__global__ void widen_kernel(const unsigned* __restrict__ order, int64_t count,
                             int64_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = order ? order[i] : i;
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

void check_rows(int64_t rows) {
  if (rows > std::numeric_limits<unsigned>::max())
    throw_error<UnsupportedError>("sort", "too many rows for the CUDA kernel", {{"rows", rows}},
                                  "move the values first: x.to('cpu')");
}

/// Two places for as many values, one of them in use.
template <class T>
struct Pair {
  Pair(const DeviceCall& call, int64_t rows)
      : buffers{call.scratch(rows * static_cast<int64_t>(sizeof(T))),
                call.scratch(rows * static_cast<int64_t>(sizeof(T)))} {}

  T* place(DeviceCall& call, int which) const { return call.writes_as<T>(buffers[which]); }

  std::array<Buffer, 2> buffers;
};

/// Sorts a word of all rows and what else moves, first in the first places; where they are then.
template <class Key, class Value>
int sort_with(DeviceCall& call, const DeviceSortKeys& keys, int word, Key* const (&words)[2],
              Value* const (&values)[2], int64_t rows) {
  const int bits = keys.bits(word);
  if constexpr (sizeof(Key) == 8)
    if (const int lead = keys.leading_bits(word); lead < bits)
      return radix_sort_leading(call, words, values, rows, bits, lead);
  return radix_sort(call, words, values, rows, 0, bits);
}

/// The rows' numbers by all words; none where the rows stay as they are.
std::optional<Buffer> order_of(DeviceCall& call, const DeviceSortKeys& keys, int64_t rows) {
  if (keys.num_words() == 0) return std::nullopt;
  const Pair<uint32_t> order(call, rows);
  int at = 0;
  numbers_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(rows,
                                                                              order.place(call, 0));
  bool is_first = true;
  const Pair<uint64_t> room(call, rows);  // of the words, one after the other
  const auto pass = [&]<class Key>(std::type_identity<Key>, int word) {
    Key* const words[2] = {reinterpret_cast<Key*>(room.place(call, 0)),
                           reinterpret_cast<Key*>(room.place(call, 1))};
    uint32_t* const numbers[2] = {order.place(call, at), order.place(call, 1 - at)};
    keys.write(word, is_first ? nullptr : numbers[0], words[0]);
    at ^= sort_with(call, keys, word, words, numbers, rows);
    is_first = false;
  };
  for (int word = keys.num_words(); word-- > 0;) {
    if (keys.bits(word) > 32)
      pass(std::type_identity<uint64_t>{}, word);
    else
      pass(std::type_identity<uint32_t>{}, word);
  }
  return order.buffers[static_cast<size_t>(at)];
}

/// Integers in order by themselves: their words are sorted and made integers again.
Column sort_alone(const Column& values, SortOrder order) {
  const int64_t rows = values.num_rows();
  const Buffer out = allocate_result(rows * values.dtype().size_bytes(), values.place());
  DeviceCall call("sort", values.place());
  const std::vector<Column> columns{values};
  const std::vector<SortOrder> orders{order};
  const DeviceSortKeys keys(call, values.place(), columns, orders);
  const auto work = [&]<class Key>(std::type_identity<Key>) {
    const Pair<Key> words(call, rows);
    Key* const places[2] = {words.place(call, 0), words.place(call, 1)};
    keys.write(0, nullptr, places[0]);
    const int bits = keys.bits(0);
    int at = 0;
    if constexpr (sizeof(Key) == 8) {
      const int lead = keys.leading_bits(0);
      at = lead < bits ? radix_sort_leading(call, places, rows, bits, lead)
                       : radix_sort(call, places, rows, 0, bits);
    } else {
      at = radix_sort(call, places, rows, 0, bits);
    }
    keys.give_back(places[at], call.writes(out));
  };
  if (keys.num_words() == 0)
    keys.give_back(static_cast<const uint32_t*>(nullptr), call.writes(out));
  else if (keys.bits(0) > 32)
    work(std::type_identity<uint64_t>{});
  else
    work(std::type_identity<uint32_t>{});
  call.finish(cudaGetLastError());
  return values.with_rows(rows, out, Buffer(), 0);
}

bool moves_with_words(const Column& column) {
  const int64_t width = column.dtype().size_bytes();
  return column.null_count() == 0 && !column.dtype().is_bool() && (width == 4 || width == 8);
}

/// The values of a column that moves with the words of the key, and the key itself if wanted.
template <class Key, class Value>
std::pair<Buffer, Buffer> sort_with_column(DeviceCall& call, const DeviceSortKeys& keys,
                                           const Column& column, const Column& key,
                                           bool wants_key) {
  const int64_t rows = column.num_rows();
  const Place place = column.place();
  const auto width = static_cast<int64_t>(sizeof(Value));
  const Pair<Key> words(call, rows);
  Buffer values[2] = {allocate_result(rows * width, place), allocate_result(rows * width, place)};
  keys.write(0, nullptr, words.place(call, 0));
  Key* const word[2] = {words.place(call, 0), words.place(call, 1)};
  Value* const value[2] = {call.writes_as<Value>(values[0]), call.writes_as<Value>(values[1])};
  check_cuda("sort",
             cudaMemcpyAsync(value[0], column.values_buffer().data() + column.offset() * width,
                             static_cast<size_t>(rows * width), cudaMemcpyDeviceToDevice,
                             stream_of(call)));
  const int at = sort_with(call, keys, 0, word, value, rows);
  Buffer own;
  if (wants_key) {
    own = allocate_result(rows * key.dtype().size_bytes(), place);
    keys.give_back(word[at], call.writes(own));
  }
  return {values[at], own};
}

template <class Key>
std::pair<Buffer, Buffer> sort_with_column(DeviceCall& call, const DeviceSortKeys& keys,
                                           const Column& column, const Column& key,
                                           bool wants_key) {
  if (column.dtype().size_bytes() == 4)
    return sort_with_column<Key, uint32_t>(call, keys, column, key, wants_key);
  return sort_with_column<Key, uint64_t>(call, keys, column, key, wants_key);
}

}  // namespace

Column sort_integers(const Column& values, SortOrder order) {
  check_rows(values.num_rows());
  if (values.num_rows() == 0) return values;
  return sort_alone(values, order);
}

Tensor argsort(const std::vector<Column>& keys, const std::vector<SortOrder>& orders) {
  const Place place = keys[0].place();
  const int64_t rows = keys[0].num_rows();
  check_rows(rows);
  if (rows == 0) return Tensor(TypeId::kInt64, {0}, Buffer());
  DeviceCall call("sort", place);
  const DeviceSortKeys packed(call, place, keys, orders);
  const std::optional<Buffer> order = order_of(call, packed, rows);
  const Buffer out = allocate_result(rows * 8, place);
  widen_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
      order ? call.writes_as<unsigned>(*order) : nullptr, rows, call.writes_as<int64_t>(out));
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {rows}, out);
}

std::vector<Column> sort_rows(const std::vector<Column>& keys, const std::vector<SortOrder>& orders,
                              const std::vector<Column>& columns) {
  const Place place = keys[0].place();
  const int64_t rows = keys[0].num_rows();
  check_rows(rows);
  if (rows == 0 || columns.empty()) return columns;
  const auto is_own = [&](const Column& column) {
    return column.values_buffer() == keys[0].values_buffer() &&
           column.offset() == keys[0].offset() && column.dtype() == keys[0].dtype() &&
           column.null_count() == 0;
  };
  std::vector<Column> result = columns;
  Buffer numbers;
  std::vector<size_t> left;
  {
    DeviceCall call("sort", place);
    const DeviceSortKeys packed(call, place, keys, orders);
    if (packed.num_words() == 0) {
      call.finish(cudaGetLastError());
      return columns;
    }
    std::vector<size_t> own;
    for (size_t c = 0; c < columns.size(); ++c)
      (packed.gives_back() && is_own(columns[c]) ? own : left).push_back(c);
    if (packed.gives_back() && left.size() == 1 && moves_with_words(columns[left[0]])) {
      const Column& moved = columns[left[0]];
      call.reads(moved.values_buffer());
      const auto [values, key] =
          packed.bits(0) > 32
              ? sort_with_column<uint64_t>(call, packed, moved, keys[0], !own.empty())
              : sort_with_column<uint32_t>(call, packed, moved, keys[0], !own.empty());
      call.finish(cudaGetLastError());
      result[left[0]] = moved.with_rows(rows, values, Buffer(), 0);
      for (const size_t c : own) result[c] = columns[c].with_rows(rows, key, Buffer(), 0);
      return result;
    }
    numbers = *order_of(call, packed, rows);
    call.finish(cudaGetLastError());
  }
  const Tensor order(TypeId::kUInt32, {rows}, numbers);
  for (Column& column : result) column = take_rows("sort", column, order);
  return result;
}

}  // namespace hr::cuda
