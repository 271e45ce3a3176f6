// SPDX-License-Identifier: Apache-2.0
// Plan nodes: deferred values. Handles in C++ and Python point at them; looking makes them run.
#pragma once
#include "headrace/algo/select/filter.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/graph/value.h"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hr {

class Node;
class InputEstimates;
class RowPredicate;
using NodePtr = std::shared_ptr<Node>;
struct RowInputs;

enum class NodeKind : uint8_t {
  kData,         ///< a value that is there
  kOperator,     ///< one opaque operator
  kElementwise,  ///< one element-wise operation; chains of these run fused in one pass
  kReduction,    ///< the reduction at the end of such a chain
  kTable,        ///< yields several columns, of which a plan asks only for some
  kPart,         ///< one column of a table node
};

/// A deferred value. Signature and inputs are fixed when the line that makes it runs; the value
/// comes with the first look and stays while a handle lives; what only the data could tell of the
/// signature (rows, nulls) is filled in then. Nodes are made by the functions below and by the
/// rooms' own; a node that ran lets go of its inputs. Any thread may read a node, also while
/// another one runs it.
class HR_API Node {
 public:
  using Run = std::function<Value(std::span<const Value> inputs)>;
  /// Runs a table node for the columns with true in `wanted`; the result holds just these, in
  /// order. `inputs` as declared; those that no wanted column needs are empty columns.
  using RunTable =
      std::function<Table(const std::vector<bool>& wanted, std::span<const Value> inputs)>;
  /// The same with inputs that nobody made, which it computes block by block while it reads them.
  using RunRows = std::function<Table(const std::vector<bool>& wanted, const RowInputs& inputs)>;
  /// The same table, made only of the rows whose `column`, a key, is one of `values`.
  using Among = std::function<NodePtr(std::span<const NodePtr> inputs, int64_t column,
                                      const NodePtr& values)>;
  /// Keys of some rows, and those of the other side of a join.
  struct KeyPair {
    NodePtr keys{};
    NodePtr others{};
  };
  /// A bool a row of `asked.keys`: whether it may have a match among the others. `first`: of the
  /// join that comes before, null where that keeps all rows.
  using MayMeet = std::function<NodePtr(const KeyPair& asked, const KeyPair& first)>;
  /// The same table of other inputs, without the rows that lack one of a source with true in
  /// `required`; null where there is no such table.
  using Remade =
      std::function<NodePtr(std::span<const NodePtr> inputs, const std::vector<bool>& required)>;
  using Filtered =
      std::function<NodePtr(const std::vector<std::shared_ptr<const RowPredicate>>& predicates)>;
  /// Says how an operator works on these inputs, which may not have run yet; there are none left
  /// once it ran itself.
  using Choice = std::function<std::string(std::span<const NodePtr> inputs)>;

  /// What the planner knows of a node; `plan/graph/node_fields.h`, not for users.
  struct Fields;

