// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/ipc/ipc_write.h"

#include "headrace/algo/bits/validity.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/data/struct_fields.h"
#include "headrace/exchange/list_offsets.h"
#include "headrace/io/ipc/messages.h"
#include "headrace/io/ordered_writer.h"
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/parquet/lz4.h"
#include "headrace/io/sink.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace hr {

namespace {

using ipc::Batch;
using ipc::Block;
using ipc::BodyCodec;
using ipc::FlatBuilder;
using ipc::MessageKind;

constexpr std::string_view kOp = "to_ipc";
constexpr int64_t kBatchRows = int64_t{1} << 16;  // some MB: made while others are written
constexpr int64_t kAlignment = 64;
constexpr int kZstdLevel = 1;
constexpr int64_t kInline = sizeof StringView{}.inlined;

// Bytes of a buffer as they go to the file, and what keeps them or makes them.
struct Content {
  Buffer owner{};
  const std::byte* data = nullptr;
  int64_t size = 0;
  bool is_absent = false;                 ///< the validity of a column without nulls
  std::function<void(char* out)> make{};  ///< in place of `data`

  void put(char* out) const {
    if (make)
      make(out);
    else if (size > 0)
      std::memcpy(out, data, static_cast<size_t>(size));
  }
};

Content content_of(Buffer buffer) {
  Content content{.owner = std::move(buffer)};
  if (!content.owner) return content;
  content.data = content.owner.data();
  content.size = content.owner.size_bytes();
  return content;
}

Content values_of(const Column& column) {
  const int64_t width = column.dtype().size_bytes();
  return {
      column.values_buffer(),
      column.num_rows() == 0 ? nullptr : column.values_buffer().data() + column.offset() * width,
      column.num_rows() * width};
}

Content bits_of(const Column& bools) {
  const int64_t rows = bools.num_rows();
  if (rows == 0) return {};
  if (bools.offset() % 8 == 0)
    return {bools.values_buffer(), bools.values_buffer().data() + bools.offset() / 8,
            bitmap_bytes(rows)};
  Buffer bits = Buffer::allocate(bitmap_bytes(rows));
  auto* const out = bits.mutable_as<uint8_t>();
  for (int64_t row = 0; row < rows; row += 8)
    out[row / 8] = static_cast<uint8_t>(
        load_bits(bools.bits(), bools.offset() + row, std::min<int64_t>(8, rows - row)));
  return content_of(std::move(bits));
}

// The offsets of no rows: Polars wants the first one.
Content first_offset(int64_t width) {
  return content_of(Buffer::allocate_zeroed(width));
}

// The bytes of strings, each at its offset.
void put_strings(const Column& column, const int32_t* at, char* out) {
  const StringReader from(column);
  const int64_t count = column.num_rows();
  // Short strings are copied whole, as long as what this writes too much is overwritten.
  const int32_t* const last = std::upper_bound(at, at + count, at[count] - kInline);
  const int64_t whole = last - at;
  const bool is_short = column.text_buffers().empty();
  for (int64_t row = 0; is_short && row < whole; ++row)
    std::memcpy(out + at[row], from.view(row).inlined, kInline);
  for (int64_t row = is_short ? whole : 0; row < count; ++row) {
    const int64_t size = at[row + 1] - at[row];
    if (row < whole && size <= kInline)
      std::memcpy(out + at[row], from.view(row).inlined, kInline);
    else if (size > 0)
      std::memcpy(out + at[row], from[row].data(), static_cast<size_t>(size));
  }
}

// Offsets and bytes of strings; null rows are empty.
std::pair<Content, Content> strings_of(const Column& column) {
  const int64_t rows = column.num_rows();
  if (rows == 0) return {first_offset(4), {}};
  Buffer offsets = Buffer::allocate(4 * (rows + 1));
  auto* const ends = offsets.mutable_as<int32_t>();
  const StringReader strings(column);
  const bool has_nulls = column.null_count() > 0;
  int64_t bytes = 0;
  ends[0] = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (!has_nulls || !column.is_null(row)) bytes += strings.view(row).size;
    ends[row + 1] = static_cast<int32_t>(bytes);  // of less than 2 GiB, which is asked below
  }
  if (bytes > std::numeric_limits<int32_t>::max())
    throw_error<UnsupportedError>(kOp, "a batch has more than 2 GiB of strings", {{"rows", rows}},
                                  "write fewer rows to a file");
  Content text{.size = bytes};
  text.make = [column, offsets](char* out) { put_strings(column, offsets.as<int32_t>(), out); };
  return {content_of(std::move(offsets)), std::move(text)};
}

