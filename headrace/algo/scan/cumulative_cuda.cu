// SPDX-License-Identifier: Apache-2.0
// Running results on a CUDA device. Integers, minima and maxima, where order changes nothing, are
// one scan of CUB over 64-bit words. Sums and products of floats have the CPU's order: row by row
// within a morsel, by one lane of a warp that is fed through shared memory, all morsels at once.
#include "headrace/algo/scan/cumulative_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/device_launch.h"
#include "headrace/exec/workers.h"

#include <cub/device/device_scan.cuh>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
using Word = unsigned long long;

struct Bit {};  // a bool of a bitmap

/// The values of a column.
struct Rows {
  const void* values;
  const uint8_t* valid;  // bits, or null
  int64_t offset;
  int64_t count;

  __device__ bool is_valid(int64_t row) const {
    const int64_t at = offset + row;
    return !valid || (valid[at >> 3] >> (at & 7) & 1);
  }
};

template <class T>
using ValueOf = std::conditional_t<std::is_same_v<T, Bit>, int64_t, T>;

template <class T>
__device__ ValueOf<T> value_at(const Rows& rows, int64_t row) {
  if constexpr (std::is_same_v<T, Bit>) {
    const int64_t at = rows.offset + row;
    return static_cast<const uint8_t*>(rows.values)[at >> 3] >> (at & 7) & 1;
  } else {
    return static_cast<const T*>(rows.values)[rows.offset + row];
  }
}

// Whether the row takes part.
template <class T>
__device__ bool counts(const Rows& rows, int64_t row, ValueOf<T> value) {
  return value == value && rows.is_valid(row);
}

// ---- words that CUB scans
// ------------------------------------------------------------------------
enum class Joined : int { kSum, kProduct, kLeastWord, kLeastDouble };

__device__ Word nothing(Joined how) {
  if (how == Joined::kProduct) return 1;
  if (how == Joined::kLeastWord) return ~Word{0};
  return how == Joined::kLeastDouble ? 0x7FF0000000000000u : 0;  // infinity
}

/// One functor for all, so CUB is compiled once.
struct Join {
  Joined how;

  __device__ Word operator()(Word a, Word b) const {
    switch (how) {
      case Joined::kSum:
        return a + b;
      case Joined::kProduct:
        return a * b;
      case Joined::kLeastWord:
        return b < a ? b : a;
      default:
        return __longlong_as_double(static_cast<long long>(b)) <
                       __longlong_as_double(static_cast<long long>(a))
                   ? b
                   : a;
    }
  }
};

/// A value as a word. Greatest ones are the least of the opposite.
template <class V>
__device__ Word word_of(V value, Joined how, bool greatest) {
  if constexpr (std::is_floating_point_v<V>) {
    const double wide = greatest ? -static_cast<double>(value) : static_cast<double>(value);
    return static_cast<Word>(__double_as_longlong(wide));
  } else {
    Word word = static_cast<Word>(static_cast<int64_t>(value));
    if constexpr (std::is_unsigned_v<V>) word = value;
    if (how != Joined::kLeastWord) return word;
    if constexpr (std::is_signed_v<V>) word ^= Word{1} << 63;
    return greatest ? ~word : word;
  }
}

template <class V>
__device__ V value_of(Word word, Joined how, bool greatest) {
  if constexpr (std::is_floating_point_v<V>) {
    const double wide = __longlong_as_double(static_cast<long long>(word));
    return static_cast<V>(greatest ? -wide : wide);
  } else {
    if (how == Joined::kLeastWord) {
      if (greatest) word = ~word;
      if constexpr (std::is_signed_v<V>) word ^= Word{1} << 63;
    }
    return static_cast<V>(word);
  }
}

template <class T>
__global__ void words_kernel(Rows rows, Joined how, bool greatest, Word* __restrict__ words) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows.count) return;
  const ValueOf<T> value = value_at<T>(rows, row);
  words[row] = counts<T>(rows, row, value) ? word_of(value, how, greatest) : nothing(how);
}

