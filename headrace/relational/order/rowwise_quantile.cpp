// SPDX-License-Identifier: Apache-2.0
// Quantiles across columns.
#include "headrace/relational/order/rowwise_quantile.h"

#include "headrace/algo/reduce/quantile_math.h"
#include "headrace/base/error.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/relational/rows/operator_inputs.h"

#include <cmath>

namespace hr {

namespace {

constexpr const char* kOp = "quantile";

Column row_quantile(std::span<const Value> columns, double q, Interpolation interpolation) {
  std::vector<const double*> values;
  std::vector<Nulls> nulls;
  std::vector<BufferAccess> accesses;
  for (const Value& value : columns) {
    const auto& column = std::get<Column>(value);
    values.push_back(column.values<double>().data());
    nulls.emplace_back(column);
    accesses.push_back(reads(column));
  }
  const int64_t rows = std::get<Column>(columns[0]).num_rows();
  if (rows == 0) return Column(TypeId::kFloat64, 0, {});
  Buffer result = Buffer::allocate_spillable(8 * rows);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const out = result.mutable_as<double>();
  auto* const valid = validity.mutable_as<uint8_t>();
  accesses.push_back(writes(result, 8));
  parallel_morsels(rows, accesses, [&](Morsel morsel) {
    std::vector<double> row_values(values.size());
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      int64_t count = 0;
      for (size_t i = 0; i < values.size(); ++i)
        if (!nulls[i](row) && !std::isnan(values[i][row]))
          row_values[static_cast<size_t>(count++)] = values[i][row];
      set_bit(valid, row, count > 0);
      out[row] = count > 0 ? quantile_of(row_values.data(), count, q, interpolation) : 0;
    }
  });
  return Column(TypeId::kFloat64, rows, std::move(result), std::move(validity), -1);
}

struct RowQuantile final : OperatorOf<RowQuantile> {
  double q = 0.5;
  Interpolation interpolation = Interpolation::kLinear;
  int64_t columns = 0;

  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return "of each row"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return columns; }

  Value execute(std::span<const Value> inputs) const override {
    return row_quantile(inputs, q, interpolation);
  }

  static auto parameters(auto& self) { return std::tie(self.q, self.interpolation, self.columns); }
};

}  // namespace

NodePtr row_quantile(const std::vector<NodePtr>& columns, double q, Interpolation interpolation) {
  if (!(q >= 0 && q <= 1))
    throw_error<InvalidArgumentError>(kOp, "q is out of range", {{"q", q}}, "pass 0 to 1");
  std::vector<NodePtr> inputs;
  for (const NodePtr& each : columns) {
    inputs.push_back(column_node(kOp, each));
    if (each->signature().dtype.id() != TypeId::kFloat64)
      throw_error<TypeMismatchError>(kOp, "expected float64 columns",
                                     {{"dtype", each->signature().dtype.name()}});
    check_same_rows(kOp, inputs[0], inputs.back());
  }
  Signature signature = inputs[0]->signature();
  signature.nullable = true;
  const auto count = static_cast<int64_t>(inputs.size());
  return apply_operator(RowQuantile::make(q, interpolation, count), std::move(signature),
                        std::move(inputs));
}

}  // namespace hr
