// SPDX-License-Identifier: Apache-2.0
// Kernels of t-SNE: points against groups of points, and points against their neighbours; on a CUDA
// device whole iterations.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/device.h"
#include "headrace/data/sparse.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace hr {

/// The bits of a number with `gap` places between neighbours.
HR_INLINE uint32_t spread_bits(uint32_t bits, int64_t gap) {
  if (gap == 0) return bits;
  if (gap == 1) {
    bits = (bits | bits << 8) & 0x00FF00FF;
    bits = (bits | bits << 4) & 0x0F0F0F0F;
    bits = (bits | bits << 2) & 0x33333333;
    return (bits | bits << 1) & 0x55555555;
  }
  bits = (bits | bits << 16) & 0x030000FF;
  bits = (bits | bits << 8) & 0x0300F00F;
  bits = (bits | bits << 4) & 0x030C30C3;
  return (bits | bits << 2) & 0x09249249;
}

}  // namespace hr

namespace hr::cpu {

/// Points that walk the tree together, and lanes of the kernels.
inline constexpr int64_t kTsneLeaf = 16;

/// Points or groups of points: coordinate k of number i is at[k][i].
struct TsneMasses {
  const float* at[3];
  const float* mass;
  int64_t count;
};

/// Adds up what `masses` do to 16 points, `points[k][lane]`: `push[k][lane]` is the sum of mass
/// times similarity times difference, `similar[lane]` that of mass times similarity, each in order.
void tsne_repulsion(int64_t dimensions, const float (*points)[kTsneLeaf], const TsneMasses& masses,
                    float (*push)[kTsneLeaf], float* similar);

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
