// SPDX-License-Identifier: Apache-2.0
// Reductions along an axis on a CUDA device, in the CPU's order: 32 lanes over blocks of 1024
// values, then one binary tree. A warp takes a block of a line that lies contiguous; of others a
// thread takes it, with all lanes in registers, so that neighbours read neighbouring lines.
#include "headrace/algo/reduce/reduce.h"
#include "headrace/algo/reduce/reduce_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kMostAxes = 64;

/// The axes other than the reduced one.
struct Lines {
  int count = 0;
  int64_t size[kMostAxes];
  int64_t stride[kMostAxes];

  __device__ int64_t offset(int64_t line) const {
    int64_t element = 0;
    for (int d = count - 1; d >= 0; --d) {
      const int64_t rest = line / size[d];
      element += (line - rest * size[d]) * stride[d];
      line = rest;
    }
    return element;
  }
};

struct Partial {
  int64_t count;
  double value;
  double squares;
  uint64_t integer;
  int64_t index;
};

/// What ends a line, and where.
struct Result {
  std::byte* data;
  Aggregate reduction;
  TypeId dtype;
  bool floating;  // the values
  bool is_signed;
  double freedom_less;  // ddof
};

// ---- folds --------------------------------------------------------------------------------------

enum class Join { kSum, kProduct, kMin, kMax };

/// Floats, and integers as such, in the lanes of the CPU.
template <class T, Join how, bool squares>
struct LaneFold {
  using Value = T;
  using State = double;
  static constexpr int kLanes = 32;
  static constexpr bool kSquares = squares;

  static __device__ double first() {
    return how == Join::kProduct ? 1.0
           : how == Join::kMin   ? std::numeric_limits<double>::infinity()
           : how == Join::kMax   ? -std::numeric_limits<double>::infinity()
                                 : -0.0;
  }
  static __device__ double join(double a, double b) {
    if constexpr (how == Join::kProduct) return a * b;
    if constexpr (how == Join::kMin) return b < a || b != b ? b : a;
    if constexpr (how == Join::kMax) return a < b || b != b ? b : a;
    return a + b;
  }
  __device__ void take(double& state, T x, int64_t) const {
    state = join(state, static_cast<double>(x));
  }
  __device__ double joined(double a, double b) const { return join(a, b); }
  static __device__ void put(double state, Partial& partial) { partial.value = state; }
};

/// Counts of values that are not zero.
template <class T>
struct CountFold {
  using Value = T;
  using State = uint64_t;
  static constexpr int kLanes = 1;
  static constexpr bool kSquares = false;

  static __device__ uint64_t first() { return 0; }
  __device__ uint64_t joined(uint64_t a, uint64_t b) const { return a + b; }
  __device__ void take(uint64_t& state, T x, int64_t) const { state += x != T{0}; }
  static __device__ void put(uint64_t state, Partial& partial) { partial.integer = state; }
};

/// Integers, exact modulo 2^64 and so in any order.
template <class T>
struct IntegerFold {
  using Value = T;
  using State = uint64_t;
  static constexpr int kLanes = 1;
  static constexpr bool kSquares = false;
  Aggregate reduction;

  __device__ uint64_t first() const {
    using Limits = std::numeric_limits<T>;
    if (reduction == Aggregate::kProduct) return 1;
    if (reduction == Aggregate::kMin) return static_cast<uint64_t>(Limits::max());
    if (reduction == Aggregate::kMax) return static_cast<uint64_t>(Limits::lowest());
    return 0;
  }
  __device__ uint64_t joined(uint64_t a, uint64_t b) const {
    switch (reduction) {
      case Aggregate::kProduct:
        return a * b;
      case Aggregate::kMin:
        return static_cast<T>(b) < static_cast<T>(a) ? b : a;
      case Aggregate::kMax:
        return static_cast<T>(a) < static_cast<T>(b) ? b : a;
      default:
        return a + b;
    }
  }
  __device__ void take(uint64_t& state, T x, int64_t) const {
    state = joined(state, static_cast<uint64_t>(x));
  }
  static __device__ void put(uint64_t state, Partial& partial) { partial.integer = state; }
};

