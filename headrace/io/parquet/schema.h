// SPDX-License-Identifier: Apache-2.0
// Which columns a Parquet file has for us, and how the values of their leaves become ours.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/io/parquet/metadata.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hr::parquet {

/// What is done with a value as it is stored.
enum class Conversion : uint8_t {
  kNone,      ///< the bytes as they are
  kNarrow,    ///< of 32 bits, to an integer of 8 or 16
  kWiden,     ///< of 32 bits, to an int64
  kSeconds,   ///< of milliseconds
  kInt96,     ///< days and nanoseconds, to nanoseconds
  kDecimal,   ///< an integer or big-endian bytes, to 128 bits
  kHalf,      ///< float16 to float32
  kUuid,      ///< 16 bytes to text
  kText,      ///< bytes to a string
  kCategory,  ///< bytes to a code
  kBit,       ///< bools
  kNull,      ///< a column without values
};

/// Where a list of a leaf begins to be: a definition level of at least `present` says that the list
/// is there, of at least `item` that it has an item.
struct ListLevel {
  int present = 0;
  int item = 0;
};

struct Leaf {
  int64_t index = 0;  ///< of its chunk in a row group
  PhysicalType physical = PhysicalType::kInt32;
  int64_t stored_bytes = 0;  ///< of a value, 0 for kByteArray and kBoolean
  Dtype dtype{};             ///< of the values: the items of the innermost list
  Conversion conversion = Conversion::kNone;
  int max_definition = 0;
  int max_repetition = 0;
  std::vector<ListLevel> lists{};  ///< from the outermost one
  bool is_ordered = false;         ///< of categories
  bool is_signed_order = true;     ///< statistics of old writers can be believed
  bool keeps_levels = false;       ///< they tell of structs or lists around it
};

/// How a column is made of its leaves.
struct SchemaNode {
  enum class Kind : uint8_t { kLeaf, kList, kMap, kStruct };

  Kind kind = Kind::kLeaf;
  Dtype dtype{};
  size_t leaf = 0;                     ///< the first one of the node, among those of the column
  int present = 0;                     ///< the least definition level that says that it is not null
  ListLevel list{};                    ///< of a list or map
  std::vector<SchemaNode> children{};  ///< the items, the entries, or the fields
};

/// A column of the table: a leaf of the file, lists of one, or with structs a tree over several.
struct ColumnSchema {
  std::string name{};
  Dtype dtype{};
  Leaf leaf{};                 ///< the first one
  std::vector<Leaf> leaves{};  ///< of a tree, else empty
  SchemaNode tree{};
  std::string refusal{};  ///< why it cannot be read; empty when it can

  bool is_tree() const { return !leaves.empty(); }
};

/// The children of the root, in order. Throws Refusal for names that are not UTF-8 or have a NUL.
std::vector<ColumnSchema> read_schema(const FileMetadata& file);

}  // namespace hr::parquet
