// SPDX-License-Identifier: Apache-2.0
// The first rows of a node, from no more input rows than these.
#include "headrace/plan/node_fields.h"
#include "headrace/plan/planner.h"

#include <mutex>
#include <unordered_map>

namespace hr {

namespace {

class Prefix {
 public:
  explicit Prefix(int64_t rows) : rows_(rows) {}

  NodePtr of(const NodePtr& node) {
    if (const auto it = done_.find(node.get()); it != done_.end()) return it->second;
    const NodePtr result = make(node);
    done_.emplace(node.get(), result);
    return result;
  }

 private:
  NodePtr make(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    if (node->is_ready() || fields.chain_length > kDeepest) return slice_node(node, 0, rows_);
    if (fields.kind == NodeKind::kPart && fields.inputs[0]->fields().prefix) {
      const NodePtr table = of_table(fields.inputs[0]);
      return part_node(table, fields.part);
    }
    if (fields.kind == NodeKind::kElementwise && !fields.signature.shape.empty()) {
      std::vector<NodePtr> inputs;
      for (const NodePtr& input : fields.inputs)
        inputs.push_back(input->signature().same_rows(fields.signature) ? in_rows(of(input))
                                                                        : input);
      return fields.operation == Op::kCast ? cast_node(inputs[0], fields.signature.dtype)
                                           : elementwise_node(fields.operation, std::move(inputs));
    }
    return slice_node(node, 0, rows_);
  }

  // First rows that were found in different ways are the same rows.
  NodePtr in_rows(const NodePtr& node) {
    const Signature& signature = node->signature();
    if (signature.shape.empty() || signature.domain == 0 || signature.domain == domain_)
      return node;
    if (const auto it = placed_.find(node.get()); it != placed_.end()) return it->second;
    const NodePtr result = in_domain(node, domain_);
    placed_.emplace(node.get(), result);
    return result;
  }

  NodePtr of_table(const NodePtr& table) {
    if (const auto it = done_.find(table.get()); it != done_.end()) return it->second;
    const NodePtr result = table->fields().prefix(rows_);
    done_.emplace(table.get(), result);
    return result;
  }

  static constexpr int64_t kDeepest = 1000;  // bounds the recursion

  int64_t rows_;
  uint64_t domain_ = new_domain();
  std::unordered_map<const Node*, NodePtr> done_;
  std::unordered_map<const Node*, NodePtr> placed_;
};

}  // namespace

NodePtr prefix_node(const NodePtr& node, int64_t rows) {
  return prefix_nodes(std::span(&node, 1), rows)[0];
}

std::vector<NodePtr> prefix_nodes(std::span<const NodePtr> nodes, int64_t rows) {
  const std::lock_guard lock(plan_mutex());
  Prefix prefix(rows);
  std::vector<NodePtr> result;
  for (const NodePtr& node : nodes) {
    const int64_t known = node->signature().rows();
    result.push_back(known != kUnknown && known <= rows ? node : prefix.of(node));
  }
  return result;
}

}  // namespace hr
