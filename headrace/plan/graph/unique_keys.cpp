// SPDX-License-Identifier: Apache-2.0
// Columns of which no two rows are equal, known before anything runs.
#include "headrace/plan/graph/unique_keys.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/plan/graph/node_fields.h"

#include <map>
#include <set>

namespace hr {

bool are_unique(std::span<const NodePtr> columns) {
  std::map<uint64_t, std::set<int64_t>> found;
  for (const NodePtr& column : columns) {
    if (column->signature().domain != columns[0]->signature().domain) return false;
    for (const KeyPlace& each : column->fields().unique) {
      std::set<int64_t>& places = found[each.keys];
      places.insert(each.place);
      if (static_cast<int64_t>(places.size()) == each.count) return true;
    }
  }
  return false;
}

std::vector<KeyPlace> keys_at(const NodePtr& rows, const NodePtr& positions) {
  const std::vector<uint64_t>& keys = positions->fields().first_of;
  if (keys.empty()) return {};  // a row may be taken twice
  std::vector<KeyPlace> found = keys_after(rows->fields().unique, positions->fields().structure);
  for (size_t k = 0; k < keys.size(); ++k)
    if (keys[k] == rows->fields().structure)
      found.push_back({positions->fields().structure, static_cast<int64_t>(k),
                       static_cast<int64_t>(keys.size())});
  return found;
}

std::vector<KeyPlace> keys_after(std::vector<KeyPlace> keys, uint64_t step) {
  for (KeyPlace& each : keys) each.keys = hash_key(hash_key(each.keys) + step);
  return keys;
}

}  // namespace hr
