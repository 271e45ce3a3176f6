// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/ipc/body.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exchange/arrow.h"
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/parquet/copy_match.h"
#include "headrace/io/parquet/lz4.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <memory>

namespace hr::ipc {

namespace {

// ---- compression
// --------------------------------------------------------------------------------- An LZ4 frame
// whose blocks may refer to those before.
void unpack_lz4_frame(std::string_view frame, char* out, int64_t size) {
  constexpr uint32_t kMagicWord = 0x184D2204, kRaw = 0x80000000;
  const auto fail = [] { throw Damage("a buffer compressed by lz4 is damaged"); };
  if (load<uint32_t>(frame, 0) != kMagicWord) fail();
  const auto flags = load<uint8_t>(frame, 4);
  const bool has_block_checksum = flags & 16, has_size = flags & 8, has_dictionary = flags & 1;
  if (flags >> 6 != 1 || has_dictionary) fail();
  size_t at = size_t{7} + (has_size ? 8 : 0);
  char* const begin = out;
  char* const end = out + size;
  for (;;) {
    const auto word = load<uint32_t>(frame, at);
    at += 4;
    if (word == 0) break;
    const size_t length = word & ~kRaw;
    if (length > frame.size() - at) fail();
    const std::string_view block = frame.substr(at, length);
    at += length + (has_block_checksum ? 4 : 0);
    if (word & kRaw) {
      if (static_cast<int64_t>(length) > end - out) fail();
      std::memcpy(out, block.data(), length);
      out += length;
    } else {
      const int64_t made = parquet::unpack_lz4_behind(block, begin, out, end - out);
      if (made < 0) fail();
      out += made;
    }
  }
  if (out != end) fail();
}

void unpack(BodyCodec codec, std::string_view packed, char* out, int64_t size, BodyMemory& memory) {
  if (codec == BodyCodec::kLz4) return unpack_lz4_frame(packed, out, size);
  try {
    if (!memory.zstd) memory.zstd = std::make_unique<parquet::PageUnpacker>(parquet::Codec::kZstd);
    memory.zstd->unpack(packed, out, size);
  } catch (const parquet::Refusal& refusal) {
    if (!refusal.is_damage()) throw Unsupported(refusal.what());
    throw Damage("a buffer compressed by zstd is damaged");
  }
}

const BodyRange& range_of(const Batch& batch, size_t index) {
  if (index >= batch.buffers.size()) throw Damage("a batch has too few buffers");
  const BodyRange& range = batch.buffers[index];
  if (range.offset < 0 || range.length < 0 || range.offset > batch.body_length ||
      range.length > batch.body_length - range.offset)
    throw Damage("a buffer lies outside of its batch");
  return range;
}

// A buffer of a batch that is compressed, as the text has it.
struct PackedBuffer {
  std::string_view content{};
  int64_t size = 0;        // unpacked
  bool is_stored = false;  // not compressed

  PackedBuffer(const ByteSource& text, const Batch& batch, const BodyRange& range, Buffer& memory) {
    if (range.length == 0) return;
    if (range.length < 8) throw Damage("a compressed buffer has no size");
    if (!memory || memory.size_bytes() < range.length) memory = Buffer::allocate(range.length);
    text.read(batch.body + range.offset, memory.mutable_as<char>(), range.length);
    const std::string_view bytes(memory.as<char>(), static_cast<size_t>(range.length));
    size = load<int64_t>(bytes, 0);
    content = bytes.substr(8);
    const auto held = std::ssize(content);
    const auto codec =
        batch.codec == BodyCodec::kLz4 ? parquet::Codec::kLz4 : parquet::Codec::kZstd;
    if (size < -1 || size > parquet::most_unpacked(codec, held))
      throw Damage("a compressed buffer has an impossible size");
    is_stored = size < 0;
    if (is_stored) size = held;
  }

