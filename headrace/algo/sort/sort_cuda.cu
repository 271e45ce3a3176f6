// SPDX-License-Identifier: Apache-2.0
// Order of rows on a CUDA device: each key, the last one first, as words in the present order,
// which CUB sorts by radix, stably. Words begin at the least one, so only their range takes passes.
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <limits>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 8;
using Word = unsigned long long;

/// The values of one key.
struct Rows {
  const void* values;
  const uint8_t* valid;  // bits, or null
  int64_t offset;
  bool descending;
  bool missing_first;

  __device__ bool is_valid(int64_t row) const {
    const int64_t at = offset + row;
    return !valid || (valid[at >> 3] >> (at & 7) & 1);
  }
};

struct Bit {};  // a bool of a bitmap

template <class T>
__device__ Word word_at(const Rows& rows, int64_t row) {
  if constexpr (std::is_same_v<T, Bit>) {
    const int64_t at = rows.offset + row;
    const Word bit = static_cast<const uint8_t*>(rows.values)[at >> 3] >> (at & 7) & 1;
    return rows.descending ? 1 - bit : bit;
  } else if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, unsigned, Word>;
    constexpr Bits kTop = Bits{1} << (8 * sizeof(T) - 1);
    const T value = static_cast<const T*>(rows.values)[rows.offset + row] + T{0};  // -0.0 is 0.0
    const Bits missing = rows.missing_first ? 0 : static_cast<Bits>(~Bits{0});
    if (value != value || !rows.is_valid(row)) return missing;
    Bits bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= (bits & kTop) != 0 ? static_cast<Bits>(~Bits{0}) : kTop;
    return rows.descending ? static_cast<Bits>(~bits) : bits;
  } else {
    using Bits = std::make_unsigned_t<T>;
    Bits bits = static_cast<Bits>(static_cast<const T*>(rows.values)[rows.offset + row]);
    if constexpr (std::is_signed_v<T>) bits ^= static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    return rows.descending ? static_cast<Bits>(~bits) : bits;
  }
}

/// Words of the rows in the present order, and the least and the greatest of those that count.
template <class T>
__global__ void words_kernel(Rows rows, const unsigned* __restrict__ order, int64_t count,
                             Word* __restrict__ words, Word* range) {
  Word least = ~Word{0};
  Word greatest = 0;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const int64_t row = order ? order[i] : i;
    const Word word = word_at<T>(rows, row);
    words[i] = word;
    if (!std::is_floating_point_v<T> && !rows.is_valid(row)) continue;  // ordered apart
    least = word < least ? word : least;
    greatest = word > greatest ? word : greatest;
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    const Word low = __shfl_xor_sync(~0u, least, lane);
    const Word high = __shfl_xor_sync(~0u, greatest, lane);
    least = low < least ? low : least;
    greatest = high > greatest ? high : greatest;
  }
  if (threadIdx.x % 32 == 0) {
    atomicMin(&range[0], least);
    atomicMax(&range[1], greatest);
  }
}

/// The words from `least` on, and row numbers where there is no order yet. What nulls give is the
/// same for all of them.
template <class Key>
__global__ void keys_kernel(Rows rows, const Word* __restrict__ words, Word least, int64_t count,
                            Key* __restrict__ keys, unsigned* __restrict__ order, bool is_first,
                            bool has_nulls) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t row = is_first ? i : order[i];
  keys[i] = has_nulls && !rows.is_valid(row) ? Key{0} : static_cast<Key>(words[i] - least);
  if (is_first && order) order[i] = static_cast<unsigned>(i);
}

/// Keys that bring nulls to one end.
__global__ void nulls_kernel(Rows rows, int64_t count, unsigned* __restrict__ keys,
                             unsigned* __restrict__ order, bool is_first) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t row = is_first ? i : order[i];
  keys[i] = rows.is_valid(row) == rows.missing_first;
  if (is_first) order[i] = static_cast<unsigned>(i);
}

/// Integers of the words that begin at `least`; all of them that one, without keys.
template <class T, class Key>
__global__ void integers_kernel(const Key* __restrict__ keys, Word least, bool descending,
                                int64_t count, T* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  using Bits = std::make_unsigned_t<T>;
  auto bits = static_cast<Bits>(keys ? least + keys[i] : least);
  if (descending) bits = static_cast<Bits>(~bits);
  if constexpr (std::is_signed_v<T>) bits ^= static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  out[i] = static_cast<T>(bits);
}

