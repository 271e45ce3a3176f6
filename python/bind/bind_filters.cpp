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
}
