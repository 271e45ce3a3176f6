// SPDX-License-Identifier: Apache-2.0
// Pictures: lazy but for the pyramid, which evaluates its data.
#include "python/bind/bind.h"

#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/view.h"
#include "headrace/plot/cube.h"
#include "headrace/plot/nodes.h"
#include "headrace/plot/pyramid.h"

namespace {

using hr::NodePtr;

// The tensor of a node, run now and fetched where it is elsewhere; a column is seen as one.
hr::Tensor tensor_of(const NodePtr& node) {
  const bool column = node->signature().form == hr::Form::kColumn;
  const hr::Value value = hr::force(column ? hr::as_tensor(node) : node);
  return std::get<hr::Tensor>(hr::to_place(value, hr::host));
}

// The column of a node, run now and fetched where it is elsewhere.
hr::Column column_of(const NodePtr& node) {
  const bool array = node->signature().form == hr::Form::kTensor;
  const hr::Value value = hr::force(array ? hr::as_column(node) : node);
  return std::get<hr::Column>(hr::to_place(value, hr::host));
}

// Codes and the cell of each; masks; values to sum.
using Axis = std::tuple<NodePtr, NodePtr, int64_t>;
using Request = std::tuple<std::vector<Axis>, std::vector<NodePtr>, std::optional<NodePtr>>;

std::vector<std::pair<NodePtr, std::optional<NodePtr>>> count_cubes(
    int64_t rows, const std::vector<Request>& requests) {
  std::vector<hr::CubeRequest> wanted;
  for (const auto& [axes, masks, values] : requests) {
    hr::CubeRequest& request = wanted.emplace_back();
    for (const auto& [codes, cells, count] : axes)
      request.axes.push_back({tensor_of(codes), tensor_of(cells), count});
    for (const NodePtr& mask : masks) request.masks.push_back(column_of(mask));
    if (values) request.values = column_of(*values);
  }
  std::vector<std::pair<NodePtr, std::optional<NodePtr>>> made;
  for (const hr::Cube& cube : hr::count_cubes(rows, wanted)) {
    const bool summed = cube.sums.num_elements() > 0;
    made.emplace_back(
        hr::lazy_value(cube.counts, "count_cubes"),
        summed ? std::optional(hr::lazy_value(cube.sums, "count_cubes")) : std::nullopt);
  }
  return made;
}

}  // namespace

void bind_plot(nb::module_& m) {
  m.def(
      "envelope",
      [](const NodePtr& x, int64_t start, std::optional<int64_t> stop, int64_t width) {
        hr::EnvelopeNodes nodes = hr::envelope(x, start, stop, width);
        return std::pair(std::move(nodes.low), std::move(nodes.high));
      },
      "x"_a, "start"_a, "stop"_a.none(), "width"_a, Unlocked());
  m.def(
      "raster_envelope",
      [](const NodePtr& low, const NodePtr& high, double bottom, double top, int64_t height,
         std::tuple<uint8_t, uint8_t, uint8_t, uint8_t> color) {
        const auto [red, green, blue, alpha] = color;
        return hr::raster_envelope(low, high, bottom, top, height, {red, green, blue, alpha});
      },
      "low"_a, "high"_a, "bottom"_a, "top"_a, "height"_a, "color"_a, Unlocked());
  m.def(
      "raster_points",
      [](const NodePtr& x, const NodePtr& y, double left, double right, double bottom, double top,
         int64_t width, int64_t height, const std::optional<NodePtr>& groups, int64_t num_groups) {
        return hr::raster_points(x, y, left, right, bottom, top, width, height,
                                 groups.value_or(nullptr), num_groups);
      },
      "x"_a, "y"_a, "left"_a, "right"_a, "bottom"_a, "top"_a, "width"_a, "height"_a,
      "groups"_a = nb::none(), "num_groups"_a = 1, Unlocked());
  m.def("raster_segments", lazy(&hr::raster_segments), "lines"_a, "left"_a, "right"_a, "bottom"_a,
        "top"_a, "width"_a, "height"_a, Unlocked());
  m.def("encode_png", lazy(&hr::encode_png), "image"_a, Unlocked());
  m.def(
      "pyramid",
      [](const NodePtr& x, int64_t max_values) {
        const hr::Pyramid made = hr::pyramid(tensor_of(x), max_values);
        return std::tuple(made.num_rows, made.bucket, made.num_buckets, made.offset, made.step,
                          hr::lazy_value(made.codes, "pyramid"));
      },
      "x"_a, "max_values"_a, Unlocked());
  m.def(
      "pack_codes",
      [](const NodePtr& codes) {
        return hr::lazy_value(hr::pack_codes(tensor_of(codes)), "pack_codes");
      },
      "codes"_a, Unlocked());
  m.def(
      "bin_codes",
      [](const NodePtr& column, double origin, double width, int64_t cells) {
        const hr::Grid<double> grid{origin, width, cells};
        return hr::lazy_value(hr::bin_codes(column_of(column), grid), "bin_codes");
      },
      "column"_a, "origin"_a, "width"_a, "cells"_a, Unlocked());
  m.def(
      "bin_integer_codes",
      [](const NodePtr& column, int64_t origin, int64_t width, int64_t cells) {
        const hr::Grid<int64_t> grid{origin, width, cells};
        return hr::lazy_value(hr::bin_codes(column_of(column), grid), "bin_codes");
      },
      "column"_a, "origin"_a, "width"_a, "cells"_a, Unlocked());
  m.def(
      "row_codes",
      [](int64_t rows, int64_t cells) {
        return hr::lazy_value(hr::row_codes(rows, cells), "row_codes");
      },
      "rows"_a, "cells"_a, Unlocked());
  m.def("count_cubes", &count_cubes, "rows"_a, "requests"_a, Unlocked());
}
