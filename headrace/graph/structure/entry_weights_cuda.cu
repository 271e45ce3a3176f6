// SPDX-License-Identifier: Apache-2.0
// Weights of edges in the order of entries, on a CUDA device.
#include "headrace/graph/structure/device_rows.h"
#include "headrace/graph/structure/entry_weights_kernels.h"

namespace hr::cuda {

namespace {

__global__ void bad_kernel(const double* values, int64_t count, WeightRule rule,
                           unsigned long long* first) {
  const int64_t i = own_item();
  if (i >= count) return;
  const double value = values[i];
  if (!isfinite(value) || (rule != WeightRule::kAny && value < 0) ||
      (rule == WeightRule::kPositive && value == 0))
    atomicMin(first, static_cast<unsigned long long>(i));
}

__global__ void gather_kernel(const double* values, const uint32_t* edges, int64_t entries,
                              double* out) {
  const int64_t i = own_item();
  if (i < entries) out[i] = values[edges[i]];
}

}  // namespace

int64_t first_bad_value(std::string_view op, const Column& values, WeightRule rule) {
  const int64_t count = values.num_rows();
  if (count == 0) return -1;
  DeviceCall call(op, values.place());
  call.reads(values.values_buffer());
  const Room<unsigned long long> first(call, 1);
  first.fill(call, 0xFF);
  bad_kernel<<<blocks_of(count, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      values.values_buffer().as<double>() + values.offset(), count, rule, first.data);
  const unsigned long long found = fetched(call, first.data);
  call.finish(cudaGetLastError());
  return static_cast<int64_t>(found);  // all ones: -1
}

double value_there(std::string_view op, const Column& values, int64_t place) {
  DeviceCall call(op, values.place());
  call.reads(values.values_buffer());
  return fetched(call, values.values_buffer().as<double>() + values.offset() + place);
}

Buffer entry_weights(std::string_view op, const Csr& csr, const Column& weights) {
  DeviceCall call(op, csr.offsets.place());
  const Rows rows = rows_of(call, csr);
  call.reads(weights.values_buffer());
  const Buffer made = call.scratch(8 * rows.entries);
  if (rows.entries > 0)
    gather_kernel<<<blocks_of(rows.entries, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
        weights.values_buffer().as<double>() + weights.offset(), rows.edges, rows.entries,
        call.writes_as<double>(made));
  call.finish(cudaGetLastError());
  return made;
}

}  // namespace hr::cuda