template <class T>
struct Extreme {
  T value;
  int64_t index;  // -1: none yet
};

/// The first place of an extreme value; NaN beats all.
template <class T>
struct PlaceFold {
  using Value = T;
  using State = Extreme<T>;
  static constexpr int kLanes = 1;
  static constexpr bool kSquares = false;
  bool least;

  __device__ State first() const { return {T{0}, -1}; }
  __device__ bool beats(T b, T a) const {
    if (a != a) return false;
    if (b != b) return true;
    return least ? b < a : a < b;
  }
  __device__ State joined(State a, State b) const {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    if (beats(b.value, a.value)) return b;
    if (beats(a.value, b.value)) return a;
    return b.index < a.index ? b : a;
  }
  __device__ void take(State& state, T x, int64_t row) const {
    if (state.index < 0 || beats(x, state.value)) state = {x, row};
  }
  static __device__ void put(State state, Partial& partial) {
    partial.index = state.index;
    if constexpr (std::is_floating_point_v<T>)
      partial.value = static_cast<double>(state.value);
    else
      partial.integer = static_cast<uint64_t>(state.value);
  }
};

// ---- partials -----------------------------------------------------------------------------------

/// Left rows before right rows: Reducer::merge.
__device__ Partial merge(const Result& how, const Partial& a, const Partial& b) {
  Partial result = a.count == 0 ? b : a;
  if (a.count == 0 || b.count == 0) return result;
  result.count = a.count + b.count;
  switch (how.reduction) {
    case Aggregate::kProduct:
      result.value = a.value * b.value;
      result.integer = a.integer * b.integer;
      return result;
    case Aggregate::kVariance:
    case Aggregate::kStd:
    case Aggregate::kSem: {
      const double n = static_cast<double>(result.count), nb = static_cast<double>(b.count);
      const double delta = b.value - a.value;
      result.value = a.value + delta * (nb / n);
      result.squares =
          a.squares + b.squares + delta * delta * (static_cast<double>(a.count) * (nb / n));
      return result;
    }
    case Aggregate::kMin:
    case Aggregate::kMax:
    case Aggregate::kArgmin:
    case Aggregate::kArgmax: {
      const bool least = how.reduction == Aggregate::kMin || how.reduction == Aggregate::kArgmin;
      const auto beats = [&](auto b, auto a) {
        if (a != a) return false;
        if (b != b) return true;
        return least ? b < a : a < b;
      };
      const bool right =
          how.floating    ? beats(b.value, a.value)
          : how.is_signed ? beats(static_cast<int64_t>(b.integer), static_cast<int64_t>(a.integer))
                          : beats(b.integer, a.integer);
      const Partial& best = right ? b : a;
      result.value = best.value;
      result.integer = best.integer;
      result.index = best.index;
      return result;
    }
    default:
      result.value = a.value + b.value;
      result.integer = a.integer + b.integer;
      return result;
  }
}

__device__ void write_float(const Result& how, int64_t line, double value) {
  if (value != value) value = __longlong_as_double(0x7ff8000000000000);
  if (how.dtype == TypeId::kFloat32)
    reinterpret_cast<float*>(how.data)[line] =
        value == value ? static_cast<float>(value) : __int_as_float(0x7fc00000);
  else
    reinterpret_cast<double*>(how.data)[line] = value;
}

__device__ void write_integer(const Result& how, int64_t line, uint64_t value) {
  switch (how.dtype) {
    case TypeId::kBool:
      reinterpret_cast<uint8_t*>(how.data)[line] = value != 0;
      return;
    case TypeId::kInt8:
    case TypeId::kUInt8:
      reinterpret_cast<uint8_t*>(how.data)[line] = static_cast<uint8_t>(value);
      return;
    case TypeId::kInt16:
    case TypeId::kUInt16:
      reinterpret_cast<uint16_t*>(how.data)[line] = static_cast<uint16_t>(value);
      return;
    case TypeId::kInt32:
    case TypeId::kUInt32:
      reinterpret_cast<uint32_t*>(how.data)[line] = static_cast<uint32_t>(value);
      return;
    default:
      reinterpret_cast<uint64_t*>(how.data)[line] = value;
  }
}

