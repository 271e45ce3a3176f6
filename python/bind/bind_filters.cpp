// SPDX-License-Identifier: Apache-2.0
// Deferred filters.
#include "python/bind/filters.h"

#include "headrace/base/error.h"
#include "headrace/signal/filter_nodes.h"

#include <utility>

namespace {

using hr::NodePtr;

hr::FilterPadding padding_from_name(std::string_view op, std::string_view word) {
  if (word == "odd") return hr::FilterPadding::kOdd;
  if (word == "even") return hr::FilterPadding::kEven;
  if (word == "constant") return hr::FilterPadding::kConstant;
  if (word == "none") return hr::FilterPadding::kNone;
  hr::throw_error<hr::InvalidArgumentError>(op, "invalid value of an option", {{"padtype", word}},
                                            "use one of odd, even, constant, None");
}

hr::ConvolveMode mode_from_name(std::string_view op, std::string_view word) {
  if (word == "full") return hr::ConvolveMode::kFull;
  if (word == "same") return hr::ConvolveMode::kSame;
  if (word == "valid") return hr::ConvolveMode::kValid;
  hr::throw_error<hr::InvalidArgumentError>(op, "invalid value of an option", {{"mode", word}},
                                            "use one of full, same, valid");
}

hr::MatrixBoundary boundary_from_name(std::string_view op, std::string_view word) {
  if (word == "fill") return hr::MatrixBoundary::kFill;
  if (word == "wrap") return hr::MatrixBoundary::kWrap;
  if (word == "symm") return hr::MatrixBoundary::kSymmetric;
  hr::throw_error<hr::InvalidArgumentError>(op, "invalid value of an option", {{"boundary", word}},
                                            "use one of fill, wrap, symm");
}

std::optional<hr::PeakRange> range_of(const std::optional<std::pair<double, double>>& ends) {
  if (!ends) return {};
  return hr::PeakRange{ends->first, ends->second};
}

}  // namespace

void bind_filters(nb::module_& m) {
  m.def(
      "recursive_filter",
      [](std::string word, const NodePtr& x, int64_t order, std::vector<double> numerators,
         std::vector<double> denominators, int64_t axis, bool single,
         std::optional<NodePtr> initial) -> std::pair<NodePtr, std::optional<NodePtr>> {
        hr::FilteredNodes nodes = hr::recursive_filter(
            std::move(word), x, {order, std::move(numerators), std::move(denominators)}, axis,
            single, initial.value_or(nullptr));
        if (!nodes.state) return {std::move(nodes.values), std::nullopt};
        return {std::move(nodes.values), std::move(nodes.state)};
      },
      "word"_a, "x"_a, "order"_a, "numerators"_a, "denominators"_a, "axis"_a, "single"_a,
      "initial"_a.none(), Unlocked());
  m.def(
      "recursive_filter_both_ways",
      [](std::string word, const NodePtr& x, int64_t order, std::vector<double> numerators,
         std::vector<double> denominators, int64_t axis, bool single, std::vector<double> steady,
         std::string_view padding, int64_t padding_length) {
        const hr::FilterPadding choice = padding_from_name(word, padding);
        return hr::recursive_filter_both_ways(
            std::move(word), x, {order, std::move(numerators), std::move(denominators)}, axis,
            single, std::move(steady), choice, padding_length);
      },
      "word"_a, "x"_a, "order"_a, "numerators"_a, "denominators"_a, "axis"_a, "single"_a,
      "steady"_a, "padding"_a, "padding_length"_a, Unlocked());
  m.def("polyphase_filter", &hr::polyphase_filter, "word"_a, "x"_a, "taps"_a, "up"_a, "down"_a,
        "shift"_a, "count"_a, "single"_a, Unlocked());
  m.def("median_filter", lazy(&hr::median_filter), "x"_a, "size"_a, Unlocked());
  m.def(
      "convolve2d",
      [](std::string word, const NodePtr& x, const NodePtr& kernel, std::string_view mode,
         std::string_view boundary, double fill, bool later_middle) {
        const hr::ConvolveMode part = mode_from_name(word, mode);
        const hr::MatrixBoundary beyond = boundary_from_name(word, boundary);
        return hr::convolve2d(std::move(word), x, kernel, part, beyond, fill, later_middle);
      },
      "word"_a, "x"_a, "kernel"_a, "mode"_a, "boundary"_a, "fill"_a, "later_middle"_a, Unlocked());
  m.def("convolve_with_each", lazy(&hr::convolve_with_each), "word"_a, "x"_a, "taps"_a, Unlocked());
  m.def("convolve_with_ends", lazy(&hr::convolve_with_ends), "word"_a, "x"_a, "taps"_a, "first"_a,
        "last"_a, Unlocked());
  using Ends = std::optional<std::pair<double, double>>;
  m.def(
      "find_peaks",
      [](const NodePtr& x, const Ends& height, const Ends& threshold,
         std::optional<double> distance, const Ends& prominence, const Ends& width,
         std::optional<int64_t> window, double relative_height, const Ends& plateau_size) {
        return hr::find_peaks(
            x, {range_of(height), range_of(threshold), distance, range_of(prominence),
                range_of(width), window, relative_height, range_of(plateau_size)});
      },
      "x"_a, "height"_a.none(), "threshold"_a.none(), "distance"_a.none(), "prominence"_a.none(),
      "width"_a.none(), "window"_a.none(), "relative_height"_a, "plateau_size"_a.none(),
      Unlocked());
}
