// SPDX-License-Identifier: Apache-2.0
// Messages of Arrow IPC: what batches and dictionaries say of themselves, in files and in streams.
#pragma once
#include "headrace/io/ipc/schema.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hr::ipc {

inline constexpr std::string_view kMagic = "ARROW1";

enum class MessageKind : uint8_t { kSchema = 1, kDictionary = 2, kBatch = 3 };

enum class BodyCodec : int8_t { kNone = -1, kLz4 = 0, kZstd = 1 };

struct FieldNode {
  int64_t length;
  int64_t null_count;
};

/// Bytes of a body.
struct BodyRange {
  int64_t offset;
  int64_t length;
};

/// Where a message lies in a file, as the footer has it.
struct Block {
  int64_t offset;
  int32_t metadata_length;
  int32_t padding;
  int64_t body_length;
};

/// A record batch whose body is not read.
struct Batch {
  int64_t length = 0;
  std::vector<FieldNode> nodes{};
  std::vector<BodyRange> buffers{};
  std::vector<int64_t> view_buffers{};  ///< of each column of views
  BodyCodec codec = BodyCodec::kNone;
  int64_t body = 0;  ///< where it begins in the text
  int64_t body_length = 0;
  /// Of each id the place in `Contents::dictionaries`.
  std::map<int64_t, size_t> dictionaries{};
};

/// The values of a dictionary, perhaps in several batches of one column each.
struct DictionaryBatches {
  int64_t id = 0;
  std::vector<Batch> batches{};
};

/// What a file or a stream holds.
struct Contents {
  std::vector<Field> fields{};
  std::vector<DictionaryBatches> dictionaries{};
  std::vector<Batch> batches{};
};

/// Reads all messages without their bodies; a file's by its footer. Throws Damage or Unsupported.
Contents read_contents(ByteSource& text);

/// A message of this kind, with what stands before it.
std::string build_message(FlatBuilder& out, MessageKind kind, FlatPlace header,
                          int64_t body_length);

FlatPlace build_batch(FlatBuilder& out, const Batch& batch);

/// The end of a file: the footer, its size and the magic word.
std::string build_footer(const std::vector<Field>& fields, const std::vector<Block>& dictionaries,
                         const std::vector<Block>& batches);

}  // namespace hr::ipc
