// SPDX-License-Identifier: Apache-2.0
// Element-wise operations: handles and Python values as operands, and one call into the engine.
#include "python/bind/bind.h"
#include "python/bind/protocols.h"

#include "headrace/base/error.h"
#include "headrace/frame/apply.h"
#include "headrace/frame/astype.h"
#include "headrace/functions/temporal/checked_counts.h"
#include "headrace/plan/graph/picked_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace {

/// A literal that Python made of one of its values; see headrace/literals.py.
struct LiteralHandle {
  hr::Literal value;
};

hr::Int128 nanoseconds_from(int64_t seconds, int64_t nanoseconds) {
  return hr::Int128{seconds} * 1'000'000'000 + nanoseconds;
}

hr::Literal number_literal(nb::handle value, std::string_view dtype) {
  const hr::Dtype wanted = hr::dtype_from_name(dtype);
  if (wanted.is_bool()) return hr::Scalar(nb::cast<bool>(value));
  return hr::visit_real(wanted, [&]<class T>(std::type_identity<T>) {
    return hr::Literal(hr::Scalar(nb::cast<T>(value)));
  });
}

nb::object attribute(nb::handle object, const char* name) {
  PyObject* const found = PyObject_GetAttrString(object.ptr(), name);
  if (!found) PyErr_Clear();
  return nb::steal(found);
}

nb::object node_attribute(nb::handle value) {
  static PyObject* const name = PyUnicode_InternFromString("_node");
  PyObject* const found = PyObject_GetAttr(value.ptr(), name);
  if (!found) PyErr_Clear();
  return nb::steal(found);
}

std::string_view utf8(std::string_view op, nb::handle text) {
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data) return {data, static_cast<size_t>(size)};
  PyErr_Clear();
  hr::throw_error<hr::InvalidArgumentError>(
      op, "the string holds a lone surrogate, which UTF-8 cannot encode",
      {{"value", printed(text)}});
}

hr::Literal integer_literal(nb::handle value) {
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (!overflow) return hr::Scalar::weak(number);
  uint64_t big = 0;
  if (overflow > 0 && nb::try_cast(value, big)) return hr::Scalar::weak(big);
  return hr::DecimalLiteral{printed(value), true};
}

/// The operands of one call, in order.
class Operands {
 public:
  Operands(std::string_view op, nb::tuple values, hr::NullRule nulls)
      : op_(op), values_(std::move(values)), nulls_(nulls) {}

  /// False when one is nothing that the engine knows.
  bool read() {
    given_.reserve(values_.size());
    for (const nb::handle value : values_) {
      auto operand = operand_of(value);
      if (!operand) return false;
      given_.push_back({std::move(*operand)});
    }
    know_zone();
    return true;
  }

  hr::NodePtr apply() {
    const hr::Op op = hr::op_from_name(op_);
    try {
      const GilReleased released;
      return hr::apply(op, given_, nulls_);
    } catch (const hr::TypeMismatchError&) {  // names cost time: only errors have them
    }
    name_columns();
    const GilReleased released;
    return hr::apply(op, given_, nulls_);
  }

  /// Throws for filtered or sorted rows with a separate series, which pandas would align.
  void check_rows() const {
    bool picked = false, separate = false;
    for (const hr::ApplyOperand& each : given_) {
      const auto* node = std::get_if<hr::NodePtr>(&each.value);
      if (!node || (*node)->signature().form != hr::Form::kColumn) continue;
      const uint64_t domain = (*node)->signature().domain;
      picked |= (domain & hr::kPickedRows) != 0;
      separate |= domain == 0;
    }
    if (picked && separate) refuse_apart(op_);
  }

  static void refuse_apart(std::string_view op) {
    hr::throw_error<hr::InvalidArgumentError>(
        op,
        "filtered or sorted rows cannot be combined with a separate series, because labels are "
        "not aligned",
        {},
        "use to_numpy() on one side to match by position, reset_index(drop=True) on the rows, or "
        "merge on a column");
  }

 private:
  using Value = std::variant<hr::NodePtr, hr::Literal>;

  std::optional<Value> operand_of(nb::handle value) {
    if (PyFloat_CheckExact(value.ptr()))
      return hr::Literal(hr::Scalar::weak(PyFloat_AsDouble(value.ptr())));
    if (PyBool_Check(value.ptr())) return hr::Literal(hr::Scalar::weak(value.is(nb::bool_(true))));
    if (PyLong_Check(value.ptr())) return integer_literal(value);
    if (PyUnicode_Check(value.ptr())) return hr::Literal(std::string(utf8(op_, value)));
    if (nb::isinstance<LiteralHandle>(value)) return nb::inst_ptr<LiteralHandle>(value)->value;
    if (nb::isinstance<NodeHandle>(value)) return nb::inst_ptr<NodeHandle>(value)->node;
    if (auto held = held_value(node_attribute(value))) return held;
    return held_value(literals().attr("operand")(op_name(), value, values_));
  }

