// SPDX-License-Identifier: Apache-2.0
// Deferred learn functions.
#include "headrace/learn/nodes.h"

#include "headrace/base/error.h"
#include "headrace/plan/execute/placement.h"

#include <algorithm>

namespace hr {
namespace {

/// A node that applies `run` to a model of `mean` and `components` and to `x`, whose rows it has.
/// `columns` is what `x` must have, `result` the columns of the result (-1: one dimension).
template <class F>
NodePtr model_node(const char* op, const NodePtr& mean, const NodePtr& components, const NodePtr& x,
                   int64_t columns, int64_t result, F run) {
  const Signature& from = x->signature();
  if (from.form != Form::kTensor || from.shape.size() != 2 || !from.dtype.is_floating())
    throw_error<TypeMismatchError>(
        op, "needs a two-dimensional float32 or float64 array",
        {{"dimensions", from.shape.size()}, {"dtype", from.dtype.name()}});
  if (from.shape[1] != columns && from.shape[1] != kUnknown)
    throw_error<InvalidArgumentError>(op, "the number of columns differs from the model's",
                                      {{"columns", from.shape[1]}, {"model", columns}});
  const Signature signature =
      result < 0 ? array_signature(TypeId::kFloat64, {from.shape[0]}, from.domain)
                 : array_signature(from.dtype, {from.shape[0], result}, from.domain);
  return operator_node(
      op, "", signature, {mean, components, x}, 1,
      [run](std::span<const Value> inputs) -> Value {
        Pca model;
        model.mean = std::get<Tensor>(inputs[0]);
        model.components = std::get<Tensor>(inputs[1]);
        return run(model, std::get<Tensor>(inputs[2]));
      },
      nullptr, true);
}

}  // namespace

Pca fit_pca(const NodePtr& x, std::optional<int64_t> num_components) {
  if (x->signature().form != Form::kTensor)
    throw_error<TypeMismatchError>("pca_fit", "needs an array of two dimensions");
  Pca model;
  const std::vector<Value> made = dispatch_to_place(
      "pca_fit", true, {force(x)}, [&](std::span<const Value> inputs) -> std::vector<Value> {
        const auto& rows = std::get<Tensor>(inputs[0]);
        const Shape& shape = rows.shape();
        const int64_t all = shape.empty() ? 1 : *std::min_element(shape.begin(), shape.end());
        model = pca_fit(rows, num_components.value_or(all));
        return {model.mean, model.components, model.explained_variance};
      });
  model.mean = std::get<Tensor>(made[0]);
  model.components = std::get<Tensor>(made[1]);
  model.explained_variance = std::get<Tensor>(made[2]);
  return model;
}

NodePtr pca_transform_node(const NodePtr& mean, const NodePtr& components, const NodePtr& x) {
  const Shape& shape = components->signature().shape;
  return model_node("pca_transform", mean, components, x, shape[1], shape[0], pca_transform);
}

NodePtr pca_inverse_transform_node(const NodePtr& mean, const NodePtr& components,
                                   const NodePtr& latent) {
  const Shape& shape = components->signature().shape;
  return model_node("pca_inverse_transform", mean, components, latent, shape[0], shape[1],
                    pca_inverse_transform);
}

NodePtr pca_reconstruction_error_node(const NodePtr& mean, const NodePtr& components,
                                      const NodePtr& x) {
  const Shape& shape = components->signature().shape;
  return model_node("pca_reconstruction_error", mean, components, x, shape[1], -1,
                    pca_reconstruction_error);
}

}  // namespace hr
