// SPDX-License-Identifier: Apache-2.0
// Checks, allocates and puts the parts of a PCA together.
#include "headrace/learn/pca.h"

#include "headrace/algo/linalg/eigh.h"
#include "headrace/algo/linalg/gram.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/pca_kernels.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>

namespace hr {
namespace {

constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));

void check_matrix(std::string_view op, const Tensor& x) {
  if (x.num_dimensions() != 2 || !x.dtype().is_floating())
    throw_error<TypeMismatchError>(
        op, "expected a 2-D float32 or float64 array",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
}

void check_columns(std::string_view op, const Tensor& x, int64_t expected) {
  check_matrix(op, x);
  if (x.shape()[1] != expected)
    throw_error<InvalidArgumentError>(op, "the number of columns differs from the model's",
                                      {{"columns", x.shape()[1]}, {"model", expected}});
}

/// Rows of `values`, `padded` apart, as a contiguous tensor [rows, columns] of `dtype`; rank 1 for
/// no rows given.
Tensor store(const double* values, int64_t rows, int64_t columns, int64_t padded, Dtype dtype) {
  Buffer buffer = Buffer::allocate(std::max<int64_t>(rows, 1) * columns * dtype.size_bytes());
  visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
    T* out = buffer.mutable_as<T>();
    for (int64_t i = 0; i < std::max<int64_t>(rows, 1); ++i)
      for (int64_t j = 0; j < columns; ++j)
        out[i * columns + j] = static_cast<T>(values[i * padded + j]);
  });
  return Tensor(dtype, rows == 0 ? Shape{columns} : Shape{rows, columns}, std::move(buffer));
}

/// Mean and components as float64 with padded rows, one after the other.
Buffer load(const Pca& model, int64_t padded) {
  const int64_t features = model.mean.num_elements();
  const int64_t count = model.components.shape()[0];
  Buffer buffer = Buffer::allocate_zeroed((count + 1) * padded * kDouble);
  auto* out = buffer.mutable_as<double>();
  visit_floating(model.mean.dtype(), [&]<class T>(std::type_identity<T>) {
    std::copy_n(model.mean.as<T>(), features, out);
    for (int64_t c = 0; c < count; ++c)
      std::copy_n(model.components.as<T>() + c * features, features, out + (c + 1) * padded);
  });
  return buffer;
}

/// A part of a model where the rows are that it is used for; wanted with kernels alone.
[[maybe_unused]] Tensor beside(const Tensor& part, const Tensor& x) {
  if (part.place() == x.place()) return part;
  return to_place(part, x.place(), current_stream(x.place().is_host() ? part.place() : x.place()));
}

}  // namespace

