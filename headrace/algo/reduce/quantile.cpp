// SPDX-License-Identifier: Apache-2.0
// Quantiles.
#include "headrace/algo/reduce/quantile.h"

#include "headrace/algo/reduce/quantile_kernels.h"
#include "headrace/algo/reduce/quantile_math.h"
#include "headrace/algo/reduce/select_ranks.h"
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/memory/budget/budget.h"

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

// How many there are of values in order, the missing ones last.
int64_t present_values(const Column& sorted) {
  const auto is_present = [&](int64_t row) {
    return !sorted.is_null(row) && visit_real(sorted.dtype(), [&]<class T>(std::type_identity<T>) {
      const T value = sorted.values<T>()[static_cast<size_t>(row)];
      return value == value;  // no NaN
    });
  };
  return partition_point(int64_t{0}, sorted.num_rows(), is_present);
}

// A copy of the values may take this part of the limit; else they are sorted on the disk.
constexpr int64_t kShareOfLimit = 4;

}  // namespace

Interpolation interpolation_from_name(std::string_view name) {
  return enum_from_name<Interpolation>("quantile", "interpolation", name, kInterpolations);
}

namespace {

// What quantile reads of values: how many are not missing, and those of two ranks.
template <class T>
class RankedValues {
 public:
  explicit RankedValues(const Column& column) : column_(column) {
    if (column.place().is_gpu()) {
      sort_there();
      return;
    }
    const bool nullable = column.null_count() > 0;
    const int64_t bytes = nullable ? column.num_rows() * static_cast<int64_t>(sizeof(T)) : 0;
    if (bytes > memory_limit() / kShareOfLimit) {
      sort_here();
      return;
    }
    scratch_ = Buffer::allocate(bytes);
    values_ = column.values<T>();
    accesses_ = {reads(column)};
    if (!nullable) {
      count_ = count_present(values_, accesses_);
      return;
    }
    count_ = present_values(column, scratch_.mutable_as<T>());
    values_ = {scratch_.as<T>(), static_cast<size_t>(count_)};
    accesses_.clear();
  }

  int64_t count() const { return count_; }

  RankedPair<T> at(int64_t below, int64_t above) const {
    if constexpr (built_with_cuda)
      if (column_.place().is_gpu()) {
        RankedPair<T> pair{};
        cuda::fetch_row(sorted_, below, &pair.at);
        cuda::fetch_row(sorted_, above, &pair.next);
        return pair;
      }
    if (sorted_.num_rows() > 0)
      return {values_[static_cast<size_t>(below)], values_[static_cast<size_t>(above)]};
    return select_ranks(values_, count_, below, accesses_);
  }

 private:
  void sort_here() {
    sorted_ = sort_rows({column_}, {{}}, {column_})[0];
    values_ = sorted_.values<T>();
    count_ = present_values(sorted_);
  }

  void sort_there() {
    if (column_.num_rows() == 0) return;
    sorted_ = sort_rows({column_}, {{}}, {column_})[0];
    if constexpr (built_with_cuda) count_ = cuda::present_values(sorted_);
  }

  const Column& column_;
  Column sorted_{};
  Buffer scratch_{};
  std::span<const T> values_{};
  std::vector<BufferAccess> accesses_{};
  int64_t count_ = 0;
};

}  // namespace

Tensor quantile(const Column& column, std::span<const double> q, Interpolation interpolation) {
  if (!column.dtype().is_real())
    throw_error<TypeMismatchError>("quantile", "expected numeric values",
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
    const RankedValues<T> values(column);
    if (values.count() == 0) {
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
    for (int64_t i = 0; i < levels; ++i) {
      const auto [below, above, part] =
          quantile_place(values.count(), q[static_cast<size_t>(i)], interpolation);
      const auto [at, next] = values.at(below, above);
      // The order of the zeros does not matter.
      if (picks)
        result.mutable_as<T>()[i] = static_cast<T>((part == 0 ? at : next) + T{});
      else
        result.mutable_as<double>()[i] =
            interpolate(static_cast<double>(at), static_cast<double>(next), part) + 0.0;
    }
  });
  return output_at("quantile", Tensor(dtype, {levels}, std::move(result)), column.place());
}

}  // namespace hr
