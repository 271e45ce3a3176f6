// SPDX-License-Identifier: Apache-2.0
// Columns and tables out through the Arrow C interfaces.
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/struct_fields.h"
#include "headrace/exchange/arrow.h"
#include "headrace/exchange/arrow_strings.h"
#include "headrace/exchange/list_offsets.h"
#include "headrace/exchange/protocol.h"

#include <cerrno>
#include <memory>

namespace hr {

namespace {

// Some consumers refuse null pointers, even for no rows.
alignas(64) constexpr std::byte kNothing[64] = {};

std::string arrow_format(Dtype dtype) {
  switch (dtype.id()) {
    case TypeId::kBool:
      return "b";
    case TypeId::kInt8:
      return "c";
    case TypeId::kInt16:
      return "s";
    case TypeId::kInt32:
      return "i";
    case TypeId::kInt64:
      return "l";
    case TypeId::kUInt8:
      return "C";
    case TypeId::kUInt16:
      return "S";
    case TypeId::kUInt32:
      return "I";
    case TypeId::kUInt64:
      return "L";
    case TypeId::kFloat32:
      return "f";
    case TypeId::kFloat64:
      return "g";
    case TypeId::kString:
      return "vu";
    case TypeId::kDate:
      return "tdD";
    case TypeId::kTimestamp: {
      constexpr const char* kFormats[] = {"tss:", "tsm:", "tsu:", "tsn:"};
      return kFormats[static_cast<size_t>(dtype.unit())] + std::string(dtype.zone());
    }
    case TypeId::kDuration: {
      constexpr const char* kFormats[] = {"tDs", "tDm", "tDu", "tDn"};
      return kFormats[static_cast<size_t>(dtype.unit())];
    }
    case TypeId::kCategory:
      return "i";
    case TypeId::kDecimal:
      return "d:" + std::to_string(dtype.precision()) + "," + std::to_string(dtype.scale());
    case TypeId::kList:
      return "+L";
    case TypeId::kStruct:
      return "+s";
    case TypeId::kMap:
      return "+m";
    case TypeId::kComplex64:
    case TypeId::kComplex128:
      break;
  }
  throw_error<UnsupportedError>("to_arrow", "Arrow has no complex numbers",
                                {{"dtype", dtype.name()}},
                                "export the real and the imaginary part as two columns");
}

constexpr int64_t kNullable = ARROW_FLAG_NULLABLE;

struct SchemaNode {
  std::string name;
  std::string format{};
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  auto* node = static_cast<SchemaNode*>(schema->private_data);
  for (ArrowSchema& child : node->children)
    if (child.release) child.release(&child);
  if (node->dictionary.release) node->dictionary.release(&node->dictionary);
  delete node;
  schema->release = nullptr;
}

std::unique_ptr<SchemaNode> schema_node(std::string_view name) {
  if (name.find('\0') != std::string_view::npos)
    throw_error<InvalidArgumentError>("to_arrow", "a column name has a NUL byte",
                                      {{"name", name.substr(0, name.find('\0'))}},
                                      "rename the column");
  auto node = std::make_unique<SchemaNode>();
  node->name = name;
  return node;
}

void fill_schema(std::string format, int64_t flags, std::unique_ptr<SchemaNode> node,
                 ArrowSchema* schema) {
  *schema = {};
  node->format = std::move(format);
  schema->format = node->format.c_str();
  schema->name = node->name.c_str();
  schema->flags = flags;
  schema->n_children = static_cast<int64_t>(node->pointers.size());
  schema->children = node->pointers.empty() ? nullptr : node->pointers.data();
  schema->dictionary = node->dictionary.release ? &node->dictionary : nullptr;
  schema->release = release_schema;
  schema->private_data = node.release();
}

struct ArrayNode {
  Column column;
  std::vector<ExportNote> notes;
  std::vector<const void*> buffers;
  std::vector<int64_t> text_sizes;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  StringOffsets strings;  // of a dictionary
  ListOffsets lists{};
  Buffer map_offsets{};
  Buffer validity{};  // of lists and structs that do not begin at row 0
  ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
  auto* node = static_cast<ArrayNode*>(array->private_data);
  for (ArrowArray& child : node->children)
    if (child.release) child.release(&child);
  if (node->dictionary.release) node->dictionary.release(&node->dictionary);
  delete node;
  array->release = nullptr;
}

void fill_array(int64_t length, std::unique_ptr<ArrayNode> node, ArrowArray* array) {
  *array = {};
  array->length = length;
  array->null_count = node->column.null_count();
  // pyarrow takes views without rows for a buffer without bytes, and then refuses an offset.
  array->offset = array->length > 0 ? node->column.offset() : 0;
  if (node->column.dtype().is_nested()) array->offset = 0;  // its children begin at the first row
  array->n_buffers = static_cast<int64_t>(node->buffers.size());
  array->buffers = node->buffers.data();
  array->n_children = static_cast<int64_t>(node->pointers.size());
  array->children = node->pointers.empty() ? nullptr : node->pointers.data();
  array->dictionary = node->dictionary.release ? &node->dictionary : nullptr;
  array->release = release_array;
  array->private_data = node.release();
}

const void* bytes_of(const Buffer& buffer) {
  return buffer.data() ? buffer.data() : kNothing;
}

// Chunks of one column or one table, handed out in order.
struct StreamNode {
  bool is_table = false;
  Dtype dtype;
  std::vector<Column> chunks;
  Table table;
  size_t next = 0;
  std::string error;
};

// Errors must not leave a C callback: they become a code and a message.
template <class F>
int guarded(ArrowArrayStream* stream, F&& f) noexcept {
  auto& node = *static_cast<StreamNode*>(stream->private_data);
  try {
    f(node);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    try {
      node.error = error.what();
    } catch (...) {
      return ENOMEM;
    }
    return EIO;
  }
}

// Strings get offsets, the form of a dictionary that every consumer reads.
void export_dictionary(const Column& values, ArrowArray* array) {
  if (!values.dtype().is_string()) return to_arrow_array_there(values, array);
  auto node = std::make_unique<ArrayNode>();
  node->strings = offsets_of("to_arrow", values);
  node->buffers = {nullptr, bytes_of(node->strings.offsets), bytes_of(node->strings.text)};
  fill_array(values.num_rows(), std::move(node), array);
}

bool is_ordered(const Column& column) {
  return column.dictionary() && column.dictionary()->is_ordered();
}

void fill_stream(std::unique_ptr<StreamNode> node, ArrowArrayStream* stream) {
  *stream = {};
  stream->get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    return guarded(self, [&](StreamNode& from) {
      if (from.is_table)
        to_arrow_schema(from.table, out);
      else if (from.chunks.empty())
        to_arrow_schema(from.dtype, {}, out);
      else
        to_arrow_schema(from.chunks[0], out);
    });
  };
  stream->get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    return guarded(self, [&](StreamNode& from) {
      if (from.next == (from.is_table ? 1 : from.chunks.size()))
        *out = {};
      else if (from.is_table)
        to_arrow_array(from.table, out);
      else
        to_arrow_array(from.chunks[from.next], out);
      if (out->release) ++from.next;
    });
  };
  stream->get_last_error = [](ArrowArrayStream* self) -> const char* {
    const std::string& error = static_cast<StreamNode*>(self->private_data)->error;
    return error.empty() ? nullptr : error.c_str();
  };
  stream->release = [](ArrowArrayStream* self) {
    delete static_cast<StreamNode*>(self->private_data);
    self->release = nullptr;
  };
  stream->private_data = node.release();
}

}  // namespace

