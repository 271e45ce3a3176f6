// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/ipc/messages.h"

#include "headrace/base/checked.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace hr::ipc {

namespace {

constexpr int64_t kMostMetadata = int64_t{1} << 28;
constexpr int16_t kVersion5 = 4;
constexpr uint32_t kContinuation = 0xFFFFFFFF;

std::string bytes_at(ByteSource& text, int64_t at, int64_t size) {
  if (at < 0 || size < 0 || size > kMostMetadata) throw Damage("a message has an impossible size");
  if (text.load(at + size) < at + size) throw Damage("the data end inside of a message");
  std::string bytes(static_cast<size_t>(size), '\0');
  text.read(at, bytes.data(), size);
  return bytes;
}

Batch parse_batch(const FlatTable& table) {
  Batch batch{.length = table.number<int64_t>(0, 0),
              .nodes = table.items<FieldNode>(1),
              .buffers = table.items<BodyRange>(2),
              .view_buffers = table.items<int64_t>(4)};
  if (batch.length < 0) throw Damage("a batch has a negative number of rows");
  if (const std::optional<FlatTable> compression = table.table(3)) {
    const auto codec = compression->number<int8_t>(0, 0);
    if ((codec != 0 && codec != 1) || compression->number<int8_t>(1, 0) != 0)
      throw Unsupported("a batch has an unknown compression: codec=" + std::to_string(codec));
    batch.codec = static_cast<BodyCodec>(codec);
  }
  return batch;
}

// One message, whose body is left where it is.
struct Message {
  std::shared_ptr<const std::string> metadata;
  MessageKind kind;
  FlatTable header;
  int64_t body;
  int64_t body_length;
};

class ContentsReader {
 public:
  explicit ContentsReader(ByteSource& text) : text_(text) {}

  Contents run() {
    const int64_t available = text_.load(2 * std::ssize(kMagic));
    if (available >= 6) {
      const std::string head = bytes_at(text_, 0, 6);
      if (head == kMagic) {
        read_file();
        return std::move(contents_);
      }
      if (head.starts_with("FEA1"))
        throw Unsupported("files of Feather 1 cannot be read: write it as Feather 2");
    }
    read_stream();
    return std::move(contents_);
  }

 private:
  // Where the footer begins, and its bytes.
  std::string footer() {
    int64_t size = text_.known_size();
    if (size < 0) {
      for (int64_t step = int64_t{1} << 20; (size = text_.load(step)) == step;) step *= 2;
    }
    constexpr int64_t kTail = 10;
    if (size < 8 + kTail) throw Damage("the file is too short");
    const std::string tail = bytes_at(text_, size - kTail, kTail);
    if (std::string_view(tail).substr(4) != kMagic)
      throw Damage("the file does not end as an Arrow file does: it may be cut off");
    const auto length = load<int32_t>(tail, 0);
    if (length < 4 || length > size - 8 - kTail) throw Damage("the footer has an impossible size");
    end_ = size - kTail - length;
    return bytes_at(text_, end_, length);
  }

  void read_file() {
    const std::string bytes = footer();
    const FlatTable table = FlatTable::root(bytes);
    const std::optional<FlatTable> schema = table.table(1);
    if (!schema) throw Damage("the footer has no schema");
    contents_.fields = parse_schema(*schema);
    for (const Block& block : table.items<Block>(2)) add_block(block, MessageKind::kDictionary);
    for (const Block& block : table.items<Block>(3)) add_block(block, MessageKind::kBatch);
  }

  void add_block(const Block& block, MessageKind kind) {
    if (block.offset < 8 || block.offset > end_ || block.metadata_length < 8 ||
        block.metadata_length > end_ - block.offset)
      throw Damage("the footer names a place outside of the file");
    int64_t at = block.offset;
    const std::optional<Message> message = next_message(at);
    if (!message || message->kind != kind) throw Damage("the footer names another kind of message");
    add(*message);
  }

  void read_stream() {
    int64_t at = 0;
    bool has_schema = false;
    while (const std::optional<Message> message = next_message(at)) {
      if (has_schema == (message->kind == MessageKind::kSchema))
        throw Damage(has_schema ? "the stream has two schemas" : "the stream has no schema");
      if (!has_schema) contents_.fields = parse_schema(message->header);
      if (has_schema) add(*message);
      has_schema = true;
    }
    if (!has_schema) throw Damage("not an Arrow IPC file or stream: it has no schema");
  }