/// Reducer::finish.
__device__ void finish(const Result& how, int64_t line, const Partial& total) {
  const double nan = __longlong_as_double(0x7ff8000000000000);
  const double count = static_cast<double>(total.count);
  const bool floats = how.dtype == TypeId::kFloat32 || how.dtype == TypeId::kFloat64;
  switch (how.reduction) {
    case Aggregate::kMean:
      return write_float(how, line, total.count == 0 ? nan : total.value / count);
    case Aggregate::kVariance:
    case Aggregate::kStd:
    case Aggregate::kSem: {
      const double freedom = count - how.freedom_less;
      double variance = freedom > 0 ? total.squares / freedom : nan;
      if (how.reduction != Aggregate::kVariance) variance = sqrt(variance);
      if (how.reduction == Aggregate::kSem) variance /= sqrt(count);
      return write_float(how, line, variance);
    }
    case Aggregate::kArgmin:
    case Aggregate::kArgmax:
      return write_integer(how, line, static_cast<uint64_t>(total.index));
    case Aggregate::kAny:
      return write_integer(how, line, total.integer > 0);
    case Aggregate::kAll:
      return write_integer(how, line, static_cast<int64_t>(total.integer) == total.count);
    case Aggregate::kCount:
      return write_integer(how, line, static_cast<uint64_t>(total.count));
    default: {
      const bool is_one = how.reduction == Aggregate::kProduct && total.count == 0;
      return floats ? write_float(how, line,
                                  is_one             ? 1.0
                                  : total.count == 0 ? 0.0
                                                     : total.value)
                    : write_integer(how, line, is_one ? 1 : total.integer);
    }
  }
}

/// Part `block` of a line, or all of it.
__device__ void put(const Result& how, Partial* partials, int64_t line, int64_t block,
                    int64_t blocks, const Partial& partial) {
  if (blocks == 1)
    finish(how, line, partial);
  else
    partials[line * blocks + block] = partial;
}

// ---- kernels ------------------------------------------------------------------------------------

template <class S>
__device__ S shuffled(S state, int by) {
  constexpr int kWords = sizeof(S) / 4;
  static_assert(sizeof(S) % 4 == 0);
  union Words {
    S state;
    unsigned word[kWords];
    __device__ Words() {}
  } words;
  words.state = state;
#pragma unroll
  for (int i = 0; i < kWords; ++i) words.word[i] = __shfl_down_sync(~0u, words.word[i], by);
  return words.state;
}

template <class F>
__device__ typename F::State fold_warp(const F& fold, typename F::State state) {
  for (int half = 16; half > 0; half /= 2) state = fold.joined(state, shuffled(state, half));
  return state;
}

