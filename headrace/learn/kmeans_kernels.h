// SPDX-License-Identifier: Apache-2.0
// Kernels of k-means: points in lanes against groups of centres.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"

#include <cstdint>
#include <vector>

namespace hr::cpu {

/// Centres side by side in a group: what the registers hold.
inline constexpr int64_t kCenterGroup = 6;

/// Centres as the kernels read them. Distances need no origin, so that of the filter is the mean of
/// the centres, and its unit their largest coordinate: float32 then neither cancels nor overflows.
struct CenterPanels {
  int64_t count;
  int64_t dimensions;
  std::vector<double> shift;    ///< [dimensions]
  std::vector<double> scale;    ///< [dimensions], the same power of two
  std::vector<double> columns;  ///< coordinate j of all centres from j * count on
  std::vector<float> panels;    ///< -2 times the centres, a group after the other
  std::vector<float> norms;     ///< of whole groups; those of no centre are the largest float
  float most;                   ///< the largest norm of a centre

  /// `single`: for rows of float32, of which a float32 origin can be taken away in float32.
  CenterPanels(const double* centers, int64_t num_centers, int64_t num_dimensions, bool single);
};

/// The nearest centres of rows [begin, end), decided in float64 where two are within the error of
/// the filter: `labels[begin ... end)`.
void assign_rows(const RowTiles& x, const CenterPanels& centers, int64_t begin, int64_t end,
                 int32_t* labels);

/// Squared distances of a point to `count` others, of which `columns` has coordinate j side by side
/// from `j * count` on. Each is a sum over j in order.
void squared_distances(const double* point, const double* columns, int64_t dimensions,
                       int64_t count, double* out);

/// Adds rows [begin, end) times their weights (null: ones) to the sums, [clusters, columns], and to
/// the weights of their clusters.
void add_rows(const Tensor& x, const double* weights, const int32_t* labels, int64_t begin,
              int64_t end, double* sums, double* totals);

/// Squared distances of rows [begin, end) to the centres of their labels: `out[0 ... end - begin)`,
/// each in 8 sums and one tree.
void own_distances(const Tensor& x, const double* centers, const int32_t* labels, int64_t begin,
                   int64_t end, double* out);

}  // namespace hr::cpu
