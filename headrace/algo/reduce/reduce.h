// SPDX-License-Identifier: Apache-2.0
// Reductions with one fixed order: the same bits at every SIMD level and thread count.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/data/column.h"
#include "headrace/data/scalar.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <span>
#include <tuple>

namespace hr {

struct ReduceOptions {
  bool skip_nan = false;       ///< NaN counts as missing; else it spreads as in NumPy
  bool skip_null = true;       ///< else one null makes the result null
  bool empty_is_null = false;  ///< min, max, argmin, argmax of no values: null, else an error
  int64_t ddof = 0;            ///< variance and std divide by (count - ddof)

  static auto parameters(auto& self) {
    return std::tie(self.skip_nan, self.skip_null, self.empty_is_null, self.ddof);
  }
};

/// Reduces the non-null values; the dtype of the result is NumPy's, as `aggregate_dtype` says,
/// which throws TypeMismatchError for what is neither a number nor a bool (but for count). Integer
/// sums wrap as NumPy's. Floats add in 32 lanes per block of 1024 rows, then by a fixed binary tree
/// over blocks and morsels (float32 in float64). Mean and variance (Chan's update per block) of too
/// few values are NaN; argmin and argmax give the first position, a null slot counted; a NaN that
/// is not skipped wins min, max, argmin and argmax. Cost: one pass.
HR_API Scalar reduce(const Column& column, Aggregate reduction, ReduceOptions options = {});

/// The same over all elements in row-major order; any strides (a strided one is read in blocks,
/// without a copy).
HR_API Scalar reduce(const Tensor& tensor, Aggregate reduction, ReduceOptions options = {});

/// Reduces along one axis (negative counts from the end), which leaves the shape, or stays as
/// size 1 with `keep_axis`. Each output element has the bits that `reduce` of its line would have.
/// Throws InvalidArgumentError for an axis out of range or min/max/argmin/argmax of an empty axis.
HR_API Tensor reduce_axis(const Tensor& tensor, Aggregate reduction, int64_t axis,
                          ReduceOptions options = {}, bool keep_axis = false);

/// What a reduction knows after some rows. `Reducer` makes, merges and ends them.
struct ReducePartial {
  int64_t count = 0;   ///< values that took part
  double value = 0;    ///< float sum, product, minimum, maximum; mean for the variance
  double squares = 0;  ///< sum of squared deviations from the mean
  double cubes = 0;    ///< of their cubes and fourth powers, for skewness and kurtosis
  double fourths = 0;
  uint64_t integer = 0;  ///< integer result as bits; count of true for any and all
  int64_t index = -1;    ///< row of the minimum or maximum
  bool has_null = false;
};

/// The block-wise form, for the evaluator and other fused loops: `block` partials in row order go
/// through `PartialTree`, one tree a morsel, one over the morsels.
class HR_API Reducer {
 public:
  Reducer(Aggregate reduction, Dtype dtype, ReduceOptions options);

  /// Partial of up to 1024 values (bool: bytes 0 or 1) whose first is row `first_row`. `valid`
  /// is null or one bit per row (bits beyond `count` are ignored).
  ReducePartial block(const void* values, const uint64_t* valid, int64_t count,
                      int64_t first_row) const;

  /// Left rows before right rows.
  ReducePartial merge(const ReducePartial& left, const ReducePartial& right) const;

  /// Throws InvalidArgumentError as ReduceOptions::empty_is_null says.
  Scalar finish(const ReducePartial& total) const;

 private:
  Aggregate reduction_;
  Dtype dtype_;
  ReduceOptions options_;
};

/// Merges partials in order by a binary tree whose shape depends on their number alone.
class HR_API PartialTree {
 public:
  explicit PartialTree(const Reducer& reducer) : reducer_(&reducer) {}

  void push(const ReducePartial& partial);
  ReducePartial total() const;

 private:
  const Reducer* reducer_;
  uint64_t pushed_ = 0;
  ReducePartial levels_[64];
};

}  // namespace hr
