// SPDX-License-Identifier: Apache-2.0
// Numbers of rows in another order.
#include "headrace/algo/select/filter_kernels.h"
#include "headrace/algo/sort/row_codes_kernels.h"
#include "headrace/data/device_launch.h"

#include <cub/device/device_scan.cuh>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

__global__ void places_kernel(const uint32_t* __restrict__ order, int64_t count,
                              uint32_t* __restrict__ places) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) places[order[i]] = static_cast<uint32_t>(i);
}

/// Numbers of rows without one are any.
__global__ void turn_kernel(const uint32_t* __restrict__ places, const uint32_t* __restrict__ codes,
                            int64_t count, uint32_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = places[codes[i]];
}

}  // namespace

void exclusive_sum(DeviceCall& call, unsigned* counts, int64_t count) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  size_t bytes = 0;
  check_cuda(kRowsOp, cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, counts, count, stream));
  const Buffer room = call.scratch(static_cast<int64_t>(bytes));
  check_cuda(kRowsOp, cub::DeviceScan::ExclusiveSum(call.writes(room), bytes, counts, counts, count,
                                                    stream));
}

RowCodes renumbered(const RowCodes& made, const Buffer& order) {
  const int64_t distinct = made.first_rows.num_elements(), count = made.codes.num_rows();
  const Place place = made.codes.place();
  const Buffer codes = allocate_result(4 * count, place);
  {
    DeviceCall call(kRowsOp, place);
    call.reads(order);
    call.reads(made.codes.values_buffer());
    const auto stream = static_cast<cudaStream_t>(call.stream());
    const Buffer room = call.scratch(4 * distinct);
    auto* const places = call.writes_as<uint32_t>(room);
    places_kernel<<<blocks_of(distinct, kThreads), kThreads, 0, stream>>>(order.as<uint32_t>(),
                                                                          distinct, places);
    turn_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream>>>(
        places, made.codes.values_buffer().as<uint32_t>(), count, call.writes_as<uint32_t>(codes));
    call.finish(cudaGetLastError());
  }
  const Tensor positions(TypeId::kUInt32, {distinct}, order);
  const Column first(TypeId::kUInt32, distinct, made.first_rows.buffer());
  return {
      made.codes.with_rows(count, codes, made.codes.validity_buffer(), made.codes.null_count()),
      Tensor(TypeId::kUInt32, {distinct}, take_rows(kRowsOp, first, positions).values_buffer())};
}

}  // namespace hr::cuda
