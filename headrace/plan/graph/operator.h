// SPDX-License-Identifier: Apache-2.0
// Operators: what nodes do. An operator is the parameters of one call; a node applies it to inputs.
#pragma once
#include "headrace/algo/select/filter.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/eval/value.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/late_column.h"
#include "headrace/plan/graph/parameters.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace hr {

struct RowInputs;
class RowPredicate;

enum class NodeKind : uint8_t {
  kData,         ///< a value that is there
  kOperator,     ///< one opaque operator
  kElementwise,  ///< one element-wise operation; chains of these run fused in one pass
  kReduction,    ///< the reduction at the end of such a chain
  kTable,        ///< yields several columns, of which a plan asks only for some
  kPart,         ///< one column of a table
};

/// How the rows of a result follow from those of the inputs.
enum class RowLineage : uint8_t {
  kOwn,           ///< unknown
  kRowwise,       ///< each from the same row of the first `rowwise_inputs` inputs
  kSame,          ///< those of the only input, in another row set
  kFiltered,      ///< those of the first input where the second, a mask, is true
  kTaken,         ///< those of the first input at the positions in the second
  kConcatenated,  ///< those of all inputs, one input after the other
  kFirst,         ///< the first `first_rows` of the input
};

/// What a node does, apart from its inputs: immutable, and shared by all nodes that do the same.
/// The planner asks and knows no operator by name.
class HR_API Operator {
 public:
  virtual ~Operator() = default;

  virtual NodeKind kind() const { return NodeKind::kOperator; }

  /// The public word, "fft_convolve".
  virtual std::string_view name() const = 0;

  /// The parameters for explain(), "mode=same".
  virtual std::string arguments() const { return {}; }

  /// The same and how it works on these inputs, which may not have run yet.
  virtual std::string describe(std::span<const NodePtr>) const { return arguments(); }

  /// Its class and parameters as bytes: equal for operators that do the same, `operator_from_bytes`
  /// makes it again. None: it is equal to itself alone and cannot travel.
  virtual std::optional<std::string> bytes() const { return {}; }

  /// How often it walks over its largest operand; 0: the result shares its memory.
  virtual int passes() const { return 1; }

  /// Whether there is a kernel for this place.
  virtual bool supports(Place place) const { return !place.is_gpu() || passes() == 0; }

  /// Why the kernel for CUDA does not take these inputs, "a mask with nulls"; empty: it does. Asked
  /// before it runs, of operators that support the place.
  virtual std::string why_unsupported(std::span<const Value> /*inputs*/) const { return {}; }

  virtual RowLineage lineage() const { return RowLineage::kOwn; }

  /// Of kRowwise: this many of the first inputs, which have its rows or are scalars; the other
  /// inputs are read whole.
  virtual int64_t rowwise_inputs() const { return lineage() == RowLineage::kRowwise ? 1 : 0; }

  /// Of kFirst.
  virtual int64_t first_rows() const { return -1; }

  /// Whether a row of a greater input never becomes less than that of a lesser one.
  virtual bool is_monotonic() const { return false; }

  /// Whether the result does not depend on the order of the rows of its inputs.
  virtual bool ignores_order() const { return false; }

  /// Of a test of its first input's values: whether it may be true of one that is not less than
  /// `least` and not greater than `most`; null if unknown. Both are of the input's dtype,
  /// of categories their strings.
  virtual NodePtr may_be_true(std::span<const NodePtr>, const NodePtr& /*least*/,
                              const NodePtr& /*most*/) const {
    return nullptr;
  }

  /// The value in each row, where that is known.
  virtual std::optional<Scalar> constant() const { return {}; }

  /// The operation of an element-wise operator.
  virtual Op operation() const { return Op::kInput; }

  /// What it takes for a row of its longest input.
  virtual Cost cost(const InputEstimates&) const { return {}; }

  /// What a run takes, where that is no matter of rows alone. `rows`: guessed of the result;
  /// `wanted`: its columns, by place; empty of other than tables.
  virtual std::optional<OperatorCost> work(const InputEstimates&, int64_t /*rows*/,
                                           const std::vector<bool>& /*wanted*/) const {
    return {};
  }

  /// Of all kinds but kTable, and kElementwise, kReduction and kPart, which the plan runs itself.
  virtual Value execute(std::span<const Value> inputs) const = 0;
};

using OperatorPtr = std::shared_ptr<const Operator>;

/// A test of rows: a bool column without nulls where the signature has none. An `&` with other
/// bools runs it after them, and only where they are true.
class HR_API Predicate : public Operator {
 public:
  /// `where`: the rows that are asked for (null: all); false for others.
  virtual Column test(std::span<const Value> inputs, const Mask* where) const = 0;

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  Value execute(std::span<const Value> inputs) const final { return test(inputs, nullptr); }
};

using PredicatePtr = std::shared_ptr<const Predicate>;

/// Rows that those of a table are made of: one side of a join, what is sorted or grouped. Without
/// one of them the rows of the table that have it are not there, and the others as before.
struct RowSource {
  std::vector<int64_t> inputs{};   ///< places of all inputs that have these rows
  std::vector<int64_t> columns{};  ///< by column: the input whose values it repeats; -1: none
  bool optional = false;           ///< rows of the table may have none of them: null stands there
  bool once = false;               ///< no two rows of the table have the same of them

  static auto parameters(auto& self) {
    return std::tie(self.inputs, self.columns, self.optional, self.once);
  }
};

/// Keys of a side of which a join keeps no row without a match, and those of the other side, which
/// say what of it is needed: places among the inputs.
struct JoinKeyPair {
  int64_t key = 0;
  int64_t other = 0;

  static auto parameters(auto& self) { return std::tie(self.key, self.other); }
};

