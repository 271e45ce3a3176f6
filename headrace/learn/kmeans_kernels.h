// SPDX-License-Identifier: Apache-2.0
// Kernels of k-means: points in lanes against groups of centres; on a CUDA device tiles of both.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/data/device.h"

#include <cstdint>
#include <vector>

namespace hr {

/// Rows of a block, whose sums are added in order.
inline constexpr int64_t kKMeansBlock = 4096;

}  // namespace hr

namespace hr::cpu {

/// Most centres of a group, side by side: what the registers hold.
inline constexpr int64_t kCenterGroup = 6;

/// Centres as the kernels read them. Distances need no origin, so that of the filter is the mean of
/// the centres, and its unit their largest coordinate: float32 then neither cancels nor overflows.
struct CenterPanels {
  int64_t count;
  int64_t dimensions;
  int64_t group;                ///< centres of each group: groups of one size
  bool in_floats;               ///< whether float32 takes shift and scale exactly
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
void assign_rows(const Tensor& x, const CenterPanels& centers, int64_t begin, int64_t end,
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

namespace hr::cuda {

/// Rows of k-means on a CUDA device, their weights (of no elements: ones) and what is known of
/// each. All sums have the CPU's order: the same bits.
class KMeansRows {
 public:
  KMeansRows(std::string_view op, const Tensor& x, const Tensor& weights);

  /// The nearest of `clusters` centres for each row: new labels; those from before are kept.
  void assign(const double* centers, int64_t clusters);
  /// The labels of a tensor on the device instead.
  void set_labels(const Tensor& labels);
  /// Whether the labels are those from before. Call it once after each `assign`.
  bool settled();
  /// Sums of the clusters in `parts` parts, added in order: [clusters, columns], then the weights
  /// of the clusters.
  void add_rows(int64_t clusters, int64_t parts, double* sums);

  /// Squared distances to the centres of the labels; and their weighted sums in blocks.
  void own_distances(const double* centers, int64_t clusters, double* out);
  std::vector<double> inertia_sums(const double* centers, int64_t clusters);

  /// On the device, of which no copy is made.
  const Tensor& labels() const { return labels_; }

  void fetch_labels(int32_t* out);
  /// 1 for the clusters that have rows.
  void mark_used(int64_t clusters, uint8_t* out);
  std::vector<double> fetch_weights();
  /// A row as float64.
  void read_row(int64_t row, double* out);

  // For first centres. Each row has a distance to the nearest one so far, first 1.

  void begin_seeding();
  /// Sums of blocks, of weight times the smaller of that distance and the one to each of `count`
  /// candidates: [blocks, count]. With `keep` (of one) that is the distance from now on, and with
  /// `first` the one to the candidate alone. Of none: by the distances as they are.
  std::vector<double> seed_sums(const double* candidates, int64_t count, bool keep, bool first);
  /// Weight times distance of rows.
  std::vector<double> seed_parts(int64_t first, int64_t count);

 private:
  Buffer own(int64_t size_bytes);
  Buffer distances(const double* centers, int64_t clusters);
  std::vector<double> block_sums(const Buffer& values);

  std::string op_;
  Tensor x_;
  Tensor weights_;
  DeviceCall call_;
  int64_t rows_;
  int64_t columns_;
  Tensor labels_;
  Tensor before_;   ///< the labels from before
  Buffer open_;     ///< how many rows the filter leaves open, and which
  Buffer keys_[2];  ///< parts and clusters of the rows
  Buffer order_[2];
  Buffer nearest_;
};

/// Distances of rows to all centres: `made`, in the dtype of the rows.
void kmeans_transform(const Tensor& x, const double* centers, int64_t clusters, Buffer& made);

}  // namespace hr::cuda
