// SPDX-License-Identifier: Apache-2.0
// Quantiles.
#include "headrace/algo/quantile.h"

#include "headrace/algo/quantile_math.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kInterpolations[] = {"linear", "lower", "higher", "midpoint", "nearest"};

// Moves the values that count to the front of a scratch buffer; how many there are.
template <class T>
int64_t present_values(const Column& column, T* out) {
  const std::span<const T> values = column.values<T>();
  int64_t count = 0;
  for (int64_t i = 0; i < column.num_rows(); ++i) {
    const T value = values[static_cast<size_t>(i)];
    if (column.is_null(i)) continue;
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value)) continue;
    out[count++] = value;
  }
  return count;
}

}  // namespace

Interpolation interpolation_from_name(std::string_view name) {
  return enum_from_name<Interpolation>("quantile", "interpolation", name, kInterpolations);
}

Tensor quantile(const Column& column, std::span<const double> q, Interpolation interpolation) {
  if (!column.dtype().is_real())
    throw_error<TypeMismatchError>("quantile", "the dtype has no order of numbers",
                                   {{"dtype", column.dtype().name()}}, "select a numeric column");
  for (const double each : q)
    if (!(each >= 0 && each <= 1))
      throw_error<InvalidArgumentError>("quantile", "q is out of range", {{"q", each}},
                                        "pass 0 to 1");
  const auto levels = static_cast<int64_t>(q.size());
  const bool picks = picks_values(interpolation);
  const Dtype dtype = picks ? column.dtype() : Dtype(TypeId::kFloat64);
  Buffer result = Buffer::allocate(levels * dtype.size_bytes());
  visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
    Buffer scratch = Buffer::allocate(column.num_rows() * static_cast<int64_t>(sizeof(T)));
    T* values = scratch.mutable_as<T>();
    const int64_t count = present_values(column, values);
    if (count == 0) {
      if (picks && std::is_integral_v<T>)
        throw_error<InvalidArgumentError>("quantile", "there are no values", {},
                                          "check the size first");
      for (int64_t i = 0; i < levels; ++i)
        if (picks)
          result.mutable_as<T>()[i] = std::numeric_limits<T>::quiet_NaN();
        else
          result.mutable_as<double>()[i] = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    std::vector<QuantilePlace> places;
    std::vector<int64_t> ranks;
    for (const double each : q) {
      places.push_back(quantile_place(count, each, interpolation));
      ranks.insert(ranks.end(), {places.back().below, places.back().above});
    }
    std::sort(ranks.begin(), ranks.end());
    int64_t sorted_to = 0;
    for (const int64_t rank : ranks) {
      if (rank < sorted_to) continue;
      std::nth_element(values + sorted_to, values + rank, values + count);
      sorted_to = rank + 1;
    }
    for (int64_t i = 0; i < levels; ++i) {
      const auto [below, above, part] = places[static_cast<size_t>(i)];
      if (picks)
        result.mutable_as<T>()[i] = values[part == 0 ? below : above];
      else
        result.mutable_as<double>()[i] = interpolate(static_cast<double>(values[below]),
                                                     static_cast<double>(values[above]), part);
    }
  });
  return Tensor(dtype, {levels}, std::move(result));
}

}  // namespace hr
