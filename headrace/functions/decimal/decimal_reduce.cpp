// SPDX-License-Identifier: Apache-2.0
// One decimal of many: exact sums whatever the threads, the least and the greatest.
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"

#include <vector>

namespace hr {

namespace {

struct Partial {
  DecimalSum sum{};
  Int128 best = 0;
  int64_t count = 0;

  void add(Int128 value, Aggregate aggregate) {
    sum += DecimalSum(value);
    if (count++ == 0 || (aggregate == Aggregate::kMin ? value < best : value > best)) best = value;
  }

  void merge(const Partial& other, Aggregate aggregate) {
    sum += other.sum;
    if (other.count > 0 &&
        (count == 0 || (aggregate == Aggregate::kMin ? other.best < best : other.best > best)))
      best = other.best;
    count += other.count;
  }
};

Column run(Aggregate aggregate, const Column& column, Dtype dtype) {
  const int64_t rows = column.num_rows();
  const Nulls null(column);
  std::vector<Partial> parts(static_cast<size_t>(num_morsels(rows)));
  if (rows > 0) {
    const Int128* const in = column.values<Int128>().data();
    parallel_morsels(rows, {reads(column)}, [&](Morsel morsel) {
      Partial& part = parts[static_cast<size_t>(morsel.index)];
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        if (!null(row)) part.add(in[row], aggregate);
    });
  }
  Partial all;
  for (const Partial& part : parts) all.merge(part, aggregate);
  Buffer value = Buffer::allocate_zeroed(16);
  Int128 result = all.best;
  if (aggregate == Aggregate::kSum && !all.sum.get(&result))
    throw_error<InvalidArgumentError>("sum", "the sum has more than 38 digits",
                                      {{"dtype", column.dtype().name()}},
                                      "use astype('float64') first");
  if (all.count > 0) *value.mutable_as<Int128>() = result;
  if (all.count > 0 || aggregate == Aggregate::kSum) return Column(dtype, 1, std::move(value));
  return Column(dtype, 1, std::move(value), Buffer::allocate_zeroed(1), 1);
}

struct DecimalReduction final : OperatorOf<DecimalReduction> {
  Aggregate aggregate = Aggregate::kSum;
  Dtype dtype{};  // of the result

  std::string_view name() const override {
    return aggregate_name(aggregate, AggregateForm::kColumn);
  }

  Value execute(std::span<const Value> inputs) const override {
    return run(aggregate, std::get<Column>(inputs[0]), dtype);
  }

  static auto parameters(auto& self) { return std::tie(self.aggregate, self.dtype); }
};

}  // namespace

NodePtr decimal_reduction(std::string_view kind, const NodePtr& column) {
  const Aggregate aggregate = aggregate_from_name(kind, AggregateForm::kColumn);
  const AggregateRow& row = aggregate_row(aggregate);
  if (row.decimals_as_floats || row.result == AggregateResult::kInt64)
    throw_error<UnsupportedError>(kind, "decimals do not support this aggregate", {},
                                  "use astype('float64') first");
  Signature signature = column->signature();
  if (signature.form != Form::kColumn || !signature.dtype.is_decimal())
    throw_error<TypeMismatchError>(kind, "expected a decimal column",
                                   {{"dtype", signature.dtype.name()}});
  if (aggregate == Aggregate::kSum)
    signature.dtype = Dtype::decimal(kMostDigits, signature.dtype.scale());
  signature.shape = {1};
  signature.domain = 0;
  signature.nullable = aggregate != Aggregate::kSum;
  return apply_operator(DecimalReduction::make(aggregate, signature.dtype), signature, {column});
}

}  // namespace hr
