// SPDX-License-Identifier: Apache-2.0
// Counts of values in bins on the CPU. Counts are integers, so their order of adding is free.
#include "headrace/algo/histogram_kernels.h"
#include "headrace/algo/histogram_math.h"
#include "headrace/algo/strided_view.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>
#include <vector>

namespace hr::cpu {

namespace {

/// Up to so many bins a morsel counts apart; beyond, all share one array.
constexpr int64_t kOwnBins = 1 << 14;

/// Calls `bin_of(value)` for every element and counts the answers that are not negative.
template <class T, class BinOf>
void count_bins(const StridedView<T>& x, int64_t bins, Buffer& counts, const BinOf& bin_of) {
  int64_t* total = counts.mutable_as<int64_t>();
  parallel_morsels(x.size, [&](Morsel morsel) {
    if (bins > kOwnBins) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i)
        if (const int64_t bin = bin_of(x[i]); bin >= 0)
          std::atomic_ref(total[bin]).fetch_add(1, std::memory_order_relaxed);
      return;
    }
    Buffer own = Buffer::allocate_zeroed(bins * int64_t{8});
    int64_t* count = own.mutable_as<int64_t>();
    for (int64_t i = morsel.begin; i < morsel.end; ++i)
      if (const int64_t bin = bin_of(x[i]); bin >= 0) ++count[bin];
    for (int64_t bin = 0; bin < bins; ++bin)
      if (count[bin] != 0)
        std::atomic_ref(total[bin]).fetch_add(count[bin], std::memory_order_relaxed);
  });
}

template <class T>
struct MinMax {
  T low;
  T high;
  bool has_nan;
};

template <class T>
MinMax<T> min_max(const StridedView<T>& x, int64_t begin, int64_t end) {
  MinMax<T> found{x[begin], x[begin], false};
  for (int64_t i = begin; i < end; ++i) {
    const T value = x[i];
    found.low = value < found.low ? value : found.low;
    found.high = value > found.high ? value : found.high;
    found.has_nan |= value != value;
  }
  return found;
}

/// Compares in the type that NumPy would promote values and edges to.
template <class C, class T>
void count_between_as(const StridedView<T>& x, const Tensor& edges, Buffer& counts) {
  const int64_t bins = edges.num_elements() - 1;
  Buffer converted = Buffer::allocate((bins + 1) * static_cast<int64_t>(sizeof(C)));
  C* edge = converted.mutable_as<C>();
  visit_real(edges.dtype(), [&]<class E>(std::type_identity<E>) {
    const StridedView<E> view(edges);
    for (int64_t i = 0; i <= bins; ++i) edge[i] = static_cast<C>(view[i]);
  });
  count_bins(x, bins, counts,
             [&](T value) { return bin_between(static_cast<C>(value), edge, bins); });
}

}  // namespace

Extremes extremes(const Tensor& x) {
  return visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const StridedView<T> view(x);
    std::vector<MinMax<T>> parts(static_cast<size_t>(num_morsels(view.size)));
    parallel_morsels(view.size, [&](Morsel morsel) {
      parts[static_cast<size_t>(morsel.index)] = min_max(view, morsel.begin, morsel.end);
    });
    MinMax<T> all = parts[0];
    for (const MinMax<T>& part : parts) {
      all.low = std::min(all.low, part.low);
      all.high = std::max(all.high, part.high);
      all.has_nan |= part.has_nan;
    }
    if (all.has_nan) return Extremes{NAN, NAN, NAN};
    double width;
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      width =
          static_cast<double>(static_cast<U>(static_cast<U>(all.high) - static_cast<U>(all.low)));
    } else {
      width = static_cast<double>(static_cast<T>(all.high - all.low));
    }
    return Extremes{static_cast<double>(all.low), static_cast<double>(all.high), width};
  });
}

void count_uniform(const Tensor& x, const UniformBins& bins, const Tensor& edges, Buffer& counts) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    using E = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const StridedView<T> view(x);
    const E* edge = edges.as<E>();
    const E low = static_cast<E>(bins.low);
    const E high = static_cast<E>(bins.high);
    const auto count = [&]<class D>(std::type_identity<D>) {
      count_bins(view, bins.bins, counts, [&](T value) -> int64_t {
        const E converted = static_cast<E>(value);
        if (!(converted >= low && converted <= high)) return -1;
        return uniform_bin<D>(converted, bins, edge);
      });
    };
    bins.divide_in_float ? count(std::type_identity<E>{}) : count(std::type_identity<double>{});
  });
}

void count_between(const Tensor& x, const Tensor& edges, Buffer& counts) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const StridedView<T> view(x);
    const bool whole = x.dtype().is_integer() && edges.dtype().is_integer();
    const bool wide = x.dtype() == TypeId::kUInt64 || edges.dtype() == TypeId::kUInt64;
    if (whole && !wide) return count_between_as<int64_t>(view, edges, counts);
    if (whole && x.dtype().is_unsigned() && edges.dtype().is_unsigned())
      return count_between_as<uint64_t>(view, edges, counts);
    return count_between_as<double>(view, edges, counts);
  });
}

}  // namespace hr::cpu
