// SPDX-License-Identifier: Apache-2.0
// Lines in order on a CUDA device: short ones each by a block of threads in shared memory, long
// ones by radix passes over all of them, first by value, then by line.
#include "headrace/algo/sort/radix_sort_kernels.h"
#include "headrace/data/device_launch.h"
#include "headrace/data/shared_memory.h"
#include "headrace/tensor/sort_axis_kernels.h"

#include <bit>
#include <cub/block/block_radix_sort.cuh>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kSearchThreads = 1024;

/// How a value becomes a word: the words ascend in the order asked for.
struct Words {
  TypeId dtype;
  bool descending;
  bool zeros_are_equal;
};

template <class Bits>
__device__ uint64_t word_of_float(const Words& how, Bits bits, Bits sign, bool is_nan) {
  if (is_nan) return static_cast<Bits>(~Bits{0});
  if (how.zeros_are_equal && bits == sign) bits = 0;
  return static_cast<Bits>((bits & sign) != 0 ? ~bits : bits | sign);
}

__device__ uint64_t word_at(const Words& how, const std::byte* values, int64_t i) {
  const auto as = [&]<class T>(T) { return reinterpret_cast<const T*>(values)[i]; };
  const auto signed_word = [&]<class T>(T) {
    using Bits = std::make_unsigned_t<T>;
    constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    return uint64_t{static_cast<Bits>(static_cast<Bits>(as(T{})) ^ kSign)};
  };
  uint64_t word = 0;
  int bits = 64;
  switch (how.dtype) {
    case TypeId::kFloat64: {
      const double x = as(double{});
      word = word_of_float<uint64_t>(how, static_cast<uint64_t>(__double_as_longlong(x)),
                                     uint64_t{1} << 63, x != x);
      break;
    }
    case TypeId::kFloat32: {
      const float x = as(float{});
      word = word_of_float<uint32_t>(how, __float_as_uint(x), uint32_t{1} << 31, x != x);
      bits = 32;
      break;
    }
    case TypeId::kInt8:
      word = signed_word(int8_t{});
      bits = 8;
      break;
    case TypeId::kInt16:
      word = signed_word(int16_t{});
      bits = 16;
      break;
    case TypeId::kInt32:
      word = signed_word(int32_t{});
      bits = 32;
      break;
    case TypeId::kInt64:
      word = signed_word(int64_t{});
      break;
    case TypeId::kUInt16:
      word = as(uint16_t{});
      bits = 16;
      break;
    case TypeId::kUInt32:
      word = as(uint32_t{});
      bits = 32;
      break;
    case TypeId::kUInt64:
      word = as(uint64_t{});
      break;
    default:
      word = as(uint8_t{});
      bits = 8;
  }
  return how.descending ? ~word & (~uint64_t{0} >> (64 - bits)) : word;
}

/// Where results go: positions, or where `positions` is null the values of `width` bytes.
struct Output {
  int64_t* positions;
  std::byte* values;
  int width;

  __device__ void put(const std::byte* line, int64_t begin, int64_t place, int64_t position) const {
    if (positions) {
      positions[begin + place] = position;
      return;
    }
    const auto move = [&]<class T>(T) {
      reinterpret_cast<T*>(values)[begin + place] = reinterpret_cast<const T*>(line)[position];
    };
    if (width == 8) return move(uint64_t{});
    if (width == 4) return move(uint32_t{});
    if (width == 2) return move(uint16_t{});
    move(uint8_t{});
  }
};

/// A block of threads for each line. Behind the end stand the last of words, which stay there.
template <int kLineThreads, int kItems>
__global__ void __launch_bounds__(kLineThreads)
    lines_kernel(const std::byte* __restrict__ values, int64_t lines, int length, Words how,
                 int width, Output out) {
  using Sort = cub::BlockRadixSort<unsigned long long, kLineThreads, kItems, unsigned>;
  __shared__ typename Sort::TempStorage room;
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    const std::byte* const from = values + line * length * width;
    unsigned long long words[kItems];
    unsigned places[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int place = static_cast<int>(threadIdx.x) * kItems + k;
      places[k] = static_cast<unsigned>(place);
      words[k] = place < length ? word_at(how, from, place) : ~0ULL;
    }
    Sort(room).SortBlockedToStriped(words, places, 0, 8 * width);
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int place = k * kLineThreads + static_cast<int>(threadIdx.x);
      if (place < length) out.put(from, line * length, place, places[k]);
    }
    __syncthreads();
  }
}

__global__ void words_kernel(const std::byte* __restrict__ values, int64_t count, Words how,
                             uint64_t* __restrict__ words, uint32_t* __restrict__ numbers) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  words[i] = word_at(how, values, i);
  numbers[i] = static_cast<uint32_t>(i);
}