__global__ void widen_kernel(const unsigned* __restrict__ order, int64_t count,
                             int64_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = order ? order[i] : i;
}

template <class F>
void visit_key(Dtype dtype, F&& f) {
  if (dtype.is_bool()) return f(std::type_identity<Bit>{});
  visit_real(dtype.storage(), f);
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

/// The words of a key, and their range, for which it waits.
struct Words {
  Word* words;
  Word least;
  int bits;
};

template <class T>
Words find_words(DeviceCall& call, Place place, const Rows& rows, const unsigned* order,
                 int64_t count, const Buffer& room) {
  const Buffer range = call.scratch(16);
  std::byte* const least = call.writes(range);
  call.fill(least, 0xFF, 8);
  call.fill(least + 8, 0, 8);
  auto* const words = call.writes_as<Word>(room);
  const unsigned blocks = blocks_in_turn(count, kThreads, place.index, kBlocksAProcessor);
  words_kernel<T><<<blocks, kThreads, 0, stream_of(call)>>>(rows, order, count, words,
                                                            reinterpret_cast<Word*>(least));
  Word found[2];
  call.fetch(found, least, sizeof found);
  const Word width = found[0] < found[1] ? found[1] - found[0] : 0;
  return {words, found[0], static_cast<int>(std::bit_width(width))};
}

/// Calls one of CUB's functions for the room that it needs, and then to work there.
template <class F>
void with_room(DeviceCall& call, F&& work) {
  size_t bytes = 0;
  check_cuda("sort", work(nullptr, bytes));
  const Buffer room = call.scratch(static_cast<int64_t>(bytes));
  check_cuda("sort", work(call.writes(room), bytes));
}

template <class Key>
int sort_pairs_by(DeviceCall& call, Key* first, Key* second, uint32_t* const (&numbers)[2],
                  int64_t rows, int bits) {
  cub::DoubleBuffer<Key> keys(first, second);
  cub::DoubleBuffer<unsigned> order(numbers[0], numbers[1]);
  with_room(call, [&](void* room, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(room, bytes, keys, order, static_cast<unsigned>(rows), 0,
                                           bits, stream_of(call));
  });
  return order.selector;
}

/// Where the keys are then: 0 or 1.
template <class Key>
int sort_keys_by(DeviceCall& call, Key* const (&places)[2], int64_t rows, int bits) {
  cub::DoubleBuffer<Key> keys(places[0], places[1]);
  with_room(call, [&](void* room, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(room, bytes, keys, static_cast<unsigned>(rows), 0, bits,
                                          stream_of(call));
  });
  return keys.selector;
}

/// The order so far, and room for the next one.
class Order {
 public:
  Order(DeviceCall& call, Place place, int64_t rows) : call_(call), place_(place), rows_(rows) {
    for (Buffer& each : order_) each = call.scratch(rows * 4);
    words_ = call.scratch(rows * 8);
    keys_ = call.scratch(rows * 8);
  }

  void sort_by(const Column& key, SortOrder how) {
    const bool has_nulls = key.null_count() > 0;
    call_.reads(key.values_buffer());
    if (has_nulls) call_.reads(key.validity_buffer());
    const Rows rows{key.values_buffer().data(), key.validity(), key.offset(), how.descending,
                    how.missing_first};
    Words words{};
    visit_key(key.dtype(), [&]<class T>(std::type_identity<T>) {
      words = find_words<T>(call_, place_, rows, is_first_ ? nullptr : order(), rows_, words_);
    });
    const bool apart = has_nulls && !key.dtype().is_floating();
    if (words.bits > 32)
      sort<Word>(rows, words, apart);
    else if (words.bits > 0)
      sort<unsigned>(rows, words, apart);
    if (!apart) return;
    auto* const keys = reinterpret_cast<unsigned*>(call_.writes(keys_));
    nulls_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(rows, rows_, keys,
                                                                                order(), is_first_);
    pass<unsigned>(1);
  }

  Buffer rows(Place place) {
    const Buffer out = allocate_result(rows_ * 8, place);
    widen_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(
        is_first_ ? nullptr : order(), rows_, call_.writes_as<int64_t>(out));
    return out;
  }

 private:
  unsigned* order() { return reinterpret_cast<unsigned*>(call_.writes(order_[at_])); }

  template <class Key>
  void sort(const Rows& rows, const Words& words, bool has_nulls) {
    keys_kernel<Key><<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(
        rows, words.words, words.least, rows_, call_.writes_as<Key>(keys_), order(), is_first_,
        has_nulls);
    pass<Key>(words.bits);
  }

  template <class Key>
  void pass(int bits) {
    uint32_t* const numbers[] = {call_.writes_as<uint32_t>(order_[at_]),
                                 call_.writes_as<uint32_t>(order_[1 - at_])};
    at_ ^= sort_pairs_by(call_, call_.writes_as<Key>(keys_), call_.writes_as<Key>(words_), numbers,
                         rows_, bits);
    is_first_ = false;
  }

  DeviceCall& call_;
  Place place_;
  int64_t rows_;
  bool is_first_ = true;  // the rows are as they stand
  int at_ = 0;
  Buffer order_[2];
  Buffer words_;  // and room for keys, once these are made
  Buffer keys_;
};

/// Keys of words in order.
template <class Key>
const Key* sort_keys(DeviceCall& call, const Rows& rows, const Words& words, const Buffer& room,
                     int64_t count) {
  auto* const first = call.writes_as<Key>(room);
  keys_kernel<Key><<<blocks_of(count, kThreads), kThreads, 0, stream_of(call)>>>(
      rows, words.words, words.least, count, first, nullptr, true, false);
  Key* const places[] = {first, reinterpret_cast<Key*>(words.words)};
  return places[sort_keys_by(call, places, count, words.bits)];
}

void check_rows(int64_t rows) {
  if (rows > std::numeric_limits<unsigned>::max())
    throw_error<UnsupportedError>("sort", "too many rows for the CUDA kernel", {{"rows", rows}},
                                  "move the values first: x.to('cpu')");
}

}  // namespace

