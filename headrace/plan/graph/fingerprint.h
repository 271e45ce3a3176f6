// SPDX-License-Identifier: Apache-2.0
// What tells nodes with the same value.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string>

namespace hr {

/// The same for the same bytes, also while they have left a device; null for none.
const void* identity_of(const Buffer& buffer);

/// Equal for nodes whose operators do the same with the same inputs; empty where only the node
/// itself knows what it does.
std::string equality_key(const Node::Fields& fields);

/// Notes what a node that is being made does: a number that is equal for nodes that do the same
/// with the same inputs, also when these ran and released theirs. Of nodes over memory that others
/// may write to, which may have other values each time, no two are equal.
void note_structure(Node::Fields& fields, bool over_live);

}  // namespace hr
