// SPDX-License-Identifier: Apache-2.0
// Views: other shapes and strides over the same elements.
#pragma once
#include "headrace/plan/graph/node.h"

#include <vector>

namespace hr {

/// Elements `begin`, `begin + step`, ... of one dimension; `step` 0 drops the dimension, `count` -1
/// keeps an unknown size whole.
struct ViewItem {
  int64_t begin = 0;
  int64_t step = 1;
  int64_t count = 0;

  static auto parameters(auto& self) { return std::tie(self.begin, self.step, self.count); }
};

/// One item for each dimension of an array. Nothing is copied.
HR_API NodePtr strided_view(const NodePtr& array, std::vector<ViewItem> items);

/// Permuted dimensions. Throws InvalidArgumentError unless `axes` is a permutation.
HR_API NodePtr transpose(const NodePtr& array, std::vector<int64_t> axes);

/// The same elements, row-major, in another shape: a view when contiguous, else one copy in the
/// ledger.
HR_API NodePtr reshape(const NodePtr& array, Shape shape);

/// The same memory as a column, or as an array; see as_column and as_tensor.
HR_API NodePtr as_column(const NodePtr& array);
HR_API NodePtr as_tensor(const NodePtr& column);

/// The same memory under another dtype of its layout: dates and timestamps as their integers and
/// back, categories as their codes.
HR_API NodePtr retype(const NodePtr& input, Dtype dtype);

}  // namespace hr
