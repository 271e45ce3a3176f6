// SPDX-License-Identifier: Apache-2.0
// Rows that fill missing ones on a CUDA device: a running maximum over rows that are there.
#include "headrace/algo/bits/validity_device.h"
#include "headrace/algo/scan/fill_missing_kernels.h"
#include "headrace/data/device_launch.h"

#include <cub/device/device_scan.cuh>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr std::string_view kOp = "fillna";

struct Missing {
  const void* values;
  const uint8_t* valid;  // bits; null: no row is null
  int64_t offset;
  int width;  // of floats, else 0

  __device__ bool is_null(int64_t row) const { return valid && !bit_at(valid, offset + row); }

  __device__ bool is_there(int64_t row) const {
    if (is_null(row)) return false;
    if (width == 8) return !isnan(static_cast<const double*>(values)[offset + row]);
    if (width == 4) return !isnan(static_cast<const float*>(values)[offset + row]);
    return true;
  }
};

struct Greater {
  __device__ int64_t operator()(int64_t a, int64_t b) const { return a < b ? b : a; }
};

/// Steps of the walk: row `rows` - 1 - step if it goes backward. -1 where the row is missing.
__global__ void steps_kernel(const __grid_constant__ Missing column, int64_t rows, bool backward,
                             int64_t* __restrict__ steps) {
  const int64_t step = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (step < rows) steps[step] = column.is_there(backward ? rows - 1 - step : step) ? step : -1;
}

__global__ void rows_kernel(const __grid_constant__ Missing column,
                            const int64_t* __restrict__ steps, int64_t rows, bool backward,
                            int64_t* __restrict__ out) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  const int64_t step = steps[backward ? rows - 1 - row : row];
  const int64_t from = backward ? rows - 1 - step : step;
  out[row] = step >= 0 ? from : column.is_null(row) ? -1 : row;
}

}  // namespace

Tensor filled_rows(const Column& column, bool backward) {
  const int64_t rows = column.num_rows();
  DeviceCall call(kOp, column.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  call.reads(column.values_buffer());
  const bool nulls = column.null_count() > 0;
  if (nulls) call.reads(column.validity_buffer());
  const Missing missing{
      column.values_buffer().data(), nulls ? column.validity() : nullptr, column.offset(),
      column.dtype().is_floating() ? static_cast<int>(column.dtype().size_bytes()) : 0};
  const Buffer walked = call.scratch(8 * rows);
  const Buffer out = allocate_result(8 * rows, column.place());
  auto* const steps = call.writes_as<int64_t>(walked);
  steps_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream>>>(missing, rows, backward, steps);
  size_t bytes = 0;
  check_cuda(kOp,
             cub::DeviceScan::InclusiveScan(nullptr, bytes, steps, steps, Greater{}, rows, stream));
  const Buffer room = call.scratch(static_cast<int64_t>(bytes));
  check_cuda(kOp, cub::DeviceScan::InclusiveScan(call.writes(room), bytes, steps, steps, Greater{},
                                                 rows, stream));
  rows_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream>>>(missing, steps, rows, backward,
                                                                  call.writes_as<int64_t>(out));
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {rows}, out);
}

}  // namespace hr::cuda
