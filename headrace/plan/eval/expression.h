// SPDX-License-Identifier: Apache-2.0
// Element-wise expressions: one table of operations, NumPy's dtype rules, and typed SSA programs.
#pragma once
#include "headrace/algo/reduce/reduce.h"
#include "headrace/base/dtype.h"
#include "headrace/data/scalar.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hr {

// clang-format off
enum class Op : uint8_t {
  kInput, kConstant, kCast,
  // one operand
  kNegative, kAbsolute, kSquare, kSign, kReciprocal, kSqrt, kCbrt,
  kExp, kExp2, kExpm1, kLog, kLog2, kLog10, kLog1p,
  kSin, kCos, kTan, kArcsin, kArccos, kArctan, kSinh, kCosh, kTanh,
  kFloor, kCeil, kRint, kTrunc,
  kIsNan, kIsFinite, kIsInf, kIsNull, kLogicalNot, kInvert,
  // two operands
  kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kRemainder, kPower,
  kMinimum, kMaximum, kFmin, kFmax, kHypot, kArctan2, kCopysign,
  kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual,
  kLogicalAnd, kLogicalOr, kLogicalXor, kBitwiseAnd, kBitwiseOr, kBitwiseXor,
  kLeftShift, kRightShift, kFillNull,
  // three operands
  kWhere,
};
// clang-format on

/// Which dtype rule an operation follows.
enum class OpRule : uint8_t {
  kLeaf,        ///< input, constant, cast
  kArithmetic,  ///< operands promoted, result the same; no bool for negative, subtract, sign
  kDivide,      ///< like arithmetic, integers and bools become float64
  kFloating,    ///< floats stay; 8 and 16 bit integers and bool become float32, wider float64
  kRound,       ///< floats stay, integers pass through (but rint, which is kFloating)
  kCompare,     ///< operands promoted, result bool
  kTest,        ///< float test, result bool, integers pass as float
  kNullTest,    ///< any operand, result bool, never null
  kLogical,     ///< operands become bool, result bool
  kBitwise,     ///< bools and integers; bools as logical
  kShift,       ///< integers
  kFill,        ///< result the dtype of the first operand
  kSelect,      ///< bool, then two promoted operands
};

struct OpRow {
  Op op;
  std::string_view name;    ///< NumPy's word where it has one: "add", "logical_and", "is_null"
  std::string_view symbol;  ///< "+" and the like for explain(), or empty
  int operands;
  OpRule rule;
  // Of comparisons:
  Op swapped = Op::kInput;  ///< the same with its operands changed
  Op negated = Op::kInput;  ///< true where this one is false, but for NaN
};

HR_API const OpRow& op_row(Op op);
/// The operation with this word ("true_divide", "abs" and "mod" are known too); throws
/// UnsupportedError for others.
HR_API Op op_from_name(std::string_view name);

/// The dtype that both convert to: NumPy's promotion of arrays. Throws TypeMismatchError for
/// strings and complex numbers.
HR_API Dtype promote(Dtype a, Dtype b);

/// What a dtype rule knows of an operand. `literal`: the plain number (bool, int64, uint64 or
/// float64) that the user wrote, which takes the dtype of what it meets.
struct Operand {
  Dtype dtype;
  const Scalar* literal = nullptr;
};

/// Dtype of `op` over these operands (kCast has no rule: its dtype is given). Throws
/// TypeMismatchError for operands that the operation does not take, InvalidArgumentError for a
/// wrong number of them and for a literal that does not fit the integers that it meets (comparisons
/// take it).
HR_API Dtype result_dtype(Op op, std::span<const Operand> operands);

/// The shape that all broadcast to (NumPy's rule); throws InvalidArgumentError, naming `op` and
/// the shapes.
HR_API Shape broadcast_shape(std::string_view op, std::span<const Shape> shapes);

/// An element-wise computation as a list of typed values, each made from earlier ones; equal values
/// are one. The evaluator computes all outputs in one pass.
class HR_API Program {
 public:
  struct Node {
    Op op;
    Dtype dtype;
    int operands[3] = {-1, -1, -1};
    int input = -1;        ///< for kInput
    Scalar constant = {};  ///< for kConstant
    bool nullable = false;
  };

  /// kBlock: read block by block from a BoundProgram, not by `evaluate`.
  enum class OutputKind : uint8_t { kColumn, kTensor, kReduction, kBlock };

  struct Output {
    OutputKind kind;
    int value;
    Aggregate reduction = Aggregate::kSum;
    ReduceOptions options;
  };

  /// Input number `index` of the evaluation; asking twice gives the same value. Strings may only be
  /// tested for null. `nullable`: whether it may hold nulls; if in doubt say true.
  int input(int index, Dtype dtype, bool nullable);
  int constant(const Scalar& value);
  /// Applies `op` with NumPy's conversions (casts are added as needed). Nulls: a null operand gives
  /// null, but and/or follow Kleene (false and null = false), is_null and fill_null see them.
  /// Integers: overflow wraps, division by zero gives 0, comparisons are exact. Throws as
  /// result_dtype.
  int apply(Op op, std::span<const int> operands);
  /// Float to integer truncates; NaN and values out of range give no set value, but never trap.
  int cast(int value, Dtype dtype);

  /// Outputs, in the order of the results of `evaluate`; each returns its position.
  int add_column(int value);  ///< validity kept; bool as a bitmap; null slots are zero
  int add_tensor(int value);  ///< bool as bytes; throws InvalidArgumentError if nullable
  int add_block(int value);
  int add_reduction(int value, Aggregate reduction, ReduceOptions options = {});

  Dtype dtype(int value) const { return nodes_[static_cast<size_t>(value)].dtype; }

  bool nullable(int value) const { return nodes_[static_cast<size_t>(value)].nullable; }

  const std::vector<Node>& nodes() const { return nodes_; }

  const std::vector<Output>& outputs() const { return outputs_; }

  /// Inputs that it reads: one more than the largest index.
  int num_inputs() const { return num_inputs_; }

 private:
  int add(const Node& node);
  int compare_with_literal(Op op, int value, const Scalar& literal);
  int compare_signs(Op op, int integer, int natural);

  std::vector<Node> nodes_;
  std::unordered_multimap<uint64_t, int> known_;  // by hash of the node
  std::vector<Output> outputs_;
  int num_inputs_ = 0;
};

}  // namespace hr
