// SPDX-License-Identifier: Apache-2.0
// OptionalInputs: columns of a node of which some may not be given.
#pragma once
#include "headrace/plan/graph/node.h"

#include <optional>
#include <utility>
#include <vector>

namespace hr {

class OptionalInputs {
 public:
  /// A null node is not given.
  explicit OptionalInputs(const std::vector<NodePtr>& nodes) {
    for (const NodePtr& node : nodes) is_given_.push_back(node != nullptr);
  }

  /// Those of `nodes` that are given.
  static std::vector<NodePtr> given(std::vector<NodePtr> nodes) {
    std::erase(nodes, nullptr);
    return nodes;
  }

  /// The columns in the order of the nodes, of the values of those that are given.
  std::vector<std::optional<Column>> columns(std::span<const Value> values) const {
    std::vector<std::optional<Column>> made;
    size_t next = 0;
    for (const bool is_given : is_given_)
      made.push_back(is_given ? std::optional(std::get<Column>(values[next++])) : std::nullopt);
    return made;
  }

 private:
  std::vector<bool> is_given_{};
};

}  // namespace hr
