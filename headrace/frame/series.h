// SPDX-License-Identifier: Apache-2.0
// Series: one column of a frame, with operators, for C++ users.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/frame/literals.h"
#include "headrace/plan/graph/array.h"
#include "headrace/plan/graph/elementwise_operators.h"
#include "headrace/plan/graph/node.h"

#include <chrono>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hr {

/// A lazy column. Operators make nodes and run nothing; operands have the same rows (columns of one
/// frame, or free-standing data of as many rows), or are numbers: plain ones, or the lazy results
/// of reductions. Null and NaN are different; a null operand gives null, but comparisons with null
/// are false, and `!=` true, as in pandas; a filter takes null as false. Operators take all dtypes,
/// by the rules of `apply`: strings, dates, times, durations and decimals compare and add as in
/// Python, also with a literal on one side: text, dates and durations of std::chrono, a
/// DecimalLiteral. Reductions skip both, as in pandas. Converts to NodePtr, so each function of a
/// lazy column takes it. Copies share the node.
class HR_API Series : public ElementwiseOperators<Series> {
 public:
  Series(NodePtr node) : node_(std::move(node)) {}  // NOLINT: implicit on purpose

  Series(const Array& array) : node_(array) {}  // NOLINT

  Series(Column column) : node_(lazy_value(std::move(column))) {}  // NOLINT

  /// A number, for arithmetic.
  template <class T>
    requires std::is_arithmetic_v<T>
  Series(T number) : node_(literal(Scalar::weak(number))) {}  // NOLINT

  /// Copies numbers.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  explicit Series(const std::vector<T>& values)
      : Series(Column(dtype_of<T>(), static_cast<int64_t>(values.size()), buffer_of(values))) {}

  Series(const Series&) = default;
  Series(Series&&) = default;
  ~Series() = default;
  // Not of a temporary: `frame["x"] = values` would change nothing (`assign` makes a new frame).
  Series& operator=(const Series&) & = default;
  Series& operator=(Series&&) & = default;

  operator NodePtr() const { return node_; }  // NOLINT

  Dtype dtype() const { return node_->signature().dtype; }

  /// Runs what is needed: the values, on the host.
  Column column() const;

  /// The steps that evaluating it would take.
  std::string explain() const { return hr::explain(std::span(&node_, 1)).text; }

  // ---- reductions: lazy, of one element; `item<T>()` evaluates one ----
  // Of times, durations, decimals and strings they are columns of one row; see `aggregate_column`.
  // Throw TypeMismatchError for dtypes that they do not take.

  Array sum() const { return reduce(Aggregate::kSum); }

  Array prod() const { return reduce(Aggregate::kProduct); }

  Array mean() const { return reduce(Aggregate::kMean); }

  Array var(int64_t ddof = 1) const { return reduce(Aggregate::kVariance, ddof); }

  Array std(int64_t ddof = 1) const { return reduce(Aggregate::kStd, ddof); }

  Array min() const { return reduce(Aggregate::kMin); }

  Array max() const { return reduce(Aggregate::kMax); }

  Array count() const { return reduce(Aggregate::kCount); }

  Array any() const { return reduce(Aggregate::kAny); }

  Array all() const { return reduce(Aggregate::kAll); }

  /// The quantile `q`, from 0 to 1, linear between values: float64, of times and durations theirs.
  Array quantile(double q) const;

  Array median() const { return quantile(0.5); }

  /// The number of distinct values that are not missing.
  Array nunique() const;

  // ---- row by row ----

  /// The values as another dtype; see `astype` of frame/astype.h.
  Series astype(Dtype dtype) const;

  /// Where a value is null or NaN.
  Series isna() const;

  Series notna() const { return !isna(); }

  /// `value` where a value is null or NaN. Categories stay and are evaluated; TypeMismatchError for
  /// a value that is none of them.
  Series fillna(const Series& value) const;

  template <LiteralValue T>
  Series fillna(const T& value) const {
    return filled(as_literal(value));
  }

  /// Whether each value is one of `values`, a free-standing series.
  Series isin(const Series& values) const;

  /// Row r is row r - periods; null where there is none.
  Series shift(int64_t periods = 1) const;

  /// The distinct values in order of first appearance, null and NaN included.
  Series unique() const;

