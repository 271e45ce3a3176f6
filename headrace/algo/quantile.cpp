// SPDX-License-Identifier: Apache-2.0
// Quantiles.
#include "headrace/algo/quantile.h"

#include "headrace/algo/quantile_math.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hr {

namespace {

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

Tensor quantile(const Column& column, std::span<const double> q) {
  if (!column.dtype().is_real())
    throw_error<TypeMismatchError>("quantile", "the dtype has no order of numbers",
                                   {{"dtype", column.dtype().name()}}, "select a numeric column");
  for (const double each : q)
    if (!(each >= 0 && each <= 1))
      throw_error<InvalidArgumentError>("quantile", "q is out of range", {{"q", each}},
                                        "pass 0 to 1");
  Buffer result = Buffer::allocate(static_cast<int64_t>(q.size() * sizeof(double)));
  double* out = result.mutable_as<double>();
  visit_real(column.dtype(), [&]<class T>(std::type_identity<T>) {
    Buffer scratch = Buffer::allocate(column.num_rows() * static_cast<int64_t>(sizeof(T)));
    T* values = scratch.mutable_as<T>();
    const int64_t count = present_values(column, values);
    std::vector<int64_t> ranks;
    for (const double each : q) {
      const auto below = static_cast<int64_t>(std::floor(each * static_cast<double>(count - 1)));
      ranks.insert(ranks.end(), {below, std::min(below + 1, count - 1)});
    }
    std::sort(ranks.begin(), ranks.end());
    int64_t sorted_to = 0;
    for (const int64_t rank : ranks) {
      if (count == 0 || rank < sorted_to) continue;
      std::nth_element(values + sorted_to, values + rank, values + count);
      sorted_to = rank + 1;
    }
    for (size_t i = 0; i < q.size(); ++i) {
      if (count == 0) {
        out[i] = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const double place = q[i] * static_cast<double>(count - 1);
      const auto below = static_cast<int64_t>(std::floor(place));
      out[i] = interpolate(static_cast<double>(values[below]),
                           static_cast<double>(values[std::min(below + 1, count - 1)]),
                           place - static_cast<double>(below));
    }
  });
  return Tensor(TypeId::kFloat64, {static_cast<int64_t>(q.size())}, std::move(result));
}

}  // namespace hr
