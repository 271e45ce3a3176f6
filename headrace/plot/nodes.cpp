// SPDX-License-Identifier: Apache-2.0
// Deferred plot functions.
#include "headrace/plot/nodes.h"

#include "headrace/base/error.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/view.h"

#include <memory>
#include <optional>

namespace hr {
namespace {

/// An array of one dimension of numbers, whatever handle it came from.
NodePtr one_dimension(const char* op, const NodePtr& node) {
  const Signature& signature = node->signature();
  if (!signature.dtype.is_real() || signature.shape.size() != 1)
    throw_error<TypeMismatchError>(
        op, "expected a 1-D array of integers or floats",
        {{"dimensions", signature.shape.size()}, {"dtype", signature.dtype.name()}});
  return signature.form == Form::kColumn ? as_tensor(node) : node;
}

const Tensor& tensor(const Value& value) {
  return std::get<Tensor>(value);
}

/// The lower half; leaves the upper one for EnvelopeHigh, which runs after it, so it is equal to
/// itself alone.
struct EnvelopeLow final : Operator {
  int64_t start = 0;
  std::optional<int64_t> stop{};
  int64_t width = 1;
  std::shared_ptr<Tensor> high = std::make_shared<Tensor>();

  std::string_view name() const override { return "envelope"; }

  std::string arguments() const override { return "width=" + std::to_string(width); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor& values = tensor(inputs[0]);
    Envelope result = envelope(values, start, stop.value_or(values.num_elements()), width);
    *high = result.high;
    return result.low;
  }
};

struct EnvelopeHigh final : Operator {
  explicit EnvelopeHigh(std::shared_ptr<const Tensor> from) : high(std::move(from)) {}

  std::string_view name() const override { return "envelope_high"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return to_place(*high, place_of(inputs[0]));
  }

  std::shared_ptr<const Tensor> high;
};

}  // namespace

EnvelopeNodes envelope(const NodePtr& x, int64_t start, std::optional<int64_t> stop,
                       int64_t width) {
  const NodePtr array = one_dimension("envelope", x);
  const int64_t rows = array->signature().rows();
  if (rows != kUnknown) check_envelope(rows, start, stop.value_or(rows), width);
  if (width < 1) check_envelope(1, 0, 1, width);
  const Signature signature = array_signature(array->signature().dtype, {width});
  auto op = std::make_shared<EnvelopeLow>();
  op->start = start;
  op->stop = stop;
  op->width = width;
  const NodePtr low = apply_operator(op, signature, {array});
  return {low, apply_operator(std::make_shared<EnvelopeHigh>(op->high), signature, {low})};
}

namespace {

struct RasterEnvelope final : OperatorOf<RasterEnvelope> {
  double bottom = 0;
  double top = 1;
  int64_t height = 1;
  Color ink{};

  std::string_view name() const override { return "raster_envelope"; }

  std::string arguments() const override { return "height=" + std::to_string(height); }

  Value execute(std::span<const Value> inputs) const override {
    return raster_envelope({tensor(inputs[0]), tensor(inputs[1])}, bottom, top, height, ink);
  }

  static auto parameters(auto& self) {
    return std::tie(self.bottom, self.top, self.height, self.ink);
  }
};

}  // namespace

NodePtr raster_envelope(const NodePtr& low, const NodePtr& high, double bottom, double top,
                        int64_t height, Color ink) {
  std::vector<NodePtr> inputs{one_dimension("raster_envelope", low),
                              one_dimension("raster_envelope", high)};
  const int64_t width = inputs[0]->signature().rows();
  return apply_operator(RasterEnvelope::make(bottom, top, height, ink),
                        array_signature(TypeId::kUInt8, {height, width, 4}), std::move(inputs));
}

namespace {

/// A grid of counts.
template <class Self>
struct RasterOf : OperatorOf<Self> {
  double left = 0;
  double right = 1;
  double bottom = 0;
  double top = 1;
  int64_t width = 1;
  int64_t height = 1;

  std::string arguments() const override {
    return "width=" + std::to_string(width) + ", height=" + std::to_string(height);
  }

  static auto parameters(auto& self) {
    return std::tie(self.left, self.right, self.bottom, self.top, self.width, self.height);
  }
};

struct RasterPoints final : RasterOf<RasterPoints> {
  int64_t num_groups = 1;

  std::string_view name() const override { return "raster_points"; }

  static auto parameters(auto& self) {
    return std::tuple_cat(RasterOf<RasterPoints>::parameters(self), std::tie(self.num_groups));
  }

  Value execute(std::span<const Value> inputs) const override {
    std::optional<PointGroups> groups;
    if (inputs.size() > 2) groups = PointGroups{tensor(inputs[2]), num_groups};
    return raster_points(tensor(inputs[0]), tensor(inputs[1]), left, right, bottom, top, width,
                         height, groups);
  }
};

struct RasterSegments final : RasterOf<RasterSegments> {
  std::string_view name() const override { return "raster_segments"; }

  Value execute(std::span<const Value> inputs) const override {
    return raster_segments(
        {tensor(inputs[0]), tensor(inputs[1]), tensor(inputs[2]), tensor(inputs[3])}, left, right,
        bottom, top, width, height);
  }
};

}  // namespace

NodePtr raster_points(const NodePtr& x, const NodePtr& y, double left, double right, double bottom,
                      double top, int64_t width, int64_t height, const NodePtr& groups,
                      int64_t num_groups) {
  std::vector<NodePtr> inputs{one_dimension("raster_points", x), one_dimension("raster_points", y)};
  Shape shape{height, width};
  if (groups) {
    inputs.push_back(one_dimension("raster_points", groups));
    shape.insert(shape.begin(), num_groups);
  }
  return apply_operator(RasterPoints::make(left, right, bottom, top, width, height, num_groups),
                        array_signature(TypeId::kInt64, shape), std::move(inputs));
}

NodePtr raster_segments(const std::vector<NodePtr>& lines, double left, double right, double bottom,
                        double top, int64_t width, int64_t height) {
  std::vector<NodePtr> inputs;
  for (const NodePtr& each : lines) inputs.push_back(one_dimension("raster_segments", each));
  return apply_operator(RasterSegments::make(left, right, bottom, top, width, height),
                        array_signature(TypeId::kInt64, {height, width}), std::move(inputs));
}

namespace {

struct EncodePng final : OperatorOf<EncodePng> {
  std::string_view name() const override { return "encode_png"; }

  Value execute(std::span<const Value> inputs) const override {
    return encode_png(tensor(inputs[0]));
  }
};

}  // namespace

NodePtr encode_png(const NodePtr& image) {
  if (image->signature().form != Form::kTensor || image->signature().dtype != TypeId::kUInt8)
    throw_error<TypeMismatchError>("encode_png", "an image is an array of uint8",
                                   {{"dtype", image->signature().dtype.name()}});
  return apply_operator(EncodePng::make(),
                        array_signature(TypeId::kUInt8, {kUnknown}, new_domain()), {image});
}

}  // namespace hr