__global__ void line_kernel(const uint32_t* __restrict__ numbers, int64_t count, uint32_t length,
                            uint32_t* __restrict__ line) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) line[i] = numbers[i] / length;
}

__global__ void put_kernel(const std::byte* __restrict__ values, int64_t count, int64_t length,
                           const uint32_t* __restrict__ numbers, Output out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t begin = i / length * length;
  out.put(values + begin * out.width, begin, i - begin, numbers[i] - begin);
}

void sort_long(DeviceCall& call, const Tensor& from, int64_t lines, int64_t length, Words how,
               Output out) {
  const int64_t count = from.num_elements();
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const Buffer words[2] = {call.scratch(8 * count), call.scratch(8 * count)};
  const Buffer numbers[2] = {call.scratch(4 * count), call.scratch(4 * count)};
  uint64_t* const word[2] = {call.writes_as<uint64_t>(words[0]),
                             call.writes_as<uint64_t>(words[1])};
  uint32_t* number[2] = {call.writes_as<uint32_t>(numbers[0]),
                         call.writes_as<uint32_t>(numbers[1])};
  const unsigned blocks = blocks_of(count, kThreads);
  words_kernel<<<blocks, kThreads, 0, stream>>>(from.data(), count, how, word[0], number[0]);
  int at =
      radix_sort(call, word, number, count, 0, 8 * static_cast<int>(from.dtype().size_bytes()));
  if (lines > 1) {
    uint32_t* const line[2] = {reinterpret_cast<uint32_t*>(word[0]),
                               reinterpret_cast<uint32_t*>(word[1])};
    uint32_t* const second[2] = {number[at], number[1 - at]};
    line_kernel<<<blocks, kThreads, 0, stream>>>(second[0], count, static_cast<uint32_t>(length),
                                                 line[0]);
    at ^= radix_sort(call, line, second, count, 0,
                     static_cast<int>(std::bit_width(static_cast<uint64_t>(lines - 1))));
  }
  put_kernel<<<blocks, kThreads, 0, stream>>>(from.data(), count, length, number[at], out);
}

void order_lines(std::string_view op, const Tensor& from, int64_t lines, int64_t length, Words how,
                 const Buffer& out, bool positions) {
  DeviceCall call(op, from.place());
  call.reads(from.buffer());
  const auto width = static_cast<int>(from.dtype().size_bytes());
  const Output to{positions ? call.writes_as<int64_t>(out) : nullptr,
                  positions ? nullptr : call.writes(out), width};
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const auto at_once = [&](int a_processor) {
    return blocks_in_turn(lines, 1, from.place().index, a_processor);
  };
  if (length <= 512)
    lines_kernel<128, 4><<<at_once(64), 128, 0, stream>>>(from.data(), lines,
                                                          static_cast<int>(length), how, width, to);
  else if (length <= 2048)
    lines_kernel<256, 8><<<at_once(32), 256, 0, stream>>>(from.data(), lines,
                                                          static_cast<int>(length), how, width, to);
  else
    sort_long(call, from, lines, length, how, to);
  call.finish(cudaGetLastError());
}

// ---- searches -----------------------------------------------------------------------------------

template <class T>
__device__ bool is_less(T a, T b) {
  return a < b || (b != b && a == a);
}

/// How many of `count` sorted values, `step` apart, stand before the value.
template <class T, class At>
__device__ int64_t places_before(T value, bool right, int64_t begin, int64_t end, const At& at) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const T other = at(middle);
    const bool before = right ? !is_less(value, other) : is_less(other, value);
    if (before)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// Words ascend as the values do: NaN are the last, zeros are equal.
template <class T>
__device__ uint64_t search_word(T value) {
  if constexpr (std::is_same_v<T, double>)
    return word_of_float<uint64_t>({TypeId::kFloat64, false, true},
                                   static_cast<uint64_t>(__double_as_longlong(value)),
                                   uint64_t{1} << 63, value != value);
  else if constexpr (std::is_same_v<T, float>)
    return word_of_float<uint32_t>({TypeId::kFloat32, false, true}, __float_as_uint(value),
                                   uint32_t{1} << 31, value != value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(int64_t{value}) ^ uint64_t { 1 } << 63;
  else
    return value;
}

/// The leading 32 bits that tell the words of a line apart. They ascend too, so values whose
/// prefixes differ need not be read.
struct Prefixes {
  uint64_t first;
  uint64_t last;
  int shift;

  template <class T>
  __device__ Prefixes(const T* line, int64_t length)
      : first(search_word(line[0])), last(search_word(line[length - 1])) {
    shift = max(0, 32 - __clzll(static_cast<long long>(last - first)));
  }

  template <class T>
  __device__ uint32_t of(T value) const {
    const uint64_t word = search_word(value);
    if (word <= first) return 0;
    return static_cast<uint32_t>((min(word, last) - first) >> shift);
  }
};

/// Of every `apart`-th value.
template <class T>
__global__ void prefix_kernel(const T* __restrict__ line, int64_t length, int64_t apart, int count,
                              uint32_t* __restrict__ prefixes) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < count) prefixes[i] = Prefixes(line, length).of(line[(i + 1) * apart - 1]);
}

