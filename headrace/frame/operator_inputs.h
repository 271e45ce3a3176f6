// SPDX-License-Identifier: Apache-2.0
// What operators on rows take: columns, each once. For this room only.
#pragma once
#include "headrace/base/error.h"
#include "headrace/plan/node.h"
#include "headrace/plan/view.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace hr {

/// The node as a column, sharing its memory. Throws TypeMismatchError in the name of `op` for a
/// table or other than one dimension; `name`: the column's, for the message.
inline NodePtr column_node(std::string_view op, const NodePtr& node, std::string_view name = {}) {
  const Signature& signature = node->signature();
  if (signature.form == Form::kTable || signature.shape.size() != 1) {
    const Detail dimensions("dimensions", signature.shape.size());
    constexpr std::string_view kWanted = "a column or an array of one dimension is wanted";
    if (name.empty()) throw_error<TypeMismatchError>(op, kWanted, {dimensions});
    throw_error<TypeMismatchError>(op, kWanted, {{"name", name}, dimensions});
  }
  return signature.form == Form::kTensor ? as_column_node(node) : node;
}

/// The inputs of a table node; equal nodes are one.
class OperatorInputs {
 public:
  /// The place of the node; -1 for none.
  int64_t add(const NodePtr& node) {
    if (!node) return -1;
    const auto found = std::find(nodes.begin(), nodes.end(), node);
    if (found != nodes.end()) return found - nodes.begin();
    nodes.push_back(node);
    return static_cast<int64_t>(nodes.size()) - 1;
  }

  std::vector<NodePtr> nodes{};
};

}  // namespace hr
