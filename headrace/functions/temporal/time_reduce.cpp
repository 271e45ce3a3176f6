// SPDX-License-Identifier: Apache-2.0
// Aggregates of times: those of their counts, back as times.
#include "headrace/functions/temporal/time_reduce.h"

#include "headrace/algo/aggregate/aggregate_binding.h"
#include "headrace/algo/reduce/reduce.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/base/error.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/functions/temporal/time_counts.h"

#include <cmath>
#include <limits>
#include <optional>

namespace hr {

namespace {

using Input = BoundAggregate::Input;

constexpr ReduceOptions kValues{.skip_nan = true, .empty_is_null = true};
constexpr double kNear = 0x1p62;  // differences that integers hold

// Counts as float64 lose digits; from the least one on they mostly do not.
int64_t base_of(const Column& counts) {
  const Scalar least = reduce(counts, Aggregate::kMin, kValues);
  const Scalar most = reduce(counts, Aggregate::kMax, kValues);
  if (least.is_null()) return 0;
  const double lower = static_cast<double>(least.as<int64_t>());
  if (static_cast<double>(most.as<int64_t>()) - lower >= kNear) return 0;
  return lower < 0x1p63 ? static_cast<int64_t>(lower) : std::numeric_limits<int64_t>::max();
}

Column from_base(const Column& counts, int64_t base) {
  const int64_t* const in = counts.values<int64_t>().data();
  return map_rows<int64_t>(counts, TypeId::kInt64, [in, base](int64_t row) {
    return static_cast<int64_t>(static_cast<uint64_t>(in[row]) - static_cast<uint64_t>(base));
  });
}

std::optional<int64_t> count_from_float(std::string_view op, double number, int64_t base) {
  if (std::isnan(number)) return {};
  const double below = std::floor(number);
  if (!(below >= -0x1p63 && below < 0x1p63))
    throw_error<InvalidArgumentError>(op, "the result does not fit the dtype", {{"value", number}},
                                      "use astype with a coarser unit first");
  const int64_t count = static_cast<int64_t>(below) + base;
  return count + (count < 0 && number > below);
}

template <class T>
Column column_of(Dtype dtype, const std::vector<std::optional<int64_t>>& counts) {
  const auto rows = static_cast<int64_t>(counts.size());
  Buffer values = Buffer::allocate_zeroed(rows * static_cast<int64_t>(sizeof(T)));
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const out = values.mutable_as<T>();
  auto* const valid = validity.mutable_as<uint8_t>();
  for (size_t row = 0; row < counts.size(); ++row) {
    out[row] = static_cast<T>(counts[row].value_or(0));
    set_bit(valid, static_cast<int64_t>(row), counts[row].has_value());
  }
  return Column(dtype, rows, std::move(values), std::move(validity), -1);
}

Column times_of(Dtype dtype, const std::vector<std::optional<int64_t>>& counts) {
  return dtype.is_date() ? column_of<int32_t>(dtype, counts) : column_of<int64_t>(dtype, counts);
}

std::optional<int64_t> count_of(std::string_view op, const Scalar& scalar, int64_t base) {
  if (scalar.is_null()) return {};
  if (scalar.dtype().is_floating()) return count_from_float(op, scalar.as<double>(), base);
  return scalar.as<int64_t>() + base;
}

struct TimeReduction final : OperatorOf<TimeReduction> {
  Aggregate aggregate = Aggregate::kMean;
  int64_t ddof = 0;
  bool relative = false;
  Dtype dtype{};  // of the result

  std::string_view name() const override {
    return aggregate_name(aggregate, AggregateForm::kColumn);
  }

  Value execute(std::span<const Value> inputs) const override {
    const auto& counts = std::get<Column>(inputs[0]);
    ReduceOptions options = kValues;
    options.ddof = ddof;
    const int64_t base = relative ? base_of(counts) : 0;
    const Scalar result = reduce(base ? from_base(counts, base) : counts, aggregate, options);
    return times_of(dtype, {count_of(name(), result, base)});
  }

  static auto parameters(auto& self) {
    return std::tie(self.aggregate, self.ddof, self.relative, self.dtype);
  }
};

struct TimeQuantiles final : OperatorOf<TimeQuantiles> {
  std::vector<double> q{};
  Interpolation interpolation = Interpolation::kLinear;
  Dtype dtype{};

  std::string_view name() const override { return "quantile"; }

  int passes() const override { return 2; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& counts = std::get<Column>(inputs[0]);
    std::vector<std::optional<int64_t>> found(q.size());
    if (counts.null_count() == counts.num_rows()) return times_of(dtype, found);
    const int64_t base = base_of(counts);
    const Tensor numbers = quantile(base ? from_base(counts, base) : counts, q, interpolation);
    for (size_t i = 0; i < q.size(); ++i)
      found[i] =
          picks_values(interpolation)
              ? reinterpret_cast<const int64_t*>(numbers.data())[i] + base
              : count_from_float(name(), reinterpret_cast<const double*>(numbers.data())[i], base);
    return times_of(dtype, found);
  }

  static auto parameters(auto& self) { return std::tie(self.q, self.interpolation, self.dtype); }
};

Signature one_column(Dtype dtype, int64_t rows) {
  Signature signature;
  signature.form = Form::kColumn;
  signature.dtype = dtype;
  signature.shape = {rows};
  signature.nullable = true;
  return signature;
}

BoundAggregate bound_of(Aggregate aggregate, Dtype dtype) {
  const BoundAggregate bound = bind_aggregate(aggregate, dtype, AggregateForm::kColumn);
  if (bound.input == Input::kCounts || bound.input == Input::kOffsets) return bound;
  throw_error<TypeMismatchError>(aggregate_name(aggregate, AggregateForm::kColumn),
                                 "these values do not have this aggregate",
                                 {{"dtype", dtype.name()}});
}

}  // namespace

TimeOffsets time_offsets(const NodePtr& column, Dtype counted, bool relative) {
  const Dtype own = column->signature().dtype;
  const CountUnit unit = count_unit(counted);
  const Array counts = count_unit(own) == unit ? counts_from_times(column)
                                               : Array(rescale_unit(column, *unit, false));
  if (!relative) return {.counts = counts};
  const NodePtr floats = cast(counts, TypeId::kFloat64);
  const Array least = reduce(Aggregate::kMin, floats, kValues);
  const Array most = reduce(Aggregate::kMax, floats, kValues);
  const Array base =
      cast(elementwise(Op::kWhere, {(most - least) < kNear, least, Array(0.0)}), TypeId::kInt64);
  return {.counts = counts - base, .base = base};
}

NodePtr time_reduction(Aggregate aggregate, const NodePtr& column, int64_t ddof) {
  const BoundAggregate bound = bound_of(aggregate, column->signature().dtype);
  const NodePtr counts = time_offsets(column, bound.counted, false).counts;
  if (bound.result.is_bool()) return reduce(aggregate, counts, kValues);
  return apply_operator(
      TimeReduction::make(aggregate, ddof, bound.input == Input::kOffsets, bound.result),
      one_column(bound.result, 1), {counts});
}

NodePtr time_quantiles(const NodePtr& column, std::vector<double> q, Interpolation interpolation) {
  const Dtype dtype = bound_of(Aggregate::kQuantile, column->signature().dtype).result;
  Signature signature = one_column(dtype, static_cast<int64_t>(q.size()));
  return apply_operator(TimeQuantiles::make(std::move(q), interpolation, dtype),
                        std::move(signature), {time_offsets(column, dtype, false).counts});
}

}  // namespace hr
