// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/schema.h"

#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/io/parquet/arrow_schema.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>

namespace hr::parquet {

namespace {

constexpr int64_t kWidestDecimal = 32;  // bytes as some writers store them

// Why a column is refused, as the end of a sentence about it.
struct Unreadable {
  std::string why;
};

int64_t stored_bytes(const SchemaElement& element) {
  switch (*element.type) {
    case PhysicalType::kInt32:
    case PhysicalType::kFloat:
      return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble:
      return 8;
    case PhysicalType::kInt96:
      return 12;
    case PhysicalType::kFixed:
      return element.type_length;
    default:
      return 0;
  }
}

void set(Leaf& leaf, Dtype dtype, Conversion conversion) {
  leaf.dtype = dtype;
  leaf.conversion = conversion;
}

void set_integer(Leaf& leaf, const LogicalType& logical) {
  const bool is_wide = leaf.physical == PhysicalType::kInt64;
  if (is_wide != (logical.bits == 64)) throw Unreadable{"an integer of a wrong width"};
  leaf.is_signed_order = logical.is_signed;
  switch (logical.bits) {
    case 8:
      return set(leaf, logical.is_signed ? TypeId::kInt8 : TypeId::kUInt8, Conversion::kNarrow);
    case 16:
      return set(leaf, logical.is_signed ? TypeId::kInt16 : TypeId::kUInt16, Conversion::kNarrow);
    case 32:
      return set(leaf, logical.is_signed ? TypeId::kInt32 : TypeId::kUInt32, Conversion::kNone);
    case 64:
      return set(leaf, logical.is_signed ? TypeId::kInt64 : TypeId::kUInt64, Conversion::kNone);
    default:
      throw Unreadable{"an integer of a wrong width"};
  }
}

void set_decimal(Leaf& leaf, const LogicalType& logical) {
  const bool fits = leaf.physical == PhysicalType::kInt32 ||
                    leaf.physical == PhysicalType::kInt64 ||
                    leaf.physical == PhysicalType::kByteArray ||
                    (leaf.physical == PhysicalType::kFixed && leaf.stored_bytes <= kWidestDecimal);
  if (!fits || logical.precision < 1 || logical.precision > 38 || logical.scale < 0 ||
      logical.scale > logical.precision)
    throw Unreadable{"a decimal of an unsupported precision, scale or width"};
  set(leaf, Dtype::decimal(logical.precision, logical.scale), Conversion::kDecimal);
}

void set_timestamp(Leaf& leaf, const LogicalType& logical, const ArrowHint& hint) {
  if (leaf.physical != PhysicalType::kInt64) throw Unreadable{"a timestamp that is no INT64"};
  const bool is_in_seconds = hint.is_in_seconds && logical.unit == TimeUnit::kMilli;
  const TimeUnit unit = is_in_seconds ? TimeUnit::kSecond : logical.unit;
  Dtype dtype = Dtype::timestamp(unit);
  if (logical.is_utc) {
    try {
      dtype = Dtype::timestamp(unit, hint.zone.empty() ? "UTC" : hint.zone);
    } catch (const Error& error) {
      throw Unreadable{std::string("a timestamp of a zone with an unusable name: ") + error.what()};
    }
  }
  set(leaf, dtype, is_in_seconds ? Conversion::kSeconds : Conversion::kNone);
}

void set_time(Leaf& leaf, const LogicalType& logical) {
  const bool is_milli = logical.unit == TimeUnit::kMilli;
  if (leaf.physical != (is_milli ? PhysicalType::kInt32 : PhysicalType::kInt64))
    throw Unreadable{"a time of a wrong width"};
  set(leaf, Dtype::duration(logical.unit), is_milli ? Conversion::kWiden : Conversion::kNone);
}

void set_text(Leaf& leaf, const ArrowHint& hint) {
  if (leaf.physical != PhysicalType::kByteArray) throw Unreadable{"text of a fixed width"};
  leaf.is_signed_order = false;
  leaf.is_ordered = hint.is_ordered;
  if (hint.is_dictionary)
    set(leaf, TypeId::kCategory, Conversion::kCategory);
  else
    set(leaf, TypeId::kString, Conversion::kText);
}

void set_fixed(Leaf& leaf, const LogicalType& logical) {
  leaf.is_signed_order = false;
  if (leaf.physical == PhysicalType::kFixed && logical.kind == LogicalKind::kUuid &&
      leaf.stored_bytes == 16)
    return set(leaf, TypeId::kString, Conversion::kUuid);
  if (leaf.physical == PhysicalType::kFixed && logical.kind == LogicalKind::kFloat16 &&
      leaf.stored_bytes == 2)
    return set(leaf, TypeId::kFloat32, Conversion::kHalf);
  throw Unreadable{"a value of a wrong width"};
}

void set_plain(Leaf& leaf, const ArrowHint& hint) {
  switch (leaf.physical) {
    case PhysicalType::kBoolean:
      return set(leaf, TypeId::kBool, Conversion::kBit);
    case PhysicalType::kInt32:
      return set(leaf, TypeId::kInt32, Conversion::kNone);
    case PhysicalType::kInt64:
      return set(leaf, hint.duration ? Dtype::duration(*hint.duration) : Dtype(TypeId::kInt64),
                 Conversion::kNone);
    case PhysicalType::kInt96:
      return set(leaf, Dtype::timestamp(TimeUnit::kNano), Conversion::kInt96);
    case PhysicalType::kFloat:
      return set(leaf, TypeId::kFloat32, Conversion::kNone);
    case PhysicalType::kDouble:
      return set(leaf, TypeId::kFloat64, Conversion::kNone);
    default:
      throw Unreadable{"binary data"};
  }
}

void set_dtype(Leaf& leaf, const SchemaElement& element, const ArrowHint& hint) {
  const LogicalType& logical = element.logical;
  leaf.physical = *element.type;
  leaf.stored_bytes = stored_bytes(element);
  switch (logical.kind) {
    case LogicalKind::kNone:
      return set_plain(leaf, hint);
    case LogicalKind::kString:
    case LogicalKind::kEnum:
    case LogicalKind::kJson:
      return set_text(leaf, hint);
    case LogicalKind::kDecimal:
      return set_decimal(leaf, logical);
    case LogicalKind::kDate:
      if (leaf.physical != PhysicalType::kInt32) throw Unreadable{"a date that is no INT32"};
      return set(leaf, TypeId::kDate, Conversion::kNone);
    case LogicalKind::kTime:
      return set_time(leaf, logical);
    case LogicalKind::kTimestamp:
      return set_timestamp(leaf, logical, hint);
    case LogicalKind::kInteger:
      if (leaf.physical != PhysicalType::kInt32 && leaf.physical != PhysicalType::kInt64)
        throw Unreadable{"an integer of a wrong width"};
      return set_integer(leaf, logical);
    case LogicalKind::kNull:
      return set(leaf, TypeId::kFloat64, Conversion::kNull);
    case LogicalKind::kUuid:
    case LogicalKind::kFloat16:
      return set_fixed(leaf, logical);
    default:
      throw Unreadable{"a value of a kind that Headrace does not have"};
  }
}

// Elements of a subtree and the leaves among them.
struct Extent {
  size_t elements = 0;
  int64_t leaves = 0;
};

Extent extent_of(const std::vector<SchemaElement>& schema, size_t at) {
  Extent extent;
  for (int64_t open = 1; open > 0; ++extent.elements) {
    const SchemaElement& element = schema[at + extent.elements];
    open += element.num_children - 1;
    extent.leaves += element.type.has_value();
  }
  return extent;
}

void check_name(std::string_view name) {
  if (!is_valid_utf8(name)) damaged("the name of a column is not UTF-8");
  if (name.find('\0') != std::string_view::npos)
    unsupported("the name of a column has a NUL byte: column='" + printable(name) + "'");
}

// What lies around an element.
struct Path {
  int definition = 0;
  int repetition = 0;
  int levels = 0;  // of lists and structs; maps, which dtypes count once, are both
  std::vector<ListLevel> lists{};