  explicit Node(std::unique_ptr<Fields> fields);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  NodeKind kind() const;
  /// The operator's public word, "fft_convolve".
  const std::string& op() const;
  /// Arguments for explain(), "mode=same".
  const std::string& detail() const;
  const Signature& signature() const;
  /// Operator and Python line that made the node.
  Tag tag() const;
  bool is_ready() const;
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

/// A node that is ready. `live`: somebody else may still write to the memory, so every node over it
/// runs when it is made and a later write changes no result.
HR_API NodePtr data_node(Value value, std::string detail = {}, uint64_t domain = 0,
                         bool live = false);

/// A node for one operator. `passes`: how often it walks over its largest operand; `choice` adds to
/// `detail` in explain(). With HEADRACE_EAGER=1 this and the other makers run the node at once.
/// `has_kernels`: `run` takes inputs on a CUDA device; so does every view, whose `passes` are 0.
HR_API NodePtr operator_node(std::string op, std::string detail, Signature signature,
                             std::vector<NodePtr> inputs, int passes, Node::Run run,
                             Node::Choice choice = nullptr, bool has_kernels = false);

/// A column is number `place` of `count` that, taken together, are the same in no two rows; `keys`
/// names them and the rows.
struct KeyPlace {
  uint64_t keys = 0;
  int64_t place = 0;
  int64_t count = 0;
};

/// What the planner may know of an operator.
struct NodeTraits {
  /// Each row of the result follows from the same row of so many of the first inputs, which have
  /// its rows or are scalars; the other inputs are read whole. 0: it is not so.
  int64_t row_inputs = 0;
  /// Beside the operator's word, dtype and inputs what tells it from others: nodes that agree in
  /// all of it are run once. Empty: it is not compared.
  std::string same{};
  bool concats = false;  ///< the rows of all inputs, one after the other
  bool takes = false;    ///< the rows of the first input at the positions in the second one
  std::vector<KeyPlace> unique{};  ///< keys that it is of
};

/// The node, which was just made, with these traits.
HR_API NodePtr with_traits(NodePtr node, NodeTraits traits);

/// The row domain of what `mask` picks: the same for equal masks of the same rows.
HR_API uint64_t picked_domain(const NodePtr& mask);

/// The row domain of groups by `keys`: the same for equal keys of the same rows with equal
/// `options`.
HR_API uint64_t groups_domain(std::span<const NodePtr> keys, std::string_view options);

/// The rows that `mask` picks; both have the same rows, and the result those of `signature`.
HR_API NodePtr picked_node(Signature signature, const NodePtr& rows, const NodePtr& mask,
                           std::string detail = "mask");

/// A test of rows: a bool column without nulls where the signature has none. An `&` with other
/// bools runs it after them, and only where they are true: `test` gets these rows as a mask (null:
/// all) and says false for others.
using RowTest = std::function<Column(std::span<const Value> inputs, const Mask* where)>;
HR_API NodePtr test_node(std::string op, std::string detail, Signature signature,
                         std::vector<NodePtr> inputs, RowTest test, NodeTraits traits,
                         const NodePtr& where = nullptr);

/// Rows that those of a table are made of: one side of a join, what is sorted or grouped. Without
/// one of them the rows of the table that have it are not there, and the others as before.
struct RowSource {
  std::vector<int64_t> inputs{};   ///< places of all inputs that have these rows
  std::vector<int64_t> columns{};  ///< by column: the input whose values it repeats; -1: none
  bool optional = false;           ///< rows of the table may have none of them: null stands there
  bool once = false;               ///< no two rows of the table have the same of them
};

/// What a table node yields, reads and does.
struct TableOperator {
  std::vector<std::string> names;
  std::vector<Dtype> dtypes;
  int64_t rows = kUnknown;
  uint64_t domain = 0;  ///< of the rows; 0: one of their own
  int passes = 1;
  Node::RunTable run;
  std::vector<NodePtr> inputs{};
  /// For each column the places in `inputs` that it alone needs. What stands in none of these is
  /// read for every column, so a sort reads its keys always and the rest when somebody wants it.
  std::vector<std::vector<int64_t>> reads{};
  /// Makes the table of the first rows, if there is a shorter way to them.
  std::function<NodePtr(int64_t)> prefix{};
  Node::Choice choice{};
  /// Run instead of `run` where values are element-wise chains, or rows that one mask picks, which
  /// nobody else wants: `row_keys` are then read as they are, `row_values` block by block.
  Node::RunRows run_rows{};
  std::vector<int64_t> row_keys{};
  std::vector<int64_t> row_values{};
  /// Of a join: the keys of a side of which it keeps no row without a match, and those of the
  /// other side, which say what of it is needed.
  struct Partners {
    int64_t key;
    int64_t other;
  };
  std::vector<Partners> partners{};
  Node::MayMeet may_meet{};
  Node::Among among{};
  bool has_kernels = false;  ///< `run` takes inputs on a CUDA device
  /// For filters that move before the table: its sources, and the table of other inputs.
  std::vector<RowSource> sources{};
  Node::Remade remade{};
  /// Of a table that is read: the same with only the rows for which all are true.
  Node::Filtered filtered{};
  /// As of NodeTraits.
  std::string same{};
  /// Rows, guessed from those of the inputs (kUnknown where nobody can say); none: the most of
  /// them.
  std::function<int64_t(const InputEstimates& inputs)> guess{};
  int64_t unique_keys = 0;     ///< so many of the first columns are the same in no two rows
  bool orders_rows = false;    ///< the rows of its inputs, in another order
  bool ignores_order = false;  ///< of the rows of its inputs
  /// Its inputs are keys, and its only other column the position of the first row with each.
  bool finds_first_rows = false;
};

/// A deferred table, run for the columns that a plan wants.
HR_API NodePtr table_node(std::string op, std::string detail, TableOperator table);
HR_API const std::vector<std::string>& table_names(const NodePtr& table);

/// Column `index` of a table node; all parts of one table share its row domain.
HR_API NodePtr part_node(const NodePtr& table, int64_t index);

/// An element-wise operation. Shapes broadcast as in NumPy, dtypes promote as result_dtype says; a
/// column with an array of the same length gives a column. Throws InvalidArgumentError when shapes
/// or row domains do not fit, naming `join` or `align`; TypeMismatchError when the dtypes do not.
HR_API NodePtr elementwise_node(Op op, std::vector<NodePtr> inputs);
/// The values as `dtype`.
HR_API NodePtr cast_node(const NodePtr& input, Dtype dtype);
/// A number as an operand; a weak one takes the dtype of what it meets.
HR_API NodePtr scalar_node(const Scalar& value);

/// The same value with the rows of `domain`: for building a frame from free-standing data.
HR_API NodePtr in_domain(const NodePtr& node, uint64_t domain);

/// A reduction over all elements (a 0-d array).
HR_API NodePtr reduction_node(Reduction reduction, const NodePtr& input,
                              ReduceOptions options = {});

/// Rows [begin, begin + count) of the first dimension, shared, not copied. Sizes are clipped.
HR_API NodePtr slice_node(const NodePtr& input, int64_t begin, int64_t count);

/// All rows but the `first` first and the `last` last ones (none, when there are fewer), shared.
HR_API NodePtr trim_node(const NodePtr& input, int64_t first, int64_t last);

/// The first `rows` rows, computed from no more than these where the plan allows it.
HR_API NodePtr prefix_node(const NodePtr& node, int64_t rows);
/// The same for the columns of one frame: what they share is made once.
HR_API std::vector<NodePtr> prefix_nodes(std::span<const NodePtr> nodes, int64_t rows);

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

}  // namespace hr
