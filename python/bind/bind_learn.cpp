// SPDX-License-Identifier: Apache-2.0
// Models: fitting evaluates its data, the rest is lazy.
#include "python/bind/bind.h"

#include "headrace/learn/nodes.h"

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

}  // namespace

void bind_learn(nb::module_& m) {
  m.def("pca_fit", pca_fit, "x"_a, "num_components"_a.none(), Unlocked());
  m.def("pca_transform", lazy(&hr::pca_transform), "mean"_a, "components"_a, "x"_a, Unlocked());
  m.def("pca_inverse_transform", lazy(&hr::pca_inverse_transform), "mean"_a, "components"_a,
        "latent"_a, Unlocked());
  m.def("pca_reconstruction_error", lazy(&hr::pca_reconstruction_error), "mean"_a, "components"_a,
        "x"_a, Unlocked());
}
