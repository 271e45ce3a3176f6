// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for random numbers.
#include "headrace/algo/random/random.h"

#include "headrace/algo/random/random_kernels.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/memory/log/tag.h"

#include <type_traits>

namespace hr {
namespace {

void check_count(const char* op, int64_t count) {
  if (count < 0)
    throw_error<InvalidArgumentError>(op, "a negative count", {{"count", count}}, "use 0 or more");
}

template <class T, class Fill>
Tensor filled(int64_t count, Place place, Fill&& fill) {
  if constexpr (!built_with_cuda) check_on_host("random", place);
  Buffer buffer =
      allocate_at(place, checked_multiply("random", count, static_cast<int64_t>(sizeof(T))));
  if (count > 0) fill(buffer);
  return Tensor(dtype_of<T>(), {count}, std::move(buffer));
}

template <class T>
Tensor floats(FloatDraw draw, int64_t count, RandomKey key, Place place) {
  return filled<T>(count, place, [&](Buffer& buffer) {
    if constexpr (built_with_cuda)
      if (place.is_gpu())
        return cuda::random_floats(draw, key, count, std::is_same_v<T, float>, buffer);
    cpu::random_floats(draw, key, count, buffer.mutable_as<T>());
  });
}

Tensor floats(const char* op, FloatDraw draw, int64_t count, Dtype dtype, RandomKey key,
              Place place) {
  const ScopedTag tag(op);
  check_count(op, count);
  if (dtype == dtype_of<float>()) return floats<float>(draw, count, key, place);
  if (dtype != dtype_of<double>())
    throw_error<TypeMismatchError>(op, "only floats are drawn", {{"dtype", dtype.name()}},
                                   "use float64 or float32");
  return floats<double>(draw, count, key, place);
}

}  // namespace

Tensor random_uniform(int64_t count, Dtype dtype, RandomKey key, Place place) {
  return floats("random_uniform", FloatDraw::kUniform, count, dtype, key, place);
}

Tensor random_normal(int64_t count, Dtype dtype, RandomKey key, Place place) {
  return floats("random_normal", FloatDraw::kNormal, count, dtype, key, place);
}

Tensor random_exponential(int64_t count, Dtype dtype, RandomKey key, Place place) {
  return floats("random_exponential", FloatDraw::kExponential, count, dtype, key, place);
}

Tensor random_integers(int64_t count, Dtype dtype, uint64_t low, uint64_t range, RandomKey key,
                       Place place) {
  const ScopedTag tag("random_integers");
  check_count("random_integers", count);
  if (dtype != dtype_of<int64_t>() && dtype != dtype_of<uint64_t>())
    throw_error<TypeMismatchError>("random_integers", "only integers of 64 bits are drawn",
                                   {{"dtype", dtype.name()}}, "convert what int64 gives");
  const Tensor made = filled<uint64_t>(count, place, [&](Buffer& buffer) {
    if constexpr (built_with_cuda)
      if (place.is_gpu()) return cuda::random_integers(low, range, key, count, buffer);
    cpu::random_integers(low, range, key, count, buffer.mutable_as<uint64_t>());
  });
  return Tensor(dtype, made.shape(), made.buffer());
}

Tensor random_poisson(int64_t count, double mean, RandomKey key) {
  const ScopedTag tag("random_poisson");
  constexpr double kLargestMean = 4611686018427387904.0;  // 2^62
  check_count("random_poisson", count);
  if (!(mean >= 0.0 && mean <= kLargestMean))
    throw_error<InvalidArgumentError>("random_poisson", "no mean of counts", {{"mean", mean}},
                                      "use 0 to 2^62");
  return filled<int64_t>(count, host, [&](Buffer& buffer) {
    cpu::random_poisson(mean, key, count, buffer.mutable_as<int64_t>());
  });
}

Tensor random_sample(int64_t rows, int64_t count, RandomKey key, Place place) {
  const ScopedTag tag("random_sample");
  check_count("random_sample", count);
  if (count > rows)
    throw_error<InvalidArgumentError>("random_sample", "more draws than rows",
                                      {{"count", count}, {"rows", rows}},
                                      "draw with replacement, or fewer");
  if (count == 0) return filled<int64_t>(0, host, [](Buffer&) {});
  const Column keys = as_column(random_integers(rows, dtype_of<uint64_t>(), 0, 0, key, place));
  return count == rows ? argsort({keys}, {SortOrder()}) : first_rows({keys}, {SortOrder()}, count);
}

}  // namespace hr
