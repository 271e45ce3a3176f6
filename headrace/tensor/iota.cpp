// SPDX-License-Identifier: Apache-2.0
// The node of numbers in order.
#include "headrace/tensor/iota.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/shards.h"
#include "headrace/tensor/iota_kernels.h"

namespace hr {

namespace {

Tensor numbers(int64_t count, Place place) {
  Buffer buffer = allocate_at(place, checked_multiply("arange", count, 8));
  if constexpr (built_with_cuda)
    if (place.is_gpu()) {
      if (count > 0) cuda::write_iota(count, buffer);
      return Tensor(TypeId::kInt64, {count}, std::move(buffer));
    }
  int64_t* const out = count > 0 ? buffer.mutable_as<int64_t>() : nullptr;
  parallel_morsels(count, [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i) out[i] = i;
  });
  return Tensor(TypeId::kInt64, {count}, std::move(buffer));
}

struct Iota final : OperatorOf<Iota> {
  int64_t count = 0;

  std::string_view name() const override { return "arange"; }

  std::string arguments() const override { return std::to_string(count); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return numbers(count, place_of(inputs[0]));
  }

  static auto parameters(auto& self) { return std::tie(self.count); }
};

struct RowNumbers final : OperatorOf<RowNumbers> {
  std::string_view name() const override { return "row numbers"; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return as_column(numbers(signature_of(inputs[0]).rows(), place_of(inputs[0])));
  }
};

}  // namespace

NodePtr iota(int64_t count, const NodePtr& near) {
  if (count < 0)
    throw_error<InvalidArgumentError>("arange", "a negative count", {{"count", count}},
                                      "use 0 or more");
  const Place place = near ? place_of(near) : default_place();
  // Work runs where its inputs are.
  const Tensor mark(TypeId::kInt64, {1}, scalar_tensor(int64_t{0}).buffer());
  NodePtr made = apply_operator(Iota::make(count), array_signature(TypeId::kInt64, {count}),
                                {lazy_value(to_place(Value(mark), place))});
  made->fields().place = place;
  const std::vector<Place> shards = near ? std::vector<Place>() : default_shards();
  return shards.empty() ? made : to_places(made, shards);
}

NodePtr row_numbers(const NodePtr& column) {
  Signature signature = column->signature();
  signature.form = Form::kColumn;
  signature.dtype = TypeId::kInt64;
  signature.nullable = false;
  return apply_operator(RowNumbers::make(), std::move(signature), {column});
}

}  // namespace hr
