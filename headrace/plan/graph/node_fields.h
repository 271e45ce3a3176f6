// SPDX-License-Identifier: Apache-2.0
// The inside of a node, for this room.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/plan/graph/provenance.h"
#include "headrace/plan/graph/shards.h"
#include "headrace/plan/graph/unique_keys.h"

#include <mutex>
#include <optional>

namespace hr {

/// Operations of one chain after which its value gets memory of its own.
inline constexpr int32_t kLongestChain = 200;

/// What the planner knows of a table alone.
struct TableFields {
  std::shared_ptr<TableState> state{};
  std::vector<JoinKeyPair> join_keys{};              // of a join: those that no plan used
  std::vector<std::vector<KeyPlace>> column_keys{};  // sets of keys that each column is of
  std::vector<Marks> marks{};                        // of each column; empty: none has any
  // Of a table of which some plan made only the rows that a mask picks: that table, if it is there,
  // and the structure of the mask.
  bool was_filtered = false;
  std::weak_ptr<Node> filtered_to{};
  uint64_t filtered_by = 0;
};

struct Node::Fields {
  OperatorPtr op{};     // null of data
  std::string label{};  // of data; of an operator that ran how it did, if its arguments do not say
  Signature signature{};
  std::shared_ptr<const Signature> final_signature{};  // once the value is there; null: the same
  std::vector<NodePtr> inputs{};
  std::optional<Value> value{};
  std::shared_ptr<TableFields> of_table{};  // null of others; each copy of a node has its own
  std::optional<LateColumn> late{};         // of a column of a table, instead of a value
  std::optional<Value> device_copy{};       // of a value of the host that a plan sent there
  std::weak_ptr<Node> copy_of{};            // of a move: whose copy its value becomes
  // Of a copy that a plan may change: that plan, and the node with the same value.
  uint64_t plan = 0;
  std::weak_ptr<Node> origin{};
  // Of a node that a plan rewrote and ran, but not for its own value: what it ran instead.
  NodePtr optimized{};
  std::vector<KeyPlace> unique{};          // sets of keys that the column is of
  std::vector<uint64_t> first_of{};        // of first rows: the structures of the keys
  std::optional<Scalar> constant{};        // the value in each row
  Marks marks{};                           // of the values that this one is made of
  Mark source{};                           // of a column that was read: what it is
  uint64_t serial = 0;                     // of all nodes
  uint64_t structure = 0;                  // equal for nodes that do the same with the same inputs
  Place place = host;                      // where the value will be
  std::shared_ptr<const Shards> shards{};  // the same rows over devices
  Tag tag = 0;
  int32_t chain_length = 0;   // element-wise operations above the last materialised value
  bool is_rewritten = false;  // by a pass
  bool owns_inputs = false;   // not referenced elsewhere
  bool counted = false;       // its rows are of an input that had to run to tell them
  bool whole = false;         // no row is null, for sure
  bool live = false;          // the value lies in memory that others may write
  bool kept = false;          // of a ready node: the value is on the host, as its place has no room

  NodeKind kind() const { return op ? op->kind() : NodeKind::kData; }

  RowLineage lineage() const { return op ? op->lineage() : RowLineage::kOwn; }

  Op operation() const { return op ? op->operation() : Op::kInput; }

  bool is_fusable() const {
    return kind() == NodeKind::kElementwise || kind() == NodeKind::kReduction;
  }

  /// Of a table.
  const TableOperator& table() const { return static_cast<const TableOperator&>(*op); }

  /// Of a part.
  int64_t part() const;
};

/// One column of a table. It does not hold the table's operator, which may hold a file.
struct Part final : Operator {
  Part(std::string_view of, std::string name, int64_t place)
      : table(of), column(std::move(name)), index(place) {}

  NodeKind kind() const override { return NodeKind::kPart; }

  std::string_view name() const override { return table; }

  std::string arguments() const override { return column; }

  std::optional<std::string> bytes() const override { return "part " + std::to_string(index); }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return std::get<Table>(inputs[0]).column(index);
  }

  std::string table;
  std::string column;
  int64_t index;
};

inline int64_t Node::Fields::part() const {
  return static_cast<const Part&>(*op).index;
}

/// The reduction at the end of a chain.
struct ReductionOperator final : OperatorOf<ReductionOperator> {
  Aggregate reduction = Aggregate::kSum;
  ReduceOptions options{};
  bool partial =
      false;  // of rows before or behind which there are others: what `ReducedRows` reads

  NodeKind kind() const override { return NodeKind::kReduction; }

  std::string_view name() const override {
    return aggregate_name(reduction, AggregateForm::kColumn);
  }

  Value execute(std::span<const Value>) const override;

  static auto parameters(auto& self) {
    return std::tie(self.reduction, self.options, self.partial);
  }
};

/// A test of the rows for which its last input, a mask, is true.
struct MaskedPredicate final : Operator {
  explicit MaskedPredicate(PredicatePtr of) : predicate(std::move(of)) {}

  std::string_view name() const override { return predicate->name(); }

  std::string arguments() const override { return predicate->arguments(); }

  std::string describe(std::span<const NodePtr>) const override {
    return arguments() + " (where a mask is true)";
  }

  std::optional<std::string> bytes() const override;

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return predicate->rowwise_inputs(); }

  Cost cost(const InputEstimates& inputs) const override { return predicate->cost(inputs); }

  Value execute(std::span<const Value> inputs) const override {
    const Mask mask(std::get<Column>(inputs.back()));
    return predicate->test(inputs.first(inputs.size() - 1), &mask);
  }

  PredicatePtr predicate;
};

/// The test of a node that is one, without its mask; null of others.
PredicatePtr predicate_of(const Node::Fields& fields);
/// Whether a node's last input is the mask of a test.
bool is_masked(const Node::Fields& fields);

/// One plan is made or run at a time.
std::recursive_mutex& plan_mutex();

/// The value of a node that an operator wants while it runs: part of its step. Call with
/// `plan_mutex` held.
const Value& execute_nested(const NodePtr& node);
/// The same for several, together.
void execute_nested(std::span<const NodePtr> nodes);

/// Whether no row is null for sure.
bool has_no_nulls(const NodePtr& node);

/// The inputs of a node of which another thread may make the value meanwhile; none once it is
/// there.
std::vector<NodePtr> held_inputs(const Node& node);
void set_inputs(Node& node, std::vector<NodePtr> inputs);

/// Operators that a plan makes by itself.
OperatorPtr relabel_operator();
OperatorPtr elementwise_operator(Op operation);

/// Tags the node and, with HEADRACE_EAGER=1 or over live memory, runs it.
NodePtr make_node(Node::Fields&& fields);

}  // namespace hr
