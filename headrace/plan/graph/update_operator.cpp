// SPDX-License-Identifier: Apache-2.0
// Updates of arrays: who owns the memory that one may write into.
#include "headrace/plan/graph/update_operator.h"

#include "headrace/data/copy_strided.h"
#include "headrace/memory/buffer/shared_memory.h"
#include "headrace/plan/eval/tensor_of.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <mutex>

namespace hr {

namespace {

// The node, and those that it was copied from for plans.
std::vector<NodePtr> with_origins(NodePtr node) {
  std::vector<NodePtr> all;
  for (; node; node = all.back()->fields().origin.lock()) all.push_back(node);
  return all;
}

// Other processes may read a shared segment; its blocks never leave memory.
bool is_shared(const Buffer& buffer) {
  return !buffer.residency() && find_shared(buffer.data(), buffer.size_bytes());
}

bool may_be_written(const Node& array) {
  const auto* const tensor = std::get_if<Tensor>(&array.value());
  return tensor && !array.fields().live && tensor->num_elements() > 0 && tensor->is_contiguous() &&
         tensor->byte_offset() == 0 && !is_shared(tensor->buffer());
}

}  // namespace

Value UpdateOperator::execute(std::span<const Value> inputs) const {
  const Tensor from = tensor_of(inputs[0]);
  Buffer buffer = allocate_at(from.place(), from.num_elements() * from.dtype().size_bytes());
  if (buffer.size_bytes() > 0) copy_strided(name(), from, buffer, 0, row_major(from.shape()));
  update(from.shape(), buffer, inputs.subspan(1));
  return Tensor(from.dtype(), from.shape(), std::move(buffer));
}

SoleArray::SoleArray(const NodePtr& node, std::span<const NodePtr> inputs) {
  const bool on_host =
      !place_of(node).is_gpu() && std::ranges::all_of(inputs, [](const NodePtr& input) {
        return place_of(input->value()).is_host();
      });
  if (!on_host || !may_be_written(*inputs[0])) return;
  arrays_ = with_origins(inputs[0]);
  std::erase_if(arrays_, [](const NodePtr& each) { return !each->is_ready(); });
  for (NodePtr& each : with_origins(node)) nodes_.push_back({std::move(each), {}});
  const auto& array = std::get<Tensor>(inputs[0]->value());
  dtype_ = array.dtype();
  shape_ = array.shape();
  {
    const std::lock_guard lock(inputs_mutex());
    if (has_other_handles(inputs)) return;
    for (Taken& each : nodes_) each.inputs = std::move(each.node->fields().inputs);
  }
  buffer_ = array.buffer();
  for (const NodePtr& each : arrays_) each->fields().value = Tensor();
  try {
    buffer_.mutable_data();  // it knows whether this is the only handle, and ends eviction
  } catch (...) {            // it is not, or there is no room to bring the bytes back
    give_back();
  }
}

SoleArray::~SoleArray() {
  if (buffer_) give_back();
}

bool SoleArray::has_other_handles(std::span<const NodePtr> inputs) const {
  if (std::ranges::count(inputs, inputs[0]) > 1) return true;  // x[k] = x
  return std::ranges::any_of(arrays_, [&](const NodePtr& array) {
    auto known = 1 + std::ranges::count(inputs, array);
    for (const Taken& each : nodes_) known += std::ranges::count(each.node->fields().inputs, array);
    return array.use_count() != known;
  });
}

void SoleArray::give_back() {
  buffer_.seal();
  const Tensor array = release();
  for (const NodePtr& each : arrays_) each->fields().value = array;
  const std::lock_guard lock(inputs_mutex());
  for (Taken& each : nodes_) each.node->fields().inputs = std::move(each.inputs);
}

Tensor SoleArray::release() {
  return Tensor(dtype_, shape_, std::move(buffer_));
}

}  // namespace hr
