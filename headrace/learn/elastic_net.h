// SPDX-License-Identifier: Apache-2.0
// Least squares with a penalty on absolute values, by coordinates.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/base/api.h"
#include "headrace/data/sparse.h"
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

/// What is lowered: half the squared residuals, plus `l1` times the absolute values and half `l2`
/// times the squares of the coefficients.
struct ElasticNet {
  double l1 = 1;
  double l2 = 0;
  bool positive = false;  ///< no coefficient is below zero
  double tolerance = 0;   ///< of the duality gap
  int64_t most = 1000;    ///< sweeps
};

struct ElasticNetFit {
  Tensor coefficients;  ///< float64 [features]
  double gap = 0;       ///< how far the value is from the least one at most
  int64_t iterations = 0;
  bool converged = false;
};

/// Sparse rows as tiles, zeros made as they are read.
HR_API RowTiles row_tiles(const Sparse& x);

/// X^T t of the columns less `shift`, float64 [features]; `targets` is float64 [rows]. Parts by
/// shape, added in order.
HR_API Tensor column_products(const RowTiles& x, const double* shift, const Tensor& targets);

/// The columns less `shift`, each row times its scale (null: one): float64 [features, rows].
HR_API Tensor centered_columns(const RowTiles& x, const double* shift, const double* scales);

/// Cyclic coordinate descent (J. Friedman and others, Journal of Statistical Software 33, 2010)
/// from `start`, [features]; features that the duality gap proves to be zero are left out (E.
/// Ndiaye and others, JMLR 18, 2017). All arrays are float64 and contiguous; sums have one order.
///
/// From the products X^T X, [features, features], and X^T y, and y^T y: a step costs the features.
HR_API ElasticNetFit fit_elastic_net(const Tensor& gram, const Tensor& products, double square,
                                     const Tensor& start, const ElasticNet& problem);

/// From columns, [features, rows], and targets: a step costs the rows.
HR_API ElasticNetFit fit_elastic_net(const Tensor& columns, const Tensor& targets,
                                     const Tensor& start, const ElasticNet& problem);

}  // namespace hr