Pca pca_fit(const Tensor& x, int64_t num_components) {
  check_matrix("pca_fit", x);
  const int64_t rows = x.shape()[0];
  const int64_t features = x.shape()[1];
  if (rows < 2)
    throw_error<InvalidArgumentError>("pca_fit", "the variance needs at least two rows",
                                      {{"rows", rows}});
  if (num_components < 1 || num_components > std::min(rows, features))
    throw_error<InvalidArgumentError>(
        "pca_fit", "num_components is out of range",
        {{"num_components", num_components}, {"rows", rows}, {"features", features}},
        "use 1 to the smaller of rows and features");
  const ScopedTag tag("pca_fit");
  WorkingBytes bytes;
  if (x.place().is_host()) bytes = gram_working_bytes(rows, features);
  bytes.all = std::max(bytes.all, 2 * features * features * kDouble);  // the covariance, after it
  const WorkingMemory working(bytes);
  const SecondMoments moments = second_moments(RowTiles(x), nullptr, true);
  const auto* const mean = moments.means.as<double>();
  for (int64_t j = 0; j < features; ++j)
    if (!std::isfinite(mean[j]))
      throw_error<InvalidArgumentError>("pca_fit", "a column contains NaN or infinite values",
                                        {{"column", j}}, "drop or fill them first");
  const auto* products = moments.products.as<double>();
  // Half of the directions, or fewer, are found by themselves.
  const int64_t alone = 2 * num_components <= features ? num_components : 0;
  Buffer covariance = Buffer::allocate((features * features + (9 + alone) * features) * kDouble);
  auto* entries = covariance.mutable_as<double>();
  double* values = entries + features * features;
  double* vectors = alone > 0 ? values + 9 * features : entries;
  double total = 0;
  for (int64_t i = 0; i < features; ++i) {
    for (int64_t j = 0; j <= i; ++j)
      entries[i * features + j] = products[i * features + j] / static_cast<double>(rows - 1);
    total += entries[i * features + i];
  }
  if (alone > 0)
    eigh_largest(entries, values, vectors, values + features, features, alone);
  else
    eigh(entries, values, values + features, features);

  double kept = 0;
  for (int64_t c = 0; c < num_components; ++c) {
    double* row = vectors + c * features;
    const double* largest = std::max_element(
        row, row + features, [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    if (*largest < 0)
      for (int64_t j = 0; j < features; ++j) row[j] = -row[j];
    values[c] = std::max(values[c], 0.0);
    kept += values[c];
  }
  Pca model;
  const auto keep = [&](const Tensor& part) { return output_at("pca_fit", part, x.place()); };
  model.mean = keep(store(mean, 0, features, features, x.dtype()));
  model.components = keep(store(vectors, num_components, features, features, x.dtype()));
  model.explained_variance = keep(store(values, 0, num_components, num_components, x.dtype()));
  model.total_variance = total;
  const int64_t left_out = std::min(rows, features) - num_components;
  model.noise_variance =
      left_out > 0 ? std::max(total - kept, 0.0) / static_cast<double>(left_out) : 0;
  model.num_rows = rows;
  return model;
}

Tensor pca_transform(const Pca& model, const Tensor& x) {
  check_columns("pca_transform", x, model.mean.num_elements());
  const ScopedTag tag("pca_transform");
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      const int64_t kept = model.components.shape()[0];
      Buffer there = allocate_result(x.shape()[0] * kept * x.dtype().size_bytes(), x.place());
      if (x.shape()[0] > 0)
        cuda::pca_transform(x, beside(model.mean, x), beside(model.components, x), there);
      return Tensor(x.dtype(), {x.shape()[0], kept}, std::move(there));
    }
  const int64_t padded = pca_padded(x.shape()[1]);
  const int64_t count = model.components.shape()[0];
  const Buffer loaded = load(model, padded);
  const auto* mean = loaded.as<double>();
  Buffer latent = Buffer::allocate(x.shape()[0] * count * x.dtype().size_bytes());
  if (x.shape()[0] > 0)
    cpu::pca_transform(x, mean, mean + padded, count, padded, latent.mutable_data());
  return Tensor(x.dtype(), {x.shape()[0], count}, std::move(latent));
}

Tensor pca_inverse_transform(const Pca& model, const Tensor& latent) {
  check_columns("pca_inverse_transform", latent, model.components.shape()[0]);
  const ScopedTag tag("pca_inverse_transform");
  const int64_t features = model.mean.num_elements();
  const int64_t bytes = checked_multiply("pca_inverse_transform", latent.shape()[0],
                                         features * latent.dtype().size_bytes());
  if constexpr (built_with_cuda)
    if (latent.place().is_gpu()) {
      Buffer there = allocate_result(bytes, latent.place());
      if (latent.shape()[0] > 0)
        cuda::pca_inverse_transform(latent, beside(model.mean, latent),
                                    beside(model.components, latent), there);
      return Tensor(latent.dtype(), {latent.shape()[0], features}, std::move(there));
    }
  const int64_t padded = pca_padded(features);
  const Buffer loaded = load(model, padded);
  const auto* mean = loaded.as<double>();
  Buffer rows = Buffer::allocate(bytes);
  if (latent.shape()[0] > 0)
    cpu::pca_inverse_transform(latent, mean, mean + padded, features, padded, rows.mutable_data());
  return Tensor(latent.dtype(), {latent.shape()[0], features}, std::move(rows));
}

Tensor pca_reconstruction_error(const Pca& model, const Tensor& x) {
  check_columns("pca_reconstruction_error", x, model.mean.num_elements());
  const ScopedTag tag("pca_reconstruction_error");
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      Buffer there = allocate_result(x.shape()[0] * kDouble, x.place());
      if (x.shape()[0] > 0)
        cuda::pca_reconstruction_error(x, beside(model.mean, x), beside(model.components, x),
                                       there);
      return Tensor(dtype_of<double>(), {x.shape()[0]}, std::move(there));
    }
  const int64_t padded = pca_padded(x.shape()[1]);
  const int64_t count = model.components.shape()[0];
  const Buffer loaded = load(model, padded);
  const auto* mean = loaded.as<double>();
  Buffer error = Buffer::allocate(x.shape()[0] * kDouble);
  if (x.shape()[0] > 0)
    cpu::pca_reconstruction_error(x, mean, mean + padded, count, padded,
                                  error.mutable_as<double>());
  return Tensor(dtype_of<double>(), {x.shape()[0]}, std::move(error));
}

}  // namespace hr
