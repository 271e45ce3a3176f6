// SPDX-License-Identifier: Apache-2.0
// Deferred plot functions.
#include "headrace/plot/nodes.h"

#include "headrace/base/error.h"
#include "headrace/plan/execute/placement.h"
#include "headrace/plan/graph/view.h"

namespace hr {
namespace {

/// An array of one dimension of numbers, whatever handle it came from.
NodePtr one_dimension(const char* op, const NodePtr& node) {
  const Signature& signature = node->signature();
  if (!signature.dtype.is_real() || signature.shape.size() != 1)
    throw_error<TypeMismatchError>(
        op, "needs one-dimensional integers or floats",
        {{"dimensions", signature.shape.size()}, {"dtype", signature.dtype.name()}});
  return signature.form == Form::kColumn ? as_tensor_node(node) : node;
}

const Tensor& tensor(const Value& value) {
  return std::get<Tensor>(value);
}

}  // namespace

EnvelopeNodes envelope_node(const NodePtr& x, int64_t start, std::optional<int64_t> stop,
                            int64_t width) {
  const NodePtr array = one_dimension("envelope", x);
  const int64_t rows = array->signature().rows();
  if (rows != kUnknown) check_envelope(rows, start, stop.value_or(rows), width);
  if (width < 1) check_envelope(1, 0, 1, width);
  // The first node leaves the other half here for the second, which runs after it.
  auto made = std::make_shared<Tensor>();
  const Signature signature = array_signature(array->signature().dtype, {width});
  const NodePtr low = operator_node(
      "envelope", "width=" + std::to_string(width), signature, {array}, 1,
      [=](std::span<const Value> inputs) -> Value {
        const Tensor& values = tensor(inputs[0]);
        Envelope result = envelope(values, start, stop.value_or(values.num_elements()), width);
        *made = result.high;
        return result.low;
      },
      nullptr, true);
  return {low, operator_node("envelope_high", "", signature, {low}, 0,
                             [made](std::span<const Value> values) -> Value {
                               return to_place(*made, place_of(values[0]));
                             })};
}

NodePtr raster_envelope_node(const NodePtr& low, const NodePtr& high, double bottom, double top,
                             int64_t height, Color ink) {
  std::vector<NodePtr> inputs{one_dimension("raster_envelope", low),
                              one_dimension("raster_envelope", high)};
  const int64_t width = inputs[0]->signature().rows();
  return operator_node("raster_envelope", "height=" + std::to_string(height),
                       array_signature(TypeId::kUInt8, {height, width, 4}), std::move(inputs), 1,
                       [=](std::span<const Value> values) -> Value {
                         return raster_envelope({tensor(values[0]), tensor(values[1])}, bottom, top,
                                                height, ink);
                       });
}

NodePtr raster_points_node(const NodePtr& x, const NodePtr& y, double left, double right,
                           double bottom, double top, int64_t width, int64_t height) {
  std::vector<NodePtr> inputs{one_dimension("raster_points", x), one_dimension("raster_points", y)};
  return operator_node("raster_points",
                       "width=" + std::to_string(width) + ", height=" + std::to_string(height),
                       array_signature(TypeId::kInt64, {height, width}), std::move(inputs), 1,
                       [=](std::span<const Value> values) -> Value {
                         return raster_points(tensor(values[0]), tensor(values[1]), left, right,
                                              bottom, top, width, height);
                       });
}

NodePtr encode_png_node(const NodePtr& image) {
  if (image->signature().form != Form::kTensor || image->signature().dtype != TypeId::kUInt8)
    throw_error<TypeMismatchError>("encode_png", "an image is an array of uint8",
                                   {{"dtype", image->signature().dtype.name()}});
  return operator_node(
      "encode_png", "", array_signature(TypeId::kUInt8, {kUnknown}, new_domain()), {image}, 1,
      [](std::span<const Value> inputs) -> Value { return encode_png(tensor(inputs[0])); });
}

}  // namespace hr
