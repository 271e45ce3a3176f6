// SPDX-License-Identifier: Apache-2.0
// Which pages a device reads and when: found by their headers alone, before their bytes are read.
#pragma once
#include "headrace/io/parquet/codecs.h"
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/schema.h"
#include "headrace/io/parquet_device/page_math.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hr::parquet {

/// A column chunk as the footer has it, and the rows that it becomes.
struct ChunkSource {
  std::shared_ptr<ByteSource> source;
  const Leaf* leaf = nullptr;
  const ColumnChunk* chunk = nullptr;
  size_t column = 0;  ///< of the result
  size_t group = 0;   ///< among those that are read
  int64_t first_row = 0;
  int64_t rows = 0;
};

struct PlannedPage {
  DevicePage page{};
  int64_t offset = 0;      ///< in the file, behind its header
  int64_t bytes = 0;       ///< there
  bool is_packed = false;  ///< in any way
};

struct ChunkPlan {
  std::vector<PlannedPage> pages{};
  uint32_t dictionary_size = 0;
  int64_t dictionary_bytes = 0;   ///< of its unpacked page
  int64_t text_bytes = 0;         ///< of strings: of all other unpacked pages
  std::string refusal{};          ///< why the host has to read it; empty: it has not
  bool is_unpacked_here = false;  ///< pages have a codec that the device lacks
};

/// Why a device never reads such a column; empty: it may.
std::string why_not_on_device(const Leaf& leaf);

/// Never throws for what a file says: what is odd or damaged is a refusal, and the host decides.
ChunkPlan plan_chunk(const ChunkSource& of);

/// What is copied to the room of a batch.
struct PageRead {
  const ChunkSource* chunk;
  int64_t offset;
  int64_t bytes;
  uint64_t to;
  const PlannedPage* unpack;  ///< what is unpacked; null: copied as it is
};

/// Pages that are read together; dictionaries come first of all. Their bytes lie in pieces of the
/// room, each page in one.
struct BatchPlan {
  std::vector<DevicePage> pages{};
  std::vector<PageRead> reads{};  ///< in the order of the room
  int64_t room_bytes = 0;
  int64_t unpacked_bytes = 0;
  int64_t words = 0;
  uint32_t slices = 0;
  bool has_zstd = false;
};

struct PagePlan {
  std::vector<BatchPlan> batches{};
  int64_t piece_bytes = 0;
  int64_t room_bytes = 0;  ///< of the largest batch
};

/// `chunks` and their `plans`, which stay; those with a refusal are left out.
PagePlan plan_pages(const std::vector<ChunkSource>& chunks, const std::vector<ChunkPlan>& plans,
                    int64_t piece_bytes, int64_t batch_bytes);

/// What a device has to know of a chunk, but addresses.
DeviceChunk device_chunk(const ChunkSource& of, const ChunkPlan& plan);

/// What a worker unpacks pages with, one after the other.
struct UnpackRoom {
  Buffer packed{};
  Codec codec = Codec::kNone;
  std::optional<PageUnpacker> unpacker{};
};

/// Reads what belongs at `read.to` to `into`; `room`: for pages that are unpacked. Throws Refusal
/// for a damaged page, and what sources throw.
void read_page_bytes(const PageRead& read, char* into, UnpackRoom* room);

}  // namespace hr::parquet