  Path inside() const {
    Path path = *this;
    if (++path.levels > kMostNestedLevels * 2) throw Unreadable{"nested in too many levels"};
    return path;
  }

  // Adds the level of a list.
  ListLevel repeat() {
    lists.push_back({definition, definition + 1});
    ++definition;
    ++repetition;
    return lists.back();
  }
};

// Makes the nodes of a column from a child of the root on.
class ColumnTree {
 public:
  ColumnTree(const std::vector<SchemaElement>& schema, size_t at) : schema_(schema), at_(at) {}

  SchemaNode node(const ArrowHint& hint, Path path) {
    if (element().repetition == Repetition::kOptional) ++path.definition;
    if (element().repetition != Repetition::kRepeated) return content(hint, std::move(path));
    return list_of(path, [&](const Path& inside) { return content(hint, inside); });
  }

  std::vector<Leaf> leaves{};

 private:
  const SchemaElement& element() const {
    if (at_ >= schema_.size()) throw Unreadable{"a struct without fields"};
    return schema_[at_];
  }

  // Of the element, its repetition left aside.
  SchemaNode content(const ArrowHint& hint, Path path) {
    if (element().type) return leaf(hint, std::move(path));
    if (element().logical.kind == LogicalKind::kMap) return map(hint, std::move(path));
    if (element().logical.kind == LogicalKind::kList) return list(hint, std::move(path));
    return structure(hint, std::move(path));
  }

  SchemaNode leaf(const ArrowHint& hint, Path path) {
    Leaf made{.max_definition = path.definition,
              .max_repetition = path.repetition,
              .lists = std::move(path.lists)};
    set_dtype(made, element(), hint);
    ++at_;
    leaves.push_back(std::move(made));
    return {.kind = SchemaNode::Kind::kLeaf,
            .dtype = leaves.back().dtype,
            .leaf = leaves.size() - 1,
            .present = path.definition};
  }

