// SPDX-License-Identifier: Apache-2.0
// Plans as bytes, so that they can travel to another process of the same build.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/provenance.h"

#include <cstdint>
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

/// A plan whose sources stand apart.
struct SourcePlan {
  std::string bytes{};
  std::vector<Mark> sources{};  ///< in the order in which the plan names them
};

/// As `plan_to_bytes`, but it ends at what `mark_sources` marked, and row domains are numbered as
/// they come: equal plans of this build have equal bytes. Throws UnsupportedError too for values of
/// more than `most_bytes`, which are no source.
HR_API SourcePlan plan_of_sources(std::span<const NodePtr> nodes, int64_t most_bytes);

/// The nodes again, over these sources, one for each that the plan names. Throws as above, and
/// InvalidArgumentError, naming the source, for fewer sources and for one of another form or dtype,
/// with nulls or a row count that the plan does not know.
HR_API std::vector<NodePtr> plan_from_bytes(std::string_view bytes,
                                            std::span<const NodePtr> sources);

/// A number that is equal for the same nodes with the same operators, inputs and values that are
/// there: whether something changed a plan.
HR_API uint64_t plan_fingerprint(std::span<const NodePtr> nodes);

}  // namespace hr
