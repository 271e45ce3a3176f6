// SPDX-License-Identifier: Apache-2.0
// What operators on rows take: columns, each once. For this room only.
#pragma once
#include "headrace/base/error.h"
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/view.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hr {

/// The node as a column, sharing its memory. Throws TypeMismatchError in the name of `op` for a
/// table or other than one dimension; `name`: the column's, for the message.
inline NodePtr column_node(std::string_view op, const NodePtr& node, std::string_view name = {}) {
  const Signature& signature = node->signature();
  if (signature.form == Form::kTable || signature.shape.size() != 1) {
    const Detail dimensions("dimensions", signature.shape.size());
    constexpr std::string_view kWanted = "expected a column or a 1-D array";
    if (name.empty()) throw_error<TypeMismatchError>(op, kWanted, {dimensions});
    throw_error<TypeMismatchError>(op, kWanted, {{"name", name}, dimensions});
  }
  return signature.form == Form::kTensor ? as_column(node) : node;
}

/// The inputs of a table node; equal nodes are one.
class OperatorInputs {
 public:
  /// The place of the node; -1 for none.
  int64_t add(const NodePtr& node) {
    if (!node) return -1;
    const auto [place, is_new] =
        places_.try_emplace(node.get(), static_cast<int64_t>(nodes.size()));
    if (is_new) nodes.push_back(node);
    return place->second;
  }

  std::vector<NodePtr> nodes{};

 private:
  std::unordered_map<const Node*, int64_t> places_{};
};

/// The names of a table's columns, as they are added.
class OutputNames {
 public:
  /// Throws InvalidArgumentError for a name that is there.
  void add(std::string_view op, const std::string& name, std::string_view fix) {
    if (!seen_.insert(name).second)
      throw_error<InvalidArgumentError>(op, "duplicate column name in the result", {{"name", name}},
                                        std::string(fix));
  }

 private:
  std::unordered_set<std::string> seen_{};
};

}  // namespace hr