template <class T, class Out>
__global__ void values_kernel(Rows rows, Joined how, bool greatest, const Word* words, Out* out) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows.count) return;
  const ValueOf<T> value = value_at<T>(rows, row);
  if (counts<T>(rows, row, value))
    out[row] = value_of<Out>(words[row], how, greatest);
  else
    out[row] = std::is_floating_point_v<Out> ? static_cast<Out>(value) : Out{0};
}

// ---- floats, row by row
// --------------------------------------------------------------------------
constexpr int kStep = 256;  // rows that a warp takes at a time

/// What the rows of a morsel give alone, each and at its end: a warp each. `wide` is the result of
/// float64 itself. What takes no part is the neutral element, of which nothing changes: a sum that
/// is -0.0 never comes about, since it begins with 0.0.
template <class T>
__global__ void __launch_bounds__(32)
    morsels_kernel(Rows rows, bool multiplies, double* wide, double* totals) {
  __shared__ double values[2][kStep];
  const int lane = static_cast<int>(threadIdx.x);
  const int64_t first = int64_t{blockIdx.x} * kMorselRows;
  const int64_t end = first + kMorselRows < rows.count ? first + kMorselRows : rows.count;
  const double neutral = multiplies ? 1.0 : 0.0;
  double total = neutral;
  double next[kStep / 32];
  const auto ask = [&](int64_t begin) {
#pragma unroll
    for (int k = 0; k < kStep / 32; ++k) {
      const int64_t row = begin + k * 32 + lane;
      double value = neutral;
      if (row < end) {
        const T given = value_at<T>(rows, row);
        if (counts<T>(rows, row, given)) value = static_cast<double>(given);
      }
      next[k] = value;
    }
  };
  ask(first);
  for (int64_t begin = first; begin < end; begin += kStep) {
#pragma unroll
    for (int k = 0; k < kStep / 32; ++k) values[0][k * 32 + lane] = next[k];
    __syncwarp();
    if (begin + kStep < end) ask(begin + kStep);
    if (lane == 0) {
      if (multiplies) {
#pragma unroll 16
        for (int i = 0; i < kStep; ++i) values[1][i] = total *= values[0][i];
      } else {
#pragma unroll 16
        for (int i = 0; i < kStep; ++i) values[1][i] = total += values[0][i];
      }
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kStep / 32; ++k) {
      const int64_t row = begin + k * 32 + lane;
      if (row < end) wide[row] = values[1][k * 32 + lane];
    }
    __syncwarp();
  }
  if (lane == 0) totals[blockIdx.x] = total;
}

/// What all morsels before one give.
__global__ void before_kernel(bool multiplies, double* totals, int64_t morsels) {
  double before = multiplies ? 1.0 : 0.0;
  for (int64_t m = 0; m < morsels; ++m) {
    const double own = totals[m];
    totals[m] = before;
    before = multiplies ? before * own : before + own;
  }
}

template <class T>
__global__ void join_kernel(Rows rows, bool multiplies, const double* wide,
                            const double* __restrict__ before, T* out) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows.count) return;
  const T value = value_at<T>(rows, row);
  const double first = before[row / kMorselRows];
  const double own = wide[row];
  out[row] =
      counts<T>(rows, row, value) ? static_cast<T>(multiplies ? first * own : first + own) : value;
}

/// The bits of a bitmap from `offset` on, from bit 0 on.
__global__ void bits_kernel(const uint8_t* __restrict__ bits, int64_t offset, int64_t rows,
                            unsigned* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int64_t at = offset + i;
  const unsigned word = __ballot_sync(~0u, i < rows && (bits[at >> 3] >> (at & 7) & 1));
  if (threadIdx.x % 32 == 0 && i < rows) out[i / 32] = word;
}