  void put(const Batch& batch, char* out, BodyMemory& memory) const {
    if (is_stored && size > 0)
      std::memcpy(out, content.data(), content.size());
    else if (size > 0 || !content.empty())
      unpack(batch.codec, content, out, size, memory);
  }
};

[[noreturn]] void too_short() {
  throw Damage("a buffer is too short for the rows of its batch");
}

}  // namespace

std::string_view unpack_buffer(const ByteSource& text, const Batch& batch, size_t index,
                               int64_t least, Buffer& to, BodyMemory& memory) {
  const PackedBuffer packed(text, batch, range_of(batch, index), memory.packed);
  if (packed.size < least) too_short();
  if (packed.size == 0) return {};
  if (!to || to.size_bytes() < packed.size) to = Buffer::allocate(packed.size);
  packed.put(batch, to.mutable_as<char>(), memory);
  return {to.as<char>(), static_cast<size_t>(packed.size)};
}

void unpack_buffer(const ByteSource& text, const Batch& batch, size_t index, char* out,
                   int64_t size, BodyMemory& memory) {
  const PackedBuffer packed(text, batch, range_of(batch, index), memory.packed);
  if (packed.size < size) too_short();
  if (packed.size == size) return packed.put(batch, out, memory);
  Buffer all = Buffer::allocate(packed.size);
  packed.put(batch, all.mutable_as<char>(), memory);
  std::memcpy(out, all.data(), static_cast<size_t>(size));
}

Buffer read_buffer(const ByteSource& text, const Batch& batch, size_t index, int64_t least) {
  const BodyRange& range = range_of(batch, index);
  Buffer buffer;
  if (range.length > 0 && batch.codec != BodyCodec::kNone) {
    BodyMemory memory;
    const PackedBuffer packed(text, batch, range, memory.packed);
    buffer = Buffer::allocate(packed.size);
    packed.put(batch, buffer.mutable_as<char>(), memory);
  } else if (range.length > 0 && !(buffer = text.share(batch.body + range.offset, range.length))) {
    buffer = Buffer::allocate(range.length);
    text.read(batch.body + range.offset, buffer.mutable_as<char>(), range.length);
  }
  if ((buffer ? buffer.size_bytes() : 0) < least) too_short();
  return buffer;
}

int64_t buffer_bytes(const Batch& batch, size_t index) {
  return range_of(batch, index).length;
}

void check_buffer(const Batch& batch, size_t index, int64_t least) {
  const int64_t held = buffer_bytes(batch, index);
  const auto codec = batch.codec == BodyCodec::kLz4 ? parquet::Codec::kLz4 : parquet::Codec::kZstd;
  if ((batch.codec == BodyCodec::kNone ? held : parquet::most_unpacked(codec, held)) < least)
    too_short();
}

void read_plain(const ByteSource& text, const Batch& batch, size_t index, int64_t offset, char* out,
                int64_t size) {
  const BodyRange& range = range_of(batch, index);
  if (offset > range.length || size > range.length - offset) too_short();
  text.read(batch.body + range.offset + offset, out, size);
}

// ---- places
// --------------------------------------------------------------------------------------
namespace {

size_t buffers_of(Layout layout) {
  constexpr size_t kCounts[] = {0, 2, 3, 3, 2, 2, 2, 3, 3, 1, 1, 2};
  return kCounts[static_cast<size_t>(layout)];
}

}  // namespace

int64_t views_of(const FieldPlace& place, const Batch& batch) {
  if (place.views >= batch.view_buffers.size())
    throw Damage("a batch does not say how many buffers its strings have");
  const int64_t count = batch.view_buffers[place.views];
  if (count < 0 || count > std::ssize(batch.buffers))
    throw Damage("a batch has an impossible number of buffers of strings");
  return count;
}

void FieldPlace::skip(const Field& field, const Batch& batch) {
  ++node;
  buffer += buffers_of(field.layout);
  if (field.layout == Layout::kViews) {
    buffer += static_cast<size_t>(views_of(*this, batch));
    ++views;
  }
  for (const Field& child : field.children) skip(child, batch);
}

std::vector<FieldPlace> places_of(const std::vector<Field>& fields, const Batch& batch) {
  std::vector<FieldPlace> places;
  FieldPlace place;
  for (const Field& field : fields) {
    places.push_back(place);
    place.skip(field, batch);
  }
  if (place.node != batch.nodes.size() || place.buffer != batch.buffers.size())
    throw Damage("the columns of a batch differ from the schema");
  return places;
}

// ---- through the C data interface
// ----------------------------------------------------------------
namespace {

// The values of dictionaries as a batch sees them.
struct Dictionaries {
  const Batch& batch;
  const std::vector<Column>& columns;

