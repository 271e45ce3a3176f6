// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for the rasters.
#include "headrace/plot/raster.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/working_memory.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plot/raster_kernels.h"

#include <algorithm>
#include <cmath>

namespace hr {
namespace {

constexpr int64_t kMaxSide = 65536;
constexpr int64_t kMaxGroups = 65535;

void check_side(std::string_view op, std::string_view name, int64_t pixels) {
  if (pixels < 1 || pixels > kMaxSide)
    throw_error<InvalidArgumentError>(op, "a side is not a number of pixels", {{name, pixels}},
                                      "use 1 to 65536");
}

void check_range(std::string_view op, std::string_view low_name, double low,
                 std::string_view high_name, double high) {
  if (!(low < high) || !std::isfinite(high - low))
    throw_error<InvalidArgumentError>(op, "the range to draw is empty or not finite",
                                      {{low_name, low}, {high_name, high}});
}

void check_pair(std::string_view op, const Tensor& a, const Tensor& b) {
  for (const Tensor* x : {&a, &b})
    if (x->num_dimensions() != 1 || !x->dtype().is_real())
      throw_error<TypeMismatchError>(
          op, "expected a 1-D array of integers or floats",
          {{"dimensions", x->num_dimensions()}, {"dtype", x->dtype().name()}});
  if (a.num_elements() != b.num_elements())
    throw_error<InvalidArgumentError>(op, "the two tensors differ in length",
                                      {{"first", a.num_elements()}, {"second", b.num_elements()}});
}

void check_grid(std::string_view op, double left, double right, double bottom, double top,
                int64_t width, int64_t height) {
  check_range(op, "left", left, "right", right);
  check_range(op, "bottom", bottom, "top", top);
  check_side(op, "width", width);
  check_side(op, "height", height);
}

void check_groups(const PointGroups& groups, int64_t points) {
  const Tensor& numbers = groups.numbers;
  if (numbers.dtype() != dtype_of<uint16_t>() || numbers.num_dimensions() != 1 ||
      !numbers.is_contiguous())
    throw_error<TypeMismatchError>(
        "raster_points", "expected groups as a contiguous 1-D array of uint16",
        {{"dimensions", numbers.num_dimensions()}, {"dtype", numbers.dtype().name()}});
  if (numbers.num_elements() != points)
    throw_error<InvalidArgumentError>("raster_points", "each point needs a group",
                                      {{"points", points}, {"groups", numbers.num_elements()}});
  if (groups.count < 1 || groups.count > kMaxGroups)
    throw_error<InvalidArgumentError>("raster_points", "unsupported number of groups",
                                      {{"groups", groups.count}}, "use 1 to 65535");
}

}  // namespace

Tensor raster_envelope(const Envelope& envelope, double bottom, double top, int64_t height,
                       Color ink) {
  check_pair("raster_envelope", envelope.low, envelope.high);
  if (envelope.low.dtype() != envelope.high.dtype())
    throw_error<TypeMismatchError>(
        "raster_envelope", "low and high differ in dtype",
        {{"low", envelope.low.dtype().name()}, {"high", envelope.high.dtype().name()}});
  check_range("raster_envelope", "bottom", bottom, "top", top);
  check_side("raster_envelope", "height", height);
  const int64_t width = envelope.low.num_elements();
  check_side("raster_envelope", "width", width);
  const ScopedTag tag("raster_envelope");
  Buffer pixels = Buffer::allocate(height * width * 4);
  cpu::raster_envelope(envelope, bottom, top, height, ink, pixels.mutable_as<uint8_t>());
  return Tensor(dtype_of<uint8_t>(), {height, width, 4}, std::move(pixels));
}

Tensor raster_points(const Tensor& x, const Tensor& y, double left, double right, double bottom,
                     double top, int64_t width, int64_t height,
                     const std::optional<PointGroups>& groups) {
  const int64_t points = x.num_elements();
  check_pair("raster_points", x, y);
  check_grid("raster_points", left, right, bottom, top, width, height);
  if (groups) check_groups(*groups, points);
  Shape shape{height, width};
  if (groups) shape.insert(shape.begin(), groups->count);
  const int64_t cells = num_elements(shape);
  const ScopedTag tag("raster_points");
  const int64_t bytes = checked_multiply("raster_points", cells + 1, int64_t{sizeof(int64_t)});
  // A table for each thread pays where points outnumber cells.
  const bool many = points >= 2 * cells;
  const WorkingMemory working({.all = many ? 0 : bytes, .thread = many ? bytes : 0});
  const int64_t slots = std::clamp<int64_t>(points / cells, 1, working.threads());
  Buffer counts = Buffer::allocate_zeroed(bytes);
  Buffer more = Buffer::allocate_zeroed((slots - 1) * bytes);
  auto* others = slots > 1 ? more.mutable_as<int64_t>() : nullptr;
  const cpu::PointsJob job{{x, left, right, width, 1},
                           {y, bottom, top, height, -width},
                           groups ? &groups->numbers : nullptr,
                           groups ? height * width : 0,
                           cells};
  cpu::raster_points(job, slots, counts.mutable_as<int64_t>(), others);
  return Tensor(dtype_of<int64_t>(), shape, std::move(counts));
}

Tensor raster_segments(const LineEnds& lines, double left, double right, double bottom, double top,
                       int64_t width, int64_t height) {
  for (const Tensor* other : {&lines.y0, &lines.x1, &lines.y1}) {
    check_pair("raster_segments", lines.x0, *other);
    if (other->dtype() != lines.x0.dtype())
      throw_error<TypeMismatchError>(
          "raster_segments", "the ends differ in dtype",
          {{"first", lines.x0.dtype().name()}, {"other", other->dtype().name()}});
  }
  const ScopedTag tag("raster_segments");
  check_grid("raster_segments", left, right, bottom, top, width, height);
  Buffer counts = Buffer::allocate_zeroed(height * width * static_cast<int64_t>(sizeof(int64_t)));
  cpu::raster_segments(lines, left, right, bottom, top, width, height,
                       counts.mutable_as<int64_t>());
  return Tensor(dtype_of<int64_t>(), {height, width}, std::move(counts));
}

}  // namespace hr