/// How many of `count` sorted prefixes stand before this one: as many steps for all threads.
template <class Before>
__device__ int prefixes_before(const uint32_t* known, int count, const Before& is_before) {
  if (count == 0) return 0;
  int begin = 0;
  while (count > 1) {
    const int half = count / 2;
    begin += is_before(known[begin + half - 1]) ? half : 0;
    count -= half;
  }
  return begin + (is_before(known[begin]) ? 1 : 0);
}

extern __shared__ __align__(16) unsigned char search_shared[];

/// The first steps of each search are among prefixes in shared memory.
template <class T>
__global__ void __launch_bounds__(kSearchThreads)
    search_kernel(const T* __restrict__ line, int64_t length, const T* __restrict__ values,
                  int64_t count, bool right, int64_t apart, const uint32_t* __restrict__ prefixes,
                  int splitters, int64_t* __restrict__ positions) {
  auto* const known = reinterpret_cast<uint32_t*>(search_shared);
  for (int i = static_cast<int>(threadIdx.x); i < splitters; i += kSearchThreads)
    known[i] = prefixes[i];
  __syncthreads();
  const Prefixes how(line, length);
  const int64_t step = int64_t{gridDim.x} * kSearchThreads;
#pragma unroll 2
  for (int64_t k = int64_t{blockIdx.x} * kSearchThreads + threadIdx.x; k < count; k += step) {
    const T value = values[k];
    const uint32_t prefix = how.of(value);
    const int bucket =
        prefixes_before(known, splitters, [&](uint32_t other) { return other < prefix; });
    int behind = bucket;  // values from bucket `behind` on are greater
    if (bucket < splitters && known[bucket] == prefix)
      behind = prefixes_before(known, splitters, [&](uint32_t other) { return other <= prefix; });
    positions[k] = places_before(value, right, bucket * apart, min(length, (behind + 1) * apart),
                                 [&](int64_t i) { return line[i]; });
  }
}

}  // namespace

void sort_lines(const Tensor& from, int64_t lines, int64_t length, bool descending,
                const Buffer& out) {
  order_lines("sort", from, lines, length, {from.dtype().id(), descending, false}, out, false);
}

void argsort_lines(const Tensor& from, int64_t lines, int64_t length, bool descending,
                   const Buffer& out) {
  order_lines("argsort", from, lines, length, {from.dtype().id(), descending, true}, out, true);
}

void search_line(const Tensor& line, const Tensor& values, bool right, const Buffer& out) {
  DeviceCall call("searchsorted", values.place());
  const int64_t length = line.num_elements(), count = values.num_elements();
  const auto stream = static_cast<cudaStream_t>(call.stream());
  if (length == 0) {
    call.fill(call.writes(out), 0, 8 * count);
    return call.finish(cudaGetLastError());
  }
  call.reads(line.buffer());
  call.reads(values.buffer());
  const int64_t most = (shared_bytes_of(values.place().index) - 1024) / 4;
  const int64_t apart = (length + most - 1) / most;
  const auto splitters = static_cast<int>(length / apart);
  const Buffer room = call.scratch(int64_t{4} * splitters);
  auto* const prefixes = call.writes_as<uint32_t>(room);
  const auto as = [&]<class T>(std::type_identity<T>) {
    prefix_kernel<T><<<blocks_of(splitters, kThreads), kThreads, 0, stream>>>(
        line.as<T>(), length, apart, splitters, prefixes);
    const int bytes = 4 * splitters;
    // The most that any call asks for, since the attribute is shared by all threads.
    check_cuda("searchsorted",
               cudaFuncSetAttribute(search_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(4 * most)));
    search_kernel<T><<<blocks_in_turn(count, kSearchThreads, values.place().index, 2),
                       kSearchThreads, bytes, stream>>>(line.as<T>(), length, values.as<T>(), count,
                                                        right, apart, prefixes, splitters,
                                                        call.writes_as<int64_t>(out));
  };
  if (values.dtype().is_bool())
    as(std::type_identity<uint8_t>{});
  else
    visit_real(values.dtype(), as);
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
