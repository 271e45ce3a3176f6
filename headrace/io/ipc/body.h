// SPDX-License-Identifier: Apache-2.0
// The buffers of a batch: read, unpacked, compared with what the field needs, imported as columns.
#pragma once
#include "headrace/io/ipc/messages.h"
#include "headrace/io/parquet/codecs.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace hr::ipc {

/// Places of a field among those of its batch.
struct FieldPlace {
  size_t node = 0;
  size_t buffer = 0;
  size_t views = 0;  ///< among columns of views

  /// Moves behind a field and its children. Throws Damage when the batch has fewer.
  void skip(const Field& field, const Batch& batch);
};

/// Where the top-level fields of a batch lie. Throws Damage unless the batch has just these.
std::vector<FieldPlace> places_of(const std::vector<Field>& fields, const Batch& batch);

/// What a task unpacks with and to, for the next one: fresh memory costs more than some buffers.
struct BodyMemory {
  Buffer packed{};
  Buffer offsets{};
  Buffer text{};
  std::unique_ptr<parquet::PageUnpacker> zstd{};
};

/// The bytes of a buffer, unpacked; at least `least` of them. Throws Damage.
Buffer read_buffer(const ByteSource& text, const Batch& batch, size_t index, int64_t least);

/// The same of a batch that is compressed, to `to`, which grows if it has to.
std::string_view unpack_buffer(const ByteSource& text, const Batch& batch, size_t index,
                               int64_t least, Buffer& to, BodyMemory& memory);

/// The first `size` bytes of a buffer of a batch that is compressed, to `out`.
void unpack_buffer(const ByteSource& text, const Batch& batch, size_t index, char* out,
                   int64_t size, BodyMemory& memory);

/// Throws Damage for a buffer that cannot hold `least` bytes, before anything is allocated for
/// them.
void check_buffer(const Batch& batch, size_t index, int64_t least);

/// How long a buffer is in the text. Throws Damage for one that is not there.
int64_t buffer_bytes(const Batch& batch, size_t index);

/// How many buffers of text a column of views has. Throws Damage.
int64_t views_of(const FieldPlace& place, const Batch& batch);

/// Reads `size` bytes of a buffer from `offset` on, of a batch that is not compressed.
void read_plain(const ByteSource& text, const Batch& batch, size_t index, int64_t offset, char* out,
                int64_t size);

/// The rows of a field. `dictionaries`: the values of each dictionary of `Contents`.
Column read_field(std::string_view op, const ByteSource& text, const Field& field,
                  const Batch& batch, const FieldPlace& place,
                  const std::vector<Column>& dictionaries);

/// The dtype of a field. Throws UnsupportedError, naming it, where there is none.
Dtype dtype_of(std::string_view op, const Field& field);

}  // namespace hr::ipc
