// SPDX-License-Identifier: Apache-2.0
// The fused evaluator: runs a Program over blocks of 1024 rows that stay in the L1 cache.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/scalar.h"
#include "headrace/data/tensor.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/eval/value.h"

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace hr {

/// Runs `program` once over all elements of `shape` and returns its outputs in order: Column and
/// Tensor values from the current resource, a Scalar for each reduction. No full-size temporaries.
/// Inputs: columns (validity and slices with any offset) and tensors of any strides that broadcast
/// to `shape`, or scalars. Element-wise results depend on the elements alone, reductions on `shape`
/// as well: never on threads or SIMD level. Throws InvalidArgumentError for an input whose size,
/// shape or dtype differs from the program's, for nulls in an input declared without, and for
/// integers to a negative integer power; UnsupportedError for inputs on a CUDA device that no
/// kernel takes; OutOfMemoryError before any work.
HR_API std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                                   const Shape& shape);

/// The same over one dimension of `rows`.
HR_API std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                                   int64_t rows);

/// The same over the rows that `mask` picks: inputs with as many rows as the mask are read where it
/// is true, others have as many rows as it picks, or one.
HR_API std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                                   const Mask& mask);

/// `evaluate` where the inputs are on the host, or `why_unsupported` has nothing against them. Of
/// a reduction with true in `partial` (by output; empty: of none), the bytes of its PartialRows.
std::vector<Value> evaluate_supported(const Program& program, std::span<const Value> inputs,
                                      const Shape& shape, const std::vector<bool>& partial = {});

/// What a reduction knows of rows that are some of a column's.
struct PartialRows {
  int64_t rows = 0;
  int64_t step = 0;  ///< rows of a partial, but for the last one
  std::vector<ReducePartial> partials{};

  Tensor bytes() const;
  static PartialRows of(const Tensor& bytes);
};

/// The reduction of rows of `dtype` that follow each other: the bits of all together, if each piece
/// but the last one has a multiple of its step.
Scalar reduce_partials(std::span<const PartialRows> pieces, Aggregate reduction, Dtype dtype,
                       const ReduceOptions& options);

/// Why no kernel for CUDA runs `program` with these inputs; empty: one does.
std::string why_unsupported(const Program& program, std::span<const Value> inputs,
                            const Shape& shape);

}  // namespace hr
