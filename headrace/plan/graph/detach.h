// SPDX-License-Identifier: Apache-2.0
// Writable exports: a value leaves the plan.
#pragma once
#include "headrace/plan/graph/node.h"

#include <optional>

namespace hr {

/// Hands the memory of a ready node over for writing. The node must have no other handle and its
/// value no other holder, so that no reader who took the bytes for immutable sees a write; `node`
/// is afterwards one over live memory, with nothing that was known of the former values. Nothing,
/// and `node` as it was, where that cannot be, and for other than contiguous arrays on the host.
HR_API std::optional<Tensor> detach(NodePtr& node);

}  // namespace hr