namespace {

// A schema with children, each filled by `fill(i, schema)`.
template <class Fill>
void fill_parent_schema(std::string format, int64_t flags, std::string_view name,
                        size_t num_children, Fill fill, ArrowSchema* schema) {
  auto node = schema_node(name);
  node->children.resize(num_children);
  ArrowSchema result{};
  for (ArrowSchema& child : node->children) node->pointers.push_back(&child);
  fill_schema(std::move(format), flags, std::move(node), &result);
  try {
    for (size_t i = 0; i < num_children; ++i) fill(i, result.children[i]);
  } catch (...) {
    result.release(&result);
    throw;
  }
  *schema = result;
}

template <class Fill>
void fill_table_schema(size_t num_columns, Fill fill, ArrowSchema* schema) {
  fill_parent_schema("+s", 0, {}, num_columns, fill, schema);
}

void fill_column_schema(Dtype dtype, std::string_view name, int64_t flags, ArrowSchema* schema) {
  std::string format = arrow_format(dtype);
  if (dtype.is_nested()) {
    const std::vector<Field>& fields = dtype.fields();
    return fill_parent_schema(
        std::move(format), flags, name, dtype.is_struct() ? fields.size() : 1,
        [&](size_t i, ArrowSchema* out) {
          if (dtype.is_list()) return fill_column_schema(dtype.item(), "item", kNullable, out);
          if (dtype.is_struct())
            return fill_column_schema(fields[i].dtype, fields[i].name, kNullable, out);
          fill_column_schema(dtype.item(), "entries", 0, out);
          out->children[0]->flags = 0;  // keys are never null
        },
        schema);
  }
  auto node = schema_node(name);
  if (dtype.is_category())
    fill_schema(dtype.has_text() ? "u" : arrow_format(dtype.item()), 0, schema_node({}),
                &node->dictionary);
  fill_schema(std::move(format), flags, std::move(node), schema);
}

int64_t flags_of(const Column& column) {
  return kNullable | (is_ordered(column) ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
}

}  // namespace

void to_arrow_schema(Dtype dtype, std::string_view name, ArrowSchema* schema) {
  fill_column_schema(dtype, name, kNullable, schema);
}

void to_arrow_schema(const std::vector<std::string>& names, const std::vector<Dtype>& dtypes,
                     ArrowSchema* schema) {
  fill_table_schema(
      names.size(),
      [&](size_t i, ArrowSchema* out) { fill_column_schema(dtypes[i], names[i], kNullable, out); },
      schema);
}

void to_arrow_schema(const Column& column, ArrowSchema* schema) {
  fill_column_schema(column.dtype(), {}, flags_of(column), schema);
}

void to_arrow_schema(const Table& table, ArrowSchema* schema) {
  const auto& columns = table.columns();
  fill_table_schema(
      columns.size(),
      [&](size_t i, ArrowSchema* out) {
        fill_column_schema(columns[i].dtype(), table.names()[i], flags_of(columns[i]), out);
      },
      schema);
}

namespace {

void check_readable(const Column& column) {
  if (!column.place().is_host())
    throw_error<DeviceError>("to_arrow", "the column is on a device",
                             {{"place", column.place().name()}},
                             "move it with to('cpu'), or use __arrow_c_device_array__");
}

}  // namespace

void to_arrow_array(const Column& column, ArrowArray* array) {
  check_readable(column);
  to_arrow_array_there(column, array);
}

namespace {

// The validity from row 0 on, which the node holds.
const uint8_t* validity_from_row_0(ArrayNode& node) {
  const Column& column = node.column;
  if (!column.validity() || column.offset() == 0) return column.validity();
  node.validity = Buffer::allocate_zeroed(bitmap_bytes(column.num_rows()));
  auto* const bits = node.validity.mutable_as<uint8_t>();
  for (int64_t row = 0; row < column.num_rows(); ++row) set_bit(bits, row, !column.is_null(row));
  return bits;
}

// Gives the node its children; if one throws, those before it are released.
void fill_with_children(const std::vector<Column>& columns, std::unique_ptr<ArrayNode> node,
                        int64_t length, ArrowArray* array) {
  node->children.resize(columns.size());
  for (ArrowArray& child : node->children) node->pointers.push_back(&child);
  ArrowArray result{};
  fill_array(length, std::move(node), &result);
  try {
    for (size_t i = 0; i < columns.size(); ++i)
      to_arrow_array_there(columns[i], result.children[i]);
  } catch (...) {
    result.release(&result);
    throw;
  }
  *array = result;
}

void export_lists(std::unique_ptr<ArrayNode> node, ArrowArray* array) {
  const Column& column = node->column;
  const int64_t rows = column.num_rows();
  node->lists = offsets_of_lists("to_arrow", column);
  node->buffers = {validity_from_row_0(*node), bytes_of(node->lists.offsets)};
  if (column.dtype().is_map()) {
    node->map_offsets = narrow_offsets("to_arrow", node->lists.offsets, rows);
    node->buffers[1] = bytes_of(node->map_offsets);
  }
  const std::vector<Column> items{node->lists.items};
  fill_with_children(items, std::move(node), rows, array);
}

void export_structs(std::unique_ptr<ArrayNode> node, ArrowArray* array) {
  const std::vector<Column> fields = struct_fields("to_arrow", node->column);
  const int64_t rows = node->column.num_rows();
  node->buffers = {validity_from_row_0(*node)};
  fill_with_children(fields, std::move(node), rows, array);
}

}  // namespace

void to_arrow_array_there(const Column& column, ArrowArray* array) {
  arrow_format(column.dtype());
  auto node = std::make_unique<ArrayNode>();
  node->column = column;
  if (column.dtype().has_items()) return export_lists(std::move(node), array);
  if (column.dtype().is_struct()) return export_structs(std::move(node), array);
  node->notes.emplace_back(column.values_buffer());
  node->buffers = {column.validity(), bytes_of(column.values_buffer())};
  if (column.dtype().is_string()) {
    for (const Buffer& text : column.text_buffers()) {
      node->notes.emplace_back(text);
      node->buffers.push_back(bytes_of(text));
      node->text_sizes.push_back(text.size_bytes());
    }
    node->text_sizes.push_back(0);  // so that data() is never null
    node->buffers.push_back(node->text_sizes.data());
  }
  if (column.dictionary()) export_dictionary(column.dictionary()->values(), &node->dictionary);
  fill_array(column.num_rows(), std::move(node), array);
}

void to_arrow_array(const Table& table, ArrowArray* array) {
  for (const Column& column : table.columns()) check_readable(column);
  to_arrow_array_there(table, array);
}

void to_arrow_array_there(const Table& table, ArrowArray* array) {
  auto node = std::make_unique<ArrayNode>();
  node->buffers = {nullptr};
  fill_with_children(table.columns(), std::move(node), table.num_rows(), array);
}

void to_arrow_stream(Dtype dtype, std::vector<Column> chunks, ArrowArrayStream* stream) {
  arrow_format(dtype);
  auto node = std::make_unique<StreamNode>();
  node->dtype = dtype;
  node->chunks = std::move(chunks);
  fill_stream(std::move(node), stream);
}

void to_arrow_stream(const Table& table, ArrowArrayStream* stream) {
  ArrowSchema probe{};
  to_arrow_schema(table, &probe);
  probe.release(&probe);
  auto node = std::make_unique<StreamNode>();
  node->is_table = true;
  node->table = table;
  fill_stream(std::move(node), stream);
}

}  // namespace hr