/// A warp for each block of a line.
template <class F>
__global__ void __launch_bounds__(kThreads)
    rows_kernel(const typename F::Value* __restrict__ data, const __grid_constant__ Lines lines,
                int64_t count, int64_t length, int64_t step, int64_t blocks, F fold, Result how,
                Partial* __restrict__ partials) {
  constexpr int kWarps = kThreads / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64_t task = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; task < count * blocks;
       task += int64_t{gridDim.x} * kWarps) {
    const int64_t line = task / blocks, block = task - line * blocks;
    const int64_t begin = block * kBlockRows;
    const int rows = static_cast<int>(min(int64_t{kBlockRows}, length - begin));
    const auto* const from = data + lines.offset(line) + begin * step;
    auto state = fold.first();
    if (rows == kBlockRows) {
#pragma unroll 8
      for (int i = lane; i < kBlockRows; i += 32) fold.take(state, from[i * step], begin + i);
    } else {
#pragma unroll 4
      for (int i = lane; i < rows; i += 32) fold.take(state, from[i * step], begin + i);
    }
    state = fold_warp(fold, state);
    Partial partial{rows, 0, 0, 0, -1};
    if (rows > 0) F::put(state, partial);
    if constexpr (F::kSquares) {
      const double mean = __shfl_sync(~0u, partial.value, 0) / static_cast<double>(rows);
      double squares = -0.0;
      for (int i = lane; i < rows; i += 32) {
        const double away = static_cast<double>(from[i * step]) - mean;
        squares += away * away;
      }
      for (int half = 16; half > 0; half /= 2) squares += __shfl_down_sync(~0u, squares, half);
      partial.value = mean;
      partial.squares = squares;
    }
    if (lane == 0) put(how, partials, line, block, blocks, partial);
  }
}

/// A thread for each block of a line.
template <class F>
__global__ void __launch_bounds__(kThreads, 2)
    columns_kernel(const typename F::Value* __restrict__ data, const __grid_constant__ Lines lines,
                   int64_t count, int64_t length, int64_t step, int64_t blocks, F fold, Result how,
                   Partial* __restrict__ partials) {
  using State = typename F::State;
  constexpr int kLanes = F::kLanes;
  const int64_t tasks = count * blocks;
  const int64_t task = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (task >= tasks) return;
  const int64_t block = task / count, line = task - block * count;
  const int64_t begin = block * kBlockRows;
  const int rows = static_cast<int>(min(int64_t{kBlockRows}, length - begin));
  const auto* const from = data + lines.offset(line) + begin * step;
  const auto each_row = [&](auto&& take) {
    constexpr int kUnroll = kLanes == 1 ? 8 : kLanes;
    int row = 0;
    for (; row + kUnroll <= rows; row += kUnroll) {
#pragma unroll
      for (int k = 0; k < kUnroll; ++k) take(k % kLanes, from[(row + k) * step], row + k);
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k)
      if (row + k < rows) take(k % kLanes, from[(row + k) * step], row + k);
  };
  State state[kLanes];
#pragma unroll
  for (int k = 0; k < kLanes; ++k) state[k] = fold.first();
  each_row([&](int lane, auto x, int row) { fold.take(state[lane], x, begin + row); });
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2)
#pragma unroll
    for (int k = 0; k < half; ++k) state[k] = fold.joined(state[k], state[k + half]);
  Partial partial{rows, 0, 0, 0, -1};
  if (rows > 0) F::put(state[0], partial);
  if constexpr (F::kSquares) {
    const double mean = partial.value / static_cast<double>(rows);
    double squares[kLanes];
#pragma unroll
    for (int k = 0; k < kLanes; ++k) squares[k] = -0.0;
    each_row([&](int lane, auto x, int) {
      const double away = static_cast<double>(x) - mean;
      squares[lane] += away * away;
    });
#pragma unroll
    for (int half = kLanes / 2; half > 0; half /= 2)
#pragma unroll
      for (int k = 0; k < half; ++k) squares[k] += squares[k + half];
    partial.value = mean;
    partial.squares = squares[0];
  }
  put(how, partials, line, block, blocks, partial);
}

/// One level of the tree over the blocks of each line; the last one ends the lines.
__global__ void merge_kernel(Partial* __restrict__ partials, int64_t count, int64_t blocks,
                             int64_t step, Result how, bool is_last) {
  const int64_t pairs = (blocks + 2 * step - 1) / (2 * step);
  const int64_t task = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (task >= count * pairs) return;
  const int64_t line = task / pairs, first = (task - line * pairs) * 2 * step;
  Partial* const own = partials + line * blocks;
  if (first + step < blocks) own[first] = merge(how, own[first], own[first + step]);
  if (is_last) finish(how, line, own[0]);
}

