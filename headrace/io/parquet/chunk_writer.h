// SPDX-License-Identifier: Apache-2.0
// Rows of a column to a column chunk: encoded, compressed, and described.
#pragma once
#include "headrace/io/byte_buffer.h"
#include "headrace/io/parquet/metadata_writer.h"

#include <cstdint>

namespace hr::parquet {

struct ChunkOptions {
  Codec codec = Codec::kSnappy;
  int level = 0;
  int64_t page_rows = int64_t{1} << 15;
  double worth = 0.03;  ///< the share that compression has to save; else a chunk is left as it is
  bool front_codes = true;  ///< strings may leave out what they have in common with the last
  bool has_filter = false;
  bool has_checksums = false;
};

/// Appends the chunk of rows [first, first + rows) of a column. The bytes depend on these rows and
/// the options alone.
WrittenChunk write_chunk(const Column& column, const WrittenLeaf& leaf, int64_t first, int64_t rows,
                         const ChunkOptions& options, ByteBuffer& out);

}  // namespace hr::parquet
