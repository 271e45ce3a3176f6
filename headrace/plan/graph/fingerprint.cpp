// SPDX-License-Identifier: Apache-2.0
// What tells nodes with the same value.
#include "headrace/plan/graph/fingerprint.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/data/dictionary.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/picked_rows.h"

#include <atomic>
#include <functional>
#include <string_view>

namespace hr {

namespace {

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Whether it is a number, which is told by its value.
bool append_number(std::string& key, const NodePtr& node) {
  const auto* scalar = node->is_ready() ? std::get_if<Scalar>(&node->value()) : nullptr;
  if (!scalar || !scalar->dtype().is_number()) return false;
  key += 's';
  key += scalar->dtype().name();
  append(key, scalar->is_weak());
  append(key, scalar->is_null());
  if (scalar->is_null()) return true;
  if (scalar->dtype().is_bool())
    append(key, scalar->as<bool>());
  else
    visit_real(scalar->dtype(),
               [&]<class T>(std::type_identity<T>) { append(key, scalar->as<T>()); });
  return true;
}

// A number by its value, a column that is there by its memory, others by what they do: those that
// the plan does not want, as columns that are never read, did not become one.
void append_input(std::string& key, const NodePtr& node) {
  if (append_number(key, node)) return;
  const auto* column = node->is_ready() ? std::get_if<Column>(&node->value()) : nullptr;
  if (column && column->num_rows() > 0) {
    key += 'c';
    key += column->dtype().name();
    append(key, identity_of(column->values_buffer()));
    append(key, column->offset());
    append(key, column->num_rows());
    append(key, column->null_count() == 0 ? nullptr : identity_of(column->validity_buffer()));
    if (column->dtype().is_category()) append(key, column->dictionary()->id());
    if (column->items()) append(key, column->items().get());
    if (column->fields()) append(key, column->fields().get());
    return;
  }
  key += 'n';
  append(key, node->fields().structure);
}

// What a node does; empty for those of which only they themselves know.
std::string words_of(const Node::Fields& fields) {
  std::optional<std::string> own = fields.op ? fields.op->bytes() : std::nullopt;
  if (!own) return {};
  std::string key = std::move(*own);
  append(key, fields.signature.form);
  key += fields.signature.dtype.name();
  return key;
}

uint64_t number_of(std::string_view words) {
  return std::hash<std::string_view>{}(words);
}

// A row domain that follows from what was asked: never one of new_domain.
uint64_t named_domain(uint64_t number) {
  return (number & ~kPickedRows) | uint64_t{1} << 63;
}

}  // namespace

const void* identity_of(const Buffer& buffer) {
  if (buffer.place().is_host() || !buffer.residency()) return buffer.data();
  return buffer.residency();
}

std::string equality_key(const Node::Fields& fields) {
  std::string key = words_of(fields);
  if (!key.empty())
    for (const NodePtr& input : fields.inputs) append_input(key, input);
  return key;
}

void note_structure(Node::Fields& fields, bool over_live) {
  static std::atomic<uint64_t> last{0};
  fields.serial = ++last;
  std::string works_on;
  works_on.reserve(64);
  if (over_live) append(works_on, fields.serial);
  for (const NodePtr& input : fields.inputs)
    if (!append_number(works_on, input)) append(works_on, input->fields().structure);
  std::string key = words_of(fields);
  append(key, key.empty() ? fields.serial : number_of(works_on));
  fields.structure = number_of(key);
}

uint64_t picked_domain(const NodePtr& mask) {
  return named_domain(hash_key(mask->fields().structure)) | kPickedRows;
}

uint64_t groups_domain(std::span<const NodePtr> keys, std::string_view options) {
  std::string words("groups ");
  words += options;
  for (const NodePtr& key : keys) append(words, key->fields().structure);
  return named_domain(number_of(words));
}

}  // namespace hr
