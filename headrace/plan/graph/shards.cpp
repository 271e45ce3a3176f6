// SPDX-License-Identifier: Apache-2.0
// Values over several devices: how rows get from one cut to another.
#include "headrace/plan/graph/shards.h"

#include "headrace/algo/select/concat.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/plan/graph/fingerprint.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/plan_nodes.h"
#include "headrace/plan/graph/provenance.h"

#include <algorithm>
#include <utility>

namespace hr {

namespace {

Value rows_of(const Value& value, int64_t begin, int64_t count) {
  if (const auto* column = std::get_if<Column>(&value)) return column->slice(begin, count);
  const auto& tensor = std::get<Tensor>(value);
  Shape shape = tensor.shape();
  shape[0] = count;
  const int64_t skipped = begin * tensor.strides()[0] * tensor.dtype().size_bytes();
  return Tensor(tensor.dtype(), shape, tensor.strides(), tensor.buffer(),
                tensor.byte_offset() + (count == 0 ? 0 : skipped));
}

Tensor joined_tensors(std::span<const Value> pieces) {
  const auto& first = std::get<Tensor>(pieces[0]);
  Shape shape = first.shape();
  shape[0] = 0;
  std::vector<Column> bytes;
  for (const Value& piece : pieces) {
    const Tensor whole = contiguous(std::get<Tensor>(piece), "exchange");
    const int64_t size = whole.num_elements() * whole.dtype().size_bytes();
    bytes.push_back(Column(TypeId::kUInt8, size, whole.buffer(), {}, 0, whole.byte_offset()));
    shape[0] += whole.shape()[0];
  }
  const Column all = concatenate("exchange", TypeId::kUInt8, bytes);
  return Tensor(first.dtype(), shape, all.values_buffer());
}

Value joined(std::span<const Value> pieces) {
  if (std::holds_alternative<Tensor>(pieces[0])) return joined_tensors(pieces);
  std::vector<Column> columns;
  for (const Value& piece : pieces) columns.push_back(std::get<Column>(piece));
  return concatenate("exchange", columns[0].dtype(), columns);
}

std::string why_not_joined(std::span<const Value> pieces) {
  const auto* const first = std::get_if<Column>(&pieces[0]);
  for (const Value& piece : pieces)
    if (first && std::get<Column>(piece).dictionary() != first->dictionary())
      return "categories with different dictionaries have no kernel for CUDA";
  return why_strided(pieces[0]);
}

/// Rows of its inputs, one after the other: a piece of an even cut of all of them.
struct Exchange final : OperatorOf<Exchange> {
  int64_t part = 0;
  int64_t parts = 1;
  Place place = host;

  std::string_view name() const override { return parts == 1 ? "gather" : "exchange"; }

  std::string arguments() const override {
    const std::string where = "to " + place.name();
    if (parts == 1) return where;
    return "piece " + std::to_string(part + 1) + " of " + std::to_string(parts) + ", " + where;
  }

  // Rows that lie in their place are shared.
  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    int64_t rows = 0;
    for (const Value& input : inputs) rows += signature_of(input).rows();
    const int64_t begin = shard_begin(rows, part, parts, place);
    const int64_t end = shard_begin(rows, part + 1, parts, place);
    std::vector<Value> pieces;
    int64_t first = 0;
    for (const Value& input : inputs) {
      const int64_t count = signature_of(input).rows();
      const int64_t from = std::max(begin, first) - first;
      const int64_t to = std::min(end, first + count) - first;
      if (from < to) pieces.push_back(to_place(rows_of(input, from, to - from), place));
      first += count;
    }
    if (pieces.empty()) return no_rows(inputs[0], place);
    if (pieces.size() == 1) return std::move(pieces[0]);
    return std::move(dispatch_to_place(
        name(), why_not_joined, std::move(pieces),
        [](std::span<const Value> there) -> std::vector<Value> { return {joined(there)}; })[0]);
  }

  static auto parameters(auto& self) {
    return std::tie(self.part, self.parts, self.place.kind, self.place.index);
  }
};

NodePtr exchange(const std::vector<NodePtr>& pieces, int64_t part, int64_t parts, Place place,
                 Signature signature) {
  return apply_over_places(Exchange::make(part, parts, place.kind, place.index),
                           std::move(signature), pieces, place);
}

}  // namespace