  const Column& values(int64_t id) const {
    const auto at = batch.dictionaries.find(id);
    if (at == batch.dictionaries.end()) throw Damage("a dictionary is missing");
    return columns[at->second];
  }
};

// The schema of a field, with that of dictionaries as they are in memory, or as the file has them.
// It owns nothing that its consumer releases.
struct SchemaTree {
  ArrowSchema schema{};
  std::vector<std::unique_ptr<SchemaTree>> children{};
  std::vector<ArrowSchema*> pointers{};
  std::unique_ptr<SchemaTree> stored{};
  ArrowSchema dictionary{};
  ArrowSchema* itself = nullptr;

  SchemaTree(const Field& field, const Dictionaries* dictionaries) {
    for (const Field& child : field.children) {
      children.push_back(std::make_unique<SchemaTree>(child, dictionaries));
      pointers.push_back(&children.back()->schema);
    }
    schema.format = field.format.c_str();
    schema.name = field.name.c_str();
    schema.flags = ARROW_FLAG_NULLABLE | (field.is_ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0) |
                   (field.has_sorted_keys ? ARROW_FLAG_MAP_KEYS_SORTED : 0);
    schema.n_children = std::ssize(pointers);
    schema.children = pointers.empty() ? nullptr : pointers.data();
    schema.release = [](ArrowSchema* self) { self->release = nullptr; };
    if (!field.dictionary) return;
    if (dictionaries) {
      to_arrow_schema(dictionaries->values(field.dictionary_id), &dictionary);
      schema.dictionary = &dictionary;
    } else {
      stored = std::make_unique<SchemaTree>(*field.dictionary, nullptr);
      schema.dictionary = &stored->schema;
    }
  }

  SchemaTree(const SchemaTree&) = delete;
  SchemaTree& operator=(const SchemaTree&) = delete;

  ~SchemaTree() {
    if (dictionary.release) dictionary.release(&dictionary);
  }
};

// The schema of a table of one column, which outlives it.
ArrowSchema table_of(SchemaTree& column) {
  ArrowSchema table{};
  column.itself = &column.schema;
  table.format = "+s";
  table.name = "";
  table.n_children = 1;
  table.children = &column.itself;
  table.release = [](ArrowSchema* self) { self->release = nullptr; };
  return table;
}

struct ArrayNode {
  std::vector<Buffer> buffers{};
  std::vector<const void*> pointers{};
  std::vector<int64_t> view_sizes{};
  std::vector<ArrowArray> children{};
  std::vector<ArrowArray*> child_pointers{};
  ArrowArray dictionary{};

  ~ArrayNode() {
    for (ArrowArray& child : children)
      if (child.release) child.release(&child);
    if (dictionary.release) dictionary.release(&dictionary);
  }
};

void fill_array(int64_t length, int64_t null_count, std::unique_ptr<ArrayNode> node,
                ArrowArray* array) {
  *array = {};
  array->length = length;
  array->null_count = null_count;
  array->n_buffers = std::ssize(node->pointers);
  array->buffers = node->pointers.empty() ? nullptr : node->pointers.data();
  array->n_children = std::ssize(node->child_pointers);
  array->children = node->child_pointers.empty() ? nullptr : node->child_pointers.data();
  array->dictionary = node->dictionary.release ? &node->dictionary : nullptr;
  array->release = [](ArrowArray* self) {
    delete static_cast<ArrayNode*>(self->private_data);
    self->release = nullptr;
  };
  array->private_data = node.release();
}

// The last of (length + 1) offsets: how many bytes they need.
template <class Offset>
int64_t last_offset(const Buffer& offsets, int64_t length) {
  if (length == 0) return 0;
  const int64_t last = offsets.as<Offset>()[length];
  if (last < 0) throw Damage("an offset of a string is negative");
  return last;
}

class ArrayReader {
 public:
  ArrayReader(const ByteSource& text, const Dictionaries& dictionaries, FieldPlace place)
      : text_(text), dictionaries_(dictionaries), batch_(dictionaries.batch), place_(place) {}

  // A field with its children, one after the other in the order of the batch.
  void read(const Field& field, ArrowArray* array) {
    if (place_.node >= batch_.nodes.size()) throw Damage("a batch has too few columns");
    const FieldNode node = batch_.nodes[place_.node++];
    constexpr int64_t kMostRows = int64_t{1} << 48;
    if (node.length < 0 || node.length > kMostRows || node.null_count < 0 ||
        node.null_count > node.length)
      throw Damage("a column has an impossible number of rows or nulls");
    auto made = std::make_unique<ArrayNode>();
    read_buffers(field, node, *made);
    made->children.resize(field.children.size());
    for (size_t c = 0; c < field.children.size(); ++c) {
      read(field.children[c], &made->children[c]);
      made->child_pointers.push_back(&made->children[c]);
    }
    if (field.dictionary)
      to_arrow_array(dictionaries_.values(field.dictionary_id), &made->dictionary);
    fill_array(node.length, node.null_count == 0 ? 0 : -1, std::move(made), array);
  }

