// SPDX-License-Identifier: Apache-2.0
// Kernels of t-SNE: points against groups of points, and points against their neighbours; on a CUDA
// device whole iterations.
#pragma once
#include "headrace/algo/sort/point_tree.h"
#include "headrace/base/api.h"
#include "headrace/data/device.h"
#include "headrace/data/sparse.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace hr::cpu {

/// Adds up what `masses` do to 16 points, `points[k][lane]`: `push[k][lane]` is the sum of mass
/// times similarity times difference, `similar[lane]` that of mass times similarity, each in order.
void tsne_repulsion(int64_t dimensions, const float (*points)[PointTree::kLeaf],
                    const PointMasses& masses, float (*push)[PointTree::kLeaf], float* similar);

/// How points move.
struct TsneStep {
  const Sparse* affinities;
  int64_t rows;
  int64_t dimensions;
  const float* from;  ///< coordinate k of point i at [k * rows + i], as of all below
  float* to;
  float* speed;
  float* gain;
  const float* push;
  float attraction = 0;  ///< factors of the two forces
  float repulsion = 0;
  float momentum = 0;
  float learning_rate;
};

/// Moves points [begin, end); returns the sum of squares of their scaled gradient.
double tsne_move(const TsneStep& step, int64_t begin, int64_t end);

/// The sum of p (log(p) - log(q)) over the entries of rows [begin, end), q without its scale.
double tsne_divergence(const TsneStep& step, int64_t begin, int64_t end);

}  // namespace hr::cpu

namespace hr::cuda {

struct TsneArrays;

/// Points of a descent on a device, which have the CPU's bits after each iteration. Affinities have
/// int32 indices and float32 data; `from` as in TsneStep, of the host.
class TsneDescent {
 public:
  TsneDescent(const Sparse& affinities, Place place, const float* from, int64_t rows,
              int64_t dimensions, double angle);
  ~TsneDescent();

  /// Speeds of 0 and gains of 1.
  void begin();
  /// The repulsion of all points, which weighs `factor` over the sum of similarities.
  void repel(double factor);
  /// After `repel`: the sum of similarities and, unless null, the positions; NaN where one is not
  /// finite. Waits.
  double similar(float* from);
  void move(float attraction, float momentum, float learning_rate);
  /// The scaled gradient of the last move. Waits.
  void slopes(float* out);
  /// The positions, [rows, dimensions].
  Tensor embedding();

 private:
  DeviceCall call_;
  Place place_;
  float square_angle_ = 0;
  std::unique_ptr<TsneArrays> all_;
  std::vector<Buffer> held_;
};

}  // namespace hr::cuda
