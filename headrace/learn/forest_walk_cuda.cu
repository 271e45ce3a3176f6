// SPDX-License-Identifier: Apache-2.0
// Rows go down the trees of a forest, one after the other: a thread has a row, whose values lie in
// shared memory. Sums are in the CPU's order.
#include "headrace/data/device_launch.h"
#include "headrace/learn/forest_kernels.h"

namespace hr::cuda {
namespace {

constexpr int kThreads = 256;
// Bytes of the rows of a block, which every device from compute capability 8 on has; larger rows
// are read anew.
constexpr int64_t kMostShared = 96 << 10;

/// What a visit to a node reads, in one load.
struct __align__(16) Step {
  double threshold;
  int32_t right;     // -1 in a leaf
  uint32_t feature;  // times two, and one where NaN goes left
};

__global__ void pack_kernel(const int64_t* link, const double* threshold, int64_t count,
                            Step* out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  out[i] = {threshold[i], static_cast<int32_t>(link[i] >> 32), static_cast<uint32_t>(link[i])};
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    predict_kernel(Matrix<T> x, const Step* steps, const int64_t* offsets, const double* values,
                   int64_t trees, int outputs, bool is_shared, double* out) {
  extern __shared__ double shared[];
  const int64_t first = int64_t{blockIdx.x} * kThreads, row = first + threadIdx.x;
  const T* own = x.data + row * x.row_stride;
  int64_t step = x.column_stride;
  if (is_shared) {
    auto* const tile = reinterpret_cast<T*>(shared);
    const int64_t rows = min(int64_t{kThreads}, x.rows - first);
    for (int64_t at = threadIdx.x; at < rows * x.columns; at += kThreads) {
      const int64_t i = at / x.columns, j = at % x.columns;
      tile[i * (x.columns + 1) + j] = x.data[(first + i) * x.row_stride + j * x.column_stride];
    }
    __syncthreads();
    own = tile + threadIdx.x * (x.columns + 1);
    step = 1;
  }
  if (row >= x.rows) return;
  double sums[kMostForestOutputs] = {};
  for (int64_t tree = 0; tree < trees; ++tree) {
    const Step* const nodes = steps + offsets[tree];
    int32_t node = 0;
    Step at = nodes[0];
    while (at.right >= 0) {
      const double value = static_cast<double>(own[(at.feature >> 1) * step]);
      const bool left = value <= at.threshold || (value != value && (at.feature & 1) != 0);
      node = left ? node + 1 : at.right;
      at = nodes[node];
    }
    const double* const value = values + (offsets[tree] + node) * outputs;
#pragma unroll
    for (int k = 0; k < kMostForestOutputs; ++k)
      if (k < outputs) sums[k] += value[k];
  }
#pragma unroll
  for (int k = 0; k < kMostForestOutputs; ++k)
    if (k < outputs) out[row * outputs + k] = sums[k] / static_cast<double>(trees);
}

}  // namespace

void forest_predict(const Forest& model, const Tensor& x, Buffer& out) {
  DeviceCall call("forest_predict", x.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  for (const Tensor* part : {&x, &model.offsets, &model.link, &model.threshold, &model.value})
    call.reads(part->buffer());
  const int64_t nodes = model.link.num_elements();
  const Buffer steps = call.scratch(nodes * static_cast<int64_t>(sizeof(Step)));
  pack_kernel<<<blocks_of(nodes, kThreads), kThreads, 0, stream>>>(
      model.link.as<int64_t>(), model.threshold.as<double>(), nodes, call.writes_as<Step>(steps));
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t bytes = kThreads * (x.shape()[1] + 1) * static_cast<int64_t>(sizeof(T));
    const bool is_shared = bytes <= kMostShared;
    check_cuda("forest_predict",
               cudaFuncSetAttribute(predict_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(kMostShared)));
    predict_kernel<T><<<blocks_of(x.shape()[0], kThreads), kThreads,
                        is_shared ? static_cast<size_t>(bytes) : 0, stream>>>(
        matrix_of<T>(x), reinterpret_cast<const Step*>(steps.data()), model.offsets.as<int64_t>(),
        model.value.as<double>(), model.offsets.num_elements() - 1,
        static_cast<int>(model.value.shape()[1]), is_shared, call.writes_as<double>(out));
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
