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
#include "headrace/exec/workers.h"
#include "headrace/io/ipc/messages.h"
#include "headrace/io/sink.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <cstring>
#include <limits>

#ifdef HR_WITH_ZSTD
#include <zstd.h>
#endif

namespace hr {

namespace {

using ipc::Batch;
using ipc::Block;
using ipc::BodyCodec;
using ipc::FlatBuilder;
using ipc::MessageKind;

constexpr std::string_view kOp = "to_ipc";
constexpr int64_t kBatchRows = int64_t{1} << 20;
constexpr int64_t kAlignment = 64;
constexpr int kZstdLevel = 1;

// Bytes of a buffer as they go to the file, and what keeps them.
struct Content {
  Buffer owner{};
  const std::byte* data = nullptr;
  int64_t size = 0;
  bool is_absent = false;  ///< the validity of a column without nulls
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

// Offsets and bytes of strings; null rows are empty.
std::pair<Content, Content> strings_of(const Column& column) {
  const int64_t rows = column.num_rows();
  if (rows == 0) return {first_offset(4), {}};
  Buffer offsets = Buffer::allocate(4 * (rows + 1));
  auto* const ends = offsets.mutable_as<int32_t>();
  const StringReader strings(column);
  int64_t bytes = 0;
  ends[0] = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (!column.is_null(row)) bytes += strings.view(row).size;
    if (bytes > std::numeric_limits<int32_t>::max())
      throw_error<UnsupportedError>(kOp, "a batch has more than 2 GiB of strings", {{"rows", rows}},
                                    "write fewer rows to a file");
    ends[row + 1] = static_cast<int32_t>(bytes);
  }
  Buffer text = Buffer::allocate(bytes);
  auto* const out = text.mutable_as<char>();
  for (int64_t row = 0; row < rows; ++row)
    if (const int64_t size = ends[row + 1] - ends[row]; size > 0)
      std::memcpy(out + ends[row], strings[row].data(), static_cast<size_t>(size));
  return {content_of(std::move(offsets)), content_of(std::move(text))};
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

// The size before compression and the compressed bytes, or the bytes as they are behind a -1.
Content packed([[maybe_unused]] const Content& content) {
#ifdef HR_WITH_ZSTD
  if (content.is_absent) return {};  // Polars wants a size of all others
  const size_t room = ZSTD_compressBound(static_cast<size_t>(content.size));
  Buffer buffer = Buffer::allocate(8 + static_cast<int64_t>(room));
  char* const out = buffer.mutable_as<char>();
  const size_t made =
      ZSTD_compress(out + 8, room, content.data, static_cast<size_t>(content.size), kZstdLevel);
  if (ZSTD_isError(made)) throw_error<InternalError>(kOp, "zstd failed");
  const bool is_smaller = static_cast<int64_t>(made) < content.size;
  const int64_t size = is_smaller ? content.size : -1;
  std::memcpy(out, &size, sizeof size);
  if (!is_smaller && content.size > 0)
    std::memcpy(out + 8, content.data, static_cast<size_t>(content.size));
  buffer.shrink(8 + (is_smaller ? static_cast<int64_t>(made) : content.size));
  return content_of(std::move(buffer));
#else
  throw_error<UnsupportedError>(kOp, "this build does not include zstd", {},
                                "write without compression");
#endif
}

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
    if (!options_.stream) append(std::string(ipc::kMagic) + std::string(2, '\0'));
    FlatBuilder schema;
    const ipc::FlatPlace place = ipc::build_schema(schema, fields_);
    append(ipc::build_message(schema, MessageKind::kSchema, place, 0));
    for (size_t c = 0; c < fields_.size(); ++c) add_dictionaries(fields_[c], table_.columns()[c]);
    const int64_t rows = table_.num_rows();
    for (int64_t begin = 0; begin < rows || (begin == 0 && !options_.stream); begin += kBatchRows)
      batches_.push_back(add_batch(table_.slice(begin, std::min(kBatchRows, rows - begin))));
    append(std::string("\xFF\xFF\xFF\xFF\0\0\0\0", 8));
    if (!options_.stream) append(ipc::build_footer(fields_, dictionaries_, batches_));
  }

 private:
  void append(std::string_view bytes) {
    sink_.append(bytes);
    at_ += std::ssize(bytes);
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
    dictionaries_.push_back(add_message(std::move(batch), std::move(contents), &field));
  }

  Block add_batch(const Table& rows) {
    std::vector<Batch> parts(fields_.size());
    std::vector<std::vector<Content>> contents(fields_.size());
    parallel_for(std::ssize(fields_), [&](int64_t c) {
      const auto at = static_cast<size_t>(c);
      add_column(rows.column(c), parts[at], contents[at]);
    });
    Batch batch{.length = rows.num_rows()};
    std::vector<Content> all;
    for (size_t c = 0; c < fields_.size(); ++c) {
      batch.nodes.insert(batch.nodes.end(), parts[c].nodes.begin(), parts[c].nodes.end());
      std::move(contents[c].begin(), contents[c].end(), std::back_inserter(all));
    }
    return add_message(std::move(batch), std::move(all), nullptr);
  }

  Block add_message(Batch batch, std::vector<Content> contents, const ipc::Field* dictionary) {
    if (options_.compression == IpcCompression::kZstd && batch.length > 0) {
      batch.codec = BodyCodec::kZstd;
      parallel_for(std::ssize(contents), [&](int64_t k) {
        Content& content = contents[static_cast<size_t>(k)];
        content = packed(content);
      });
    }
    int64_t body = 0;
    for (const Content& content : contents) {
      batch.buffers.push_back({body, content.size});
      body += round_up(content.size, kAlignment);
    }
    FlatBuilder out;
    ipc::FlatPlace header = ipc::build_batch(out, batch);
    if (dictionary) {
      out.begin_table();
      out.number(0, dictionary->dictionary_id);
      out.refer(1, header);
      header = out.finish_table();
    }
    const MessageKind kind = dictionary ? MessageKind::kDictionary : MessageKind::kBatch;
    std::string message = ipc::build_message(out, kind, header, body);
    // So that buffers, which are aligned in their body, are so in the file.
    const int64_t pad = round_up(at_ + std::ssize(message), kAlignment) - at_ - std::ssize(message);
    if (pad > 0) {
      const auto size = static_cast<int32_t>(std::ssize(message) - 8 + pad);
      std::memcpy(message.data() + 4, &size, sizeof size);
      message.append(static_cast<size_t>(pad), '\0');
    }
    const Block block{at_, static_cast<int32_t>(message.size()), 0, body};
    append(message);
    write_body(contents);
    return block;
  }

  void write_body(const std::vector<Content>& contents) {
    static constexpr char kZeros[kAlignment] = {};
    for (const Content& content : contents) {
      if (content.size == 0) continue;
      append({reinterpret_cast<const char*>(content.data), static_cast<size_t>(content.size)});
      append({kZeros, static_cast<size_t>(round_up(content.size, kAlignment) - content.size)});
    }
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
