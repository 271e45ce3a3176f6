// SPDX-License-Identifier: Apache-2.0
// Writable exports.
#include "headrace/plan/graph/detach.h"

#include "headrace/exchange/dlpack.h"
#include "headrace/plan/graph/node_fields.h"

namespace hr {

std::optional<Tensor> detach(NodePtr& node) {
  if (node.use_count() != 1) return {};
  Node::Fields& fields = node->fields();
  auto* const tensor = std::get_if<Tensor>(&*fields.value);
  if (!tensor) return {};
  std::optional<Tensor> given = detached(*tensor);
  if (!given) return {};
  NodePtr live = lazy_value(*given, fields.label, fields.signature.domain, /*live=*/true);
  live->fields().marks = fields.marks;
  node = std::move(live);
  return given;
}

}  // namespace hr
