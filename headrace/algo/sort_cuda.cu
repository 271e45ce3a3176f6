// SPDX-License-Identifier: Apache-2.0
// Order of rows on a CUDA device: each key, the last one first, as words in the present order,
// which CUB sorts by radix, stably. Words begin at the least one, so only their range takes passes.
#include "headrace/algo/sort_kernels.h"
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
  if (is_first) order[i] = static_cast<unsigned>(i);
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

/// The order so far, and room for the next one.
class Order {
 public:
  Order(DeviceCall& call, Place place, int64_t rows)
      : call_(call), stream_(static_cast<cudaStream_t>(call.stream())), rows_(rows) {
    for (Buffer& each : order_) each = call.scratch(rows * 4);
    words_ = call.scratch(rows * 8);
    keys_ = call.scratch(rows * 8);
    range_ = call.scratch(16);
    blocks_ = blocks_in_turn(rows, kThreads, place.index, kBlocksAProcessor);
  }

  void sort_by(const Column& key, SortOrder how) {
    const bool has_nulls = key.null_count() > 0;
    call_.reads(key.values_buffer());
    if (has_nulls) call_.reads(key.validity_buffer());
    const Rows rows{key.values_buffer().data(), key.validity(), key.offset(), how.descending,
                    how.missing_first};
    auto* const words = reinterpret_cast<Word*>(call_.writes(words_));
    auto* const range = reinterpret_cast<Word*>(call_.writes(range_));
    call_.fill(reinterpret_cast<std::byte*>(range), 0xFF, 8);
    call_.fill(reinterpret_cast<std::byte*>(range + 1), 0, 8);
    visit_key(key.dtype(), [&]<class T>(std::type_identity<T>) {
      words_kernel<T><<<blocks_, kThreads, 0, stream_>>>(rows, is_first_ ? nullptr : order(), rows_,
                                                         words, range);
    });
    Word found[2];
    call_.fetch(found, range, sizeof found);
    const int bits = found[0] < found[1] ? std::bit_width(found[1] - found[0]) : 0;
    const bool apart = has_nulls && !key.dtype().is_floating();
    if (bits > 32)
      sort<Word>(rows, found[0], bits, apart);
    else if (bits > 0)
      sort<unsigned>(rows, found[0], bits, apart);
    if (!apart) return;
    auto* const keys = reinterpret_cast<unsigned*>(call_.writes(keys_));
    nulls_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_>>>(rows, rows_, keys, order(),
                                                                       is_first_);
    pass<unsigned>(1);
  }

  Buffer rows(Place place) {
    const Buffer out = allocate_result(rows_ * 8, place);
    widen_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_>>>(
        is_first_ ? nullptr : order(), rows_, call_.writes_as<int64_t>(out));
    return out;
  }

 private:
  unsigned* order() { return reinterpret_cast<unsigned*>(call_.writes(order_[at_])); }

  template <class Key>
  void sort(const Rows& rows, Word least, int bits, bool has_nulls) {
    auto* const keys = reinterpret_cast<Key*>(call_.writes(keys_));
    keys_kernel<Key><<<blocks_of(rows_, kThreads), kThreads, 0, stream_>>>(
        rows, words_.as<Word>(), least, rows_, keys, order(), is_first_, has_nulls);
    pass<Key>(bits);
  }

  template <class Key>
  void pass(int bits) {
    auto* const a = reinterpret_cast<Key*>(call_.writes(keys_));
    auto* const b = reinterpret_cast<Key*>(call_.writes(words_));
    cub::DoubleBuffer<Key> keys(a, b);
    cub::DoubleBuffer<unsigned> order(reinterpret_cast<unsigned*>(call_.writes(order_[at_])),
                                      reinterpret_cast<unsigned*>(call_.writes(order_[1 - at_])));
    const auto count = static_cast<unsigned>(rows_);
    size_t bytes = 0;
    int status =
        cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, order, count, 0, bits, stream_);
    check_cuda("sort", status);
    const Buffer room = call_.scratch(static_cast<int64_t>(bytes));
    status = cub::DeviceRadixSort::SortPairs(call_.writes(room), bytes, keys, order, count, 0, bits,
                                             stream_);
    check_cuda("sort", status);
    if (order.selector == 1) at_ = 1 - at_;
    is_first_ = false;
  }

  DeviceCall& call_;
  cudaStream_t stream_;
  int64_t rows_;
  unsigned blocks_;
  bool is_first_ = true;  // the rows are as they stand
  int at_ = 0;
  Buffer order_[2];
  Buffer words_;  // and room for keys, once these are made
  Buffer keys_;
  Buffer range_;
};

}  // namespace

Tensor argsort(const std::vector<Column>& keys, const std::vector<SortOrder>& orders) {
  const Place place = keys[0].place();
  const int64_t rows = keys[0].num_rows();
  for (const Column& key : keys)
    if (key.dtype().is_string() || key.dtype().is_category())
      throw_error<UnsupportedError>("sort", "keys of text have no kernel on a CUDA device",
                                    {{"dtype", key.dtype().name()}},
                                    "move the values first: x.to('cpu')");
  if (rows > std::numeric_limits<unsigned>::max())
    throw_error<UnsupportedError>("sort", "so many rows have no kernel on a CUDA device",
                                  {{"rows", rows}}, "move the values first: x.to('cpu')");
  DeviceCall call("sort", place);
  Order order(call, place, rows);
  for (size_t k = keys.size(); k-- > 0;) order.sort_by(keys[k], orders[k]);
  const Buffer out = order.rows(place);
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {rows}, out);
}

}  // namespace hr::cuda
