// SPDX-License-Identifier: Apache-2.0
// The lazy forms of this room's functions: dtype and shape are checked now, the work is done
// later. Fitting is not lazy: it reads its data, in place.
#pragma once
#include "headrace/learn/pca.h"
#include "headrace/plan/graph/node.h"

#include <optional>

namespace hr {

/// Runs the plan of `x` and fits on its rows; no `num_components`: all.
HR_API Pca fit_pca(const NodePtr& x, std::optional<int64_t> num_components);

/// `mean` [features] and `components` [components, features] as `pca_fit` made them.
HR_API NodePtr pca_transform(const NodePtr& mean, const NodePtr& components, const NodePtr& x);
HR_API NodePtr pca_inverse_transform(const NodePtr& mean, const NodePtr& components,
                                     const NodePtr& latent);
HR_API NodePtr pca_reconstruction_error(const NodePtr& mean, const NodePtr& components,
                                        const NodePtr& x);

}  // namespace hr