Column sort_integers(const Column& values, SortOrder order) {
  const Place place = values.place();
  const int64_t count = values.num_rows();
  check_rows(count);
  DeviceCall call("sort", place);
  call.reads(values.values_buffer());
  const Rows rows{values.values_buffer().data(), nullptr, values.offset(), order.descending, false};
  const Buffer space = call.scratch(count * 8);
  const Buffer room = call.scratch(count * 8);
  const Buffer out = allocate_result(count * values.dtype().size_bytes(), place);
  visit_real(values.dtype().storage(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const Words words = find_words<T>(call, place, rows, nullptr, count, space);
      const auto write = [&]<class Key>(const Key* keys) {
        integers_kernel<T, Key><<<blocks_of(count, kThreads), kThreads, 0, stream_of(call)>>>(
            keys, words.least, order.descending, count, call.writes_as<T>(out));
      };
      if (words.bits > 32)
        write(sort_keys<Word>(call, rows, words, room, count));
      else if (words.bits > 0)
        write(sort_keys<unsigned>(call, rows, words, room, count));
      else
        write(static_cast<const unsigned*>(nullptr));
    }
  });
  call.finish(cudaGetLastError());
  return values.with_rows(count, out, Buffer(), 0);
}

int sort_pairs(DeviceCall& call, uint32_t* const (&keys)[2], uint32_t* const (&numbers)[2],
               int64_t rows, int bits) {
  return sort_pairs_by(call, keys[0], keys[1], numbers, rows, bits);
}

int sort_pairs(DeviceCall& call, uint64_t* const (&keys)[2], uint32_t* const (&numbers)[2],
               int64_t rows, int bits) {
  return sort_pairs_by(call, reinterpret_cast<Word*>(keys[0]), reinterpret_cast<Word*>(keys[1]),
                       numbers, rows, bits);
}

int sort_words(DeviceCall& call, uint64_t* const (&words)[2], int64_t rows, int bits) {
  return sort_keys_by<Word>(
      call, {reinterpret_cast<Word*>(words[0]), reinterpret_cast<Word*>(words[1])}, rows, bits);
}

Tensor argsort(const std::vector<Column>& keys, const std::vector<SortOrder>& orders) {
  const Place place = keys[0].place();
  const int64_t rows = keys[0].num_rows();
  for (const Column& key : keys)
    if (key.dtype().is_string() || key.dtype().is_category())
      throw_error<UnsupportedError>("sort", "string keys are not supported on a CUDA device",
                                    {{"dtype", key.dtype().name()}},
                                    "move the values first: x.to('cpu')");
  check_rows(rows);
  DeviceCall call("sort", place);
  Order order(call, place, rows);
  for (size_t k = keys.size(); k-- > 0;) order.sort_by(keys[k], orders[k]);
  const Buffer out = order.rows(place);
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {rows}, out);
}

}  // namespace hr::cuda
