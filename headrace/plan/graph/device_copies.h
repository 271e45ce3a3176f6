// SPDX-License-Identifier: Apache-2.0
// Copies of the host's values on a device, kept from plan to plan.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// A copy of a ready value of the host on a device. It stays as long as the node, so that the next
/// plan needs no move, and leaves the device without one when that is short. Others may write the
/// memory of a live value, whose copies are not kept. Call these with the plan's mutex held.
NodePtr shared_copy(const NodePtr& input, Place place);

/// Whether `shared_copy` has nothing to do.
bool has_copy_at(const NodePtr& input, Place place);

/// Begins to make such a copy for later plans, of a value that is ready.
HR_API void prefetch(const NodePtr& input, Place place);

/// For nodes that `shared_copy` made, once they have run (placement.cpp).
void keep_device_copy(Node& source, const Value& there);

}  // namespace hr
