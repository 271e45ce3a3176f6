// SPDX-License-Identifier: Apache-2.0
// Projections on a CUDA device, each sum in the CPU's order: the same bits.
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"
#include "headrace/learn/pca_kernels.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 16;  // of a row's sums

/// The sum of product(j) over j: lane j mod 16 in order, then one tree; lane 0 of the 16 has it,
/// and gives it to all.
template <class F>
__device__ double dot(int64_t count, int lane, const F& product) {
  double sum = 0;
  for (int64_t j = lane; j < count; j += kLanes) sum += product(j);
  for (int half = kLanes / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half, kLanes);
  return __shfl_sync(~0u, sum, 0, kLanes);
}

/// The components of a model, rows of as many values as `mean` has.
template <class M>
struct Model {
  const M* mean;
  const M* components;
  int64_t count;
};

/// A row to 16 lanes: its coordinates in `latent`, or its error.
template <class T, class M>
__global__ void project_kernel(Matrix<T> x, Model<M> model, T* latent, double* error) {
  extern __shared__ double shared[];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t features = x.columns;
  const int groups = static_cast<int>(blockDim.x) / kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  double* const rest = shared + group * features;
  const int64_t row = int64_t{blockIdx.x} * groups + group;
  const bool inside = row < x.rows;
  for (int64_t j = lane; j < features; j += kLanes)
    rest[j] = x(inside ? row : 0, j) - static_cast<double>(model.mean[j]);
  const auto coordinate = [&](int64_t c) {
    return dot(features, lane, [&](int64_t j) {
      return rest[j] * static_cast<double>(model.components[c * features + j]);
    });
  };
  if (latent != nullptr) {
    for (int64_t c = 0; c < model.count; ++c) {
      const double value = coordinate(c);
      if (inside && lane == 0) latent[row * model.count + c] = static_cast<T>(value);
    }
    return;
  }
  // All coordinates are of the row as it was: they wait behind the rows.
  double* const coordinates = shared + groups * features + group * model.count;
  for (int64_t c = 0; c < model.count; ++c) {
    const double value = coordinate(c);
    if (lane == 0) coordinates[c] = value;
  }
  __syncwarp();
  for (int64_t c = 0; c < model.count; ++c)
    for (int64_t j = lane; j < features; j += kLanes)
      rest[j] += -coordinates[c] * static_cast<double>(model.components[c * features + j]);
  const double squares = dot(features, lane, [&](int64_t j) { return rest[j] * rest[j]; });
  if (inside && lane == 0) error[row] = squares / static_cast<double>(features);
}

template <class T, class M>
__global__ void inverse_kernel(Matrix<T> latent, Model<M> model, int64_t features, T* rows) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= latent.rows * features) return;
  const int64_t row = i / features;
  const int64_t j = i - row * features;
  double sum = static_cast<double>(model.mean[j]);
  for (int64_t c = 0; c < model.count; ++c)
    sum += latent(row, c) * static_cast<double>(model.components[c * features + j]);
  rows[i] = static_cast<T>(sum);
}

/// Calls f(Matrix<T>, Model<M>) for the dtypes of both.
template <class F>
void visit(const Tensor& x, const Tensor& mean, const Tensor& components, const F& f) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    visit_floating(mean.dtype(), [&]<class M>(std::type_identity<M>) {
      f(matrix_of<T>(x), Model<M>{mean.as<M>(), components.as<M>(), components.shape()[0]});
    });
  });
}

void project(const Tensor& x, const Tensor& mean, const Tensor& components, Buffer* latent,
             Buffer* error) {
  const char* const op = latent != nullptr ? "pca_transform" : "pca_reconstruction_error";
  const int64_t features = x.shape()[1];
  const int64_t values = features + (error != nullptr ? components.shape()[0] : 0);
  // As many rows as 48 KiB of shared memory take: two at least, or none.
  const auto groups = static_cast<int>(std::min<int64_t>(2 * kMostProjected / values, 16)) / 2 * 2;
  if (groups == 0)
    throw_error<UnsupportedError>(op, "too many features for the CUDA kernel",
                                  {{"features", features}}, "move the values first: x.to('cpu')");
  DeviceCall call(op, x.place());
  for (const Tensor* input : {&x, &mean, &components}) call.reads(input->buffer());
  visit(x, mean, components, [&]<class T, class M>(const Matrix<T>& rows, const Model<M>& model) {
    T* const out = latent != nullptr ? call.writes_as<T>(*latent) : nullptr;
    double* const errors = error != nullptr ? call.writes_as<double>(*error) : nullptr;
    project_kernel<<<blocks_of(rows.rows, groups), static_cast<unsigned>(groups * kLanes),
                     static_cast<size_t>(groups * values) * sizeof(double),
                     static_cast<cudaStream_t>(call.stream())>>>(rows, model, out, errors);
  });
  call.finish(cudaGetLastError());
}

}  // namespace

void pca_transform(const Tensor& x, const Tensor& mean, const Tensor& components, Buffer& latent) {
  project(x, mean, components, &latent, nullptr);
}

void pca_reconstruction_error(const Tensor& x, const Tensor& mean, const Tensor& components,
                              Buffer& error) {
  project(x, mean, components, nullptr, &error);
}

void pca_inverse_transform(const Tensor& latent, const Tensor& mean, const Tensor& components,
                           Buffer& rows) {
  DeviceCall call("pca_inverse_transform", latent.place());
  for (const Tensor* input : {&latent, &mean, &components}) call.reads(input->buffer());
  const int64_t features = mean.num_elements();
  visit(latent, mean, components,
        [&]<class T, class M>(const Matrix<T>& coordinates, const Model<M>& model) {
          inverse_kernel<<<blocks_of(coordinates.rows * features, kThreads), kThreads, 0,
                           static_cast<cudaStream_t>(call.stream())>>>(coordinates, model, features,
                                                                       call.writes_as<T>(rows));
        });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
