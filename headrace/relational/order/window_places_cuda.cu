// SPDX-License-Identifier: Apache-2.0
// Places of rows in groups on a CUDA device: where the group and the run of ties of each row begin
// are running maxima over rows that begin one.
#include "headrace/algo/bits/validity_device.h"
#include "headrace/data/device_launch.h"
#include "headrace/relational/order/window_places_kernels.h"

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr std::string_view kOp = "window";

/// int32 numbers of rows, -1 for null; of no column all are 0.
struct Numbers {
  const int32_t* values;
  const uint8_t* valid;
  int64_t offset;

  __device__ int32_t operator[](int64_t row) const {
    if (!values) return 0;
    const int64_t at = offset + row;
    return !valid || bit_at(valid, at) ? values[at] : -1;
  }
};

Numbers numbers_of(DeviceCall& call, const Column* column) {
  if (!column) return {};
  call.reads(column->values_buffer());
  if (column->null_count() > 0) call.reads(column->validity_buffer());
  return {column->values_buffer().as<int32_t>(), column->validity(), column->offset()};
}

struct Greater {
  __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a > b ? a : b; }
};

/// Places in the order where a group or, with `ties`, a run of equal rows begins; 0 elsewhere.
__global__ void heads_kernel(const int64_t* __restrict__ order, Numbers groups, Numbers ties,
                             int64_t count, uint32_t* __restrict__ group_heads,
                             uint32_t* __restrict__ run_heads, uint32_t* __restrict__ run_counts) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t row = order[i], before = order[i > 0 ? i - 1 : 0];
  const bool is_group = i > 0 && groups[row] != groups[before];
  group_heads[i] = is_group ? static_cast<uint32_t>(i) : 0;
  if (!run_heads) return;
  const bool is_run = is_group || (i > 0 && ties[row] != ties[before]);
  run_heads[i] = is_run ? static_cast<uint32_t>(i) : 0;
  run_counts[i] = is_run;
}

/// At the beginning of each run, its end.
__global__ void ends_kernel(const uint32_t* __restrict__ begins, int64_t count,
                            uint32_t* __restrict__ ends) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count && (i + 1 == count || begins[i + 1] != begins[i]))
    ends[begins[i]] = static_cast<uint32_t>(i + 1);
}

struct RankedRows {
  const int64_t* order;
  const uint32_t* groups;  // where they begin
  const uint32_t* runs;
  const uint32_t* ends;
  const uint32_t* run_numbers;
};

__global__ void ranks_kernel(RankedRows sorted, Numbers groups, Numbers ties, int64_t count,
                             RankMethod method, double* __restrict__ out,
                             uint8_t* __restrict__ valid) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t row = sorted.order[i], group = sorted.groups[i], begin = sorted.runs[i];
  const int64_t end = sorted.ends[begin];
  const bool is_there = groups[row] >= 0 && ties[row] >= 0;
  double rank = 0;
  if (method == RankMethod::kAverage) {
    rank = static_cast<double>(begin + end + 1 - 2 * group) / 2;
  } else {
    const int64_t place = method == RankMethod::kFirst ? i - group + 1
                          : method == RankMethod::kDense
                              ? int64_t{sorted.run_numbers[i]} - sorted.run_numbers[group] + 1
                          : method == RankMethod::kMax ? end - group
                                                       : begin - group + 1;
    rank = static_cast<double>(place);
  }
  out[row] = is_there ? rank : 0;
  valid[row] = is_there;
}

__global__ void places_kernel(const int64_t* __restrict__ order,
                              const uint32_t* __restrict__ begins, Numbers groups, int64_t count,
                              int64_t* __restrict__ out, uint8_t* __restrict__ valid) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  out[order[i]] = i - begins[i];
  valid[order[i]] = groups[order[i]] >= 0;
}

__global__ void shifted_kernel(const int64_t* __restrict__ order, Numbers groups, int64_t count,
                               int64_t periods, int64_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t from = i - periods, row = order[i];
  const int32_t own = groups[row];
  const bool is_there = own >= 0 && from >= 0 && from < count && groups[order[from]] == own;
  out[row] = is_there ? order[from] : -1;
}

__global__ void positions_kernel(Numbers numbers, int64_t count, int64_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = numbers[i];
}

/// One call over rows in an order.
class OrderedRows {
 public:
  OrderedRows(const Tensor& order, const Column* groups)
      : place_(order.place()), rows_(order.num_elements()), call_(kOp, place_) {
    call_.reads(order.buffer());
    order_ = order.as<int64_t>();
    groups_ = numbers_of(call_, groups);
  }

