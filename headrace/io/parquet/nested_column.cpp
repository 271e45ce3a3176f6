// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/nested_column.h"

#include "headrace/base/bits.h"
#include "headrace/io/parquet/refusal.h"

#include <utility>

namespace hr::parquet {

namespace {

// Where a node is: inside of this number of lists, the last of which has an item where the
// definition level is at least `item`.
struct Place {
  int lists = 0;
  int item = 0;
};

// Calls `f(definition, begins)` for the entries of a leaf that lie in the node's list; `begins`:
// the repetition level says that the node has a new value there.
template <class F>
void for_each_entry(std::string_view levels, const Place& place, const F& f) {
  const auto* const pairs = reinterpret_cast<const uint8_t*>(levels.data());
  for (size_t e = 0; e + 1 < levels.size(); e += 2)
    if (pairs[e + 1] >= place.item) f(pairs[e + 1], pairs[e]);
}

// A bit a value of the node.
class Validity {
 public:
  explicit Validity(int64_t rows) : bits_(Buffer::allocate_zeroed(bitmap_bytes(rows))) {}

  void add(bool valid) {
    if (valid) set_bit(bits_.mutable_as<uint8_t>(), row_, true);
    nulls_ += !valid;
    ++row_;
  }

  int64_t nulls() const { return nulls_; }

  Buffer take() { return nulls_ > 0 ? std::move(bits_) : Buffer(); }

 private:
  Buffer bits_;
  int64_t row_ = 0;
  int64_t nulls_ = 0;
};

class Assembly {
 public:
  explicit Assembly(const std::vector<LeafItems>& leaves) : leaves_(leaves) {}

  Column column(const SchemaNode& node, const Place& place) const {
    switch (node.kind) {
      case SchemaNode::Kind::kLeaf:
        return leaves_[node.leaf].items;
      case SchemaNode::Kind::kStruct:
        return structs(node, place);
      default:
        return lists(node, place);
    }
  }

 private:
  int64_t count(const SchemaNode& node, const Place& place) const {
    int64_t rows = 0;
    for_each_entry(leaves_[node.leaf].levels, place,
                   [&](int, int repetition) { rows += repetition <= place.lists; });
    return rows;
  }

  Column structs(const SchemaNode& node, const Place& place) const {
    const int64_t rows = count(node, place);
    Validity validity(rows);
    for_each_entry(leaves_[node.leaf].levels, place, [&](int definition, int repetition) {
      if (repetition <= place.lists) validity.add(definition >= node.present);
    });
    std::vector<Column> fields;
    for (const SchemaNode& child : node.children) {
      fields.push_back(column(child, place));
      if (fields.back().num_rows() != rows) damaged("the fields of a struct differ in length");
    }
    const int64_t nulls = validity.nulls();
    return Column::structs(node.dtype, rows, std::move(fields), validity.take(), nulls);
  }

  Column lists(const SchemaNode& node, const Place& place) const {
    const int64_t rows = count(node, place);
    Validity validity(rows);
    Buffer spans = Buffer::allocate_zeroed(rows * int64_t{sizeof(ListSpan)});
    auto* const out = rows > 0 ? spans.mutable_as<ListSpan>() : nullptr;
    int64_t row = -1, items = 0;
    for_each_entry(leaves_[node.leaf].levels, place, [&](int definition, int repetition) {
      if (repetition <= place.lists) {
        ++row;
        validity.add(definition >= node.present);
      }
      if (definition < node.list.item || repetition > place.lists + 1) return;
      if (row < 0) damaged("an item belongs to no list");
      if (out[row].size++ == 0) out[row].begin = items;
      ++items;
    });
    const int64_t nulls = validity.nulls();
    Column made = column(node.children[0], {place.lists + 1, node.list.item});
    if (made.num_rows() != items) damaged("the lists of a column differ in length");
    if (node.kind == SchemaNode::Kind::kList)
      return Column::lists(rows, std::move(spans), std::move(made), validity.take(), nulls);
    if (made.fields()->front().null_count() > 0) damaged("a map has a null key");
    return Column::maps(rows, std::move(spans), std::move(made), validity.take(), nulls);
  }

  const std::vector<LeafItems>& leaves_;
};

}  // namespace

Column nested_column(const SchemaNode& tree, const std::vector<LeafItems>& leaves) {
  for (const LeafItems& leaf : leaves)
    if (!leaf.levels.empty() && leaf.levels[0] != 0)
      damaged("the first list of a column goes on with another one");
  return Assembly(leaves).column(tree, {});
}

}  // namespace hr::parquet
