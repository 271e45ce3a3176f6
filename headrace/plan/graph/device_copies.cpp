// SPDX-License-Identifier: Apache-2.0
#include "headrace/plan/graph/device_copies.h"

#include "headrace/memory/device/lent_copies.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"

namespace hr {

bool has_copy_at(const NodePtr& input, Place place) {
  const std::optional<Value>& copy = input->fields().device_copy;
  if (!copy || place_of(*copy) != place) return false;
  bool is_there = true;
  for_each_buffer(*copy, [&](const Buffer& buffer) { is_there &= !buffer || !is_away(buffer); });
  return is_there;
}

NodePtr shared_copy(const NodePtr& input, Place place) {
  const std::optional<Value>& copy = input->fields().device_copy;
  if (!copy || place_of(*copy) != place) {
    const NodePtr made = to_place(input, place);
    if (!input->fields().live) made->fields().copy_of = input;
    return made;
  }
  auto fields = std::make_unique<Node::Fields>();
  fields->label = "data";
  fields->signature = input->signature();
  fields->value = *copy;
  fields->place = place;
  fields->tag = input->tag();
  return std::make_shared<Node>(std::move(fields));
}

void prefetch(const NodePtr& input, Place place) {
  NodePtr copy;
  {
    const std::lock_guard lock(plan_mutex());
    copy = shared_copy(input, place);
  }
  force(copy);
}

}  // namespace hr
