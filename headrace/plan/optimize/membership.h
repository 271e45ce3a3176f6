// SPDX-License-Identifier: Apache-2.0
// What sources that can tell which values a column has know of tests of their rows.
#pragma once
#include "headrace/plan/optimize/scan_predicate.h"

#include <functional>
#include <optional>
#include <span>

namespace hr {

/// An operator that tests whether the values of its first input are among others.
class HR_API MembershipTest {
 public:
  virtual ~MembershipTest() = default;

  /// These others, of the dtype of the first input, of categories their strings, without nulls;
  /// nothing where they are not known, or the test is true of other values too.
  virtual std::optional<Column> members(std::span<const NodePtr> inputs) const = 0;
};

/// Whether all predicates may be true of some row; true if in doubt. `may_have`: whether a column,
/// by place, may have one of these values, which are no NaN and of its dtype, of categories
/// strings.
HR_API bool may_have_members(
    std::span<const std::shared_ptr<const RowPredicate>> predicates, std::span<const Value> others,
    const std::function<bool(int64_t column, const Column& values)>& may_have);

}  // namespace hr