struct Job {
  DeviceCall& call;
  const Tensor& from;
  Lines lines;
  int64_t count;
  int64_t length;
  int64_t step;
  Result how;
};

template <class F>
void run(const Job& job, F fold) {
  using T = typename F::Value;
  const auto stream = static_cast<cudaStream_t>(job.call.stream());
  const int64_t blocks = std::max<int64_t>(1, (job.length + kBlockRows - 1) / kBlockRows);
  const int64_t tasks = job.count * blocks;
  const Buffer room =
      job.call.scratch(blocks == 1 ? 0 : tasks * static_cast<int64_t>(sizeof(Partial)));
  auto* const partials = job.call.writes_as<Partial>(room);
  const T* const data = job.from.as<T>();
  const bool along = job.step == 1 || job.step == -1 || job.count < 64;
  if (along)
    rows_kernel<F>
        <<<blocks_in_turn(tasks, kThreads / 32, job.from.place().index, 64), kThreads, 0, stream>>>(
            data, job.lines, job.count, job.length, job.step, blocks, fold, job.how, partials);
  else
    columns_kernel<F><<<blocks_of(tasks, kThreads), kThreads, 0, stream>>>(
        data, job.lines, job.count, job.length, job.step, blocks, fold, job.how, partials);
  for (int64_t step = 1; step < blocks; step *= 2) {
    const int64_t pairs = (blocks + 2 * step - 1) / (2 * step);
    merge_kernel<<<blocks_of(job.count * pairs, kThreads), kThreads, 0, stream>>>(
        partials, job.count, blocks, step, job.how, 2 * step >= blocks);
  }
}

template <class T>
void run_typed(const Job& job) {
  switch (job.how.reduction) {
    case Aggregate::kMean:
      return run(job, LaneFold<T, Join::kSum, false>());
    case Aggregate::kVariance:
    case Aggregate::kStd:
    case Aggregate::kSem:
      return run(job, LaneFold<T, Join::kSum, true>());
    case Aggregate::kArgmin:
    case Aggregate::kArgmax:
      return run(job, PlaceFold<T>{job.how.reduction == Aggregate::kArgmin});
    case Aggregate::kAny:
    case Aggregate::kAll:
    case Aggregate::kCount:
      return run(job, CountFold<T>());
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (job.how.reduction == Aggregate::kSum) return run(job, LaneFold<T, Join::kSum, false>());
    if (job.how.reduction == Aggregate::kProduct)
      return run(job, LaneFold<T, Join::kProduct, false>());
    if (job.how.reduction == Aggregate::kMin) return run(job, LaneFold<T, Join::kMin, false>());
    run(job, LaneFold<T, Join::kMax, false>());
  } else {
    run(job, IntegerFold<T>{job.how.reduction});
  }
}

}  // namespace

void reduce_axis(const Tensor& from, Aggregate reduction, size_t along,
                 const ReduceOptions& options, Dtype dtype, const Buffer& out) {
  DeviceCall call("reduce", from.place());
  call.reads(from.buffer());
  Job job{call,
          from,
          {},
          1,
          from.shape()[along],
          from.strides()[along],
          {call.writes(out), reduction, dtype.id(), from.dtype().is_floating(),
           from.dtype().is_signed(), static_cast<double>(options.ddof)}};
  for (size_t d = 0; d < from.shape().size(); ++d) {
    const int64_t size = from.shape()[d], stride = from.strides()[d];
    if (d == along || size == 1) continue;
    Lines& lines = job.lines;
    job.count *= size;
    int64_t* const before = lines.count > 0 ? &lines.stride[lines.count - 1] : nullptr;
    if (before && *before == stride * size) {
      *before = stride;
      lines.size[lines.count - 1] *= size;
    } else {
      lines.size[lines.count] = size;
      lines.stride[lines.count++] = stride;
    }
  }
  if (from.dtype().is_bool())
    run_typed<uint8_t>(job);
  else
    visit_real(from.dtype(), [&]<class T>(std::type_identity<T>) { run_typed<T>(job); });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
