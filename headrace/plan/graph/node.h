// SPDX-License-Identifier: Apache-2.0
// Plan nodes: lazy values. Handles in C++ and Python point at them; using a value evaluates it.
#pragma once
#include "headrace/memory/log/tag.h"
#include "headrace/plan/graph/operator.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hr {

/// A lazy value: an operator and its inputs. Signature and inputs are fixed when the line that
/// makes it runs; the value comes when it is evaluated and stays while a handle lives; what only
/// the data could tell of the signature (rows, nulls) is filled in then. Nodes are made by the
/// functions below and by the rooms' own; a node that ran releases its inputs. Any thread may
/// read a node, also while another one runs it.
class HR_API Node {
 public:
  /// What the planner knows of a node; `plan/graph/node_fields.h`, not for users.
  struct Fields;

  explicit Node(std::unique_ptr<Fields> fields);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  NodeKind kind() const;
  /// The operator's public word, "fft_convolve".
  std::string op() const;
  /// Arguments for explain(), "mode=same"; the name of a table's column.
  std::string detail() const;
  const Signature& signature() const;
  /// Operator and Python line that made the node.
  Tag tag() const;
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }
  /// The value of a ready node.
  const Value& value() const;

  /// For the holder of the plan's mutex.
  Fields& fields() { return *fields_; }
  const Fields& fields() const { return *fields_; }

  /// Makes the node ready.
  void finish(Value value);

 private:
  std::unique_ptr<Fields> fields_;
  std::atomic<bool> ready_;
};

/// A node that is ready. `live`: another owner may still write to the memory, so every node over it
/// runs when it is made and a later write changes no result.
HR_API NodePtr lazy_value(Value value, std::string detail = {}, uint64_t domain = 0,
                          bool live = false);

/// While it lives, nodes that this thread makes and that run when they are made wait for `run`: the
/// same operation on thousands of columns then takes one plan and not one for each.
class HR_API HeldRuns {
 public:
  HeldRuns();
  ~HeldRuns();
  HeldRuns(const HeldRuns&) = delete;
  HeldRuns& operator=(const HeldRuns&) = delete;

  /// Has `run` run a node, if some of what it needs waits. Call it before the next node is made.
  void add(const NodePtr& node);
  void run() const;

 private:
  friend NodePtr make_node(Node::Fields&& fields);

  std::vector<NodePtr> nodes_{};
  bool waits_ = false;  // something made since the last `add`
  HeldRuns* outer_;
};

/// The operator applied to inputs. With HEADRACE_EAGER=1 this and the other makers run the node at
/// once.
HR_API NodePtr apply_operator(OperatorPtr op, Signature signature, std::vector<NodePtr> inputs);

/// A test of rows; `where`: a mask of those that are asked for (null: all).
HR_API NodePtr apply_predicate(PredicatePtr test, Signature signature, std::vector<NodePtr> inputs,
                               const NodePtr& where = nullptr);

/// A column is number `place` of `count` that, taken together, are the same in no two rows; `keys`
/// names them and the rows.
struct KeyPlace {
  uint64_t keys = 0;
  int64_t place = 0;
  int64_t count = 0;
};

/// The row domain of what `mask` picks: the same for equal masks of the same rows.
HR_API uint64_t picked_domain(const NodePtr& mask);

/// The row domain of groups by `keys`: the same for equal keys of the same rows with equal
/// `options`.
HR_API uint64_t groups_domain(std::span<const NodePtr> keys, std::string_view options);

/// The rows that `mask` picks; both have the same rows, and the result those of `signature`.
HR_API NodePtr masked_rows(Signature signature, const NodePtr& rows, const NodePtr& mask,
                           std::string detail = "mask");

/// A lazy table, run for the columns that a plan wants. `domain`: of its rows; 0: one of their own.
HR_API NodePtr apply_table_operator(TableOperatorPtr table, std::vector<NodePtr> inputs,
                                    int64_t rows = kUnknown, uint64_t domain = 0);
HR_API const std::vector<std::string>& table_names(const NodePtr& table);

/// Column `index` of a table node; all parts of one table share its row domain.
HR_API NodePtr table_column(const NodePtr& table, int64_t index);

/// An element-wise operation. Shapes broadcast as in NumPy, dtypes promote as result_dtype says; a
/// column with an array of the same length gives a column. Throws InvalidArgumentError when shapes
/// or row domains do not fit, naming `join` or `align`; TypeMismatchError when the dtypes do not.
HR_API NodePtr elementwise(Op op, std::vector<NodePtr> inputs);
/// The values as `dtype`.
HR_API NodePtr cast(const NodePtr& input, Dtype dtype);
/// The values of categories of other than strings; other nodes as they are.
HR_API NodePtr values_of_categories(const NodePtr& input);
/// A number as an operand; a weak one takes the dtype of what it meets.
HR_API NodePtr literal(const Scalar& value);

/// The same value with the rows of `domain`: for building a frame from free-standing data.
HR_API NodePtr in_domain(const NodePtr& node, uint64_t domain);

/// A reduction over all elements (a 0-d array).
HR_API NodePtr reduce(Aggregate reduction, const NodePtr& input, ReduceOptions options = {});

/// Rows [begin, begin + count) of the first dimension, shared, not copied: at once where the value
/// is there. Sizes are clipped.
HR_API NodePtr slice(const NodePtr& input, int64_t begin, int64_t count);
/// The same for the columns of one frame, as the rows of `domain`.
HR_API std::vector<NodePtr> slice(std::span<const NodePtr> inputs, int64_t begin, int64_t count,
                                  uint64_t domain);

/// All rows but the `first` first and the `last` last ones (none, when there are fewer), shared.
HR_API NodePtr trim(const NodePtr& input, int64_t first, int64_t last);

/// The first `rows` rows, computed from no more than these where the plan allows it.
HR_API NodePtr head(const NodePtr& node, int64_t rows);
/// The same for the columns of one frame, as the rows of `domain` (0: of any): what they share is
/// made once.
HR_API std::vector<NodePtr> head(std::span<const NodePtr> nodes, int64_t rows, uint64_t domain = 0);

/// The rows that the plan tells of a node when its line runs, whatever ran since: kUnknown where
/// only evaluation can tell them. What is shown of a value must not depend on who asked before.
HR_API int64_t planned_rows(const NodePtr& node);

/// Runs what the nodes need, in as few passes as the plan finds; afterwards all are ready. Errors
/// carry the Python line that made the failing node as a note; the other nodes stay as they were.
HR_API void force(std::span<const NodePtr> nodes);

inline const Value& force(const NodePtr& node) {
  force(std::span(&node, 1));
  return node->value();
}

struct Explanation {
  /// What a step is thought to yield: estimates from known sizes; kUnknown where there is none.
  struct Guess {
    int64_t rows = kUnknown;
    int64_t bytes = kUnknown;
  };

  std::string text;
  int64_t steps = 0;
  /// Passes that read or write a value as large as the largest source.
  int64_t full_passes = 0;
  std::vector<Guess> estimates{};  ///< one a step
};

/// The steps that `force` would take (and those already taken, with what they measured).
HR_API Explanation explain(std::span<const NodePtr> nodes);

/// The plan before and after each pass of the optimizer that changed it.
HR_API std::string explain_passes(std::span<const NodePtr> nodes);

}  // namespace hr
