// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for random numbers.
#include "headrace/algo/random/random.h"

#include "headrace/algo/random/random_kernels.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/tag.h"

namespace hr {
namespace {

void check_count(const char* op, int64_t count) {
  if (count < 0)
    throw_error<InvalidArgumentError>(op, "a negative count", {{"count", count}}, "use 0 or more");
}

template <class T, class Fill>
Tensor filled(int64_t count, Fill&& fill) {
  const Shape shape{count};
  Buffer buffer =
      Buffer::allocate(checked_multiply("random", count, static_cast<int64_t>(sizeof(T))));
  if (count > 0) fill(buffer.mutable_as<T>());
  return Tensor(dtype_of<T>(), shape, std::move(buffer));
}

Tensor floats(const char* op, cpu::FloatDraw draw, int64_t count, Dtype dtype, RandomKey key) {
  const ScopedTag tag(op);
  check_count(op, count);
  if (dtype == dtype_of<float>())
    return filled<float>(count, [&](float* out) { cpu::random_floats(draw, key, count, out); });
  if (dtype != dtype_of<double>())
    throw_error<TypeMismatchError>(op, "only floats are drawn", {{"dtype", dtype.name()}},
                                   "use float64 or float32");
  return filled<double>(count, [&](double* out) { cpu::random_floats(draw, key, count, out); });
}

}  // namespace

Tensor random_uniform(int64_t count, Dtype dtype, RandomKey key) {
  return floats("random_uniform", cpu::FloatDraw::kUniform, count, dtype, key);
}

Tensor random_normal(int64_t count, Dtype dtype, RandomKey key) {
  return floats("random_normal", cpu::FloatDraw::kNormal, count, dtype, key);
}

Tensor random_exponential(int64_t count, Dtype dtype, RandomKey key) {
  return floats("random_exponential", cpu::FloatDraw::kExponential, count, dtype, key);
}

Tensor random_integers(int64_t count, Dtype dtype, uint64_t low, uint64_t range, RandomKey key) {
  const ScopedTag tag("random_integers");
  check_count("random_integers", count);
  if (dtype != dtype_of<int64_t>() && dtype != dtype_of<uint64_t>())
    throw_error<TypeMismatchError>("random_integers", "only integers of 64 bits are drawn",
                                   {{"dtype", dtype.name()}}, "convert what int64 gives");
  const Tensor made = filled<uint64_t>(
      count, [&](uint64_t* out) { cpu::random_integers(low, range, key, count, out); });
  return Tensor(dtype, made.shape(), made.buffer());
}

Tensor random_poisson(int64_t count, double mean, RandomKey key) {
  const ScopedTag tag("random_poisson");
  constexpr double kLargestMean = 4611686018427387904.0;  // 2^62
  check_count("random_poisson", count);
  if (!(mean >= 0.0 && mean <= kLargestMean))
    throw_error<InvalidArgumentError>("random_poisson", "no mean of counts", {{"mean", mean}},
                                      "use 0 to 2^62");
  return filled<int64_t>(count, [&](int64_t* out) { cpu::random_poisson(mean, key, count, out); });
}

Tensor random_sample(int64_t rows, int64_t count, RandomKey key) {
  const ScopedTag tag("random_sample");
  check_count("random_sample", count);
  if (count > rows)
    throw_error<InvalidArgumentError>("random_sample", "more draws than rows",
                                      {{"count", count}, {"rows", rows}},
                                      "draw with replacement, or fewer");
  if (count == 0) return filled<int64_t>(0, [](int64_t*) {});
  const Column keys = as_column(random_integers(rows, dtype_of<uint64_t>(), 0, 0, key));
  return count == rows ? argsort({keys}, {SortOrder()}) : first_rows({keys}, {SortOrder()}, count);
}

}  // namespace hr
