// SPDX-License-Identifier: Apache-2.0
// Aggregates of groups, made of those of pieces of their rows.
#include "headrace/relational/aggregate/merged_aggregates.h"

namespace hr {

AggregateRequest Merging::request_again(const Part& part, int64_t column) const {
  AggregateRequest request = part.request;
  request.aggregate = part.again;
  request.column = column;
  // The sum of a run may be NaN, and is there.
  request.nan_is_value |= in_runs && part.request.aggregate == Aggregate::kSum;
  return request;
}

std::optional<Merging> merging(const AggregateRequest& request, Dtype dtype) {
  using enum Aggregate;
  switch (request.aggregate) {
    case kCount:
    case kSize:
      return Merging{{{request, kSum}}};
    case kSum:
    case kProduct:
      if (request.min_count != 0) return {};
      if (dtype.is_integer() || dtype.is_bool()) return Merging{{{request, request.aggregate}}};
      if (dtype != Dtype(TypeId::kFloat64) || request.aggregate == kProduct) return {};
      return Merging{{{request, kSum}}, true};
    case kMean: {
      if (dtype != Dtype(TypeId::kFloat64) && !dtype.is_integer()) return {};
      AggregateRequest sum = request, values = request;
      sum.aggregate = kSum;
      values.aggregate = kCount;
      return Merging{{{sum, kSum}, {values, kSum}}, true, dtype.is_integer()};
    }
    case kMin:
    case kMax:
    case kAny:
    case kAll:
    case kFirst:
    case kLast:
      return Merging{{{request, request.aggregate}}};
    default:
      return {};
  }
}

NodePtr mean_of(const NodePtr& sum, const NodePtr& count) {
  const NodePtr mean = elementwise(Op::kDivide, {sum, cast(count, TypeId::kFloat64)});
  const NodePtr is_there = elementwise(Op::kGreater, {count, literal(Scalar(int64_t{0}))});
  return elementwise(Op::kWhere, {is_there, mean, literal(Scalar::null(TypeId::kFloat64))});
}

}  // namespace hr
