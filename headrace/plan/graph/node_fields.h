// SPDX-License-Identifier: Apache-2.0
// The inside of a node, for node.cpp, planner.cpp, executor.cpp and explain.cpp.
#pragma once
#include "headrace/plan/cost/cost_model.h"
#include "headrace/plan/graph/node.h"
#include "headrace/plan/optimize/unique_keys.h"
#include "headrace/plan/optimize/zone_map.h"

#include <optional>

namespace hr {

/// Operations of one chain after which its value gets memory of its own.
inline constexpr int64_t kLongestChain = 200;

struct Node::Fields {
  NodeKind kind = NodeKind::kData;
  std::string op{};
  std::string detail{};
  Signature signature{};
  Signature final_signature{};  // once the value is there
  bool counted = false;         // its rows are of an input that had to run to tell them
  Tag tag = 0;
  int passes = 0;
  std::vector<NodePtr> inputs{};
  std::optional<Value> value{};
  Run run{};
  Choice choice{};
  NodeTraits traits{};
  Cost cost{};
  CostOf work{};
  MayBeTrue may_be_true{};  // of a test
  bool keeps_order = false;
  RowTest test{};       // of a test of rows
  bool masked = false;  // whose last input is a mask that says where it looks
  /// The same where a mask is true; null once it let go of its inputs.
  std::function<NodePtr(const NodePtr& where)> narrowed{};
  RunTable run_table{};
  RunRows run_rows{};
  std::vector<int64_t> row_keys{};
  std::vector<int64_t> row_values{};
  std::vector<TableOperator::Partners> partners{};
  MayMeet may_meet{};
  Among among{};
  std::vector<RowSource> sources{};
  Remade remade{};
  Filtered filtered{};
  std::function<int64_t(const InputEstimates& inputs)> guess{};
  bool orders_rows = false;
  bool ignores_order = false;
  bool finds_first_rows = false;
  // For some plan, which made another table instead: that one, if it is there, and the mask.
  bool was_filtered = false;
  std::weak_ptr<Node> filtered_to{};
  std::weak_ptr<Node> filtered_by{};
  std::function<NodePtr(int64_t)> prefix{};
  std::vector<std::string> names{};  // of a table node
  std::vector<Dtype> dtypes{};
  std::vector<std::vector<int64_t>> reads{};
  Op operation = Op::kInput;  // of an element-wise node
  Reduction reduction = Reduction::kSum;
  ReduceOptions reduce_options{};
  int64_t part = 0;
  std::vector<KeyPlace> unique{};                    // sets of keys that the column is of
  std::vector<std::vector<KeyPlace>> column_keys{};  // of a table node
  std::vector<uint64_t> first_of{};                  // of first rows: the structures of the keys
  std::optional<Scalar> constant{};                  // the value in each row
  std::weak_ptr<Node> negates{};                     // the operand of a negation
  Place place = host;                                // where the value will be
  bool has_kernels = false;                          // `run` takes inputs on a CUDA device
  bool whole = false;                                // no row is null, for sure
  bool picks = false;        // inputs are rows and the mask that picks of them
  bool renames = false;      // the value of its only input in another row domain
  int64_t first_rows = -1;   // of a slice from row 0 on: how many
  bool live = false;         // the value lies in memory that others may write
  uint64_t serial = 0;       // of all nodes
  uint64_t work_on = 0;      // equal for the same inputs
  uint64_t structure = 0;    // equal for nodes that do the same with the same inputs
  int64_t chain_length = 0;  // element-wise operations above the last materialised value

  bool is_fusable() const { return kind == NodeKind::kElementwise || kind == NodeKind::kReduction; }
};

/// Whether no row is null for sure.
bool has_no_nulls(const NodePtr& node);

/// Tags the node and, with HEADRACE_EAGER=1 or over live memory, runs it.
NodePtr make_node(Node::Fields&& fields);

}  // namespace hr