  static Series elementwise(Op op, const std::vector<NodePtr>& operands);

 private:
  template <class T>
  static Buffer buffer_of(const std::vector<T>& values) {
    Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size() * sizeof(T)));
    if (!values.empty())
      std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
    return buffer;
  }

  Array reduce(Aggregate aggregate, int64_t ddof = 0) const;
  Series filled(const Literal& value) const;

  NodePtr node_;
};

/// The same memory as an array of one dimension, for functions of signals. Throws TypeMismatchError
/// for strings; on evaluation InvalidArgumentError for nulls.
HR_API Array asarray(const Series& series);

/// An operation with a literal on one side: a string, a time, a duration, a decimal.
HR_API Series apply(Op op, const Series& left, const Literal& right);
HR_API Series apply(Op op, const Literal& left, const Series& right);

// Operators with text, dates, durations and decimals (frame/literals.h) on one side.

template <LiteralValue T>
Series operator+(const Series& a, const T& b) {
  return apply(Op::kAdd, a, as_literal(b));
}

template <LiteralValue T>
Series operator+(const T& a, const Series& b) {
  return apply(Op::kAdd, as_literal(a), b);
}

template <LiteralValue T>
Series operator-(const Series& a, const T& b) {
  return apply(Op::kSubtract, a, as_literal(b));
}

template <LiteralValue T>
Series operator-(const T& a, const Series& b) {
  return apply(Op::kSubtract, as_literal(a), b);
}

template <LiteralValue T>
Series operator*(const Series& a, const T& b) {
  return apply(Op::kMultiply, a, as_literal(b));
}

template <LiteralValue T>
Series operator*(const T& a, const Series& b) {
  return apply(Op::kMultiply, as_literal(a), b);
}

template <LiteralValue T>
Series operator/(const Series& a, const T& b) {
  return apply(Op::kDivide, a, as_literal(b));
}

template <LiteralValue T>
Series operator/(const T& a, const Series& b) {
  return apply(Op::kDivide, as_literal(a), b);
}

template <LiteralValue T>
Series operator==(const Series& a, const T& b) {
  return apply(Op::kEqual, a, as_literal(b));
}

template <LiteralValue T>
Series operator==(const T& a, const Series& b) {
  return apply(Op::kEqual, as_literal(a), b);
}

template <LiteralValue T>
Series operator!=(const Series& a, const T& b) {
  return apply(Op::kNotEqual, a, as_literal(b));
}

template <LiteralValue T>
Series operator!=(const T& a, const Series& b) {
  return apply(Op::kNotEqual, as_literal(a), b);
}

template <LiteralValue T>
Series operator<(const Series& a, const T& b) {
  return apply(Op::kLess, a, as_literal(b));
}

template <LiteralValue T>
Series operator<(const T& a, const Series& b) {
  return apply(Op::kLess, as_literal(a), b);
}

template <LiteralValue T>
Series operator<=(const Series& a, const T& b) {
  return apply(Op::kLessEqual, a, as_literal(b));
}

template <LiteralValue T>
Series operator<=(const T& a, const Series& b) {
  return apply(Op::kLessEqual, as_literal(a), b);
}

template <LiteralValue T>
Series operator>(const Series& a, const T& b) {
  return apply(Op::kGreater, a, as_literal(b));
}

template <LiteralValue T>
Series operator>(const T& a, const Series& b) {
  return apply(Op::kGreater, as_literal(a), b);
}

template <LiteralValue T>
Series operator>=(const Series& a, const T& b) {
  return apply(Op::kGreaterEqual, a, as_literal(b));
}

template <LiteralValue T>
Series operator>=(const T& a, const Series& b) {
  return apply(Op::kGreaterEqual, as_literal(a), b);
}

// Next to those of std::chrono, which take any number for the other side.

template <class Number, class Period>
Series operator*(const Series& a, std::chrono::duration<Number, Period> b) {
  return apply(Op::kMultiply, a, as_literal(b));
}

template <class Number, class Period>
Series operator*(std::chrono::duration<Number, Period> a, const Series& b) {
  return apply(Op::kMultiply, as_literal(a), b);
}

template <class Number, class Period>
Series operator/(std::chrono::duration<Number, Period> a, const Series& b) {
  return apply(Op::kDivide, as_literal(a), b);
}

}  // namespace hr
