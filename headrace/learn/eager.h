// SPDX-License-Identifier: Apache-2.0
// Work on arrays that is done now, on the host.
#pragma once
#include "headrace/plan/graph/node.h"

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

}  // namespace hr
