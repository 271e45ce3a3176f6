// SPDX-License-Identifier: Apache-2.0
// Deferred learn functions.
#include "headrace/learn/nodes.h"

#include "headrace/base/error.h"
#include "headrace/learn/eager.h"
#include "headrace/learn/forest_kernels.h"
#include "headrace/learn/linear_loss.h"
#include "headrace/learn/pca_kernels.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>

namespace hr {
namespace {

/// A model, of which the mean and the components are inputs, applied to the rows of the third.
struct ApplyPca : Operator {
  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    const int64_t values = projected(std::get<Tensor>(inputs[1]).shape());
    return values > kMostProjected ? "too many features for the CUDA kernel" : "";
  }

  /// Values of a row that the kernel projects, by the model's components and features.
  virtual int64_t projected(const Shape& components) const { return components[1]; }

  Value execute(std::span<const Value> inputs) const override {
    Pca model;
    model.mean = std::get<Tensor>(inputs[0]);
    model.components = std::get<Tensor>(inputs[1]);
    return apply(model, std::get<Tensor>(inputs[2]));
  }

  virtual Tensor apply(const Pca& model, const Tensor& rows) const = 0;
};

struct PcaTransform final : OperatorOf<PcaTransform, ApplyPca> {
  std::string_view name() const override { return "pca_transform"; }

  Tensor apply(const Pca& model, const Tensor& rows) const override {
    return pca_transform(model, rows);
  }
};

struct PcaInverseTransform final : OperatorOf<PcaInverseTransform, ApplyPca> {
  std::string_view name() const override { return "pca_inverse_transform"; }

  int64_t projected(const Shape&) const override { return 0; }

  Tensor apply(const Pca& model, const Tensor& rows) const override {
    return pca_inverse_transform(model, rows);
  }
};

struct PcaReconstructionError final : OperatorOf<PcaReconstructionError, ApplyPca> {
  std::string_view name() const override { return "pca_reconstruction_error"; }

  int64_t projected(const Shape& components) const override {
    return components[0] + components[1];
  }

  Tensor apply(const Pca& model, const Tensor& rows) const override {
    return pca_reconstruction_error(model, rows);
  }
};

struct LogShares final : OperatorOf<LogShares> {
  std::string_view name() const override { return "log_shares"; }

  Value execute(std::span<const Value> inputs) const override {
    return log_shares(std::get<Tensor>(inputs[0]));
  }
};

/// `columns` is what `x` must have, `result` the columns of the result (-1: one dimension).
NodePtr model_node(OperatorPtr model, const NodePtr& mean, const NodePtr& components,
                   const NodePtr& x, int64_t columns, int64_t result) {
  const std::string_view op = model->name();
  const Signature& from = x->signature();
  if (from.form != Form::kTensor || from.shape.size() != 2 || !from.dtype.is_floating())
    throw_error<TypeMismatchError>(
        op, "expected a 2-D float32 or float64 array",
        {{"dimensions", from.shape.size()}, {"dtype", from.dtype.name()}});
  if (from.shape[1] != columns && from.shape[1] != kUnknown)
    throw_error<InvalidArgumentError>(op, "the number of columns differs from the model's",
                                      {{"columns", from.shape[1]}, {"model", columns}});
  Signature signature = result < 0
                            ? array_signature(TypeId::kFloat64, {from.shape[0]}, from.domain)
                            : array_signature(from.dtype, {from.shape[0], result}, from.domain);
  return apply_operator(std::move(model), std::move(signature), {mean, components, x});
}

}  // namespace

