// SPDX-License-Identifier: Apache-2.0
// Ranks: sort once, then walk over runs of equal values.
#include "headrace/relational/order/rank.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/sort/sort.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/graph/cost_model.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/relational/order/window_places.h"
#include "headrace/relational/rows/operator_inputs.h"
#include "headrace/relational/rows/struct_codes.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

namespace hr {

namespace {

constexpr std::string_view kOp = "rank";
constexpr std::string_view kMethods[] = {"average", "min", "max", "first", "dense"};

}  // namespace

RankMethod rank_method_from_name(std::string_view name) {
  return enum_from_name<RankMethod>(kOp, "method", name, kMethods);
}

std::string_view rank_method_name(RankMethod method) {
  return kMethods[static_cast<size_t>(method)];
}

Column row_numbers(int64_t rows) {
  Buffer buffer = Buffer::allocate_spillable(8 * rows);
  if (rows > 0) {
    int64_t* const out = buffer.mutable_as<int64_t>();
    parallel_morsels(rows, {writes(buffer, 8)}, [&](Morsel morsel) {
      std::iota(out + morsel.begin, out + morsel.end, morsel.begin);
    });
    buffer.seal();
  }
  return Column(TypeId::kInt64, rows, std::move(buffer));
}

Column rank_sorted(const Buffer& keys, const Buffer& values, int64_t rows,
                   const NormalizedKeys& packed, RankMethod method) {
  Buffer buffer = Buffer::allocate_spillable(8 * rows);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows == 0) return Column(TypeId::kFloat64, 0, std::move(buffer));
  double* const out = buffer.mutable_as<double>();
  uint8_t* const valid = validity.mutable_as<uint8_t>();
  const auto* const key = keys ? keys.as<uint64_t>() : nullptr;
  const auto* const value = values.as<uint64_t>();
  std::vector<BufferAccess> accesses{{&values, 0, 64, 64, rows}, writes(buffer, 8)};
  if (key) accesses.push_back({&keys, 0, 64, 64, rows});
  std::optional<Pin> pin;
  int64_t group = 0, runs = 0, pinned = 0;
  for (int64_t begin = 0, end = 0; begin < rows; begin = end) {
    if (key && key[begin] != key[group]) {
      group = begin;
      runs = 0;
    }
    while (end < rows && value[end] == value[begin] && (!key || key[end] == key[begin])) ++end;
    ++runs;
    const bool missing = packed.has_missing() && value[begin] == packed.missing();
    for (int64_t at = begin; at < end; ++at) {
      if (at == pinned) {
        pinned = std::min(at + morsel_rows(), rows);
        pin.reset();
        pin.emplace(ranges_of(accesses, at, pinned));
      }
      const int64_t place = method == RankMethod::kFirst   ? at - group + 1
                            : method == RankMethod::kDense ? runs
                            : method == RankMethod::kMax   ? end - group
                                                           : begin - group + 1;
      out[at] = missing ? 0
                : method == RankMethod::kAverage
                    ? static_cast<double>(begin + end + 1 - 2 * group) / 2
                    : static_cast<double>(place);
      set_bit(valid, at, !missing);
    }
  }
  pin.reset();
  buffer.seal();
  return Column(TypeId::kFloat64, rows, std::move(buffer), std::move(validity), -1);
}

Column rank(const Column& column, RankMethod method, bool descending) {
  const int64_t rows = column.num_rows();
  const NormalizedKeys packed =
      NormalizedKeys::of(kOp, {column}, {.ordered = false, .drop_missing = true});
  const Column normalized_keys(TypeId::kUInt64, rows, packed.to_buffer(0, rows));
  const std::vector<Column> sorted =
      sort_rows({column}, {{descending, false}}, {normalized_keys, row_numbers(rows)});
  const Column places = rank_sorted({}, sorted[0].values_buffer(), rows, packed, method);
  return sort_rows({sorted[1]}, {{}}, {places})[0];
}

namespace {

std::string no_numbers(Dtype dtype) {
  return "values of " + std::string(dtype.name()) + " have no kernel for CUDA";
}

struct Rank final : OperatorOf<Rank> {
  RankMethod method = RankMethod::kAverage;
  bool descending = false;

  std::string_view name() const override { return kOp; }

  std::string arguments() const override { return std::string(rank_method_name(method)); }

  int passes() const override { return 4; }

  Cost cost(const InputEstimates&) const override { return {.nanoseconds = 40, .bytes = 16}; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& column = std::get<Column>(inputs[0]);
    if (!column.place().is_gpu()) return rank(column, method, descending);
    if (auto ranks = rank_there(nullptr, column, method, descending)) return *std::move(ranks);
    return run_on_host(
        kOp, no_numbers(column.dtype()), column.place(), {column},
        [&](std::span<const Value> here) {
          return std::vector<Value>{rank(std::get<Column>(here[0]), method, descending)};
        })[0];
  }

  static auto parameters(auto& self) { return std::tie(self.method, self.descending); }
};

}  // namespace

NodePtr rank(const NodePtr& column, RankMethod method, bool descending) {
  const NodePtr input = column_node(kOp, plain_key(column));
  Signature signature = input->signature();
  if (signature.dtype.is_complex() || signature.dtype.is_nested())
    throw_error<TypeMismatchError>(kOp, "complex numbers and lists have no order");
  signature.dtype = TypeId::kFloat64;
  signature.nullable = true;
  return apply_operator(Rank::make(method, descending), std::move(signature), {input});
}

}  // namespace hr
