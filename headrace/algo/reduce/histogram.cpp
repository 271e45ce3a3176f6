// SPDX-License-Identifier: Apache-2.0
// Counts of values in bins: checks, edges, dispatch.
#include "headrace/algo/reduce/histogram.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/reduce/histogram_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"

#include <cmath>
#include <limits>

namespace hr {

namespace {

void check_values(const Tensor& x) {
  check_one_dimension("histogram", x);
  if (!x.dtype().is_real())
    throw_error<TypeMismatchError>("histogram", "expected integers or floats",
                                   {{"dtype", x.dtype().name()}}, "use astype first");
}

void check_bins(int64_t bins) {
  if (bins < 1)
    throw_error<InvalidArgumentError>("histogram", "bins must be positive", {{"bins", bins}},
                                      "pass 1 or more");
  if (bins > std::numeric_limits<int32_t>::max() - 1)
    throw_error<InvalidArgumentError>("histogram", "too many bins", {{"bins", bins}},
                                      "use fewer than 2^31 - 1");
}

Extremes dispatch_extremes(const Tensor& x) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::extremes(x);
  return cpu::extremes(x);
}

void dispatch_uniform(const Tensor& x, const UniformBins& bins, const Tensor& edges,
                      Buffer& counts) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::count_uniform(x, bins, edges, counts);
  return cpu::count_uniform(x, bins, edges, counts);
}

void dispatch_between(const Tensor& x, const Tensor& edges, Buffer& counts) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::count_between(x, edges, counts);
  return cpu::count_between(x, edges, counts);
}

/// On a device the kernel fills them.
Buffer allocate_counts(int64_t bins, Place place) {
  if (place.is_host()) return Buffer::allocate_zeroed(bins * int64_t{8});
  return allocate_result(bins * int64_t{8}, place);
}

/// numpy.linspace(low, high, bins + 1), computed in L and stored as E.
template <class L, class E>
void fill_edges(const UniformBins& bins, E* edges) {
  const L low = static_cast<L>(bins.low);
  const L high = static_cast<L>(bins.high);
  const L delta = high - low;
  const L count = static_cast<L>(static_cast<double>(bins.bins));
  const L step = delta / count;
  for (int64_t i = 0; i < bins.bins; ++i) {
    const L place = static_cast<L>(i);
    const L offset = step == 0 ? place / count * delta : place * step;
    edges[i] = static_cast<E>(offset + low);
  }
  edges[bins.bins] = static_cast<E>(high);
}

template <class E>
void check_edges(const E* edges, const UniformBins& bins) {
  for (int64_t i = 0; i < bins.bins; ++i)
    if (!(edges[i] < edges[i + 1]))
      throw_error<InvalidArgumentError>(
          "histogram", "the range is too narrow or too wide for this number of bins",
          {{"bins", bins.bins}, {"low", bins.low}, {"high", bins.high}}, "use fewer bins");
}

UniformBins choose_bins(const Tensor& x, int64_t bins, std::optional<HistogramRange> range) {
  UniformBins chosen{bins, 0.0, 1.0, 1.0, false};
  if (range) {
    if (!(range->low <= range->high) || !std::isfinite(range->low) || !std::isfinite(range->high))
      throw_error<InvalidArgumentError>("histogram", "the range is decreasing or not finite",
                                        {{"low", range->low}, {"high", range->high}},
                                        "pass (low, high) with low <= high");
    chosen.low = range->low;
    chosen.high = range->high;
    chosen.width = range->high - range->low;
  } else if (x.num_elements() > 0) {
    const Extremes found = dispatch_extremes(x);
    if (!std::isfinite(found.low) || !std::isfinite(found.high))
      throw_error<InvalidArgumentError>("histogram", "the values contain NaN or infinity",
                                        {{"low", found.low}, {"high", found.high}}, "pass a range");
    chosen.low = found.low;
    chosen.high = found.high;
    chosen.width = found.width;
    chosen.divide_in_float = x.dtype() == TypeId::kFloat32;
  }
  // The width tells equal from unequal even where two integers round to the same double.
  if (chosen.width == 0) {
    chosen.low -= 0.5;
    chosen.high += 0.5;
    if (chosen.divide_in_float) {
      chosen.low = static_cast<float>(chosen.low);
      chosen.high = static_cast<float>(chosen.high);
    }
    chosen.width = chosen.high - chosen.low;
  }
  return chosen;
}

}  // namespace

Histogram histogram(const Tensor& x, int64_t bins, std::optional<HistogramRange> range) {
  const ScopedTag tag("histogram");
  check_values(x);
  const Dtype edge_dtype = x.dtype() == TypeId::kFloat32 ? TypeId::kFloat32 : TypeId::kFloat64;
  check_bins(bins);
  const int64_t num_edges = bins + 1;
  const UniformBins chosen = choose_bins(x, bins, range);
  Buffer edge_buffer = Buffer::allocate(num_edges * edge_dtype.size_bytes());
  if (edge_dtype == TypeId::kFloat64) {
    fill_edges<double>(chosen, edge_buffer.mutable_as<double>());
    check_edges(edge_buffer.as<double>(), chosen);
  } else {
    float* edges = edge_buffer.mutable_as<float>();
    chosen.divide_in_float ? fill_edges<float>(chosen, edges) : fill_edges<double>(chosen, edges);
    check_edges(edges, chosen);
  }
  const Tensor edges(edge_dtype, {num_edges}, std::move(edge_buffer));
  Buffer counts = allocate_counts(bins, x.place());
  if (x.num_elements() > 0) dispatch_uniform(x, chosen, edges, counts);
  return {Tensor(TypeId::kInt64, {bins}, std::move(counts)),
          output_at("histogram", edges, x.place())};
}

Histogram histogram(const Tensor& x, const Tensor& edges) {
  const ScopedTag tag("histogram");
  check_values(x);
  check_one_dimension("histogram", edges);
  if (!edges.dtype().is_real())
    throw_error<TypeMismatchError>("histogram", "edges must be integers or floats",
                                   {{"dtype", edges.dtype().name()}}, "use astype first");
  const int64_t bins = edges.num_elements() - 1;
  if (bins < 1)
    throw_error<InvalidArgumentError>("histogram", "expected at least two edges",
                                      {{"edges", edges.num_elements()}},
                                      "pass the edges of all bins, including the last one");
  check_bins(bins);
  const Tensor here =
      edges.place().is_gpu() ? to_place(edges, host, current_stream(edges.place())) : edges;
  visit_real(edges.dtype(), [&]<class T>(std::type_identity<T>) {
    const StridedView<T> view(here);
    for (int64_t i = 0; i < bins; ++i)
      if (!(view[i] <= view[i + 1]))
        throw_error<InvalidArgumentError>("histogram", "the edges decrease or contain NaN",
                                          {{"edge", i}}, "sort them");
  });
  Buffer counts = allocate_counts(bins, x.place());
  if (x.num_elements() > 0) dispatch_between(x, here, counts);
  return {Tensor(TypeId::kInt64, {bins}, std::move(counts)), edges};
}

}  // namespace hr