 private:
  void take(ArrayNode& made, int64_t least) {
    made.buffers.push_back(read_buffer(text_, batch_, place_.buffer++, least));
    made.pointers.push_back(made.buffers.back() ? made.buffers.back().data() : nullptr);
  }

  void take_validity(ArrayNode& made, const FieldNode& node) {
    if (node.null_count > 0) return take(made, bitmap_bytes(node.length));
    ++place_.buffer;
    made.pointers.push_back(nullptr);
  }

  void read_buffers(const Field& field, const FieldNode& node, ArrayNode& made) {
    const int64_t rows = node.length, offsets = rows > 0 ? rows + 1 : 0;
    if (field.layout != Layout::kNone) take_validity(made, node);
    switch (field.layout) {
      case Layout::kNone:
      case Layout::kValidity:
        return;
      case Layout::kFixed:
        return take(made, divide_up(checked_multiply("read_ipc", rows, field.bits), 8));
      case Layout::kOffsets32:
        take(made, 4 * offsets);
        return take(made, last_offset<int32_t>(made.buffers.back(), rows));
      case Layout::kOffsets64:
        take(made, 8 * offsets);
        return take(made, last_offset<int64_t>(made.buffers.back(), rows));
      case Layout::kList32:
        return take(made, 4 * offsets);
      case Layout::kList64:
        return take(made, 8 * offsets);
      case Layout::kViews: {
        take(made, 16 * rows);
        const int64_t count = views_of(place_, batch_);
        ++place_.views;
        for (int64_t i = 0; i < count; ++i) {
          take(made, 0);
          made.view_sizes.push_back(made.buffers.back() ? made.buffers.back().size_bytes() : 0);
        }
        made.pointers.push_back(made.view_sizes.data());
        return;
      }
      default:
        throw Unsupported("a column has a type that Headrace does not read");
    }
  }

  const ByteSource& text_;
  const Dictionaries& dictionaries_;
  const Batch& batch_;
  FieldPlace place_;
};

}  // namespace

Column read_field(std::string_view op, const ByteSource& text, const Field& field,
                  const Batch& batch, const FieldPlace& place,
                  const std::vector<Column>& dictionaries) {
  const Dictionaries known{batch, dictionaries};
  auto table = std::make_unique<ArrayNode>();
  table->pointers.push_back(nullptr);
  table->children.resize(1);
  ArrayReader(text, known, place).read(field, table->children.data());
  table->child_pointers.push_back(table->children.data());
  const int64_t rows = table->children[0].length;
  ArrowArray array{};
  fill_array(rows, 0, std::move(table), &array);
  // A table of one column: a struct by itself would be taken for a table.
  SchemaTree column(field, &known);
  ArrowColumns columns = from_arrow(op, table_of(column), &array);
  if (columns.chunks[0].empty()) return Column(columns.dtypes[0], rows, {});
  return std::move(columns.chunks[0][0]);
}

namespace {

// An array without rows, and its children.
std::unique_ptr<ArrayNode> empty_node(const Field& field) {
  auto node = std::make_unique<ArrayNode>();
  node->pointers.resize(buffers_of(field.layout) + (field.layout == Layout::kViews ? 1 : 0));
  node->children.resize(field.children.size());
  for (size_t c = 0; c < field.children.size(); ++c) {
    fill_array(0, 0, empty_node(field.children[c]), &node->children[c]);
    node->child_pointers.push_back(&node->children[c]);
  }
  if (field.dictionary) fill_array(0, 0, empty_node(*field.dictionary), &node->dictionary);
  return node;
}

}  // namespace

Dtype dtype_of(std::string_view op, const Field& field) {
  SchemaTree column(field, nullptr);
  auto table = std::make_unique<ArrayNode>();
  table->pointers.push_back(nullptr);
  table->children.resize(1);
  fill_array(0, 0, empty_node(field), table->children.data());
  table->child_pointers.push_back(table->children.data());
  ArrowArray nothing{};
  fill_array(0, 0, std::move(table), &nothing);
  return from_arrow(op, table_of(column), &nothing).dtypes[0];
}

}  // namespace hr::ipc