  template <class Child>
  SchemaNode list_of(Path path, const Child& child) {
    Path inside = path.inside();
    SchemaNode made{.kind = SchemaNode::Kind::kList,
                    .leaf = leaves.size(),
                    .present = path.definition,
                    .list = inside.repeat()};
    made.children.push_back(child(inside));
    made.dtype = Dtype::list(made.children[0].dtype);
    return made;
  }

  SchemaNode list(const ArrowHint& hint, Path path) {
    const std::string outer(element().name);
    if (element().num_children != 1) throw Unreadable{"a list of a wrong form"};
    ++at_;
    if (element().repetition != Repetition::kRepeated) throw Unreadable{"a list of a wrong form"};
    return list_of(std::move(path), [&](const Path& inside) {
      // Old writers have the items themselves repeated.
      if (element().type || element().num_children != 1 || element().name == "array" ||
          element().name == outer + "_tuple")
        return content(hint, inside);
      ++at_;
      return node(hint, inside);
    });
  }

  SchemaNode map(const ArrowHint& hint, Path path) {
    if (element().num_children != 1) throw Unreadable{"a map of a wrong form"};
    ++at_;
    if (element().repetition != Repetition::kRepeated || element().num_children != 2)
      throw Unreadable{"a map of a wrong form"};
    const ArrowHint entry = hint.children.size() == 1 ? hint.children[0] : ArrowHint{};
    SchemaNode made = list_of(std::move(path), [&](const Path& inside) {
      return structure(entry, inside, {"key", "value"});
    });
    made.kind = SchemaNode::Kind::kMap;
    const std::vector<Field>& fields = made.children[0].dtype.fields();
    made.dtype = Dtype::map(fields[0].dtype, fields[1].dtype);
    return made;
  }

  // `names`: those that the fields get, else their own.
  SchemaNode structure(const ArrowHint& hint, Path path, std::vector<std::string> names = {}) {
    const int64_t count = element().num_children;
    if (count == 0) throw Unreadable{"a struct without fields"};
    const Path inside = path.inside();
    SchemaNode made{
        .kind = SchemaNode::Kind::kStruct, .leaf = leaves.size(), .present = path.definition};
    ++at_;
    std::vector<Field> fields;
    for (int64_t i = 0; i < count; ++i) {
      const std::string name(element().name);
      check_name(name);
      const auto place = static_cast<size_t>(i);
      const auto named = std::ranges::find(hint.children, name, &ArrowHint::name);
      made.children.push_back(node(named == hint.children.end() ? ArrowHint{} : *named, inside));
      fields.push_back({names.empty() ? name : names[place], made.children.back().dtype});
    }
    made.dtype = Dtype::structure(fields);
    return made;
  }

  const std::vector<SchemaElement>& schema_;
  size_t at_;
};

bool has_structs(const SchemaNode& node) {
  return node.kind == SchemaNode::Kind::kMap || node.kind == SchemaNode::Kind::kStruct ||
         std::ranges::any_of(node.children, has_structs);
}

void build_tree(const std::vector<SchemaElement>& schema, size_t at, const ArrowHint& hint,
                int64_t first_leaf, ColumnSchema& column) {
  ColumnTree tree(schema, at);
  try {
    column.tree = tree.node(hint, {});
  } catch (const Error& error) {  // two fields of one name, too many dtypes
    throw Unreadable{error.what()};
  }
  column.dtype = column.tree.dtype;
  column.leaf = tree.leaves.at(0);
  if (!has_structs(column.tree)) return;
  column.leaves = std::move(tree.leaves);
  for (Leaf& leaf : column.leaves) {
    leaf.index = first_leaf++;
    leaf.keeps_levels = true;
  }
}

}  // namespace

std::vector<ColumnSchema> read_schema(const FileMetadata& file) {
  std::vector<ColumnSchema> columns;
  std::vector<ArrowHint> hints = parse_arrow_schema(file.arrow_schema);
  const ArrowHint none;
  size_t at = 1;
  int64_t leaf = 0;
  for (int64_t c = 0; c < file.schema[0].num_children; ++c) {
    const auto place = static_cast<size_t>(c);
    ColumnSchema column{.name = std::string(file.schema[at].name)};
    check_name(column.name);
    const bool is_hinted = place < hints.size() && hints[place].name == column.name;
    const Extent extent = extent_of(file.schema, at);
    try {
      build_tree(file.schema, at, is_hinted ? hints[place] : none, leaf, column);
    } catch (const Unreadable& unreadable) {
      column.refusal = unreadable.why;
    }
    column.leaf.index = leaf;
    columns.push_back(std::move(column));
    at += extent.elements;
    leaf += extent.leaves;
  }
  return columns;
}

}  // namespace hr::parquet