  Column ranks(const Column& values, RankMethod method) {
    const Numbers ties = numbers_of(call_, &values);
    auto* const groups = scratch<uint32_t>(rows_);
    auto* const runs = scratch<uint32_t>(rows_);
    auto* const numbers = scratch<uint32_t>(rows_);
    auto* const ends = scratch<uint32_t>(rows_);
    heads_kernel<<<blocks(), kThreads, 0, stream()>>>(order_, groups_, ties, rows_, groups, runs,
                                                      numbers);
    spread(groups);
    spread(runs);
    scan([&](void* room, size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(room, bytes, numbers, numbers, rows_, stream());
    });
    ends_kernel<<<blocks(), kThreads, 0, stream()>>>(runs, rows_, ends);
    const Buffer out = allocate_result(8 * rows_, place_);
    auto* const valid = scratch<uint8_t>(rows_);
    ranks_kernel<<<blocks(), kThreads, 0, stream()>>>({order_, groups, runs, ends, numbers},
                                                      groups_, ties, rows_, method,
                                                      call_.writes_as<double>(out), valid);
    return finished(TypeId::kFloat64, out, valid);
  }

  Column places() {
    auto* const begins = scratch<uint32_t>(rows_);
    heads_kernel<<<blocks(), kThreads, 0, stream()>>>(order_, groups_, {}, rows_, begins, nullptr,
                                                      nullptr);
    spread(begins);
    const Buffer out = allocate_result(8 * rows_, place_);
    auto* const valid = scratch<uint8_t>(rows_);
    places_kernel<<<blocks(), kThreads, 0, stream()>>>(order_, begins, groups_, rows_,
                                                       call_.writes_as<int64_t>(out), valid);
    return finished(TypeId::kInt64, out, valid);
  }

  Tensor shifted(int64_t periods) {
    const Buffer out = allocate_result(8 * rows_, place_);
    shifted_kernel<<<blocks(), kThreads, 0, stream()>>>(order_, groups_, rows_, periods,
                                                        call_.writes_as<int64_t>(out));
    call_.finish(cudaGetLastError());
    return Tensor(TypeId::kInt64, {rows_}, out);
  }

 private:
  template <class T>
  T* scratch(int64_t count) {
    buffers_.push_back(call_.scratch(count * static_cast<int64_t>(sizeof(T))));
    return call_.writes_as<T>(buffers_.back());
  }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream()); }

  unsigned blocks() const { return blocks_of(rows_, kThreads); }

  template <class F>
  void scan(F&& work) {
    size_t bytes = 0;
    check_cuda(kOp, work(nullptr, bytes));
    buffers_.push_back(call_.scratch(static_cast<int64_t>(bytes)));
    check_cuda(kOp, work(call_.writes(buffers_.back()), bytes));
  }

  void spread(uint32_t* heads) {
    scan([&](void* room, size_t& bytes) {
      return cub::DeviceScan::InclusiveScan(room, bytes, heads, heads, Greater{}, rows_, stream());
    });
  }

  Column finished(Dtype dtype, const Buffer& values, const uint8_t* valid) {
    const Buffer bits = validity_of(call_, valid, rows_, place_);
    call_.finish(cudaGetLastError());
    return Column(dtype, rows_, values, bits, -1);
  }

  const Place place_;
  const int64_t rows_;
  DeviceCall call_;
  const int64_t* order_ = nullptr;
  Numbers groups_{};
  std::vector<Buffer> buffers_{};
};

}  // namespace

Column ranks_of_rows(const Tensor& order, const Column* groups, const Column& ties,
                     RankMethod method) {
  return OrderedRows(order, groups).ranks(ties, method);
}

Column places_in_groups(const Tensor& order, const Column& groups) {
  return OrderedRows(order, &groups).places();
}

Tensor shifted_rows(const Tensor& order, const Column& groups, int64_t periods) {
  return OrderedRows(order, &groups).shifted(periods);
}

Tensor positions_of(const Column& numbers) {
  const int64_t rows = numbers.num_rows();
  const Buffer out = allocate_result(8 * rows, numbers.place());
  DeviceCall call(kOp, numbers.place());
  const Numbers own = numbers_of(call, &numbers);
  if (rows > 0)
    positions_kernel<<<blocks_of(rows, kThreads), kThreads, 0,
                       static_cast<cudaStream_t>(call.stream())>>>(own, rows,
                                                                   call.writes_as<int64_t>(out));
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {rows}, out);
}

}  // namespace hr::cuda