  // The message at `at`, which moves behind its body; nothing at the end.
  std::optional<Message> next_message(int64_t& at) {
    const int64_t available = text_.load(at + 8);
    if (available <= at) return std::nullopt;
    auto size = load<int32_t>(bytes_at(text_, at, 4), 0);
    at += 4;
    if (static_cast<uint32_t>(size) == kContinuation) {
      size = load<int32_t>(bytes_at(text_, at, 4), 0);
      at += 4;
    }
    if (size == 0) return std::nullopt;
    const auto metadata = std::make_shared<const std::string>(bytes_at(text_, at, size));
    at += size;
    const FlatTable table = FlatTable::root(*metadata);
    const auto kind = table.number<uint8_t>(1, 0);
    const std::optional<FlatTable> header = table.table(2);
    if (kind < 1 || kind > 3 || !header) throw Unsupported("a message is of an unknown kind");
    if (table.number<int16_t>(0, 0) < kVersion5 - 1)
      throw Unsupported("the data was written by a version of Arrow before 1.0");
    const auto length = table.number<int64_t>(3, 0);
    if (length < 0 || length > (int64_t{1} << 60)) throw Damage("a body has an impossible size");
    if (text_.load(checked_add("read_ipc", at, length)) < at + length)
      throw Damage("the data end inside of a batch");
    Message message{metadata, static_cast<MessageKind>(kind), *header, at, length};
    at += length;
    return message;
  }

  void add(const Message& message) {
    if (message.kind == MessageKind::kSchema) throw Damage("a schema stands among batches");
    if (message.kind == MessageKind::kBatch) {
      contents_.batches.push_back(located(parse_batch(message.header), message));
      contents_.batches.back().dictionaries = current_;
      return;
    }
    const auto id = message.header.number<int64_t>(0, 0);
    const std::optional<FlatTable> data = message.header.table(1);
    if (!data) throw Damage("a dictionary has no values");
    const bool is_more = message.header.number<uint8_t>(2, 0) != 0;
    DictionaryBatches dictionary{.id = id};
    if (is_more) {
      if (!current_.contains(id))
        throw Damage("a dictionary batch extends a dictionary that does not exist");
      dictionary.batches = contents_.dictionaries[current_[id]].batches;
    }
    dictionary.batches.push_back(located(parse_batch(*data), message));
    current_[id] = contents_.dictionaries.size();
    contents_.dictionaries.push_back(std::move(dictionary));
  }

  static Batch located(Batch batch, const Message& message) {
    batch.body = message.body;
    batch.body_length = message.body_length;
    return batch;
  }

  ByteSource& text_;
  Contents contents_{};
  std::map<int64_t, size_t> current_{};
  int64_t end_ = 0;  // of what a footer may name
};

}  // namespace

Contents read_contents(ByteSource& text) {
  return ContentsReader(text).run();
}

std::string build_message(FlatBuilder& out, MessageKind kind, FlatPlace header,
                          int64_t body_length) {
  out.begin_table();
  out.number(3, body_length);
  out.refer(2, header);
  out.number(0, kVersion5);
  out.number(1, static_cast<uint8_t>(kind));
  const std::string metadata = out.finish(out.finish_table());
  const auto size = static_cast<int32_t>(metadata.size());
  std::string message(8, '\xFF');
  std::memcpy(message.data() + 4, &size, sizeof size);
  return message + metadata;
}

FlatPlace build_batch(FlatBuilder& out, const Batch& batch) {
  const FlatPlace buffers = out.items(batch.buffers);
  const FlatPlace nodes = out.items(batch.nodes);
  FlatPlace compression = 0;
  if (batch.codec != BodyCodec::kNone) {
    out.begin_table();
    out.number(0, static_cast<int8_t>(batch.codec));
    out.number(1, int8_t{0});
    compression = out.finish_table();
  }
  out.begin_table();
  out.number(0, batch.length);
  out.refer(1, nodes);
  out.refer(2, buffers);
  if (compression) out.refer(3, compression);
  return out.finish_table();
}

std::string build_footer(const std::vector<Field>& fields, const std::vector<Block>& dictionaries,
                         const std::vector<Block>& batches) {
  FlatBuilder out;
  const FlatPlace batch_list = out.items(batches);
  const FlatPlace dictionary_list = out.items(dictionaries);
  const FlatPlace schema = build_schema(out, fields);
  out.begin_table();
  out.refer(1, schema);
  out.refer(2, dictionary_list);
  out.refer(3, batch_list);
  out.number(0, kVersion5);
  std::string footer = out.finish(out.finish_table());
  const auto size = static_cast<int32_t>(footer.size());
  std::string length(4, '\0');
  std::memcpy(length.data(), &size, sizeof size);
  return footer + length + std::string(kMagic);
}

}  // namespace hr::ipc