template <class T>
void scan_words(DeviceCall& call, const Rows& rows, Aggregate aggregate, Dtype dtype,
                const Buffer& out) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const unsigned blocks = blocks_of(rows.count, kThreads);
  const bool greatest = aggregate == Aggregate::kMax;
  Joined how = std::is_floating_point_v<T> ? Joined::kLeastDouble : Joined::kLeastWord;
  if (aggregate == Aggregate::kSum) how = Joined::kSum;
  if (aggregate == Aggregate::kProduct) how = Joined::kProduct;
  const auto scan = [&](const Word* from, Word* to) {
    size_t bytes = 0;
    check_cuda("cumulative", cub::DeviceScan::InclusiveScan(nullptr, bytes, from, to, Join{how},
                                                            rows.count, stream));
    const Buffer scratch = call.scratch(static_cast<int64_t>(bytes));
    check_cuda("cumulative", cub::DeviceScan::InclusiveScan(call.writes(scratch), bytes, from, to,
                                                            Join{how}, rows.count, stream));
  };
  // Words as they stand need no other pass.
  if (std::is_integral_v<T> && sizeof(T) == 8 && how != Joined::kLeastWord && !rows.valid)
    return scan(static_cast<const Word*>(rows.values) + rows.offset, call.writes_as<Word>(out));
  const Buffer room = call.scratch(rows.count * 8);
  auto* const words = reinterpret_cast<Word*>(call.writes(room));
  words_kernel<T><<<blocks, kThreads, 0, stream>>>(rows, how, greatest, words);
  scan(words, words);
  const auto write = [&]<class Out>(std::type_identity<Out>) {
    values_kernel<T, Out>
        <<<blocks, kThreads, 0, stream>>>(rows, how, greatest, words, call.writes_as<Out>(out));
  };
  if constexpr (std::is_same_v<T, Bit>)
    write(std::type_identity<int64_t>{});
  else if (dtype.size_bytes() == sizeof(T))
    write(std::type_identity<T>{});
  else if constexpr (std::is_unsigned_v<T>)
    write(std::type_identity<uint64_t>{});
  else if constexpr (std::is_integral_v<T>)
    write(std::type_identity<int64_t>{});
}

template <class T>
void add_in_order(DeviceCall& call, const Rows& rows, bool multiplies, const Buffer& out) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const int64_t morsels = divide_up(rows.count, kMorselRows);
  const Buffer totals = call.scratch(morsels * 8);
  auto* const before = call.writes_as<double>(totals);
  const Buffer room = sizeof(T) == 8 ? out : call.scratch(rows.count * 8);
  auto* const wide = call.writes_as<double>(room);
  morsels_kernel<T>
      <<<static_cast<unsigned>(morsels), 32, 0, stream>>>(rows, multiplies, wide, before);
  before_kernel<<<1, 1, 0, stream>>>(multiplies, before, morsels);
  join_kernel<T><<<blocks_of(rows.count, kThreads), kThreads, 0, stream>>>(
      rows, multiplies, wide, before, call.writes_as<T>(out));
}

}  // namespace

Column cumulative(Aggregate aggregate, const Column& column, Dtype dtype) {
  const int64_t count = column.num_rows();
  const Place place = column.place();
  const Buffer out = allocate_result(count * dtype.size_bytes(), place);
  const bool has_nulls = column.null_count() > 0;
  const Buffer validity =
      has_nulls ? allocate_result(round_up(bitmap_bytes(count), 4), place) : Buffer();
  if (count == 0) return Column(dtype, 0, out);
  DeviceCall call(aggregate_name(aggregate, AggregateForm::kCumulative), place);
  call.reads(column.values_buffer());
  if (has_nulls) call.reads(column.validity_buffer());
  const Rows rows{column.values_buffer().data(), column.validity(), column.offset(), count};
  const bool multiplies = aggregate == Aggregate::kProduct;
  if (column.dtype().is_bool()) {
    scan_words<Bit>(call, rows, aggregate, dtype, out);
  } else {
    visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_floating_point_v<T>)
        if (multiplies || aggregate == Aggregate::kSum)
          return add_in_order<T>(call, rows, multiplies, out);
      scan_words<T>(call, rows, aggregate, dtype, out);
    });
  }
  if (has_nulls)
    bits_kernel<<<blocks_of(count, kThreads), kThreads, 0,
                  static_cast<cudaStream_t>(call.stream())>>>(
        column.validity(), column.offset(), count, call.writes_as<unsigned>(validity));
  call.finish(cudaGetLastError());
  return Column(dtype, count, out, validity, column.null_count());
}

}  // namespace hr::cuda
