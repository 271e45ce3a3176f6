// SPDX-License-Identifier: Apache-2.0
// Peaks: checks, the order in which options choose, results.
#include "headrace/signal/find_peaks.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/base/error.h"
#include "headrace/signal/find_peaks_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hr {

namespace {

constexpr const char* kOp = "find_peaks";

void check(const Tensor& x, const PeakOptions& options) {
  check_one_dimension(kOp, x);
  if (x.dtype() != Dtype(TypeId::kFloat64))
    throw_error<TypeMismatchError>(kOp, "expected float64", {{"dtype", x.dtype().name()}},
                                   "use astype first");
  if (options.distance && !(*options.distance >= 1))
    throw_error<InvalidArgumentError>(kOp, "the distance is too short",
                                      {{"distance", *options.distance}}, "pass 1 or more");
  if (options.window && *options.window < 2)
    throw_error<InvalidArgumentError>(kOp, "the window of prominences is too short",
                                      {{"wlen", *options.window}}, "pass 2 or more");
  if (!(options.relative_height >= 0))
    throw_error<InvalidArgumentError>(kOp, "the relative height is negative",
                                      {{"rel_height", options.relative_height}}, "pass 0 to 1");
}

/// Keeps the items for which `keep(item)` holds.
template <class T, class F>
void keep_if(BudgetedVector<T>& items, const F& keep) {
  size_t kept = 0;
  for (size_t k = 0; k < items.size(); ++k)
    if (keep(k)) items[kept++] = items[k];
  items.resize(kept);
}

template <class T, class Item, class F>
Tensor column_of(const BudgetedVector<Item>& items, const F& value) {
  const auto count = static_cast<int64_t>(items.size());
  Buffer out = Buffer::allocate(count * static_cast<int64_t>(sizeof(T)));
  T* to = count > 0 ? out.mutable_as<T>() : nullptr;
  for (size_t k = 0; k < items.size(); ++k) to[k] = value(items[k]);
  return Tensor(dtype_of<T>(), {count}, std::move(out));
}

}  // namespace

Peaks find_peaks(const Tensor& strided, const PeakOptions& options) {
  const ScopedTag tag(kOp);
  check(strided, options);
  const Tensor tensor = contiguous(strided, kOp);
  const int64_t count = tensor.num_elements();
  const double* x = count > 0 ? tensor.as<double>() : nullptr;
  using cpu::PeakPlace;
  BudgetedVector<PeakPlace> peaks = cpu::local_maxima(x, count);
  if (options.plateau_size)
    keep_if(peaks, [&](size_t k) {
      return options.plateau_size->has(static_cast<double>(peaks[k].right - peaks[k].left + 1));
    });
  if (options.height)
    keep_if(peaks, [&](size_t k) { return options.height->has(x[peaks[k].middle]); });
  const auto before = [&](const PeakPlace& peak) { return x[peak.middle] - x[peak.middle - 1]; };
  const auto behind = [&](const PeakPlace& peak) { return x[peak.middle] - x[peak.middle + 1]; };
  if (options.threshold)
    keep_if(peaks, [&](size_t k) {
      const double a = before(peaks[k]), b = behind(peaks[k]);
      return std::min(a, b) >= options.threshold->least &&
             std::max(a, b) <= options.threshold->most;
    });
  if (options.distance) {
    const auto distance =
        static_cast<int64_t>(std::min(std::ceil(*options.distance), static_cast<double>(count)));
    const BudgetedVector<uint8_t> keep = cpu::far_apart(x, peaks, distance);
    keep_if(peaks, [&](size_t k) { return keep[k] != 0; });
  }
  BudgetedVector<cpu::PeakProminence> prominences;
  if (options.prominence || options.width)
    prominences = cpu::peak_prominences(x, count, peaks, options.window ? *options.window | 1 : 0);
  if (options.prominence) {
    keep_if(peaks, [&](size_t k) { return options.prominence->has(prominences[k].value); });
    std::erase_if(prominences,
                  [&](const auto& each) { return !options.prominence->has(each.value); });
  }
  BudgetedVector<cpu::PeakWidth> widths;
  if (options.width) {
    widths = cpu::peak_widths(x, peaks, prominences, options.relative_height);
    keep_if(peaks, [&](size_t k) { return options.width->has(widths[k].value); });
    keep_if(prominences, [&](size_t k) { return options.width->has(widths[k].value); });
    std::erase_if(widths, [&](const auto& each) { return !options.width->has(each.value); });
  }
  Peaks result;
  const auto place = [](auto member) {
    return [member](const auto& item) { return item.*member; };
  };
  result.positions = column_of<int64_t>(peaks, place(&PeakPlace::middle));
  if (options.plateau_size) {
    result.plateau_sizes =
        column_of<int64_t>(peaks, [](const PeakPlace& peak) { return peak.right - peak.left + 1; });
    result.left_edges = column_of<int64_t>(peaks, place(&PeakPlace::left));
    result.right_edges = column_of<int64_t>(peaks, place(&PeakPlace::right));
  }
  if (options.height)
    result.heights =
        column_of<double>(peaks, [&](const PeakPlace& peak) { return x[peak.middle]; });
  if (options.threshold) {
    result.left_thresholds = column_of<double>(peaks, before);
    result.right_thresholds = column_of<double>(peaks, behind);
  }
  if (options.prominence || options.width) {
    result.prominences = column_of<double>(prominences, place(&cpu::PeakProminence::value));
    result.left_bases = column_of<int64_t>(prominences, place(&cpu::PeakProminence::left_base));
    result.right_bases = column_of<int64_t>(prominences, place(&cpu::PeakProminence::right_base));
  }
  if (options.width) {
    result.widths = column_of<double>(widths, place(&cpu::PeakWidth::value));
    result.width_heights = column_of<double>(widths, place(&cpu::PeakWidth::height));
    result.left_positions = column_of<double>(widths, place(&cpu::PeakWidth::left));
    result.right_positions = column_of<double>(widths, place(&cpu::PeakWidth::right));
  }
  return result;
}

}  // namespace hr