  static std::optional<Value> held_value(const nb::object& holder) {
    if (!holder) return {};
    if (nb::isinstance<NodeHandle>(holder)) return nb::inst_ptr<NodeHandle>(holder)->node;
    if (nb::isinstance<LiteralHandle>(holder)) return nb::inst_ptr<LiteralHandle>(holder)->value;
    return {};
  }

  // The rules of the zone in which a string is a local time; they come from `zoneinfo`.
  void know_zone() const {
    const bool has_text = std::ranges::any_of(given_, [](const hr::ApplyOperand& each) {
      const auto* literal = std::get_if<hr::Literal>(&each.value);
      return literal && std::holds_alternative<std::string>(*literal);
    });
    if (!has_text) return;
    const std::optional<hr::Dtype> times = hr::dtype_of_times(given_);
    if (times && times->has_zone()) literals().attr("know_zone")(dtype_name(*times));
  }

  void name_columns() {
    for (size_t i = 0; i < given_.size(); ++i) {
      const nb::object name = attribute(values_[i], "name");
      if (std::holds_alternative<hr::NodePtr>(given_[i].value) && name &&
          nb::isinstance<nb::str>(name))
        given_[i].name = utf8(op_, name);
    }
  }

  nb::str op_name() const { return nb::str(op_.data(), op_.size()); }

  static nb::object literals() { return nb::module_::import_("headrace.literals"); }

  std::string_view op_;
  nb::tuple values_;
  hr::NullRule nulls_;
  std::vector<hr::ApplyOperand> given_;
};

// None where an operand is unknown to the engine.
std::optional<NodeHandle> apply(std::string_view op, nb::tuple values, bool missing_is_false,
                                bool three_valued) {
  mark(op);
  Operands operands(op, std::move(values),
                    missing_is_false ? hr::NullRule::kMissingIsFalse
                    : three_valued   ? hr::NullRule::kThreeValued
                                     : hr::NullRule::kPlainComparisons);
  if (!operands.read()) return {};
  operands.check_rows();
  return NodeHandle{operands.apply()};
}

}  // namespace

void bind_apply(nb::module_& m) {
  nb::class_<LiteralHandle>(m, "Literal");
  m.def(
      "time_literal",
      [](int64_t seconds, int64_t nanoseconds, std::string_view dtype) {
        return LiteralHandle{
            hr::TimeLiteral{nanoseconds_from(seconds, nanoseconds), hr::dtype_from_name(dtype)}};
      },
      "seconds"_a, "nanoseconds"_a, "dtype"_a);
  m.def(
      "duration_literal",
      [](int64_t seconds, int64_t nanoseconds) {
        return LiteralHandle{hr::DurationLiteral{nanoseconds_from(seconds, nanoseconds)}};
      },
      "seconds"_a, "nanoseconds"_a);
  m.def(
      "calendar_literal",
      [](int64_t months, int64_t seconds, int64_t nanoseconds) {
        return LiteralHandle{hr::CalendarLiteral{months, nanoseconds_from(seconds, nanoseconds)}};
      },
      "months"_a, "seconds"_a, "nanoseconds"_a);
  m.def(
      "decimal_literal",
      [](std::string digits) { return LiteralHandle{hr::DecimalLiteral{std::move(digits)}}; },
      "digits"_a);
  m.def(
      "number_literal",
      [](nb::handle value, std::string_view dtype) {
        return LiteralHandle{number_literal(value, dtype)};
      },
      "value"_a, "dtype"_a);
  m.def("null_literal", [] { return LiteralHandle{hr::Scalar::null(hr::TypeId::kBool)}; });
  m.def("apply", &apply, "op"_a, "values"_a, "missing_is_false"_a = false, "three_valued"_a = false,
        nb::sig("def apply(op: str, values: tuple[typing.Any, ...], "
                "missing_is_false: bool = False, three_valued: bool = False) -> Node | None"));
  m.def(
      "checked_arithmetic",
      [](std::string_view op, const hr::NodePtr& left, const hr::NodePtr& right) {
        if (hr::NodePtr made = hr::checked_counts(hr::op_from_name(op), left, right)) return made;
        hr::throw_error<hr::TypeMismatchError>(
            op, "expected an int64 column and another one or a number");
      },
      "op"_a, "left"_a, "right"_a, Unlocked(),
      "The sum, difference or product of int64 columns, or of one and a number; an error with its "
      "row where it does not fit.");
  m.def("bind_rules", [] {
    using Words =
        std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;
    std::vector<Words> rules;
    for (const hr::BindRule& rule : hr::bind_rules())
      rules.emplace_back(rule.operations, rule.left, rule.right, rule.storage, rule.cast,
                         rule.result);
    return rules;
  });
  m.def("refuse_apart", [](std::string_view op) { Operands::refuse_apart(op); }, "op"_a);
  m.def(
      "astype",
      [](const hr::NodePtr& column, std::string_view dtype) {
        return hr::astype(column, hr::dtype_from_name(dtype));
      },
      "column"_a, "dtype"_a, Unlocked());
  m.def("comparable_counts", &hr::comparable_counts, "name"_a, "left"_a, "right"_a, Unlocked());
}
