// SPDX-License-Identifier: Apache-2.0
// The pages of a column chunk, one after the other, read in pieces and unpacked.
#pragma once
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/source.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace hr::parquet {

/// A page whose bytes are there until the next one is asked for.
struct Page {
  PageHeader header{};
  std::string_view levels{};  ///< of version 2: repetition, then definition
  std::string_view bytes{};   ///< unpacked; of version 1 with the levels before the values
};

/// Memory that a stream takes and gives back, for one after the other on a thread: fresh memory
/// costs more than a small page.
struct PageMemory {
  Buffer window{};
  Buffer unpacked{};
  Buffer dictionary{};  ///< of who reads the pages
};

/// For one thread. Memory is that of one page, packed and unpacked, and of what is read at once.
class PageStream {
 public:
  /// Of a source whose bytes are loaded. `read_bytes`: how many are read at once.
  PageStream(const ByteSource& source, const ColumnChunk& chunk, int64_t read_bytes,
             PageMemory memory = {});

  /// Its memory, when nothing more is read.
  PageMemory take_memory() && { return {std::move(window_), std::move(unpacked_), {}}; }

  /// The header of the next page; false behind the last. `load` or `skip` follows.
  bool next(Page& page);

  /// Reads and unpacks the page whose header was the last. Checksums are compared where a page has
  /// one. Throws Refusal.
  void load(Page& page);

  /// Unpacks the next page of two streams at once, which is faster, where both are large and
  /// packed by Snappy; `load` finds them unpacked. Damage is left to it.
  static void unpack_together(PageStream& a, PageStream& b);

  /// Moves past it; bytes that are not there yet are not read.
  void skip(const Page& page);

  /// Where the next page begins.
  int64_t at() const { return at_ - (filled_ - begin_); }

  /// Goes on at a page at `offset`, which is not before the current one; where it was read ahead
  /// nothing is read again.
  void seek(int64_t offset);

  /// Reads nothing ahead behind this place of the file.
  void read_until(int64_t offset) { until_ = offset; }

  /// The unpacked bytes of the last page, for who keeps them: they stand at `Page::bytes` in it.
  Buffer take();

 private:
  // A page that was read and not unpacked.
  struct Packed {
    std::string_view levels{};  // those that are never packed
    std::string_view bytes{};
    int64_t size = 0;  // unpacked
    int64_t at = 0;    // in the file, with its levels
  };

  std::string_view peek(int64_t size);
  PageHeader next_header();
  static Packed packed(const PageHeader& header, std::string_view bytes, int64_t at);
  std::optional<Packed> next_large();
  char* room(const Packed& page);
  std::string_view unpack(const Packed& page);

  const ByteSource& source_;
  Codec codec_;
  PageUnpacker unpacker_;
  int64_t read_bytes_;
  int64_t at_;   // of the file, behind what was read
  int64_t end_;  // of the chunk
  int64_t until_ = std::numeric_limits<int64_t>::max();
  Buffer window_{};
  int64_t begin_ = 0;  // what of the window was not yet used
  int64_t filled_ = 0;
  Buffer unpacked_{};
  int64_t ahead_ = -1;  // where the page is that was unpacked before it was asked for
  std::string_view last_{};
};

}  // namespace hr::parquet