Pca fit_pca(const NodePtr& x, std::optional<int64_t> num_components) {
  if (x->signature().form != Form::kTensor)
    throw_error<TypeMismatchError>("pca_fit", "expected a 2-D array");
  Pca model;
  const std::vector<Value> made = dispatch_to_place(
      "pca_fit", [](std::span<const Value>) { return std::string(); }, {force(x)},
      [&](std::span<const Value> inputs) -> std::vector<Value> {
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

NodePtr pca_transform(const NodePtr& mean, const NodePtr& components, const NodePtr& x) {
  const Shape& shape = components->signature().shape;
  return model_node(PcaTransform::make(), mean, components, x, shape[1], shape[0]);
}

NodePtr pca_inverse_transform(const NodePtr& mean, const NodePtr& components,
                              const NodePtr& latent) {
  const Shape& shape = components->signature().shape;
  return model_node(PcaInverseTransform::make(), mean, components, latent, shape[0], shape[1]);
}

NodePtr pca_reconstruction_error(const NodePtr& mean, const NodePtr& components, const NodePtr& x) {
  const Shape& shape = components->signature().shape;
  return model_node(PcaReconstructionError::make(), mean, components, x, shape[1], -1);
}

Forest fit_forest(const NodePtr& x, const NodePtr& y, const NodePtr& weights,
                  const ForestOptions& options) {
  return fit_forest(bins_of(x), y, weights, options);
}

Forest fit_forest(const ForestBins& bins, const NodePtr& y, const NodePtr& weights,
                  const ForestOptions& options) {
  Forest model;
  std::vector<NodePtr> given = {y};
  if (weights != nullptr) given.push_back(weights);
  const auto limits = [&](std::span<const Value>) {
    return forest_why_no_kernel(options, bins.features, weights != nullptr);
  };
  const NodePtr codes =
      lazy_value(Tensor(dtype_of<uint8_t>(), {bins.features, bins.rows}, bins.codes));
  run_eagerly("forest_fit", given, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
    run_beside("forest_fit", {codes}, 0, limits, [&](std::span<const Tensor> there) {
      ForestBins own = bins;
      own.codes = there[0].buffer();
      model = forest_fit(own, in[0], in.size() > 1 ? &in[1] : nullptr, options);
      return std::vector<Tensor>();
    });
    return {};
  });
  return model;
}

ForestBins bins_of(const NodePtr& x) {
  ForestBins made;
  run_beside("forest_bins", {x}, 0, no_limits, [&](std::span<const Tensor> in) {
    made = forest_bins(in[0]);
    return std::vector<Tensor>();
  });
  return made;
}

ForestBins take_rows(const ForestBins& bins, const NodePtr& rows) {
  ForestBins made;
  run_eagerly("forest_fit", {rows}, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
    made = take_rows(bins, in[0]);
    return {};
  });
  return made;
}

Forest fit_isolation(const NodePtr& x, const NodePtr& chosen, const ForestOptions& options) {
  Forest model;
  run_eagerly("isolation_fit", {x, chosen}, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
    model = isolation_fit(in[0], in[1], options);
    return {};
  });
  return model;
}

NodePtr predict_forest(const Forest& model, const NodePtr& x) {
  const auto limits = [&](std::span<const Value>) -> std::string {
    const bool few = model.value.shape()[1] <= kMostForestOutputs;
    return few ? "" : "too many classes for the CUDA kernel";
  };
  return run_beside("forest_predict", {x}, 0, limits,
                    [&](std::span<const Tensor> in) -> std::vector<Tensor> {
                      return {forest_predict(model, model.importances.num_elements(), in[0])};
                    })[0];
}

NodePtr apply_forest(const Forest& model, const NodePtr& x) {
  return run_eagerly("forest_apply", {x}, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
    return {forest_apply(model, model.importances.num_elements(), in[0])};
  })[0];
}

NodePtr predict_forest_out_of_bag(const Forest& model, const NodePtr& x, const NodePtr& weights,
                                  const ForestOptions& options) {
  std::vector<NodePtr> given = {x};
  if (weights != nullptr) given.push_back(weights);
  const auto run = [&](std::span<const Tensor> in) -> std::vector<Tensor> {
    const Tensor* chances = in.size() > 1 ? &in[1] : nullptr;
    return {forest_predict_out_of_bag(model, in[0], chances, options)};
  };
  return run_eagerly("forest_predict_out_of_bag", given, run)[0];
}

NodePtr log_shares(const NodePtr& scores) {
  const Signature& from = scores->signature();
  if (from.form != Form::kTensor || !from.dtype.is_floating() || from.shape.empty() ||
      from.shape.size() > 2)
    throw_error<TypeMismatchError>(
        "log_shares", "expected float32 or float64 scores [rows] or [rows, classes]",
        {{"dimensions", from.shape.size()}, {"dtype", from.dtype.name()}});
  const int64_t classes = from.shape.size() == 1 ? 2 : from.shape[1];
  return apply_operator(LogShares::make(),
                        array_signature(from.dtype, {from.shape[0], classes}, from.domain),
                        {scores});
}

}  // namespace hr
