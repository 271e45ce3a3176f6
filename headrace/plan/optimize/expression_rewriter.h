// SPDX-License-Identifier: Apache-2.0
// Expressions over the rows of one table, made again over other rows.
#pragma once
#include "headrace/plan/graph/node.h"

#include <functional>
#include <string>
#include <unordered_map>

namespace hr {

/// Whether each row of the node's result follows from the same row of its inputs (of which `places`
/// are meant: all of an element-wise operation, some of an operator).
bool is_row_by_row(const Node& node);
/// How many of the first inputs are read row by row; the others are read whole.
size_t row_inputs(const Node& node);

/// The row-by-row operation that makes `node`, of other inputs.
NodePtr remade_by_row(const Node& node, std::vector<NodePtr> inputs);

/// Makes nodes again over other leaves.
class RowClone {
 public:
  /// What stands for a node; null: it is made again of its inputs, which are asked for first.
  using Leaf = std::function<NodePtr(const NodePtr&)>;

  explicit RowClone(Leaf leaf) : leaf_(std::move(leaf)) {}

  NodePtr of(const NodePtr& node);

 private:
  NodePtr make(const NodePtr& node);

  Leaf leaf_;
  std::unordered_map<const Node*, NodePtr> made_{};
};

/// The operator that makes `node`, with other inputs, whose rows are unknown.
NodePtr remade_operator(const Node& node, std::vector<NodePtr> inputs);

/// The expression as text, "(x > 5)"; `depth` operations of it.
std::string expression_text(const NodePtr& node, int depth = 4);

}  // namespace hr