Value no_rows(const Value& like, Place place) {
  return to_place(rows_of(like, 0, 0), place);
}

Value rows_at(std::span<const Value> pieces, Place place) {
  return Exchange::make(0, 1, place.kind, place.index)->execute(pieces);
}

// Not `apply_operator`, which would bring the inputs together.
NodePtr apply_over_places(OperatorPtr op, Signature signature, std::vector<NodePtr> inputs,
                          Place place) {
  auto made = std::make_unique<Node::Fields>();
  made->op = std::move(op);
  made->signature = std::move(signature);
  made->place = place;
  made->tag = operator_tag(made->op->name());
  made->plan = current_plan();
  made->whole = std::ranges::all_of(inputs, has_no_nulls);
  made->inputs = std::move(inputs);
  note_structure(*made, false);
  return std::make_shared<Node>(std::move(made));
}

NodePtr reduce_partially(Aggregate reduction, const NodePtr& rows, ReduceOptions options) {
  auto op = std::make_shared<ReductionOperator>();
  op->reduction = reduction;
  op->options = options;
  op->partial = true;
  return apply_operator(std::move(op), array_signature(TypeId::kUInt8, {kUnknown}, new_domain()),
                        {rows});
}

int64_t shard_unit(Place place) {
  return place.is_gpu() ? kMorselRows : morsel_rows();
}

int64_t shard_begin(int64_t rows, int64_t part, int64_t parts, Place place) {
  if (part == parts) return rows;
  const int64_t unit = shard_unit(place);
  return std::min(divide_up(rows, unit) * part / parts * unit, rows);
}

uint64_t shard_domain(uint64_t domain, size_t part, size_t parts) {
  const auto number = static_cast<int64_t>((parts << 16) + part + 1);
  return domain == 0 ? 0 : shorter_domain(domain, -number);
}

std::vector<NodePtr> cut_evenly(const std::vector<NodePtr>& pieces,
                                const std::vector<Place>& places, const Signature& like) {
  const auto parts = static_cast<int64_t>(places.size());
  std::vector<NodePtr> made;
  for (int64_t k = 0; k < parts; ++k) {
    Signature signature = like;
    const Place place = places[static_cast<size_t>(k)];
    signature.domain = shard_domain(like.domain, static_cast<size_t>(k), places.size());
    if (like.rows() != kUnknown)
      signature.shape[0] =
          shard_begin(like.rows(), k + 1, parts, place) - shard_begin(like.rows(), k, parts, place);
    made.push_back(exchange(pieces, k, parts, place, std::move(signature)));
  }
  return made;
}

NodePtr gather_shards(const std::vector<NodePtr>& pieces, Place place, const Signature& like) {
  return exchange(pieces, 0, 1, place, like);
}

void make_of_shards(const NodePtr& node, std::shared_ptr<const Shards> shards) {
  Node::Fields& fields = node->fields();
  const NodePtr made = gather_shards(shards->parts, host, fields.signature);
  set_inputs(*node, shards->parts);
  fields.op = made->fields().op;
  fields.of_table = nullptr;
  fields.optimized.reset();
  fields.place = shards->places[0];
  fields.shards = std::move(shards);
}

NodePtr to_places(const NodePtr& input, const std::vector<Place>& places) {
  const Signature& signature = input->signature();
  if (signature.form == Form::kTable || signature.shape.empty())
    throw_error<InvalidArgumentError>("to", "a value without rows cannot be cut over devices",
                                      {{"devices", places.size()}}, "name one device");
  for (size_t k = 0; k < places.size(); ++k) {
    check_is_there(places[k]);
    if (std::find(places.begin(), places.begin() + static_cast<int64_t>(k), places[k]) !=
        places.begin() + static_cast<int64_t>(k))
      throw_error<InvalidArgumentError>("to", "a device is named twice",
                                        {{"device", places[k].name()}});
  }
  auto shards = std::make_shared<Shards>();
  shards->parts = cut_evenly({input}, places, signature);
  shards->places = places;
  if (input->fields().live) force(shards->parts);
  NodePtr made = gather_shards(shards->parts, host, signature);
  made->fields().place = places[0];
  made->fields().shards = std::move(shards);
  share_marks(made, std::span(&input, 1));
  return made;
}

}  // namespace hr
