// SPDX-License-Identifier: Apache-2.0
// Recursive filters: checks, memory, dispatch.
#include "headrace/signal/recursive_filter.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/signal/recursive_filter_kernels.h"

#include <algorithm>
#include <cstring>

namespace hr {

namespace {

void check(const Tensor& x, int64_t axis) {
  if (!x.dtype().is_floating())
    throw_error<TypeMismatchError>("recursive_filter", "expected float32 or float64",
                                   {{"dtype", x.dtype().name()}}, "use astype first");
  if (axis < 0 || axis >= x.num_dimensions())
    throw_error<InvalidArgumentError>("recursive_filter", "the axis is out of range",
                                      {{"axis", axis}, {"dimensions", x.num_dimensions()}},
                                      "pass one of the array's axes");
}

Dtype result_dtype(const Tensor& x, bool single) {
  return single && x.dtype() == Dtype(TypeId::kFloat32) ? TypeId::kFloat32 : TypeId::kFloat64;
}

Buffer result_of(const Tensor& x, Dtype dtype) {
  return Buffer::allocate(
      checked_multiply("recursive_filter", x.num_elements(), dtype.size_bytes()));
}

int64_t lines_of(const Tensor& x, int64_t axis) {
  int64_t lines = 1;
  for (size_t d = 0; d < x.shape().size(); ++d)
    if (d != static_cast<size_t>(axis)) lines *= x.shape()[d];
  return lines;
}

}  // namespace

FilteredSignal recursive_filter(const Tensor& x, const FilterSections& sections, int64_t axis,
                                bool single, const Tensor* initial) {
  const ScopedTag tag("recursive_filter");
  check(x, axis);
  const int64_t lines = lines_of(x, axis);
  const int64_t numbers = checked_multiply("recursive_filter", lines, sections.state_size());
  Buffer states = Buffer::allocate_zeroed(checked_multiply("recursive_filter", numbers, 8));
  if (initial && numbers > 0) {
    const Tensor given = contiguous(*initial, "recursive_filter");
    if (given.dtype() != Dtype(TypeId::kFloat64) || given.num_elements() != numbers)
      throw_error<InvalidArgumentError>(
          "recursive_filter", "the initial state does not fit the signal",
          {{"numbers", given.num_elements()}, {"wanted", numbers}}, "pass one state for each line");
    std::memcpy(states.mutable_data(), given.data(), static_cast<size_t>(8 * numbers));
  }
  const Dtype dtype = result_dtype(x, single);
  Buffer out = result_of(x, dtype);
  if (x.num_elements() > 0)
    cpu::recursive_filter(x, sections, axis, dtype,
                          numbers > 0 ? states.mutable_as<double>() : nullptr, out);
  return {Tensor(dtype, x.shape(), std::move(out)),
          Tensor(TypeId::kFloat64, {lines, sections.state_size()}, std::move(states))};
}

Tensor recursive_filter_both_ways(const Tensor& x, const FilterSections& sections, int64_t axis,
                                  bool single, const std::vector<double>& steady,
                                  FilterPadding padding, int64_t padding_length) {
  const ScopedTag tag("recursive_filter_both_ways");
  check(x, axis);
  const int64_t samples = x.shape()[static_cast<size_t>(axis)];
  if (padding == FilterPadding::kNone) padding_length = 0;
  if (padding_length < 0 || samples <= padding_length)
    throw_error<InvalidArgumentError>(
        "recursive_filter_both_ways", "the signal is not longer than its padding",
        {{"samples", samples}, {"padding", padding_length}}, "pass a shorter padlen");
  const Dtype dtype = result_dtype(x, single);
  Buffer out = result_of(x, dtype);
  if (x.num_elements() > 0)
    cpu::recursive_filter_both_ways(x, sections, axis, dtype, steady, padding, padding_length, out);
  return Tensor(dtype, x.shape(), std::move(out));
}

}  // namespace hr