/// What a table computed when it first ran, kept for columns that are needed later: the matches of
/// a join.
struct TableState {
  virtual ~TableState() = default;

  bool has_run = false;
};

/// Yields several columns, of which a plan asks only for some.
class HR_API TableOperator : public Operator {
 public:
  std::vector<std::string> names{};
  std::vector<Dtype> dtypes{};
  /// For each column the places of inputs that it alone needs. What stands in none of these is read
  /// for every column, so a sort always reads its keys, and the rest if it is needed.
  std::vector<std::vector<int64_t>> columns_needed{};
  /// For filters that move before the table.
  std::vector<RowSource> sources{};
  /// Inputs that `execute_fused` reads as they are, and those that it computes block by block.
  std::vector<int64_t> fused_keys{};
  std::vector<int64_t> fused_values{};

  NodeKind kind() const final { return NodeKind::kTable; }

  /// The columns with true in `wanted`, in order. `inputs` as declared; those that no wanted column
  /// needs are empty columns.
  virtual Table execute(const std::vector<bool>& wanted, std::span<const Value> inputs,
                        TableState* state) const = 0;
  /// The state of one node; null: it has none.
  virtual std::shared_ptr<TableState> new_state() const { return nullptr; }

  /// Run instead of `execute` where values are element-wise chains, or rows that one mask picks,
  /// which nothing else needs: these are computed while they are read.
  virtual bool is_fusable() const { return false; }
  virtual Table execute_fused(const std::vector<bool>& wanted, const RowInputs& inputs) const;

  /// Whether `execute_late` may get rows of a column in the place of an input: one that it only
  /// repeats.
  virtual bool takes_late(int64_t /*place*/) const { return false; }
  /// As `execute`, of columns; what it only repeats need not be made.
  virtual std::vector<LateColumn> execute_late(const std::vector<bool>& wanted,
                                               std::span<const LateColumn> inputs,
                                               TableState* state) const;

  /// Rows, estimated from those of the inputs (kUnknown if they cannot be): the most of them.
  virtual int64_t guess_rows(const InputEstimates& inputs) const;

  /// So many of the first columns are the same in no two rows.
  virtual int64_t unique_keys() const { return 0; }
  /// The rows of its inputs in another order.
  virtual bool sorts_rows() const { return false; }
  /// The same rows in the order that costs least; null of a table that has no other order.
  virtual NodePtr in_any_order(std::span<const NodePtr> /*inputs*/) const { return nullptr; }
  /// Its inputs are keys, and its only other column the position of the first row with each.
  virtual bool finds_first_rows() const { return false; }
  /// Join keys by which fewer rows of a side serve.
  virtual std::vector<JoinKeyPair> join_keys() const { return {}; }

  /// The table of its first rows, if there is a shorter way to them; else null.
  virtual NodePtr limited(std::span<const NodePtr> /*inputs*/, int64_t /*rows*/) const {
    return nullptr;
  }

  /// The same table of other inputs, without the rows that lack one of a source with true in
  /// `required` (empty: none); null where there is no such table.
  virtual NodePtr with_inputs(std::span<const NodePtr> /*inputs*/,
                              const std::vector<bool>& /*required*/) const {
    return nullptr;
  }

  /// Of a table that is read: the same with only the rows for which all predicates are true.
  virtual bool takes_predicates() const { return false; }
  virtual NodePtr with_predicates(
      const std::vector<std::shared_ptr<const RowPredicate>>& /*predicates*/) const {
    return nullptr;
  }

  /// The same table, made only of the rows whose `column`, a key, is one of `values`.
  virtual bool takes_key_filter() const { return false; }
  virtual NodePtr with_key_filter(std::span<const NodePtr> /*inputs*/, int64_t /*column*/,
                                  const NodePtr& /*values*/) const {
    return nullptr;
  }

  /// Of a join: a bool a row of `keys`, whether it may have a match among `others`. `first_keys`
  /// and `first_others`: of the join that comes before, null where that keeps all rows.
  virtual NodePtr join_filter(const NodePtr& /*keys*/, const NodePtr& /*others*/,
                              const NodePtr& /*first_keys*/,
                              const NodePtr& /*first_others*/) const {
    return nullptr;
  }

 private:
  Value execute(std::span<const Value>) const final;
};

using TableOperatorPtr = std::shared_ptr<const TableOperator>;

/// Makes an operator of what the bytes of its class say. Throws InvalidArgumentError for bytes that
/// say none.
HR_API OperatorPtr operator_from_bytes(std::string_view bytes);

using ReadOperator = OperatorPtr (*)(ParameterReader& reader);
/// Makes a class known to `operator_from_bytes`.
HR_API bool register_operator(const std::type_info& type, ReadOperator read);

/// The base of an operator whose parameters are members that it lists,
/// `static auto parameters(auto& self) { return std::tie(self.pattern, self.count); }`.
template <class Derived, class Base = Operator>
class OperatorOf : public Base {
 public:
  /// The operator with these parameters.
  template <class... T>
  static std::shared_ptr<const Derived> make(T&&... values) {
    auto made = std::make_shared<Derived>();
    Derived::parameters(*made) = std::forward_as_tuple(std::forward<T>(values)...);
    return made;
  }

  // Without members to list.
  static auto parameters(auto&) { return std::tie(); }

  std::optional<std::string> bytes() const override {
    (void)registered;
    ParameterWriter writer;
    writer.write(std::string_view(typeid(Derived).name()));
    writer.write(static_cast<const Derived&>(*this));
    return writer.take();
  }

 private:
  static OperatorPtr read(ParameterReader& reader) {
    auto made = std::make_shared<Derived>();
    reader.read(*made);
    return made;
  }

  inline static const bool registered = register_operator(typeid(Derived), &read);
};

}  // namespace hr
