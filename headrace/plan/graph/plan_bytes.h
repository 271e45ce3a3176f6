// SPDX-License-Identifier: Apache-2.0
// Plans as bytes, so that they can travel to another process of the same build.
#pragma once
#include "headrace/plan/graph/node.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// The operators, inputs and values above `nodes`, values as `serialize` writes them. Throws
/// UnsupportedError, naming the operator, for one that cannot travel: a source that was opened
/// here.
HR_API std::string plan_to_bytes(std::span<const NodePtr> nodes);

/// The nodes again, not evaluated. Only for bytes from a process of one's own: values are checked
/// as `deserialize` checks them, parameters of operators are not. Throws InvalidArgumentError for
/// bytes that are no plan, or of another build.
HR_API std::vector<NodePtr> plan_from_bytes(std::string_view bytes);

/// A number that is equal for the same nodes with the same operators, inputs and values that are
/// there: whether something changed a plan.
HR_API uint64_t plan_fingerprint(std::span<const NodePtr> nodes);

}  // namespace hr
