// SPDX-License-Identifier: Apache-2.0
// Deferred joins.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/relational/join/join.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// One column of the result: from one side, or, with both, a key of an outer join: the left value
/// where there is a left row, else the right one.
struct JoinColumn {
  std::string name{};
  NodePtr left{};
  NodePtr right{};
};

/// The one column that a key of the same name on both sides becomes: complete on the side of which
/// the join `how` keeps all rows. Times have the left side's zone, strings and categories become
/// strings.
HR_API JoinColumn shared_key(const std::string& name, NodePtr left, NodePtr right,
                             std::string_view how);

/// Keys pair by pair (none: every left row with every right one). `left_rows` and `right_rows`: any
/// column of each side, for its rows.
struct JoinSides {
  NodePtr left_rows{};
  NodePtr right_rows{};
  std::vector<NodePtr> left_keys{};
  std::vector<NodePtr> right_keys{};
};

/// A table of `columns`, then, if it has a name, `indicator`: "left_only", "right_only" or "both".
/// `how`: the user's word for it, "right" for a left join with the sides swapped, whose
/// indicator is swapped too.
/// Keys compare by `bind_keys`; they are always read, the rest if it is needed; rows are matched
/// once. Throws InvalidArgumentError when a name comes twice, TypeMismatchError for keys that are
/// not compared, naming both dtypes.
HR_API NodePtr join(const JoinSides& sides, const std::vector<JoinColumn>& columns, JoinKind kind,
                    JoinUnique unique, const std::string& indicator, const std::string& how);

/// What rows a join keeps; none of other operators.
std::optional<JoinKind> join_kind(const Operator& op);

/// Whether each row of `values` has an equal in `set`, a bool without nulls. Dtypes agree as keys
/// do; strings that are there already name times next to times.
HR_API NodePtr is_in(const NodePtr& values, const NodePtr& set);

}  // namespace hr
