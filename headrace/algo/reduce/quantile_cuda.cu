// SPDX-License-Identifier: Apache-2.0
// What quantile reads of numbers in order on a CUDA device.
#include "headrace/algo/reduce/quantile_kernels.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {

namespace {

constexpr std::string_view kOp = "quantile";

template <class T>
__global__ void present_kernel(const T* __restrict__ values, const uint8_t* __restrict__ valid,
                               int64_t offset, int64_t rows, int64_t* __restrict__ count) {
  int64_t low = 0, high = rows;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2, at = offset + middle;
    const bool is_null = valid && (valid[at >> 3] >> (at & 7) & 1) == 0;
    if (!is_null && values[at] == values[at])  // no NaN
      low = middle + 1;
    else
      high = middle;
  }
  *count = low;
}

}  // namespace

int64_t present_values(const Column& sorted) {
  const bool nulls = sorted.null_count() > 0;
  DeviceCall call(kOp, sorted.place());
  call.reads(sorted.values_buffer());
  if (nulls) call.reads(sorted.validity_buffer());
  const Buffer room = call.scratch(8);
  visit_real(sorted.dtype(), [&]<class T>(std::type_identity<T>) {
    present_kernel<T><<<1, 1, 0, static_cast<cudaStream_t>(call.stream())>>>(
        sorted.values_buffer().as<T>(), nulls ? sorted.validity() : nullptr, sorted.offset(),
        sorted.num_rows(), call.writes_as<int64_t>(room));
  });
  call.finish(cudaGetLastError());
  int64_t count = 0;
  call.fetch(&count, room.data(), 8);
  return count;
}

void fetch_row(const Column& sorted, int64_t row, void* out) {
  const int64_t width = sorted.dtype().size_bytes();
  DeviceCall call(kOp, sorted.place());
  call.reads(sorted.values_buffer());
  call.fetch(out, sorted.values_buffer().data() + (sorted.offset() + row) * width, width);
}

}  // namespace hr::cuda