// The nodes and buffers of a column, behind those that are there.
void add_column(const Column& column, Batch& batch, std::vector<Content>& contents) {
  const Dtype dtype = column.dtype();
  batch.nodes.push_back({column.num_rows(), column.null_count()});
  contents.push_back(column.null_count() == 0 ? Content{.is_absent = true}
                                              : content_of(realigned_validity(column)));
  if (dtype.is_bool()) {
    contents.push_back(bits_of(column));
  } else if (dtype.is_string()) {
    auto [offsets, text] = strings_of(column);
    contents.push_back(std::move(offsets));
    contents.push_back(std::move(text));
  } else if (dtype.has_items()) {
    ListOffsets lists = offsets_of_lists(kOp, column);
    if (dtype.is_map()) lists.offsets = narrow_offsets(kOp, lists.offsets, column.num_rows());
    contents.push_back(column.num_rows() == 0 ? first_offset(dtype.is_map() ? 4 : 8)
                                              : content_of(std::move(lists.offsets)));
    add_column(lists.items, batch, contents);
  } else if (dtype.is_struct()) {
    for (const Column& field : struct_fields(kOp, column)) add_column(field, batch, contents);
  } else {
    contents.push_back(values_of(column));
  }
}

// Packs buffers, one after the other, for one thread.
class BufferPacker {
 public:
  explicit BufferPacker(BodyCodec codec) {
    if (codec == BodyCodec::kZstd) zstd_.emplace(parquet::Codec::kZstd, kZstdLevel);
  }

  // What a buffer may take.
  int64_t most(const Content& content) const {
    if (content.is_absent) return 0;
    const int64_t size = content.size;
    return 8 + std::max(zstd_ ? zstd_->most(size) : parquet::most_lz4_frame(size), size);
  }

  // To `out`: the size before compression and the compressed bytes, or the bytes as they are behind
  // a -1. How many these are.
  int64_t pack(const Content& content, char* out) {
    if (content.is_absent) return 0;  // Polars wants a size of all others
    const int64_t size = content.size;
    std::string_view bytes(reinterpret_cast<const char*>(content.data), static_cast<size_t>(size));
    if (content.make) {
      if (!made_ || made_.size_bytes() < size) made_ = Buffer::allocate(size);
      content.put(made_.mutable_as<char>());
      bytes = {made_.as<char>(), static_cast<size_t>(size)};
    }
    const int64_t packed =
        zstd_ ? zstd_->pack(bytes, out + 8) : parquet::pack_lz4_frame(bytes, out + 8);
    const bool is_smaller = packed < size;
    const int64_t said = is_smaller ? size : -1;
    std::memcpy(out, &said, sizeof said);
    if (!is_smaller && size > 0) std::memcpy(out + 8, bytes.data(), bytes.size());
    return 8 + (is_smaller ? packed : size);
  }

 private:
  std::optional<parquet::PagePacker> zstd_{};  // otherwise lz4
  Buffer made_{};
};

// A message and its body. Its place in a file is a multiple of kAlignment, and so is its size, so
// that buffers, which are aligned in their body, are so in the file.
struct Message {
  Buffer bytes{};
  int64_t size = 0;
  int64_t metadata = 0;  // of it before the body
};

class Writer {
 public:
  Writer(Sink& sink, const Table& table, const IpcWriteOptions& options)
      : sink_(sink), table_(table), options_(options) {
    int64_t next_dictionary = 0;
    for (int64_t c = 0; c < table.num_columns(); ++c)
      fields_.push_back(
          ipc::field_of(table.names()[static_cast<size_t>(c)], table.column(c), next_dictionary));
  }

  void run() {
    std::string head = options_.stream ? "" : std::string(ipc::kMagic) + std::string(2, '\0');
    FlatBuilder schema;
    const ipc::FlatPlace place = ipc::build_schema(schema, fields_);
    head += aligned(ipc::build_message(schema, MessageKind::kSchema, place, 0), std::ssize(head));
    append(head);
    for (size_t c = 0; c < fields_.size(); ++c) add_dictionaries(fields_[c], table_.columns()[c]);
    write_batches();
    append(std::string("\xFF\xFF\xFF\xFF\0\0\0\0", 8));
    if (!options_.stream) append(ipc::build_footer(fields_, dictionaries_, batches_));
  }

 private:
  void append(std::string_view bytes) {
    sink_.append(bytes);
    at_ += std::ssize(bytes);
  }

  // A message that ends at a multiple of kAlignment when `before` bytes stand before it.
  static std::string aligned(std::string message, int64_t before) {
    const int64_t end = before + std::ssize(message);
    const int64_t pad = round_up(end, kAlignment) - end;
    const auto size = static_cast<int32_t>(std::ssize(message) - 8 + pad);
    std::memcpy(message.data() + 4, &size, sizeof size);
    return message.append(static_cast<size_t>(pad), '\0');
  }

  void add_dictionaries(const ipc::Field& field, const Column& column) {
    if (column.dtype().has_items()) add_dictionaries(field.children[0], *column.items());
    if (column.dtype().is_struct())
      for (size_t f = 0; f < field.children.size(); ++f)
        add_dictionaries(field.children[f], (*column.fields())[f]);
    if (!field.dictionary) return;
    Batch batch;
    std::vector<Content> contents;
    const Column& values = column.dictionary()->values();
    batch.length = values.num_rows();
    add_column(values, batch, contents);
    Message message;
    std::unique_ptr<BufferPacker> packer;
    make_message(std::move(batch), contents, &field, packer, message);
    dictionaries_.push_back(block_of(message, at_));
    append({message.bytes.as<char>(), static_cast<size_t>(message.size)});
  }

