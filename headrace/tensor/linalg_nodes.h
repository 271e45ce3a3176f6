// SPDX-License-Identifier: Apache-2.0
// Linear algebra over plan nodes: products are lazy, factorizations run at the call, whose line is
// then the one that an error belongs to. On a device products and `solve` have kernels, and other
// factorizations run on the host between two copies.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/plan/graph/node.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// `matmul` of two tensors; shapes and dtypes are checked now.
HR_API NodePtr matmul(const NodePtr& a, const NodePtr& b, Dtype dtype);

/// Runs the plans of `inputs`, then `work` on their tensors. `why_no_kernel`: of tensors on a CUDA
/// device; null: nothing has one.
HR_API std::vector<NodePtr> run_linalg(
    std::string_view op, const std::vector<NodePtr>& inputs,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& work,
    const std::function<std::string(std::span<const Tensor>)>& why_no_kernel = {});

}  // namespace hr
