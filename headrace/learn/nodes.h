// SPDX-License-Identifier: Apache-2.0
// The lazy forms of this room's functions: dtype and shape are checked now, the work is done
// later. Fitting is not lazy: it reads its data, in place.
#pragma once
#include "headrace/learn/forest.h"
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

/// Runs the plans of these arrays (`weights` may be null) and grows a forest on them. This and what
/// uses a forest read their data now, on the host, to which they are copied from a device.
HR_API Forest fit_forest(const NodePtr& x, const NodePtr& y, const NodePtr& weights,
                         const ForestOptions& options);
/// The same of bins that are there: of `bins_of`, or some of its rows.
HR_API Forest fit_forest(const ForestBins& bins, const NodePtr& y, const NodePtr& weights,
                         const ForestOptions& options);
HR_API ForestBins bins_of(const NodePtr& x);
HR_API ForestBins take_rows(const ForestBins& bins, const NodePtr& rows);
HR_API Forest fit_isolation(const NodePtr& x, const NodePtr& chosen, const ForestOptions& options);
HR_API NodePtr predict_forest(const Forest& model, const NodePtr& x);
HR_API NodePtr apply_forest(const Forest& model, const NodePtr& x);
HR_API NodePtr predict_forest_out_of_bag(const Forest& model, const NodePtr& x,
                                         const NodePtr& weights, const ForestOptions& options);

/// Of `scores` [rows] or [rows, classes], on the host.
HR_API NodePtr log_shares(const NodePtr& scores);

}  // namespace hr