  static Block block_of(const Message& message, int64_t at) {
    return {at, static_cast<int32_t>(message.metadata), 0, message.size - message.metadata};
  }

  // All workers make batches, which are written in order meanwhile.
  void write_batches() {
    const int64_t rows = table_.num_rows(), slots = num_piece_slots();
    const int64_t count = std::max<int64_t>(divide_up(rows, kBatchRows), options_.stream ? 0 : 1);
    std::vector<Message> made(static_cast<size_t>(slots));
    std::vector<std::unique_ptr<BufferPacker>> packers(made.size());
    batches_.resize(static_cast<size_t>(count));
    write_in_order(sink_, count, slots, [&](int64_t piece, int64_t slot) {
      const int64_t begin = piece * kBatchRows;
      Message& message = made[static_cast<size_t>(slot)];
      make_batch(table_.slice(begin, std::min(kBatchRows, rows - begin)),
                 packers[static_cast<size_t>(slot)], message);
      batches_[static_cast<size_t>(piece)] = block_of(message, 0);
      return std::string_view(message.bytes.as<char>(), static_cast<size_t>(message.size));
    });
    for (Block& block : batches_) {
      block.offset = at_;
      at_ += block.metadata_length + block.body_length;
    }
  }

  void make_batch(const Table& rows, std::unique_ptr<BufferPacker>& packer,
                  Message& message) const {
    Batch batch{.length = rows.num_rows()};
    std::vector<Content> contents;
    for (const Column& column : rows.columns()) add_column(column, batch, contents);
    make_message(std::move(batch), contents, nullptr, packer, message);
  }

  // In the memory of another message, if it has room.
  void make_message(Batch batch, const std::vector<Content>& contents, const ipc::Field* dictionary,
                    std::unique_ptr<BufferPacker>& packer, Message& message) const {
    const bool is_packed = options_.compression != IpcCompression::kNone && batch.length > 0;
    if (is_packed) {
      batch.codec =
          options_.compression == IpcCompression::kLz4 ? BodyCodec::kLz4 : BodyCodec::kZstd;
      if (batch.codec == BodyCodec::kZstd && !parquet::can_pack(parquet::Codec::kZstd))
        throw_error<UnsupportedError>(kOp, "this build does not include zstd", {},
                                      "write with compression='lz4' or None");
      if (!packer) packer = std::make_unique<BufferPacker>(batch.codec);
    }
    // Buffers are packed to their place behind the header, whose size does not depend on theirs.
    batch.buffers.resize(contents.size());
    message.metadata = std::ssize(header_of(batch, dictionary, 0));
    int64_t most = message.metadata;
    for (const Content& content : contents)
      most += round_up(is_packed ? packer->most(content) : content.size, kAlignment);
    if (!message.bytes || message.bytes.size_bytes() < most) message.bytes = Buffer::allocate(most);
    char* const out = message.bytes.mutable_as<char>();
    int64_t at = message.metadata;
    for (size_t k = 0; k < contents.size(); ++k) {
      int64_t size = contents[k].size;
      if (is_packed)
        size = packer->pack(contents[k], out + at);
      else
        contents[k].put(out + at);
      batch.buffers[k] = {at - message.metadata, size};
      const int64_t end = round_up(size, kAlignment);
      std::memset(out + at + size, 0, static_cast<size_t>(end - size));
      at += end;
    }
    message.size = at;
    const std::string head = header_of(batch, dictionary, at - message.metadata);
    std::memcpy(out, head.data(), head.size());
  }

  static std::string header_of(const Batch& batch, const ipc::Field* dictionary, int64_t body) {
    FlatBuilder out;
    ipc::FlatPlace header = ipc::build_batch(out, batch);
    if (dictionary) {
      out.begin_table();
      out.number(0, dictionary->dictionary_id);
      out.refer(1, header);
      header = out.finish_table();
    }
    const MessageKind kind = dictionary ? MessageKind::kDictionary : MessageKind::kBatch;
    return aligned(ipc::build_message(out, kind, header, body), 0);
  }

  Sink& sink_;
  const Table& table_;
  const IpcWriteOptions& options_;
  std::vector<ipc::Field> fields_{};
  std::vector<Block> dictionaries_{};
  std::vector<Block> batches_{};
  int64_t at_ = 0;
};

}  // namespace

void write_ipc(const Table& values, const std::string& path, const IpcWriteOptions& options) {
  const ScopedTag tag(kOp);
  const Table table = std::get<Table>(to_place(Value(values), host));
  Sink sink(kOp, path, options.durable);
  Writer(sink, table, options).run();
  sink.commit();
}

}  // namespace hr
