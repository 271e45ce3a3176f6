// SPDX-License-Identifier: Apache-2.0
// Models: fitting evaluates its data, the rest is lazy.
#include "python/bind/bind.h"

#include "headrace/algo/keys/integer_levels.h"
#include "headrace/functions/strings/category_codes.h"
#include "headrace/learn/eager.h"
#include "headrace/learn/nodes.h"
#include "headrace/learn/target_sums.h"

namespace {

using hr::NodePtr;

// Mean, components, explained variance, total variance, noise variance, rows. No number of
// components means all.
std::tuple<NodePtr, NodePtr, NodePtr, double, double, int64_t> pca_fit(
    const NodePtr& x, std::optional<int64_t> num_components) {
  const hr::Pca model = hr::fit_pca(x, num_components);
  return {hr::lazy_value(model.mean),
          hr::lazy_value(model.components),
          hr::lazy_value(model.explained_variance),
          model.total_variance,
          model.noise_variance,
          model.num_rows};
}

// ---- labels -------------------------------------------------------------------------------------
/// The distinct integers of a vector, in order.
NodePtr distinct_integers(const NodePtr& x) {
  return hr::run_beside("distinct_integers", {x}, 0, hr::no_limits,
                        [](std::span<const hr::Tensor> in) -> std::vector<hr::Tensor> {
                          return {hr::distinct_integers(in[0])};
                        })[0];
}

/// The place of each value among levels; -1 for others.
NodePtr level_places(const NodePtr& x, const NodePtr& levels) {
  const auto known = std::get<hr::Tensor>(hr::to_place(hr::force(levels), hr::host));
  return hr::run_beside("level_places", {x}, 0, hr::no_limits,
                        [&](std::span<const hr::Tensor> in) -> std::vector<hr::Tensor> {
                          return {hr::level_places(in[0], known)};
                        })[0];
}

/// Where each row of `width` entries begins, and where the last one ends.
NodePtr row_starts(const NodePtr& entries, int64_t width) {
  return hr::run_beside("row_starts", {entries}, 0, hr::no_limits,
                        [&](std::span<const hr::Tensor> in) -> std::vector<hr::Tensor> {
                          return {hr::row_starts(in[0], width)};
                        })[0];
}

// ---- forests ------------------------------------------------------------------------------------
hr::ForestOptions forest_options(std::string_view criterion, int64_t num_trees, int64_t num_classes,
                                 int64_t max_depth, int64_t min_samples_split,
                                 int64_t min_samples_leaf, double min_weight_fraction_leaf,
                                 double min_impurity_decrease, int64_t max_features,
                                 int64_t bootstrap, bool balance_samples, bool random_splits,
                                 uint64_t seed) {
  const auto kind = criterion == "gini"      ? hr::ForestCriterion::kGini
                    : criterion == "entropy" ? hr::ForestCriterion::kEntropy
                                             : hr::ForestCriterion::kSquaredError;
  return {kind,
          num_trees,
          num_classes,
          max_depth,
          min_samples_split,
          min_samples_leaf,
          min_weight_fraction_leaf,
          min_impurity_decrease,
          max_features,
          bootstrap,
          balance_samples,
          random_splits,
          seed};
}

using ForestParts = std::vector<NodePtr>;  // in the order of hr::Forest

hr::Forest forest_of(const ForestParts& parts) {
  const auto part = [&](size_t place) { return std::get<hr::Tensor>(hr::force(parts.at(place))); };
  return {part(0), part(1), part(2), part(3), part(4), part(5)};
}

ForestParts parts_of(const hr::Forest& model) {
  ForestParts parts;
  for (const hr::Tensor& part :
       {model.offsets, model.link, model.threshold, model.value, model.samples, model.importances})
    parts.push_back(hr::lazy_value(part));
  return parts;
}

ForestParts forest_fit(const NodePtr& x, const NodePtr& y, const std::optional<NodePtr>& weights,
                       const hr::ForestOptions& options) {
  return parts_of(hr::fit_forest(x, y, weights.value_or(nullptr), options));
}

ForestParts forest_fit_bins(const hr::ForestBins& bins, const NodePtr& y,
                            const std::optional<NodePtr>& weights,
                            const hr::ForestOptions& options) {
  return parts_of(hr::fit_forest(bins, y, weights.value_or(nullptr), options));
}

void bind_forest(nb::module_& m) {
  nb::class_<hr::ForestBins>(m, "ForestBins")
      .def("take", nb::overload_cast<const hr::ForestBins&, const NodePtr&>(&hr::take_rows),
           "rows"_a, Unlocked());
  m.def("forest_bins", &hr::bins_of, "x"_a, Unlocked());
  nb::class_<hr::ForestOptions>(m, "ForestOptions");
  m.def("forest_options", forest_options, "criterion"_a, "num_trees"_a, "num_classes"_a,
        "max_depth"_a, "min_samples_split"_a, "min_samples_leaf"_a, "min_weight_fraction_leaf"_a,
        "min_impurity_decrease"_a, "max_features"_a, "bootstrap"_a, "balance_samples"_a,
        "random_splits"_a, "seed"_a);
  m.def("forest_fit", forest_fit, "x"_a, "y"_a, "weights"_a.none(), "options"_a, Unlocked());
  m.def("forest_fit", forest_fit_bins, "x"_a, "y"_a, "weights"_a.none(), "options"_a, Unlocked());
  m.def(
      "isolation_fit",
      [](const NodePtr& x, const NodePtr& chosen, int64_t max_depth, uint64_t seed) {
        hr::ForestOptions options;
        options.max_depth = max_depth;
        options.seed = seed;
        return parts_of(hr::fit_isolation(x, chosen, options));
      },
      "x"_a, "chosen"_a, "max_depth"_a, "seed"_a, Unlocked());
  m.def("isolation_path", &hr::isolation_path, "rows"_a);
  m.def(
      "forest_predict",
      [](const ForestParts& model, const NodePtr& x) {
        return hr::predict_forest(forest_of(model), x);
      },
      "model"_a, "x"_a, Unlocked());
  m.def(
      "forest_apply",
      [](const ForestParts& model, const NodePtr& x) {
        return hr::apply_forest(forest_of(model), x);
      },
      "model"_a, "x"_a, Unlocked());
  m.def(
      "check_forest",
      [](const ForestParts& model, int64_t features) {
        hr::check_forest(forest_of(model), features);
      },
      "model"_a, "features"_a, Unlocked());
  m.def(
      "forest_predict_out_of_bag",
      [](const ForestParts& model, const NodePtr& x, const std::optional<NodePtr>& weights,
         const hr::ForestOptions& options) {
        return hr::predict_forest_out_of_bag(forest_of(model), x, weights.value_or(nullptr),
                                             options);
      },
      "model"_a, "x"_a, "weights"_a.none(), "options"_a, Unlocked());
}

// ---- target encoding ----------------------------------------------------------------------------
NodePtr target_sums(const NodePtr& level, const NodePtr& fold, const NodePtr& y, double center,
                    int64_t levels, int64_t folds) {
  return hr::run_eagerly("target_sums", {level, fold, y}, [&](std::span<const hr::Tensor> in) {
    return std::vector{hr::target_sums(in[0], in[1], in[2], center, levels, folds)};
  })[0];
}

NodePtr target_encode(const NodePtr& level, const NodePtr& fold, const NodePtr& table) {
  return hr::run_eagerly("target_encode", {level, fold, table}, [](std::span<const hr::Tensor> in) {
    return std::vector{hr::target_encode(in[0], in[1], in[2])};
  })[0];
}

}  // namespace

void bind_learn(nb::module_& m) {
  m.def("distinct_integers", distinct_integers, "x"_a, Unlocked());
  m.def("level_places", level_places, "x"_a, "levels"_a, Unlocked());
  m.def("category_codes", lazy(&hr::category_codes), "values"_a, "vocabulary"_a, "buckets"_a,
        Unlocked());
  m.def("row_starts", row_starts, "entries"_a, "width"_a, Unlocked());
  m.def("pca_fit", pca_fit, "x"_a, "num_components"_a.none(), Unlocked());
  m.def("pca_transform", lazy(&hr::pca_transform), "mean"_a, "components"_a, "x"_a, Unlocked());
  m.def("pca_inverse_transform", lazy(&hr::pca_inverse_transform), "mean"_a, "components"_a,
        "latent"_a, Unlocked());
  m.def("pca_reconstruction_error", lazy(&hr::pca_reconstruction_error), "mean"_a, "components"_a,
        "x"_a, Unlocked());
  bind_forest(m);
  m.def("target_sums", target_sums, "level"_a, "fold"_a, "y"_a, "center"_a, "levels"_a, "folds"_a,
        Unlocked());
  m.def("target_encode", target_encode, "level"_a, "fold"_a, "table"_a, Unlocked());
}
