// SPDX-License-Identifier: Apache-2.0
#include "headrace/plan/optimize/membership.h"

#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <vector>

namespace hr {

namespace {

__extension__ using Int128 = __int128;

constexpr double kMostExact = 9007199254740992;  // 2^53: below, each integer is one double

template <class T>
Column column_of(Dtype dtype, const std::vector<T>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
  Buffer buffer = Buffer::allocate(bytes);
  if (bytes > 0) std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
  return Column(dtype, std::ssize(values), std::move(buffer));
}

Column column_of(const Scalar& value) {
  return visit_real(value.dtype(), [&]<class T>(std::type_identity<T>) {
    return column_of(value.dtype(), std::vector<T>{value.as<T>()});
  });
}

// Those of `values` that are values of another dtype too; nothing where several of these may be
// equal to one of them.
std::optional<Column> exactly_as(const Column& values, Dtype dtype) {
  const Dtype from = values.dtype();
  if (from == dtype) return values;
  if (!from.is_real() || !dtype.is_real()) return {};
  return visit_real(from, [&]<class From>(std::type_identity<From>) {
    return visit_real(dtype, [&]<class To>(std::type_identity<To>) -> std::optional<Column> {
      std::vector<To> found;
      for (const From value : values.values<From>()) {
        if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
          const Int128 wide = value;
          if (wide >= std::numeric_limits<To>::min() && wide <= std::numeric_limits<To>::max())
            found.push_back(static_cast<To>(value));
        } else if constexpr (std::is_same_v<From, double> && std::is_integral_v<To>) {
          if (!(std::abs(value) < kMostExact)) return {};
          const auto whole = static_cast<int64_t>(value);
          const Int128 wide = whole;
          if (static_cast<double>(whole) == value && wide >= std::numeric_limits<To>::min() &&
              wide <= std::numeric_limits<To>::max())
            found.push_back(static_cast<To>(whole));
        } else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
          // Others compare as doubles or, as numbers of Python do, as floats.
          const auto narrow = static_cast<float>(value);
          if (static_cast<double>(narrow) != value) return {};
          found.push_back(narrow);
        } else if constexpr (std::is_integral_v<From> && std::is_floating_point_v<To>) {
          constexpr Int128 kMost = Int128{1} << std::numeric_limits<To>::digits;
          const Int128 wide = value;
          if (wide <= -kMost || wide >= kMost) return {};
          found.push_back(static_cast<To>(value));
        } else {
          return {};
        }
      }
      return column_of(dtype, found);
    });
  });
}

bool has_nan(const Column& values) {
  const auto any = [&]<class T>(std::type_identity<T>) {
    const auto all = values.values<T>();
    return std::any_of(all.begin(), all.end(), [](T value) { return std::isnan(value); });
  };
  if (values.dtype().id() == TypeId::kFloat64) return any(std::type_identity<double>{});
  return values.dtype().id() == TypeId::kFloat32 && any(std::type_identity<float>{});
}

class Members {
 public:
  Members(std::unordered_map<const Node*, int64_t> columns,
          std::unordered_map<const Node*, NodePtr> others,
          const std::function<bool(int64_t, const Column&)>& may_have)
      : columns_(std::move(columns)), others_(std::move(others)), may_have_(may_have) {}

  bool may_be_true(const NodePtr& test) const {
    const Node::Fields& fields = test->fields();
    if (test->is_ready() || fields.inputs.empty()) return true;
    if (is_masked(fields)) return may_be_true(fields.inputs.back()) && of_operator(fields);
    if (fields.kind() == NodeKind::kOperator) return of_operator(fields);
    if (fields.kind() != NodeKind::kElementwise) return true;
    const auto& inputs = fields.inputs;
    switch (fields.operation()) {
      case Op::kLogicalAnd:
      case Op::kBitwiseAnd:
        return may_be_true(inputs[0]) && may_be_true(inputs[1]);
      case Op::kLogicalOr:
      case Op::kBitwiseOr:
        return may_be_true(inputs[0]) || may_be_true(inputs[1]);
      case Op::kFillNull: {
        const std::optional<Scalar> filling = constant_of(inputs[1]);
        return !filling || filling->is_null() || filling->as<bool>() || may_be_true(inputs[0]);
      }
      case Op::kEqual: {
        const std::optional<Scalar> left = scalar(inputs[0]), right = scalar(inputs[1]);
        if (left.has_value() == right.has_value()) return true;
        return may_equal(inputs[left ? 1 : 0], left ? *left : *right);
      }
      default:
        return true;
    }
  }

 private:
  std::optional<Scalar> scalar(const NodePtr& node) const {
    const auto given = others_.find(node.get());
    return constant_of(given == others_.end() ? node : given->second);
  }

  bool may_equal(const NodePtr& node, const Scalar& value) const {
    return value.is_null() || !value.dtype().is_real() || may_have(node, column_of(value));
  }

  bool of_operator(const Node::Fields& fields) const {
    const PredicatePtr predicate = predicate_of(fields);
    const Operator& op = predicate ? *predicate : *fields.op;
    const auto* const test = dynamic_cast<const MembershipTest*>(&op);
    if (!test) return true;
    // What the test reads in addition to the column, as it is now.
    std::vector<NodePtr> inputs = fields.inputs;
    for (NodePtr& input : inputs)
      if (const auto it = others_.find(input.get()); it != others_.end()) input = it->second;
    const std::optional<Column> members = test->members(inputs);
    return !members || may_have(fields.inputs[0], *members);
  }

  // Whether a column, or one that was converted, may have one of the values.
  bool may_have(const NodePtr& node, const Column& values) const {
    if (has_nan(values)) return true;
    if (const auto it = columns_.find(node.get()); it != columns_.end()) {
      const Dtype dtype = node->signature().dtype;
      const std::optional<Column> own =
          exactly_as(values, dtype.is_category() ? dtype.item() : dtype);
      return !own || (own->num_rows() > 0 && may_have_(it->second, *own));
    }
    const Node::Fields& fields = node->fields();
    if (node->is_ready() || fields.kind() != NodeKind::kElementwise ||
        fields.operation() != Op::kCast)
      return true;
    const std::optional<Column> own = exactly_as(values, fields.inputs[0]->signature().dtype);
    return !own || may_have(fields.inputs[0], *own);
  }

  std::unordered_map<const Node*, int64_t> columns_;
  std::unordered_map<const Node*, NodePtr> others_;
  const std::function<bool(int64_t, const Column&)>& may_have_;
};

}  // namespace

bool may_have_members(std::span<const std::shared_ptr<const RowPredicate>> predicates,
                      std::span<const Value> others,
                      const std::function<bool(int64_t, const Column&)>& may_have) {
  size_t next = 0;
  for (const auto& each : predicates) {
    std::unordered_map<const Node*, int64_t> columns;
    std::unordered_map<const Node*, NodePtr> given;
    for (size_t i = 0; i < each->columns_in_.size(); ++i)
      columns.emplace(each->columns_in_[i].get(), each->columns_[i]);
    for (const NodePtr& stands : each->others_in_)
      given.emplace(stands.get(), lazy_value(others[next++]));
    if (!Members(std::move(columns), std::move(given), may_have).may_be_true(each->test_))
      return false;
  }
  return true;
}

}  // namespace hr
