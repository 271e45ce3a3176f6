// SPDX-License-Identifier: Apache-2.0
// Linear algebra over plan nodes: products are lazy, factorizations run at the call, whose line is
// then the one that an error belongs to. On a device products have kernels, and factorizations run
// on the host between two copies.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/plan/graph/node.h"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace hr {

/// `matmul` of two tensors; shapes and dtypes are checked now.
HR_API NodePtr matmul(const NodePtr& a, const NodePtr& b, Dtype dtype);

/// Runs the plans of `inputs`, then `work` on their tensors.
HR_API std::vector<NodePtr> run_linalg(
    std::string_view op, const std::vector<NodePtr>& inputs,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& work);

}  // namespace hr
