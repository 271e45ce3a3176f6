// SPDX-License-Identifier: Apache-2.0
// Work on arrays that is done now.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/placement.h"

#include <functional>
#include <span>
#include <vector>

namespace hr {

/// Runs the plans of `nodes` and hands `work` their arrays, from a device by a copy that
/// `fallbacks` tells; what it makes goes to where they were. Throws TypeMismatchError for nodes
/// that are not arrays.
HR_API std::vector<NodePtr> run_eagerly(
    std::string_view op, const std::vector<NodePtr>& nodes,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& work);

/// The same of work that has kernels for CUDA, where `limits` has no reason against it. Arrays on
/// the host go to the device of the others. Throws DeviceError for two devices.
HR_API std::vector<NodePtr> run_eagerly(
    std::string_view op, const std::vector<NodePtr>& nodes, const KernelLimits& limits,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& work);

/// The same where `nodes[rows]` is; the other arrays, parts of a model, go there.
HR_API std::vector<NodePtr> run_beside(
    std::string_view op, const std::vector<NodePtr>& nodes, size_t rows, const KernelLimits& limits,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& work);

/// What `run_beside` takes for work that has a kernel for all its inputs.
HR_API std::string no_limits(std::span<const Value> inputs);

}  // namespace hr
