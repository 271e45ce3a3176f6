// SPDX-License-Identifier: Apache-2.0
// Ranks: sort once, then walk over runs of equal values.
#include "headrace/frame/rank.h"

#include "headrace/algo/gather.h"
#include "headrace/algo/pack_keys.h"
#include "headrace/algo/sort.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/frame/operator_inputs.h"
#include "headrace/frame/row_bits.h"
#include "headrace/plan/costs.h"

#include <algorithm>
#include <iterator>

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

Column rank(const Column& column, RankMethod method, bool descending) {
  const int64_t rows = column.num_rows();
  const Tensor order = argsort({column}, {{descending, false}});
  const PackedKeys packed = PackedKeys::of(kOp, {column}, {.ordered = false, .drop_missing = true});
  const Column packs = gather(Column(TypeId::kUInt64, rows, packed.to_buffer(0, rows)), order);
  Buffer buffer = Buffer::allocate(8 * rows);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows == 0) return Column(TypeId::kFloat64, 0, std::move(buffer));
  double* const out = buffer.mutable_as<double>();
  uint8_t* const valid = validity.mutable_as<uint8_t>();
  const int64_t* const row_at = order.as<int64_t>();
  const uint64_t* const pack = packs.values<uint64_t>().data();
  int64_t runs = 0;
  for (int64_t begin = 0, end = 0; begin < rows; begin = end) {
    while (end < rows && pack[end] == pack[begin]) ++end;
    const bool missing = packed.has_missing() && pack[begin] == packed.missing();
    ++runs;
    for (int64_t at = begin; at < end; ++at) {
      const auto place = [&] {
        switch (method) {
          case RankMethod::kAverage:
            return static_cast<double>(begin + end + 1) / 2;
          case RankMethod::kMin:
            return static_cast<double>(begin + 1);
          case RankMethod::kMax:
            return static_cast<double>(end);
          case RankMethod::kFirst:
            return static_cast<double>(at + 1);
          case RankMethod::kDense:
            return static_cast<double>(runs);
        }
        return 0.0;
      };
      out[row_at[at]] = missing ? 0 : place();
      set_bit(valid, row_at[at], !missing);
    }
  }
  return Column(TypeId::kFloat64, rows, std::move(buffer), std::move(validity), -1);
}

NodePtr rank_node(const NodePtr& column, RankMethod method, bool descending) {
  const NodePtr input = column_node(kOp, column);
  Signature signature = input->signature();
  if (signature.dtype.is_complex())
    throw_error<TypeMismatchError>(kOp, "complex numbers have no order");
  signature.dtype = TypeId::kFloat64;
  signature.nullable = true;
  NodePtr made = operator_node(std::string(kOp), std::string(rank_method_name(method)), signature,
                               {input}, 4, [=](std::span<const Value> values) -> Value {
                                 return rank(std::get<Column>(values[0]), method, descending);
                               });
  return with_cost(std::move(made), {.nanoseconds = 40, .bytes = 16});
}

}  // namespace hr
